// The reference that arrays are compared with: all elements in one list, and what each selection means written out the slow way, by the
// rules of NumPy and zarr-python. Shares nothing with the library's own resolution of selections.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zarrive/chunk_grid.hpp"
#include "zarrive/data_type.hpp"
#include "zarrive/selection.hpp"

namespace zarrive::testing_support {

// Elements as their bytes (or their text, of variable types), in C order.
using Elements = std::vector<std::string>;

class DenseArray {
 public:
  DenseArray() = default;
  DenseArray(DataType type, Shape shape, ChunkGrid grid, std::string fill);

  const Shape& shape() const { return shape_; }
  const Elements& elements() const { return elements_; }

  // What a read of this selection gives.
  struct Result {
    Shape shape = {};
    DataType type = {};
    Elements elements = {};
  };
  Result read(const Selection& selection) const;
  // `values` are those of a source of the selection's shape, in C order. Of positions selected more than once the last value stays.
  void write(const Selection& selection, const Elements& values);
  // Elements that come anew are fill. `grid`: that of the array afterwards.
  void resize(const Shape& shape, const ChunkGrid& grid);

 private:
  struct Places {
    Shape shape = {};                          // of the result
    std::vector<std::uint64_t> elements = {};  // flat positions, in C order of the result
  };
  Places places(const Selection& selection) const;
  Places orthogonal(const Selection& selection) const;
  Places coordinates(const Selection& selection) const;
  Places blocks(const Selection& selection) const;

  // Which bytes of each element a selection takes: (offset, size) in order, grouped into the elements of the result.
  struct Fields {
    DataType type = {};
    Shape subarray = {};
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> parts =
        {};  // one list for each element of the subarray
  };
  Fields fields(const Selection& selection) const;

  DataType type_;
  Shape shape_;
  ChunkGrid grid_;
  std::string fill_;
  Elements elements_;
};

// The positions that start:stop:step means for a length, by Python's rule.
std::vector<std::uint64_t> python_slice(const Slice& slice, std::uint64_t length);

}  // namespace zarrive::testing_support
