// Selections as lists of chunk parts, for Array::read_parts and write_parts: what a caller with a plan of its own might hand over.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "array/pieces.hpp"
#include "support/random_selection.hpp"
#include "zarrive/array.hpp"

namespace zarrive::testing_support {

// The chunks that a selection touches, each once, and their parts.
inline std::vector<ChunkAccess> list_of(const Array& array, const Selection& selection) {
  const Pieces pieces(std::make_shared<const ArrayMetadata>(array.metadata()), array.resolve(selection));
  std::vector<ChunkAccess> list(static_cast<std::size_t>(pieces.size()));
  Piece piece;
  for (std::size_t i = 0; i < list.size(); ++i) {
    pieces.at(i, piece);
    list[i].chunk = piece.chunk;
    list[i].part = piece.part;
  }
  return list;
}

// The memory of a result as the parts of such a list see it.
inline ArrayView list_view(const Array& array, const Selection& selection, const ArrayView& memory) {
  return with_dropped_dimensions(memory, array.resolve(selection));
}

// A part whose ranges are lists.
inline ChunkPart with_lists(const ChunkPart& part) {
  auto numbers = std::make_shared<std::vector<std::vector<std::uint64_t>>>();
  numbers->reserve(2 * part.ndim());
  std::vector<PartDimension> dimensions;
  for (const PartDimension& d : part.dimensions()) {
    auto& positions = numbers->emplace_back();
    auto& places = numbers->emplace_back();
    for (std::uint64_t i = 0; i < d.count; ++i) {
      positions.push_back(d.position(i) + 7);
      places.push_back(d.place(i));
    }
    PartDimension& list = dimensions.emplace_back();
    list.count = d.count;
    list.positions = positions.data();
    list.outputs = places.data();
    list.origin = 7;
  }
  struct Owner {
    std::shared_ptr<const void> numbers, before;
  };
  return ChunkPart(std::move(dimensions), std::make_shared<Owner>(Owner{numbers, part.owner()}));
}

// The first `count` entries along a dimension, or those behind them.
inline ChunkPart split(const ChunkPart& part, std::size_t dimension, std::uint64_t count, bool behind) {
  std::vector<PartDimension> dimensions = part.dimensions();
  PartDimension& d = dimensions[dimension];
  if (behind) {
    if (d.is_range()) d.start += static_cast<std::uint64_t>(d.step) * count;
    else d.positions += count;
    if (d.outputs != nullptr) d.outputs += count;
    else d.output_start += count;
    d.count -= count;
  } else {
    d.count = count;
  }
  return ChunkPart(std::move(dimensions), part.owner());
}

// The same list said in another way: in another order, ranges as lists, chunks by key, chunks in two entries.
inline std::vector<ChunkAccess> reworded(Random& random, const Array& array, std::vector<ChunkAccess> list) {
  std::shuffle(list.begin(), list.end(), random);
  const ArrayMetadata& metadata = array.metadata();
  std::vector<ChunkAccess> out;
  for (ChunkAccess& access : list) {
    const ChunkExtent extent = chunk_extent(metadata, access.chunk);
    if (pick(random, 3) == 0) access.covers = access.part.covers(extent.inside);
    if (pick(random, 3) == 0) {
      access.key = array.chunk_key(access.chunk);
      access.chunk_shape = extent.full;
      if (pick(random, 2)) access.chunk.clear();
    }
    const bool points = access.part.is_points();
    if (!points && pick(random, 3) == 0) access.part = with_lists(access.part);
    const std::size_t d = points || access.part.ndim() == 0 ? 0 : pick(random, access.part.ndim());
    if (!points && access.part.ndim() > 0 && access.part.dimensions()[d].count > 1 && pick(random, 4) == 0) {
      const std::uint64_t first = 1 + pick(random, access.part.dimensions()[d].count - 1);
      access.covers.reset();
      ChunkAccess behind = access;
      behind.part = split(access.part, d, first, true);
      access.part = split(access.part, d, first, false);
      out.push_back(std::move(access));
      out.push_back(std::move(behind));
    } else {
      out.push_back(std::move(access));
    }
  }
  return out;
}

}  // namespace zarrive::testing_support
