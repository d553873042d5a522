// Codec specs for v3 metadata by name: codecs::zstd(3) instead of a hand-written configuration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zarrive/export.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive::codecs {

ZARRIVE_API CodecSpec bytes(ByteOrder endian = ByteOrder::little);
ZARRIVE_API CodecSpec transpose(std::vector<std::size_t> order);
ZARRIVE_API CodecSpec zstd(int level = 0, bool checksum = false);
ZARRIVE_API CodecSpec gzip(int level = 5);
// shuffle: "noshuffle", "shuffle", "bitshuffle", or "" for what suits the type; typesize 0: the item size.
ZARRIVE_API CodecSpec blosc(std::string cname = "zstd", int clevel = 5, std::string shuffle = "",
                            std::size_t typesize = 0);
ZARRIVE_API CodecSpec crc32c();
ZARRIVE_API CodecSpec vlen_utf8();
ZARRIVE_API CodecSpec vlen_bytes();

// A shard of inner chunks, each encoded by `codecs` (a serialiser is put in where create_array completes it). index_location: "end" or "start".
ZARRIVE_API CodecSpec sharding(std::vector<std::uint64_t> chunk_shape,
                               std::vector<CodecSpec> codecs = {zstd(0)},
                               std::vector<CodecSpec> index_codecs = {bytes(), crc32c()},
                               std::string index_location = "end");

// Of optional types: the chain of the mask (which elements have a value) and that of the values.
ZARRIVE_API CodecSpec optional(const std::vector<CodecSpec>& mask_codecs,
                               const std::vector<CodecSpec>& data_codecs);

// `spec` with what was left to the data type filled in for items of `item_size` bytes, as v3 metadata must
// state it: Blosc's typesize and shuffle. Other specs come back as they are.
ZARRIVE_API CodecSpec completed(CodecSpec spec, std::size_t item_size);

}  // namespace zarrive::codecs
