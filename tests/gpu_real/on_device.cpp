#include "gpu_real/on_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>

#include "zarrive/gpu.hpp"

namespace zarrive::gpu_real {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

std::uint64_t seed() {
  static const std::uint64_t value = from_environment("ZARRIVE_GPU_SEED", std::random_device{}());
  return value;
}
std::uint64_t cases() { return from_environment("ZARRIVE_GPU_CASES", 150); }
std::uint64_t edge_factor() { return from_environment("ZARRIVE_GPU_EDGE", 1); }

void OnDevice::SetUpTestSuite() {
  const gpu::SystemInfo system = gpu::system_info();
  for (const gpu::DeviceInfo& device : system.devices)
    std::printf("cuda:%d is %s\n", device.ordinal, device.name.c_str());
  std::printf("ZARRIVE_GPU_SEED=%llu\n", static_cast<unsigned long long>(seed()));
}

void OnDevice::SetUp() {
  const gpu::SystemInfo system = gpu::system_info();
  devices_ = static_cast<int>(system.devices.size());
  if (devices_ == 0) FAIL() << "no GPU here: " << system.driver.reason;
}

Bytes copy_back(const MemorySpace& space, const std::byte* data, std::size_t size, gpu::CudaStream stream) {
  const gpu::Device& device = gpu::Device::get(space.device);
  Bytes bytes(size, std::byte{0x11});
  if (stream) {
    gpu::copy_to_host(device, bytes.data(), data, size, stream);
    gpu::synchronize(device, stream);
  } else {
    gpu::Stream own(device);
    gpu::copy_to_host(device, bytes.data(), data, size, own.handle());
    own.synchronize();
  }
  return bytes;
}

Bytes bytes_of(const ArrayView& dense, gpu::CudaStream stream) {
  if (!dense.space.host_accessible()) return copy_back(dense.space, dense.data, dense.nbytes(), stream);
  return {dense.data, dense.data + dense.nbytes()};
}

Buffer on_device(const Bytes& bytes, int device) {
  Buffer copy = Buffer::allocate(bytes.size(), cuda(device));
  gpu::Stream stream(gpu::Device::get(device));
  gpu::copy_to_device(gpu::Device::get(device), copy.mutable_data(), bytes.data(), bytes.size(),
                      stream.handle());
  stream.synchronize();
  return copy;
}

ArrayView moved(const ArrayView& view, const Bytes& memory, Buffer& copy) {
  return {copy.mutable_data() + (view.data - memory.data()), view.type, view.shape, view.strides,
          copy.space()};
}

}  // namespace zarrive::gpu_real
