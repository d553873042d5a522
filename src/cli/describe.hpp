// What there is to say about an array: for info and tree.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/session.hpp"
#include "zarrive/json.hpp"

namespace zarrive::cli {

// "zstd(level=3, checksum=false)"
std::string codec_text(const CodecSpec& codec);
// The whole chain in encoding order, both formats.
std::string codecs_text(const ArrayMetadata& metadata);
// Chunk shape of a regular grid, or the edges of a rectilinear one.
std::string chunks_text(const ChunkGrid& grid);

// One object in the words of v3 metadata; a v2 node has its document under "v2".
Json array_json(const ArrayMetadata& metadata);
Json group_json(const GroupMetadata& metadata);

// What the store holds of an array's chunks.
struct StoredChunks {
  std::uint64_t count = 0;
  std::optional<std::uint64_t> bytes = {};  // absent when asking for every size would be slow
};
// By listing; nullopt when the store cannot list. `sizes`: ask for sizes also where each is a request over a network.
std::optional<StoredChunks> stored_chunks(Session& session, const Array& array, bool sizes);

// Calls visit(key) for each key of a chunk of the array, below the store's root, one folder at a time.
void for_each_chunk_key(const Array& array,
                        const std::function<void(const std::string& key, const Index& index)>& visit);

}  // namespace zarrive::cli
