// Ranges of what a Blosc value decodes to, from the blocks that hold them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "zarrive/codec.hpp"

namespace zarrive {

// As BytesToBytesCodec::decode_ranges. Wants the header and the table of blocks first (all of a value that decodes to little), then
// the blocks in question.
std::unique_ptr<PartialDecode> decode_blosc_ranges(std::vector<ByteRange> ranges,
                                                   BytesToBytesCodec::RangeSink ready,
                                                   std::optional<std::uint64_t> decoded_size);

}  // namespace zarrive
