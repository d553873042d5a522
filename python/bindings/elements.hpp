// Elements of NumPy arrays that are not the core's as they are: of the other byte order, Python objects, strings.
#pragma once

#include <span>
#include <vector>

#include "common.hpp"

namespace zarrive::python {

// What an array of some dtype holds, beside elements of a data type.
struct ElementForm {
  enum class Kind {
    same,     // the elements, perhaps with parts in the other byte order
    objects,  // of variable-length types: str, bytes or what JSON can say, as Python objects
    strings  // of the same: anything else that NumPy converts from and to objects (StringDType, fixed-size text)
  } kind = Kind::same;
  std::vector<DataType::Leaf> swapped = {};  // the parts in the other byte order
};
// ValueError when they do not go together.
ElementForm form_of(nb::handle dtype, const DataType& type);

// Reverses the bytes of these parts of each element that is a place of one of the accesses. Host memory; without the GIL.
void swap_places(std::span<const ChunkAccess> accesses, const ArrayView& output,
                 std::span<const DataType::Leaf> swapped);
// Of all elements of an array.
void swap_all(const ArrayView& elements, std::span<const DataType::Leaf> swapped);

// A variable-length element as a Python object, and back; None and 0 are empty, as numcodecs has it.
nb::object object_of(const std::string& element, const DataType& type);
void element_of(nb::handle object, const DataType& type, std::string& element);
// All elements of an array (of objects, or anything that NumPy makes objects of), dense.
NDArray elements_of(nb::handle array, const DataType& type);
// A NumPy array of objects of this shape, its elements None.
nb::object new_object_array(const Shape& shape);
// Puts the elements at the places of the accesses into an array of objects, whose memory `objects` tells, in the shape of `elements`.
void set_objects(std::span<const ChunkAccess> accesses, const ArrayView& elements, const ArrayView& objects);

}  // namespace zarrive::python
