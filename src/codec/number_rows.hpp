// Numbers of one view to those of another of the same shape, a block at a time.
#pragma once

#include <algorithm>

#include "codec/numbers.hpp"
#include "codec/rows.hpp"

namespace zarrive {

// Calls work(block, count) for the elements of `from` in blocks of at most NumberBlock::kSize; what it leaves in the block goes to `to`.
template <class Work>
void transform_numbers(const ArrayView& from, const ArrayView& to, Work&& work) {
  NumberBlock block;
  for_each_row(from, to,
               [&](std::byte* source, std::int64_t step, std::byte* target, std::int64_t target_step,
                   std::uint64_t count) {
                 for (std::uint64_t done = 0; done < count; done += NumberBlock::kSize) {
                   const auto now =
                       static_cast<std::size_t>(std::min<std::uint64_t>(count - done, NumberBlock::kSize));
                   const auto at = static_cast<std::int64_t>(done);
                   load_numbers(from.type, source + at * step, step, now, block);
                   work(block, now);
                   store_numbers(to.type, block, now, target + at * target_step, target_step);
                 }
               });
}

}  // namespace zarrive
