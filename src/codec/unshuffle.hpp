// Planes back to elements: the inner loops of the byte and bit unshuffle, for any element width.
//
// A byte plane b holds byte b of every element. A bit plane holds one bit of every element: bit i % 8 of its byte i / 8 belongs to
// element i; eight of them, lowest bit first, make a byte plane. Planes are given by pointer each, so that they may lie apart (streams
// that were stored uncompressed are read where they are). Each set of loops is one Kernels; the best for the processor is chosen once.
#pragma once

#include <cstddef>
#include <span>

namespace zarrive::unshuffle {

struct Kernels {
  const char* name;
  // out[i * width + b] = planes[b][i] for i < count, b < width; width >= 1. Nothing outside is read or written. With `stream` the
  // output goes past the cache where that can be had: for some widths, when `out` and count * width are multiples of
  // kStreamAlignment. Whoever asked for it calls detail::fence() (memory/streaming_copy.hpp) before the bytes are handed to other threads.
  void (*bytes)(const std::byte* const* planes, std::size_t width, std::size_t count, std::byte* out,
                bool stream);
  // Bit k of out[i] = bit i % 8 of (planes + k * stride)[i / 8], k < 8, i < count; count is a multiple of 8.
  void (*bits)(const std::byte* planes, std::size_t stride, std::size_t count, std::byte* out);
};

constexpr std::size_t kStreamAlignment = 64;

const Kernels& kernels();                // the fastest that this processor runs
std::span<const Kernels> all_kernels();  // all that it runs, the slowest first: for tests and benchmarks

}  // namespace zarrive::unshuffle
