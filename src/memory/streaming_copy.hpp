// Copies that go past the cache, for memory that nobody reads at once.
#pragma once

#include <cstddef>

namespace zarrive::detail {

// memcpy past the cache: whole cache lines of `to` are written without being read first. Any sizes and alignments.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t size) noexcept;
// Orders what was written past the cache before what this thread writes next.
void fence() noexcept;

}  // namespace zarrive::detail
