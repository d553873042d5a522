// Decoding of Blosc 1 values, whole or block by block.
#pragma once

#include <cstddef>
#include <span>

#include "codec/blosc_frame.hpp"
#include "zarrive/codec.hpp"

namespace zarrive {

// Error(unsupported_codec) when this build cannot decode the format of the value's streams.
void require_blosc_format(const BloscHeader& header);

// The whole value to memory of header.decoded_size bytes. Error(corrupt_chunk) when it does not decode to them.
void decode_blosc(const BloscHeader& header, std::span<const std::byte> encoded, std::span<std::byte> out);
// The same, for places that are not in one piece: sink.remaining() is header.decoded_size.
void decode_blosc(const BloscHeader& header, std::span<const std::byte> encoded, ByteSink& sink);
// One block to memory of header.block_length(block) bytes. `bytes` are the value's from `offset` on and hold the block.
void decode_blosc_block(const BloscFrame& frame, std::uint32_t block, std::span<const std::byte> bytes,
                        std::uint64_t offset, std::span<std::byte> out);

}  // namespace zarrive
