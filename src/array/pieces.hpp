// The pieces of a read or write: for each chunk that a selection touches, which part of the chunk and which part of the caller's memory.
#pragma once

#include <cstdint>
#include <memory>

#include "indexing/projection.hpp"
#include "zarrive/chunk_part.hpp"
#include "zarrive/context.hpp"
#include "zarrive/memory.hpp"
#include "zarrive/metadata.hpp"
#include "zarrive/selection.hpp"

namespace zarrive {

struct Piece {
  Index chunk = {};        // grid index
  Shape chunk_shape = {};  // full, also past the array's end
  ChunkPart part = {};
  bool covers = false;  // every element of the chunk that lies in the array is selected
  bool whole = false;   // the whole chunk, also in its own order: the part of the output equals the chunk
};

class Pieces {
 public:
  Pieces(std::shared_ptr<const ArrayMetadata> metadata, const ResolvedSelection& selection);

  std::uint64_t size() const noexcept { return projection_.size(); }
  void at(std::uint64_t i, Piece& out) const;

  // What store and codecs are told about a piece.
  Context context(const Piece& piece, std::string key, const std::string& node) const;

 private:
  std::shared_ptr<const ArrayMetadata> metadata_;
  GridProjection projection_;
};

// The caller's memory with the dimensions that integers dropped put back, as extent 1.
ArrayView with_dropped_dimensions(const ArrayView& view, const ResolvedSelection& selection);

}  // namespace zarrive
