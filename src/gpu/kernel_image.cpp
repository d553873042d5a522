#include "gpu/kernel_image.hpp"

#ifdef ZARRIVE_KERNEL_IMAGE

// The assembler reads the file in; cmake/ZarriveKernels.cmake makes it first.
asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".hidden zarrive_kernel_image\n"
    ".global zarrive_kernel_image\n"
    "zarrive_kernel_image:\n"
    ".incbin \"" ZARRIVE_KERNEL_IMAGE
    "\"\n"
    ".hidden zarrive_kernel_image_end\n"
    ".global zarrive_kernel_image_end\n"
    "zarrive_kernel_image_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const std::byte zarrive_kernel_image[];
extern const std::byte zarrive_kernel_image_end[];
}

std::span<const std::byte> zarrive::gpu::built_in_kernels() noexcept {
  return {zarrive_kernel_image, zarrive_kernel_image_end};
}

#else

std::span<const std::byte> zarrive::gpu::built_in_kernels() noexcept { return {}; }

#endif
