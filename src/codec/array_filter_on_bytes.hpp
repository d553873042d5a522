// Array filters in places where v2 has only bytes.
#pragma once

#include <memory>

#include "zarrive/codec.hpp"

namespace zarrive {

// A v2 filter list may have an array filter (delta, astype, ...) after a codec that gives bytes; numcodecs
// then takes the bytes as a 1-D array of the filter's dtype, and so does this codec. `spec` is the filter's.
// Error(unsupported_codec) for a filter that states no dtype.
std::shared_ptr<const BytesToBytesCodec> make_array_filter_on_bytes(
    std::shared_ptr<const ArrayToArrayCodec> filter, const CodecSpec& spec);

}  // namespace zarrive
