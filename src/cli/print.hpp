// An array as text, as NumPy prints one: whole when it is small, else the first and last elements of each dimension.
#pragma once

#include <iosfwd>

#include "zarrive/array.hpp"

namespace zarrive::cli {

// Reads only what is printed. `type`: what to convert the elements to, the array's own for none.
void print_array(std::ostream& out, const Array& array, const Selection& selection, const DataType& type,
                 const ReadOptions& options);

}  // namespace zarrive::cli
