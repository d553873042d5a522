// Dimension names of v2 arrays, which have no place of their own in the format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "zarrive/json.hpp"

namespace zarrive::metadata {

using DimensionNames = std::vector<std::optional<std::string>>;

// From the attribute _ARRAY_DIMENSIONS (xarray), else from the dimension references of NCZarr: the member "_nczarr_array" of the attributes
// (netcdf-c since 4.8.2) or "_NCZARR_ARRAY" of .zarray or the attributes, whose full names ("/group/lat") are cut to their last part.
// Empty when none of them names exactly `ndim` dimensions. `zarray` may be null.
DimensionNames v2_dimension_names(const JsonObject& attributes, const JsonObject* zarray, std::size_t ndim);

}  // namespace zarrive::metadata
