// Running partial decodes on values that are in memory.
#pragma once

#include "zarrive/codec.hpp"

namespace zarrive {

// Serves every round of `part` from the whole value. Items of a round are received in parallel when `parallel`.
void decode_from_memory(PartialDecode& part, const Buffer& value, bool parallel);

// [offset, offset + length) of a range within a value of `size` bytes, cut off at its end; empty where it starts behind the end.
ByteRange::Resolved cut_to(const ByteRange& range, std::uint64_t size);

}  // namespace zarrive
