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

namespace {

#if defined(__x86_64__)
// Whole vectors, any alignment.
template <class Store>
void copy_vectors(std::byte* to, const std::byte* from, std::size_t size, const Store& store) noexcept {
  for (std::size_t i = 0; i < size; i += sizeof(__m128i))
    store(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
}
#endif

}  // namespace

void fetch_row(const std::byte* row, std::size_t size) noexcept {
  constexpr std::size_t kFetched = 512;
  for (std::size_t i = 0; i < std::min(size, kFetched); i += 64) __builtin_prefetch(row + i, 1);
}

void copy_rows(std::byte* to, std::int64_t step, const std::byte* from, std::size_t size, std::size_t count,
               bool past) noexcept {
#if defined(__x86_64__)
  // Short rows, as those of inner chunks: a call for each costs as much as the copy (128 bytes: 1.3 times the time).
  constexpr std::size_t kShort = 1024;
  if (size <= kShort && size % sizeof(__m128i) == 0) {
    const bool lines = size % kLine == 0 && step % static_cast<std::int64_t>(kLine) == 0 &&
                       reinterpret_cast<std::uintptr_t>(to) % kLine == 0;
    if (past && lines) {
      for (std::size_t i = 0; i < count; ++i, from += size)
        copy_vectors(to + static_cast<std::int64_t>(i) * step, from, size,
                     [](__m128i* target, __m128i value) { _mm_stream_si128(target, value); });
      return;
    }
    if (!past) {
      for (std::size_t i = 0; i < count; ++i, from += size) {
        std::byte* const row = to + static_cast<std::int64_t>(i) * step;
        if (i + kRowsAhead < count) fetch_row(row + static_cast<std::int64_t>(kRowsAhead) * step, size);
        copy_vectors(row, from, size,
                     [](__m128i* target, __m128i value) { _mm_storeu_si128(target, value); });
      }
      return;
    }
  }
#endif
  for (std::size_t i = 0; i < count; ++i, from += size) {
    std::byte* const row = to + static_cast<std::int64_t>(i) * step;
    if (past) {
      copy_streaming(row, from, size);
    } else {
      if (i + kRowsAhead < count) fetch_row(row + static_cast<std::int64_t>(kRowsAhead) * step, size);
      copy_large(row, from, size);
    }
  }
}

void fence() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace zarrive::detail
