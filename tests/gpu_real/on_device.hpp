// The tests of this folder run on a real GPU (./dev gpu-check) and on the fake driver (ctest): they use nothing but our own API and the
// driver, and compare what was read into device memory with what the same read gives on the host.
//
// ZARRIVE_GPU_SEED repeats a run, ZARRIVE_GPU_CASES changes how many random arrays there are, ZARRIVE_GPU_EDGE multiplies the edges of the
// larger arrays.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "gpu/device.hpp"
#include "zarrive/array.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::gpu_real {

std::uint64_t seed();
std::uint64_t cases();
std::uint64_t edge_factor();

// Fails where there is no device: what runs these tests is to know that before.
class OnDevice : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  void SetUp() override;
  int devices() const { return devices_; }

 private:
  int devices_ = 0;
};

using Bytes = std::vector<std::byte>;

// Bytes of device memory as they are when everything put into `stream` so far is done; null: now.
Bytes copy_back(const MemorySpace& space, const std::byte* data, std::size_t size,
                gpu::CudaStream stream = nullptr);
// The elements of a dense array in any memory.
Bytes bytes_of(const ArrayView& dense, gpu::CudaStream stream = nullptr);
inline Bytes bytes_of(const NDArray& array, gpu::CudaStream stream = nullptr) {
  return bytes_of(array.view(), stream);
}

// Device memory that holds these bytes when this returns.
Buffer on_device(const Bytes& bytes, int device);
// A view of host memory, which starts at `memory`, as the same view of device memory that starts at `copy`.
ArrayView moved(const ArrayView& view, const Bytes& memory, Buffer& copy);

}  // namespace zarrive::gpu_real
