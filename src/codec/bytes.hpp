// The array-to-bytes codec `bytes`, and the one that every v2 array has without naming it.
#pragma once

#include <memory>

#include "zarrive/codec.hpp"

namespace zarrive {

// v2's implied step from elements to bytes: each part of the data type in the byte order that its dtype
// states (DataType::leaves).
std::shared_ptr<const ArrayToBytesCodec> make_v2_bytes_codec();

}  // namespace zarrive
