// Projections: part of an array (or of a shard) cut along a chunk grid, into parts of its chunks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/chunk_grid.hpp"
#include "zarrive/chunk_part.hpp"

namespace zarrive {

// How a dimension is cut: which chunk holds a position, where a chunk starts and how long it is.
struct DimensionCut {
  std::function<std::uint64_t(std::uint64_t position)> chunk_at;
  std::function<std::uint64_t(std::uint64_t chunk)> chunk_start;
  std::function<std::uint64_t(std::uint64_t chunk)> chunk_edge;
};
std::vector<DimensionCut> cuts_of(const ChunkGrid& grid);  // `grid` outlives them

// What a dimension of a part touches in one chunk. Positions count from the chunk's origin.
struct DimensionPiece {
  std::uint64_t chunk = 0;
  PartDimension part = {};
};

// All chunks that a part touches. For ranges: the product of the dimensions, in C order of the output, and nothing is stored per chunk.
class GridProjection {
 public:
  GridProjection(const ChunkPart& part, const std::vector<DimensionCut>& cuts);

  std::uint64_t size() const noexcept { return size_; }  // number of chunks
  // Piece `i`: the chunk's index in the grid, and the part of it.
  void at(std::uint64_t i, Index& chunk, ChunkPart& part) const;

 private:
  std::vector<std::vector<DimensionPiece>> dimensions_;
  std::uint64_t size_ = 1;
  std::shared_ptr<const void> owner_;
};

// The chunks that a range touches, in the order of the output.
std::vector<DimensionPiece> project_range(const PartDimension& range, const DimensionCut& cut);

}  // namespace zarrive
