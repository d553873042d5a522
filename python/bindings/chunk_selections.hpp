// What zarr-python's indexers hand to a codec pipeline: for each chunk a NumPy selection of the chunk and one of the output (or value).
#pragma once

#include <optional>
#include <vector>

#include "common.hpp"

namespace zarrive::python {

// Makes parts of chunks from such pairs. Per dimension an int, a slice, or an array of integers or bools; open meshes (numpy.ix_) and, when each
// dimension has a 1-d array, points. Arrays are copied, so that nobody changes them while they are used.
class PartMaker {
 public:
  // `output`: the shape of the output. `drop_axes`: dimensions of the chunk, selected by arrays of length 1, that the output does not have.
  // `scalar`: the value is one element for every place, and has no dimensions: output selections do not matter.
  PartMaker(Shape output, nb::handle drop_axes, bool scalar);

  // Error(unsupported) for selections that are none of the above, ValueError when the two do not have the same lengths.
  ChunkPart part(nb::handle chunk_selection, nb::handle output_selection, const Shape& chunk);

  // The output (or the scalar's element) as the parts made so far see it.
  ArrayView seen_by_parts(const ArrayView& output) const;

 private:
  struct Positions;
  struct Item;
  std::vector<Item> items_of(nb::handle selection, const Shape& extents) const;
  ChunkPart points(std::vector<Item> items, nb::handle output_selection);
  ChunkPart product(std::vector<Item> items, nb::handle output_selection, std::size_t ndim);
  void keep(const std::vector<bool>& kept);

  const Shape output_;
  std::vector<bool> drops_;  // by dimension of the chunk; may be shorter
  const bool scalar_;
  std::optional<std::vector<bool>>
      kept_;      // by dimension of the chunk: those that the output has. Absent: no product so far
  Shape counts_;  // of scalars: the most that parts have along each dimension
  bool points_ = false;
};

}  // namespace zarrive::python
