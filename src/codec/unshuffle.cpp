// Loops on 16-byte vectors, which every 64-bit processor has (SSE2, NEON), through the compiler's vector types.
#include "codec/unshuffle.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "codec/unshuffle_kernels.hpp"
#include "memory/streaming_copy.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zarrive::unshuffle {
namespace {

using Bytes16 [[gnu::vector_size(16)]] = std::uint8_t;
using Words16 [[gnu::vector_size(16)]] = std::uint64_t;

Bytes16 load16(const std::byte* from) noexcept {
  Bytes16 value;
  std::memcpy(&value, from, 16);
  return value;
}
template <class V>
void store16(std::byte* to, const V& value) noexcept {
  std::memcpy(to, &value, 16);
}

Bytes16 low_halves(const Bytes16& a, const Bytes16& b) noexcept {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Bytes16 high_halves(const Bytes16& a, const Bytes16& b) noexcept {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// Width streams of 16 bytes become one of 16 * Width: the streams are interleaved in pairs (i, i + half), until one is left.
template <std::size_t Width>
[[gnu::always_inline]] inline void interleave(Bytes16 (&v)[Width]) noexcept {
#pragma GCC unroll 4
  for (std::size_t length = 1; length < Width; length *= 2) {
    Bytes16 next[Width];
    const std::size_t half = Width / length / 2;
#pragma GCC unroll 16
    for (std::size_t pair = 0; pair < Width / 2; ++pair) {
      const std::size_t stream = pair / length, k = pair % length;
      const Bytes16 a = v[stream * length + k], b = v[(stream + half) * length + k];
      next[2 * pair] = low_halves(a, b);
      next[2 * pair + 1] = high_halves(a, b);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < Width; ++i) v[i] = next[i];
  }
}

// Bytes [first, first + Width) of 16 elements from `i` on, wherever they go.
template <std::size_t Width>
[[gnu::always_inline]] inline void group(const std::byte* const* planes, std::size_t i, std::byte* out,
                                         std::size_t step) noexcept {
  Bytes16 v[Width];
#pragma GCC unroll 16
  for (std::size_t b = 0; b < Width; ++b) v[b] = load16(planes[b] + i);
  interleave<Width>(v);
  if (step == Width) {
#pragma GCC unroll 16
    for (std::size_t k = 0; k < Width; ++k) store16(out + 16 * k, v[k]);
    return;
  }
#pragma GCC unroll 16
  for (std::size_t e = 0; e < 16; ++e)
    std::memcpy(out + e * step, reinterpret_cast<const std::byte*>(&v[e * Width / 16]) + e * Width % 16,
                Width);
}

// Elements of any width, group by group; the last group overlaps the one before it.
template <std::size_t Group>
std::size_t grouped(const std::byte* const* planes, std::size_t width, std::size_t count,
                    std::byte* out) noexcept {
  // So many elements at a time that every cache line of a plane is used up in one visit.
  constexpr std::size_t kTile = 64;
  const std::size_t whole = count / 16 * 16;
  for (std::size_t begin = 0; begin < whole; begin += kTile) {
    const std::size_t end = std::min(whole, begin + kTile);
    for (std::size_t b = 0;; b = std::min(b + Group, width - Group)) {
      for (std::size_t i = begin; i < end; i += 16) group<Group>(planes + b, i, out + i * width + b, width);
      if (b + Group == width) break;
    }
  }
  return whole;
}

template <std::size_t Width>
std::size_t of_width(const std::byte* const* planes, std::size_t count, std::byte* out) noexcept {
  const std::size_t whole = count / 16 * 16;
  for (std::size_t i = 0; i < whole; i += 16) group<Width>(planes, i, out + i * Width, Width);
  return whole;
}

void bytes(const std::byte* const* planes, std::size_t width, std::size_t count, std::byte* out,
           bool stream) {
  std::size_t done = 0;
  switch (width) {
    case 1:
      if (stream) ::zarrive::detail::copy_streaming(out, planes[0], count);
      else if (count != 0) std::memcpy(out, planes[0], count);
      return;
    case 2: done = of_width<2>(planes, count, out); break;
    case 4: done = of_width<4>(planes, count, out); break;
    case 8: done = of_width<8>(planes, count, out); break;
    case 16: done = of_width<16>(planes, count, out); break;
    default:
      if (width > 16) done = grouped<16>(planes, width, count, out);
      else if (width > 8) done = grouped<8>(planes, width, count, out);
      else if (width > 4) done = grouped<4>(planes, width, count, out);
      else done = grouped<2>(planes, width, count, out);
  }
  for (std::size_t i = done; i < count; ++i)
    for (std::size_t b = 0; b < width; ++b) out[i * width + b] = planes[b][i];
}

// Eight elements: the bytes that stand at `at` in the eight planes.
void bit_column(const std::byte* planes, std::size_t stride, std::size_t at, std::byte* out) noexcept {
  std::uint64_t square = 0;
  for (std::size_t k = 0; k < 8; ++k)
    square |= std::uint64_t{std::to_integer<std::uint8_t>(planes[k * stride + at])} << (8 * k);
  // Transposed within one word: byte k's bit i becomes byte i's bit k.
  std::uint64_t t = (square ^ (square >> 7)) & 0x00AA00AA00AA00AA;
  square ^= t ^ (t << 7);
  t = (square ^ (square >> 14)) & 0x0000CCCC0000CCCC;
  square ^= t ^ (t << 14);
  t = (square ^ (square >> 28)) & 0x00000000F0F0F0F0;
  square ^= t ^ (t << 28);
  std::memcpy(out + 8 * at, &square, 8);
}

// Swaps the bits of `a` that lie `shift` above those of the mask with the bits of `b` in the mask.
template <class V>
[[gnu::always_inline]] inline void exchange(V& a, V& b, int shift, std::uint64_t mask) noexcept {
  const V t = ((a >> shift) ^ b) & mask;
  b ^= t;
  a ^= t << shift;
}

void bit_columns(const std::byte* planes, std::size_t stride, std::size_t begin, std::size_t end,
                 std::byte* out) {
  std::size_t at = begin;
  for (; at + 16 <= end; at += 16) {
    Words16 v[8];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) std::memcpy(&v[k], planes + k * stride + at, 16);
      // The 8 x 8 bits that stand in one byte column are transposed by exchanging quarters, then quarters of those, then single bits.
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) exchange(v[k], v[k + 4], 4, 0x0F0F0F0F0F0F0F0F);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k)
      exchange(v[k / 2 * 4 + k % 2], v[k / 2 * 4 + k % 2 + 2], 2, 0x3333333333333333);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) exchange(v[2 * k], v[2 * k + 1], 1, 0x5555555555555555);
    Bytes16 w[8];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) w[k] = std::bit_cast<Bytes16>(v[k]);
    interleave<8>(w);
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) store16(out + 8 * at + 16 * k, w[k]);
  }
  for (; at < end; ++at) bit_column(planes, stride, at, out);
}

void bits(const std::byte* planes, std::size_t stride, std::size_t count, std::byte* out) {
  bit_columns(planes, stride, 0, count / 8, out);
}

constexpr Kernels kVector16{"16-byte vectors", bytes, bits};

std::span<const Kernels> available() {
  static const auto list = [] {
    struct {
      Kernels kernels[2] = {kVector16, kVector16};
      std::size_t count = 1;
    } found;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) found.kernels[found.count++] = detail::avx2_kernels();
#endif
    return found;
  }();
  return {list.kernels, list.count};
}

}  // namespace

namespace detail {

void bytes16(const std::byte* const* planes, std::size_t width, std::size_t count, std::byte* out,
             bool stream) {
  bytes(planes, width, count, out, stream);
}
void bits16(const std::byte* planes, std::size_t stride, std::size_t begin, std::size_t end, std::byte* out) {
  bit_columns(planes, stride, begin, end, out);
}

}  // namespace detail

const Kernels& kernels() {
  static const Kernels best = available().back();
  return best;
}
std::span<const Kernels> all_kernels() { return available(); }

}  // namespace zarrive::unshuffle
