// Copies of large blocks: past the cache, for memory that nobody reads at once, and through it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zarrive::detail {

// memcpy past the cache: whole cache lines of `to` are written without being read first. Any sizes and alignments.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t size) noexcept;
// memcpy that is as fast when `to` begins amid a cache line, as memory of malloc and so of NumPy does: glibc copies blocks of 4 KiB and more
// by rep movsb, which ran at 2 GB/s there and 10 GB/s at the begin of a line (Zen 2 to 4).
void copy_large(std::byte* to, const std::byte* from, std::size_t size) noexcept;
// `count` rows of `size` bytes that follow each other in `from`, to places that are `step` apart; past the cache when `past`. There are
// places for `left` rows, at least `count`: those behind are written soon.
void copy_rows(std::byte* to, std::int64_t step, const std::byte* from, std::size_t size, std::size_t count,
               std::uint64_t left, bool past) noexcept;
// Who writes rows that are far apart fetches the beginning of each while it is some rows before it: those of a large array lie on pages of
// their own, and a decoder that waits for each stands still most of the time (uint16, lz4 and shuffle: 1.6 times as fast with it).
inline constexpr std::size_t kRowsAhead = 4;
void fetch_row(const std::byte* row, std::size_t size) noexcept;
// Orders what was written past the cache before what this thread writes next.
void fence() noexcept;

}  // namespace zarrive::detail
