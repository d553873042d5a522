// Which type the elements of a v2 object array ("|O") have: only its object codec tells.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "zarrive/data_type.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive::metadata {

// The first object codec among the filters, else the compressor: vlen-utf8 and categorize give string, vlen-bytes bytes, json2, msgpack2,
// vlen-array and pickle object. A codec that is not known here may be an object codec too (of a third party): then object, so that the
// array can be inspected. Error(invalid_metadata) when there is none.
DataType object_type(const std::vector<CodecSpec>& filters, const std::optional<CodecSpec>& compressor);

}  // namespace zarrive::metadata
