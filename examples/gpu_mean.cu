// A kernel that consumes what a read put into device memory: the mean of a box, with nothing in between but the stream.
#include <cstdio>
#include <vector>
#include <zarrive/zarrive.hpp>

#include "gpu_mean_kernel.cuh"

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
  cudaError_t result = cudaGetLastError();  // of the launch
  if (result == cudaSuccess) result = cudaStreamSynchronize(stream);
  if (result != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
    return 1;
  }
  const double mean = *sum / static_cast<double>(box.size());
  std::printf("the mean is %g\n", mean);
  cudaFree(sum);
  return mean == 2.5 ? 0 : 1;
}
