// Elements as NumPy prints them: numbers aligned with each other, dates as dates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "zarrive/data_type.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::cli {

// The elements of a dense array in C order, as text of equal width where columns help (numbers).
std::vector<std::string> element_texts(const ArrayView& dense);

// Real numbers by NumPy's rules: the shortest digits that tell the value of `type` apart, at most 8 after the point, aligned at the
// point; in scientific form when the values are very large, very small or far apart. `values` are of the type `type`.
std::vector<std::string> real_texts(const std::vector<double>& values, TypeId type);

// "2024-01-31T12:00:00.000", as precise as the unit; "NaT". Counts scale x unit since 1970.
std::string datetime_text(std::int64_t count, const std::string& unit, std::uint32_t scale);

}  // namespace zarrive::cli
