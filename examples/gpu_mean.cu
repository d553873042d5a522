// A kernel that consumes what a read put into device memory: the mean of a box, with nothing in between but the stream.
#include <cstdio>
#include <vector>
#include <zarrive/zarrive.hpp>

__global__ void add_up(const float* values, std::size_t count, double* sum) {
  double mine = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += values[i];
  atomicAdd(sum, mine);
}

int main() {
  zarrive::Array written = zarrive::create_array(
      "field.zarr", "", {.shape = {64, 256, 256}, .data_type = "float32", .chunks = {16, 64, 64}});
  written.write({}, std::vector<float>(64 * 256 * 256, 2.5f));

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const zarrive::Array array = zarrive::open_array("field.zarr");
  // Allocated for us on the device; the call may return before the data is there, the kernel comes after it in the stream.
  const zarrive::NDArray box =
      array.read("10:18, 30:130, 50:150", {.prototype = zarrive::cuda(0), .stream = stream});
  double* sum = nullptr;
  cudaMallocManaged(&sum, sizeof *sum);
  *sum = 0;
  add_up<<<64, 256, 0, stream>>>(reinterpret_cast<const float*>(box.view().data), box.size(), sum);
  const cudaError_t result = cudaStreamSynchronize(stream);
  if (result != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
    return 1;
  }
  std::printf("the mean is %g\n", *sum / static_cast<double>(box.size()));
  return *sum / static_cast<double>(box.size()) == 2.5 ? 0 : 1;
}
