// Random selections of every kind.
#pragma once

#include <random>

#include "zarrive/chunk_grid.hpp"
#include "zarrive/data_type.hpp"
#include "zarrive/selection.hpp"

namespace zarrive::testing_support {

using Random = std::mt19937_64;
inline std::uint64_t pick(Random& random, std::uint64_t count) { return random() % count; }

// Integers, slices of any step, an ellipsis.
Selection random_basic(Random& random, const Shape& shape);
// Of any kind that the shape allows; for structured types sometimes of some fields.
Selection random_selection(Random& random, const Shape& shape, const ChunkGrid& grid, const DataType& type);

}  // namespace zarrive::testing_support
