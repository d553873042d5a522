#include "memory/streaming_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace zarrive::detail {

#if defined(__x86_64__)
constexpr std::size_t kLine = 64;  // of the cache
#endif

#if defined(__x86_64__)
namespace {

// The bytes before and after whole cache lines by memcpy, the lines by store(target, value).
template <class Store>
void copy_lines(std::byte* to, const std::byte* from, std::size_t size, const Store& store) noexcept {
  const std::size_t head = std::min(size, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  const std::size_t body = (size - head) / kLine * kLine;
  for (std::size_t i = head; i < head + body; i += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    store(target, a);
    store(target + 1, b);
    store(target + 2, c);
    store(target + 3, d);
  }
  const std::size_t done = head + body;
  if (done < size) std::memcpy(to + done, from + done, size - done);
}

}  // namespace
#endif

void copy_streaming(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size == 0) return;
#if defined(__x86_64__)
  copy_lines(to, from, size, [](__m128i* target, __m128i value) { _mm_stream_si128(target, value); });
#else
  std::memcpy(to, from, size);
#endif
}

void copy_large(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size == 0) return;
#if defined(__x86_64__)
  constexpr std::size_t kByRepMovsb = 4096;
  if (size >= kByRepMovsb && reinterpret_cast<std::uintptr_t>(to) % kLine != 0)
    return copy_lines(to, from, size, [](__m128i* target, __m128i value) { _mm_store_si128(target, value); });
#endif
  std::memcpy(to, from, size);
}

void fence() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace zarrive::detail
