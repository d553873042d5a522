// Metadata as Python sees it.
#pragma once

#include "common.hpp"

namespace zarrive::python {

// {"zarr.json": {...}} or {".zarray": {...}, ".zattrs": {...}}.
nb::object documents_of(const std::vector<std::pair<std::string, Json>>& documents);
// The family of a type with parameters; empty for the others, whose name says all.
std::string_view type_name(TypeId id);

}  // namespace zarrive::python
