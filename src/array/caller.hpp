// The caller's side of a read or write: memory, and what its elements are to those of the array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "zarrive/chunk_part.hpp"
#include "zarrive/fill_value.hpp"
#include "zarrive/memory.hpp"
#include "zarrive/metadata.hpp"
#include "zarrive/selection.hpp"

namespace zarrive {

// Moves elements between chunks (decoded, of the array's type) and the caller's memory, which holds the same elements, elements of a type
// that they convert to, or some of their fields.
class Caller {
 public:
  // `memory` has the result shape and type of the selection, or a type to convert from or to.
  Caller(const ArrayMetadata& metadata, const Selection& selection, const ResolvedSelection& resolved,
         const ArrayView& memory);
  // Of whole elements: `memory` has a dimension for each of the array already.
  Caller(const ArrayMetadata& metadata, const ArrayView& memory);

  // The memory with a dimension for each of the array (integers: extent 1), which parts refer to. Of points: the result's dimensions.
  const ArrayView& view() const noexcept { return view_; }
  // The same elements in another memory, dense: `block` has the view's dimensions. Not for fields that are subarrays.
  Caller over(const ArrayView& block) const;

  // Its elements are the array's own, as they are: chunks may be decoded there and encoded from there.
  bool same_elements() const noexcept { return parts_.empty() && !converts_; }
  // Its elements leave nothing of the array's elements untouched: what they cover need not be read before it is written.
  bool whole_elements() const noexcept { return parts_.empty(); }

  void gather(const ArrayView& chunk, const ChunkPart& part) const;
  void scatter(const ChunkPart& part, const ArrayView& chunk) const;
  // Sets the part's places to the array's fill value. Converted only now: one such as NaN is in nobody's way while every chunk is there.
  void fill(const ChunkPart& part, const FillValue& value) const;

 private:
  // A part of each element that moves by itself: bytes from `chunk_offset` in the array's elements on, and from `caller_offset` in the
  // caller's.
  struct ElementPart {
    std::size_t chunk_offset = 0;
    std::int64_t caller_offset = 0;
    DataType chunk_type = {};
    DataType caller_type = {};
  };
  void add_field(const StructField& field, const ArrayView& memory);
  void add_fields(const Selection& selection, const DataType& type);
  template <class Move>
  void each_part(const ArrayView& chunk, const Move& move) const;

  ArrayView view_;
  bool converts_ = false;
  std::vector<ElementPart> parts_;  // of fields
};

}  // namespace zarrive
