// The one thing that this floor asks of src/gpu/, which lies above it, so that cuda(0) works without anything being registered.
#pragma once

#include <memory>

#include "zarrive/memory.hpp"

namespace zarrive::detail {

// For cuda: device memory, or Error(unsupported) that says why there is none. For pinned: null without a driver. Defined in src/gpu/memory.cpp.
std::shared_ptr<Allocator> gpu_allocator(const MemorySpace& space);

}  // namespace zarrive::detail
