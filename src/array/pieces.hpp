// The pieces of a read or write: for each chunk that a selection touches, or that a list names, which part of the chunk and which part of
// the caller's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "indexing/projection.hpp"
#include "zarrive/array.hpp"
#include "zarrive/chunk_part.hpp"
#include "zarrive/context.hpp"
#include "zarrive/memory.hpp"
#include "zarrive/metadata.hpp"
#include "zarrive/selection.hpp"

namespace zarrive {

struct Piece {
  Index chunk = {};        // grid index; of a list it may be unknown, and empty
  Shape chunk_shape = {};  // full, also past the array's end
  ChunkPart part = {};
  bool covers = false;  // every element of the chunk that lies in the array is selected
  bool whole = false;   // the whole chunk, also in its own order: the part of the output equals the chunk
};

class Pieces {
 public:
  Pieces(std::shared_ptr<const ArrayMetadata> metadata, const ResolvedSelection& selection);
  // Those of the list that have elements. The list has been checked (check_transfer) and outlives this.
  Pieces(std::shared_ptr<const ArrayMetadata> metadata, std::span<const ChunkAccess> list);

  std::uint64_t size() const noexcept { return projection_ ? projection_->size() : entries_.size(); }
  void at(std::uint64_t i, Piece& out) const;
  // The store key of piece `i`; `node` is the array's path.
  std::string key(std::uint64_t i, const Piece& piece, const std::string& node) const;

  // All parts are strided views of their chunks and of the caller's memory.
  bool are_ranges() const noexcept { return ranges_; }
  // Chunks may come more than once.
  bool may_repeat() const noexcept { return !projection_ && size() > 1; }
  // Of a list: piece `i` is this entry of it.
  std::size_t entry(std::uint64_t i) const { return entries_[static_cast<std::size_t>(i)].number; }

  // Whether every element of an output of this shape is a place of some piece.
  bool fill_all_of(std::span<const std::uint64_t> output) const;

  // What store and codecs are told about a piece.
  Context context(const Piece& piece, std::string key, const std::string& node) const;

 private:
  std::shared_ptr<const ArrayMetadata> metadata_;
  std::optional<GridProjection> projection_;  // of a selection that has elements
  // Of a list.
  struct Entry {
    std::size_t number = 0;
    ChunkPart part = {};  // with ranges where there were lists that are such
  };
  std::span<const ChunkAccess> list_;
  std::vector<Entry> entries_;
  bool ranges_ = true;
};

// Visits the places of a part in an output of this shape, seen as one dimension.
template <class Visit>
void each_place(const ChunkPart& part, std::span<const std::uint64_t> output, const Visit& visit) {
  const std::uint64_t count = part.size();
  if (part.is_points()) {
    for (std::uint64_t i = 0; i < count; ++i) visit(part.point_place(i));
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i, place = 0, below = 1;
    for (std::size_t d = part.ndim(); d-- > 0;) {
      const PartDimension& dimension = part.dimensions()[d];
      place += dimension.place(rest % dimension.count) * below;
      rest /= dimension.count;
      below *= output[d];
    }
    visit(place);
  }
}

// The full shape of the chunk of a list's entry, and how much of it lies in the array.
struct ChunkExtent {
  Shape full = {};
  Shape inside = {};
};
ChunkExtent chunk_extent(const ArrayMetadata& metadata, std::span<const std::uint64_t> chunk);
ChunkExtent chunk_extent(const ArrayMetadata& metadata, const ChunkAccess& access);

// The caller's memory with the dimensions that integers dropped put back, as extent 1.
ArrayView with_dropped_dimensions(const ArrayView& view, const ResolvedSelection& selection);

}  // namespace zarrive
