// The device code that was built into the library.
#pragma once

#include <cstddef>
#include <span>

namespace zarrive::gpu {

// Machine code of several architectures and PTX for later ones, as nvcc puts them into one image; empty when nvcc was not found at build time.
std::span<const std::byte> built_in_kernels() noexcept;

}  // namespace zarrive::gpu
