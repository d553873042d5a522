// Reads a box into device memory that is ours, in a stream that is ours: what a program that computes on a GPU does with a Zarr array.
// Uses the CUDA driver API; with the runtime API, cudaMalloc and a cudaStream_t do as well.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <vector>
#include <zarrive/zarrive.hpp>

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text ? text : "unknown error");
  std::exit(1);
}

}  // namespace

int main() {
  // Some data: an array of 64 x 256 x 256 with compressed chunks.
  zarrive::Array written = zarrive::create_array(
      "field.zarr", "", {.shape = {64, 256, 256}, .data_type = "float32", .chunks = {16, 64, 64}});
  std::vector<float> values(64 * 256 * 256);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1013);
  written.write({}, values);

  check(cuInit(0), "cuInit");
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxPushCurrent(context), "cuCtxPushCurrent");
  CUstream stream = nullptr;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");

  // Ours: a buffer for a box of 8 x 100 x 100, with room for a row of 128 elements, as image libraries like it.
  const std::size_t pitch = 128 * sizeof(float), plane = 100 * pitch;
  CUdeviceptr memory = 0;
  check(cuMemAlloc(&memory, 8 * plane), "cuMemAlloc");

  const zarrive::Array array = zarrive::open_array("field.zarr");
  const zarrive::ArrayView box(reinterpret_cast<std::byte*>(memory), array.data_type(), {8, 100, 100},
                               {static_cast<std::int64_t>(plane), static_cast<std::int64_t>(pitch), 4},
                               zarrive::cuda(0).space);
  zarrive::gpu::ReadReport report;
  array.read_into("10:18, 30:130, 50:150", box, {.stream = stream, .device_report = &report});
  // What is put into the stream from here on sees the data: a kernel of yours, or this copy.
  std::vector<float> row(100);
  check(cuMemcpyDtoHAsync(row.data(), memory + 3 * plane + 7 * pitch, 100 * sizeof(float), stream),
        "cuMemcpyDtoHAsync");
  check(cuStreamSynchronize(stream), "cuStreamSynchronize");
  for (std::size_t x = 0; x < row.size(); ++x)
    if (row[x] != values[(13 * 256 + 37) * 256 + 50 + x]) {
      std::fprintf(stderr, "a wrong value at %zu\n", x);
      return 1;
    }
  std::printf("read %s\n", report.to_string().c_str());

  check(cuMemFree(memory), "cuMemFree");
  check(cuStreamDestroy(stream), "cuStreamDestroy");
}
