// The sharding codec of the bench's arrays: cubes of `inner`^3 through `codecs`, index as `bytes` + `crc32c` at the end.
#pragma once

#include <cstdint>
#include <utility>

#include "zarrive/json.hpp"
#include "zarrive/metadata.hpp"

namespace bench {

inline zarrive::Json codec_json(const char* name, zarrive::JsonObject configuration = {}) {
  zarrive::JsonObject out{{"name", name}};
  if (!configuration.empty()) out.set("configuration", std::move(configuration));
  return out;
}

inline zarrive::CodecSpec sharding_spec(std::uint64_t inner, zarrive::JsonArray codecs) {
  const zarrive::Json bytes = codec_json("bytes", {{"endian", "little"}});
  zarrive::JsonObject configuration;
  configuration.set("chunk_shape", zarrive::JsonArray{inner, inner, inner});
  configuration.set("codecs", std::move(codecs));
  configuration.set("index_codecs", zarrive::JsonArray{bytes, codec_json("crc32c")});
  configuration.set("index_location", "end");
  return {"sharding_indexed", std::move(configuration)};
}

}  // namespace bench
