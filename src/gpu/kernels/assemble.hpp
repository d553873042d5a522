// The kernel that puts wanted elements of decoded chunks at their places, one thread an element: unshuffle, element operations,
// selection, transposition and scatter in one pass. A fill is the same with one element that stands for all, a copy of a box the same
// without shuffle or operations.
#pragma once

#include "gpu/kernels/group.hpp"
#include "gpu/kernels/layout.hpp"
#include "gpu/kernels/operations.hpp"

namespace zarrive::gpu::kernels {

// Offsets in bytes: in the decoded chunk, and from the chunk's first place.
struct Place {
  std::int64_t source;
  std::int64_t target;
};

// One dimension of what is wanted: i * steps, or places[i] when it is a list.
struct Dimension {
  std::uint64_t count;
  std::int64_t source_step;
  std::int64_t target_step;
  const Place* places;
};

struct Chunk {
  const std::uint8_t* source;  // its decoded bytes, as `layout` says
  std::uint8_t* target;        // place of the first wanted element
  const Dimension* dimensions;
  const Operation* operations;
  std::uint32_t* status;      // ok beforehand
  std::int64_t source_start;  // of the first wanted element
  std::uint64_t elements;     // wanted: the product of the counts, not zero
  std::uint64_t first_unit;   // units before it, of other chunks
  Layout layout;
  std::uint32_t dimension_count;
  std::uint32_t operation_count;
  std::uint8_t source_size;  // bytes of an element: 1, 2, 4 or 8
  std::uint8_t target_size;
  bool straight;  // see load_decoded
};

struct Assemble {
  // Elements a unit: 8 for each thread of a block, so that finding the chunk weighs little.
  static constexpr std::uint64_t tile = 2048;

  const Chunk* chunks;
  std::uint64_t chunk_count;
  std::uint64_t units;

  template <class Group>
  ZARRIVE_KERNEL void run(std::uint64_t unit, const Group& group) const {
    const Chunk& chunk = chunks[find(unit)];
    const std::uint64_t begin = (unit - chunk.first_unit) * tile;
    const std::uint64_t left = chunk.elements - begin;
    const auto count = static_cast<std::uint32_t>(left < tile ? left : tile);
    const bool small = chunk.elements <= 0xFFFFFFFF;  // divisions of 32 bits cost a third
    for (std::uint32_t i = group.lane(); i < count; i += group.size()) {
      Place place{chunk.source_start, 0};
      if (small) locate(chunk, static_cast<std::uint32_t>(begin + i), place);
      else locate(chunk, begin + i, place);
      std::uint64_t bits =
          load_decoded(chunk.layout, chunk.source, place.source, chunk.source_size, chunk.straight);
      for (std::uint32_t k = 0; k < chunk.operation_count; ++k)
        if (!apply(chunk.operations[k], bits)) *chunk.status = status_no_value;
      store_bits(chunk.target + place.target, chunk.target_size, bits);
    }
  }

 private:
  // The last chunk that begins at this unit or before.
  ZARRIVE_KERNEL std::uint64_t find(std::uint64_t unit) const {
    std::uint64_t low = 0;
    std::uint64_t high = chunk_count;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (chunks[middle].first_unit <= unit) low = middle;
      else high = middle;
    }
    return low;
  }

  // Adds where element `index` lies, the last dimension running fastest.
  template <class Index>
  ZARRIVE_KERNEL static void locate(const Chunk& chunk, Index index, Place& place) {
    for (std::uint32_t d = chunk.dimension_count; d-- > 0;) {
      const Dimension& dimension = chunk.dimensions[d];
      Index i = index;
      if (d > 0) {
        const auto count = static_cast<Index>(dimension.count);
        index /= count;
        i -= index * count;
      }
      if (dimension.places) {
        place.source += dimension.places[i].source;
        place.target += dimension.places[i].target;
      } else {
        place.source += static_cast<std::int64_t>(i) * dimension.source_step;
        place.target += static_cast<std::int64_t>(i) * dimension.target_step;
      }
    }
  }
};

}  // namespace zarrive::gpu::kernels
