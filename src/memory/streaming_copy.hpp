// Copies of large blocks: past the cache, for memory that nobody reads at once, and through it.
#pragma once

#include <cstddef>

namespace zarrive::detail {

// memcpy past the cache: whole cache lines of `to` are written without being read first. Any sizes and alignments.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t size) noexcept;
// memcpy that is as fast when `to` begins amid a cache line, as memory of malloc and so of NumPy does: glibc copies blocks of 4 KiB and more
// by rep movsb, which ran at 2 GB/s there and 10 GB/s at the begin of a line (Zen 2 to 4).
void copy_large(std::byte* to, const std::byte* from, std::size_t size) noexcept;
// Orders what was written past the cache before what this thread writes next.
void fence() noexcept;

}  // namespace zarrive::detail
