// Random arrays: types, grids, codecs, elements, and memory of any layout.
#pragma once

#include <string>
#include <vector>

#include "support/random_selection.hpp"
#include "zarrive/array.hpp"

namespace zarrive::testing_support {

// Every data type that the model test goes through.
const std::vector<std::string>& type_names();
// Types that only one format can say.
bool expressible(const DataType& type, ZarrFormat format);
std::string random_element(Random& random, const DataType& type);

// A view of the given shape over memory with random order of dimensions, gaps and directions. Fixed-size types only.
ArrayView random_layout(Random& random, const DataType& type, const Shape& shape,
                        std::vector<std::byte>& memory);

// What create_array takes for an array of this type and format: shape, grid and a chain of codecs.
CreateOptions random_array(Random& random, const DataType& type, ZarrFormat format);

}  // namespace zarrive::testing_support
