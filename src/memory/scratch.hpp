// Memory that is used for a moment: from the pool, since fresh pages cost more than what is put into them.
#pragma once

#include "zarrive/memory.hpp"

namespace zarrive {

// A dense array in pooled memory; contents undefined for fixed-size types.
NDArray scratch_array(const DataType& type, const Shape& shape);

}  // namespace zarrive
