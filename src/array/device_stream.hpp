// The stream in which a read or write of device memory goes on.
#pragma once

#include <optional>

#include "gpu/transfer.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

// The caller's, or one of our own where there is none.
class DeviceStream {
 public:
  DeviceStream(const MemorySpace& space, void* callers);
  const gpu::Device& device() const noexcept { return device_; }
  gpu::CudaStream handle() const noexcept { return stream_; }
  bool is_callers() const noexcept { return !own_; }
  void synchronize();

 private:
  const gpu::Device& device_;
  std::optional<gpu::BorrowedStream> own_;
  gpu::CudaStream stream_ = nullptr;
};

}  // namespace zarrive
