// Between the files of the unshuffle loops.
#pragma once

#include "codec/unshuffle.hpp"

namespace zarrive::unshuffle::detail {

#if defined(__x86_64__)
Kernels avx2_kernels();  // to be called only where __builtin_cpu_supports("avx2")
#endif

// The loops on 16-byte vectors, for what other kernels have nothing better for. bits16 does bytes [begin, end) of each plane.
void bytes16(const std::byte* const* planes, std::size_t width, std::size_t count, std::byte* out,
             bool stream);
void bits16(const std::byte* planes, std::size_t stride, std::size_t begin, std::size_t end, std::byte* out);

}  // namespace zarrive::unshuffle::detail
