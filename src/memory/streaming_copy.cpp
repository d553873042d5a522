#include "memory/streaming_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace zarrive::detail {

constexpr std::size_t kLine = 64;  // of the cache

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
constexpr auto store_any = [](__m128i* target, __m128i value) { _mm_storeu_si128(target, value); };
constexpr auto store_past = [](__m128i* target, __m128i value) { _mm_stream_si128(target, value); };

// Whole vectors, any alignment.
template <class Store>
void copy_vectors(std::byte* to, const std::byte* from, std::size_t size, const Store& store) noexcept {
  for (std::size_t i = 0; i < size; i += sizeof(__m128i))
    store(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
}

// Whole vectors to the begin of a vector: the lines that are whole past the cache.
void copy_vectors_past(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  const std::size_t head = std::min(size, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  const std::size_t tail = (size - head) / kLine * kLine + head;
  copy_vectors(to, from, head, store_any);
  copy_vectors(to + head, from + head, tail - head, store_past);
  copy_vectors(to + tail, from + tail, size - tail, store_any);
}
#endif

// The cache lines that a row shares with what lies around it: who writes the others past the cache waits for these. 2 GiB in rows that begin 16
// bytes into a line, by two threads (Xeon): rows of 128 bytes .27 s, .52 without this and vectors, .37 through the cache; 256 bytes .16, .28, .24.
void fetch_edges(const std::byte* row, std::size_t size) noexcept {
  if (reinterpret_cast<std::uintptr_t>(row) % kLine != 0) __builtin_prefetch(row, 1);
  if (reinterpret_cast<std::uintptr_t>(row + size) % kLine != 0) __builtin_prefetch(row + size - 1, 1);
}

}  // namespace

void fetch_row(const std::byte* row, std::size_t size) noexcept {
  constexpr std::size_t kFetched = 512;
  for (std::size_t i = 0; i < std::min(size, kFetched); i += kLine) __builtin_prefetch(row + i, 1);
}

void copy_rows(std::byte* to, std::int64_t step, const std::byte* from, std::size_t size, std::size_t count,
               std::uint64_t left, bool past) noexcept {
  const auto ahead = [&](std::size_t i) -> const std::byte* {
    return i + kRowsAhead < left ? to + static_cast<std::int64_t>(i + kRowsAhead) * step : nullptr;
  };
#if defined(__x86_64__)
  // Short rows, as those of inner chunks: a call for each costs as much as the copy (128 bytes: 1.3 times the time).
  constexpr std::size_t kShort = 1024;
  if (size <= kShort && size % sizeof(__m128i) == 0) {
    const auto places = reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(step);
    if (past && (places | size) % kLine == 0) {
      for (std::size_t i = 0; i < count; ++i, from += size)
        copy_vectors(to + static_cast<std::int64_t>(i) * step, from, size, store_past);
      return;
    }
    if (past && places % sizeof(__m128i) == 0) {
      for (std::size_t i = 0; i < count; ++i, from += size) {
        if (const std::byte* later = ahead(i)) fetch_edges(later, size);
        copy_vectors_past(to + static_cast<std::int64_t>(i) * step, from, size);
      }
      return;
    }
    if (!past) {
      for (std::size_t i = 0; i < count; ++i, from += size) {
        if (const std::byte* later = ahead(i)) fetch_row(later, size);
        copy_vectors(to + static_cast<std::int64_t>(i) * step, from, size, store_any);
      }
      return;
    }
  }
#endif
  for (std::size_t i = 0; i < count; ++i, from += size) {
    std::byte* const row = to + static_cast<std::int64_t>(i) * step;
    const std::byte* const later = ahead(i);
    if (past) {
      if (later) fetch_edges(later, size);
      copy_streaming(row, from, size);
    } else {
      if (later) fetch_row(later, size);
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
