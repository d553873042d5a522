// Selections out of Python objects.
#pragma once

#include "common.hpp"

namespace zarrive::python {

// `items`: a tuple (or one item) of ints, slices, Ellipsis, and NumPy arrays of int64 or bool. `kind`: 'basic', 'orthogonal', 'coordinate',
// 'mask' or 'block'. `fields`: None, a name (the elements are the field's), or a list of names. Text is taken too: "0:10, ..., ::-2".
Selection selection_of(nb::handle items, const std::string& kind, nb::handle fields);

}  // namespace zarrive::python
