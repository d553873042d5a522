// An array filter that stands after a codec on bytes in a v2 list: it sees the bytes as a flat array of its own dtype.
#pragma once

#include <memory>

#include "zarrive/codec.hpp"

namespace zarrive {

// `spec` is the filter's own; its dtype (and astype) say what the bytes are before and after.
// Error(invalid_metadata) when the filter has no dtype of its own.
std::shared_ptr<const BytesToBytesCodec> make_array_filter_on_bytes(std::shared_ptr<const ArrayToArrayCodec> filter, const CodecSpec& spec);

}  // namespace zarrive
