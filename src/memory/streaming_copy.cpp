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

void copy_streaming(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size == 0) return;
#if defined(__x86_64__)
  const std::size_t head = std::min(size, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  const std::size_t body = (size - head) / kLine * kLine;
  for (std::size_t i = head; i < head + body; i += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  const std::size_t done = head + body;
  if (done < size) std::memcpy(to + done, from + done, size - done);
#else
  std::memcpy(to, from, size);
#endif
}

void fence() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace zarrive::detail
