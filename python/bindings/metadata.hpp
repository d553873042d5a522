// Metadata as Python sees it.
#pragma once

#include "common.hpp"

namespace zarrive::python {

// {"zarr.json": {...}} or {".zarray": {...}, ".zattrs": {...}}.
nb::object documents_of(const std::vector<std::pair<std::string, Json>>& documents);
// A codec as a name, or as a dict with its name and configuration; as v2 has it, with its id and everything else beside it. Error(invalid_argument).
CodecSpec codec_spec_of(const Json& json, bool v2);
// The family of a type with parameters; empty for the others, whose name says all.
std::string_view type_name(TypeId id);

}  // namespace zarrive::python
