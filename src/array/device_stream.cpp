#include "array/device_stream.hpp"

namespace zarrive {

DeviceStream::DeviceStream(const MemorySpace& space, void* callers)
    : device_(gpu::Device::get(space.device)) {
  if (callers) stream_ = static_cast<gpu::CudaStream>(callers);
  else stream_ = own_.emplace(device_).handle();
}

void DeviceStream::synchronize() {
  if (own_) return own_->synchronize();
  gpu::synchronize(device_, stream_);
}

}  // namespace zarrive
