// Projections: a resolved selection cut along a chunk grid. Each piece says which chunk, which part of it, and its place in the result.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/selection.hpp"

namespace zarrive {

// Along one dimension: `count` positions of one chunk, the first at `chunk_start` (from the chunk's origin) and on by `step`, that go to
// the result from `output_start` on.
struct DimensionProjection {
  std::uint64_t chunk = 0;
  std::uint64_t chunk_start = 0;
  std::int64_t step = 1;
  std::uint64_t count = 0;
  std::uint64_t output_start = 0;
};

// How a dimension is cut: which chunk holds a position, where a chunk starts and how long it is.
struct DimensionCut {
  std::function<std::uint64_t(std::uint64_t position)> chunk_at;
  std::function<std::uint64_t(std::uint64_t chunk)> chunk_start;
  std::function<std::uint64_t(std::uint64_t chunk)> chunk_edge;
};

// The chunks that a dimension of a selection touches, in the order of the result.
std::vector<DimensionProjection> project(const ResolvedDimension& dimension, const DimensionCut& cut);

// All chunks that a selection touches: the product of its dimensions, in C order of the result. Nothing is stored per chunk.
class GridProjection {
 public:
  explicit GridProjection(std::vector<std::vector<DimensionProjection>> dimensions);

  std::uint64_t size() const noexcept { return size_; }  // number of chunks
  std::size_t ndim() const noexcept { return dimensions_.size(); }
  // The projections of piece `i`, one a dimension. `out` is resized.
  void at(std::uint64_t i, std::vector<const DimensionProjection*>& out) const;

 private:
  std::vector<std::vector<DimensionProjection>> dimensions_;
  std::uint64_t size_ = 1;
};

}  // namespace zarrive
