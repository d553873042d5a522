#include "gpu/fake_driver.hpp"

#include <cstdlib>

namespace zarrive::gpu::testing {

namespace {

// Before main, and so before anything asks for a driver.
[[maybe_unused]] const bool chosen = ::setenv("ZARRIVE_LIBCUDA", ZARRIVE_FAKE_CUDA, 1) == 0;

}  // namespace

const char* fake_driver_path() { return ZARRIVE_FAKE_CUDA; }
const char* program_path() { return ZARRIVE_PROGRAM; }

std::vector<std::byte> peek(const std::byte* device_data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  fake_cuda::peek(bytes.data(), reinterpret_cast<std::uintptr_t>(device_data), size);
  return bytes;
}

std::vector<std::byte> counting(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  return bytes;
}

}  // namespace zarrive::gpu::testing
