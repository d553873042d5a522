// The loops for 32-byte vectors of AVX2. A vector's two halves work as two 16-byte ones, on elements 16 apart; they are put in
// order at the end. Elements of 2, 4 and 8 bytes, and bits; the rest is left to the 16-byte loops.
#include "codec/unshuffle_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#define ZARRIVE_AVX2 __attribute__((target("avx2")))
#define ZARRIVE_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace zarrive::unshuffle::detail {
namespace {

ZARRIVE_AVX2_INLINE __m256i load32(const std::byte* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

template <bool Stream>
ZARRIVE_AVX2_INLINE void store32(std::byte* to, __m256i value) noexcept {
  if constexpr (Stream) _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
  else _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

// As of 16-byte vectors, in both halves.
template <std::size_t Width>
ZARRIVE_AVX2_INLINE void interleave(__m256i (&v)[Width]) noexcept {
#pragma GCC unroll 4
  for (std::size_t length = 1; length < Width; length *= 2) {
    __m256i next[Width];
    const std::size_t half = Width / length / 2;
#pragma GCC unroll 8
    for (std::size_t pair = 0; pair < Width / 2; ++pair) {
      const std::size_t stream = pair / length, k = pair % length;
      const __m256i a = v[stream * length + k], b = v[(stream + half) * length + k];
      next[2 * pair] = _mm256_unpacklo_epi8(a, b);
      next[2 * pair + 1] = _mm256_unpackhi_epi8(a, b);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Width; ++i) v[i] = next[i];
  }
}

// The lower halves in order, then the upper ones.
template <std::size_t Width, bool Stream>
ZARRIVE_AVX2_INLINE void store_halves(const __m256i (&v)[Width], std::byte* out) noexcept {
#pragma GCC unroll 8
  for (std::size_t k = 0; k < Width; k += 2)
    store32<Stream>(out + 16 * k, _mm256_permute2x128_si256(v[k], v[k + 1], 0x20));
#pragma GCC unroll 8
  for (std::size_t k = 0; k < Width; k += 2)
    store32<Stream>(out + 16 * Width + 16 * k, _mm256_permute2x128_si256(v[k], v[k + 1], 0x31));
}

template <std::size_t Width, bool Stream>
ZARRIVE_AVX2 std::size_t of_width(const std::byte* const* planes, std::size_t count,
                                  std::byte* out) noexcept {
  const std::size_t whole = count / 32 * 32;
  const std::byte* plane[Width];
  for (std::size_t b = 0; b < Width; ++b) plane[b] = planes[b];
  for (std::size_t i = 0; i < whole; i += 32) {
    __m256i v[Width];
#pragma GCC unroll 8
    for (std::size_t b = 0; b < Width; ++b) v[b] = load32(plane[b] + i);
    interleave<Width>(v);
    store_halves<Width, Stream>(v, out + i * Width);
  }
  return whole;
}

template <std::size_t Width>
std::size_t of_width(const std::byte* const* planes, std::size_t count, std::byte* out,
                     bool stream) noexcept {
  return stream ? of_width<Width, true>(planes, count, out) : of_width<Width, false>(planes, count, out);
}

void bytes(const std::byte* const* planes, std::size_t width, std::size_t count, std::byte* out,
           bool stream) {
  if (reinterpret_cast<std::uintptr_t>(out) % kStreamAlignment != 0 || count * width % kStreamAlignment != 0)
    stream = false;
  std::size_t done = 0;
  switch (width) {
    case 2: done = of_width<2>(planes, count, out, stream); break;
    case 4: done = of_width<4>(planes, count, out, stream); break;
    case 8: done = of_width<8>(planes, count, out, stream); break;
    default: return bytes16(planes, width, count, out, stream);
  }
  if (done == count) return;
  const std::byte* rest[8];
  for (std::size_t b = 0; b < width; ++b) rest[b] = planes[b] + done;
  bytes16(rest, width, count - done, out + done * width, false);
}

ZARRIVE_AVX2_INLINE void exchange(__m256i& a, __m256i& b, int shift, __m256i mask) noexcept {
  const __m256i t = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64(a, shift), b), mask);
  b = _mm256_xor_si256(b, t);
  a = _mm256_xor_si256(a, _mm256_slli_epi64(t, shift));
}

ZARRIVE_AVX2 void bits(const std::byte* planes, std::size_t stride, std::size_t count, std::byte* out) {
  const std::size_t rows = count / 8;
  const __m256i nibbles = _mm256_set1_epi8(0x0F), pairs = _mm256_set1_epi8(0x33),
                singles = _mm256_set1_epi8(0x55);
  std::size_t at = 0;
  for (; at + 32 <= rows; at += 32) {
    __m256i v[8];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) v[k] = load32(planes + k * stride + at);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) exchange(v[k], v[k + 4], 4, nibbles);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) exchange(v[k / 2 * 4 + k % 2], v[k / 2 * 4 + k % 2 + 2], 2, pairs);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) exchange(v[2 * k], v[2 * k + 1], 1, singles);
    interleave<8>(v);
    store_halves<8, false>(v, out + 8 * at);
  }
  bits16(planes, stride, at, rows, out);
}

}  // namespace

Kernels avx2_kernels() { return {"AVX2", bytes, bits}; }

}  // namespace zarrive::unshuffle::detail
#endif
