// Chunk key encodings: from a chunk's grid index to its key below the array ("default" and "v2" of the v3 core).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "zarrive/checked.hpp"
#include "zarrive/export.hpp"
#include "zarrive/json.hpp"

namespace zarrive {

struct ZARRIVE_API ChunkKeyEncoding {
  enum class Kind : std::uint8_t { default_, v2 };
  Kind kind = Kind::default_;
  char separator = '/';

  // The v3 member "chunk_key_encoding". Error(invalid_metadata), or Error(unsupported) for an unknown name. `warn` gets a sentence for each
  // lenient case: unknown configuration members, and a separator outside of the configuration.
  static ChunkKeyEncoding from_json(const Json& value,
                                    const std::function<void(const std::string&)>& warn = {});
  Json to_json() const;

  // "c/3/0/1"; 0-d: "c". v2: "3.0.1"; 0-d: "0".
  std::string key(std::span<const std::uint64_t> index) const;
  // The reverse; nullopt when `key` is not the canonical key of an index with `ndim` dimensions.
  std::optional<Index> parse(std::string_view key, std::size_t ndim) const;

  bool operator==(const ChunkKeyEncoding&) const = default;
};

}  // namespace zarrive
