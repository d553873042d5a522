// The allocators of device and of pinned memory.
#pragma once

#include <memory>

#include "gpu/device.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::gpu {

// Memory of a device, aligned to 256 bytes as the driver gives it (Error(invalid_argument) for more). Freeing it waits for the device, as
// cuMemFree does, so nothing that was put into a stream before loses its memory.
// Memory that a forked child inherits is of no use there and is not freed there.
std::shared_ptr<Allocator> device_allocator(const MemorySpace& space);

// Host memory that every device copies from at full speed, cut from slabs of 2 MiB and up, which are kept for reuse and never given back:
// pinning is a slow call, and the driver may be gone when the process ends. Null on a machine without a driver.
std::shared_ptr<Allocator> pinned_allocator(const MemorySpace& space);

}  // namespace zarrive::gpu
