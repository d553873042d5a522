// A large selection in parts that follow each other in the order of its elements, so that any size passes through bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "zarrive/chunk_grid.hpp"
#include "zarrive/selection.hpp"

namespace zarrive::cli {

// The most bytes of elements that a command holds at one time for results it streams.
inline constexpr std::uint64_t slab_bytes = 256u << 20;

// One part: it selects these elements, in the same dimensions as the whole (no dimension dropped).
struct Slab {
  Selection selection;
  Shape extent;
};

// Cuts `selection` into slabs of at most `max_bytes` (one element at least), each a run of elements when the dimensions are walked in
// `order` (outermost first; empty: C order). Cuts fall between chunks where the size allows it, so that chunks are touched once.
void for_each_slab(const ResolvedSelection& selection, const ChunkGrid& grid, std::size_t item_size,
                   std::uint64_t max_bytes, const std::vector<std::size_t>& order,
                   const std::function<void(const Slab&)>& visit);

// Ranges of positions as slices, lists as lists.
Selection to_selection(const ResolvedSelection& resolved);

}  // namespace zarrive::cli
