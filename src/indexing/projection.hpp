// Projections: part of an array (or of a shard) cut along a chunk grid, into parts of its chunks.
//
// What is kept grows with what is touched. Ranges: a piece for each chunk along each dimension, and the product of the dimensions is walked, not
// stored. Lists: the same, the positions sorted by chunk (in their order within each) unless they come that way already; then they
// are used where they lie. Points: sorted by chunk likewise, and an entry for each chunk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/chunk_grid.hpp"
#include "zarrive/chunk_part.hpp"

namespace zarrive {

// How a dimension is cut: which chunk holds a position, where a chunk starts and how long it is.
struct DimensionCut {
  std::function<std::uint64_t(std::uint64_t position)> chunk_at = {};
  std::function<std::uint64_t(std::uint64_t chunk)> chunk_start = {};
  std::function<std::uint64_t(std::uint64_t chunk)> chunk_edge = {};
  std::uint64_t regular_edge =
      0;  // when all chunks have this length, from position 0 on; saves a call for each position of a list
};
std::vector<DimensionCut> cuts_of(const ChunkGrid& grid);  // `grid` outlives them

// A list whose positions and places both go on by one step becomes a range: those move fastest. A range of one position gets step 1.
void make_range(PartDimension& part);

// What a dimension of a part touches in one chunk. Positions count from the chunk's origin.
struct DimensionPiece {
  std::uint64_t chunk = 0;
  PartDimension part = {};
};

// All chunks that a part touches, each once.
class GridProjection {
 public:
  GridProjection(const ChunkPart& part, const std::vector<DimensionCut>& cuts);

  std::uint64_t size() const noexcept { return size_; }  // number of chunks
  // Piece `i`: the chunk's index in the grid, and the part of it. Of ranges in C order of the output.
  void at(std::uint64_t i, Index& chunk, ChunkPart& part) const;

 private:
  void project_points(const ChunkPart& part, const std::vector<DimensionCut>& cuts);

  std::vector<std::vector<DimensionPiece>> dimensions_;  // of ranges and lists
  std::uint64_t size_ = 1;
  std::shared_ptr<const void> owner_;  // of what the pieces point to

  // Points: piece i has points [first_[i], first_[i + 1]) and the chunk chunks_[i * ndim ...].
  bool points_ = false;
  std::size_t ndim_ = 0;
  std::vector<std::uint64_t> first_;
  std::vector<std::uint64_t> chunks_;
  std::vector<std::uint64_t> origins_;  // of the positions, beside chunks_
  std::vector<const std::uint64_t*> positions_;
  const std::uint64_t* outputs_ = nullptr;
  std::uint64_t output_start_ = 0;
};

// The chunks that a range touches, in the order of the output.
std::vector<DimensionPiece> project_range(const PartDimension& range, const DimensionCut& cut);
// The chunks that a list touches, each once: in the list's order where that has each chunk's positions together, else ascending. `owner`
// keeps the list alive, and is replaced by one that keeps the pieces' positions alive too when they had to be sorted.
std::vector<DimensionPiece> project_list(const PartDimension& list, const DimensionCut& cut,
                                         std::shared_ptr<const void>& owner);

}  // namespace zarrive
