// The index of a shard: where each inner chunk lies. (Zarr v3 codec "sharding_indexed", sections "Binary shard format" and "Decoding".)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zarrive/codec.hpp"

namespace zarrive {

class ShardIndex final : public PartialMemo {
 public:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t offset = kEmpty;  // from the shard's first byte
    std::uint64_t nbytes = kEmpty;
    bool is_empty() const noexcept { return offset == kEmpty && nbytes == kEmpty; }
  };

  explicit ShardIndex(std::size_t chunks) : entries_(chunks) {}

  std::size_t size() const noexcept { return entries_.size(); }
  Entry& operator[](std::size_t i) { return entries_[i]; }
  const Entry& operator[](std::size_t i) const { return entries_[i]; }
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(entries_.data()); }
  std::size_t nbytes() const noexcept override { return entries_.size() * sizeof(Entry); }

  std::optional<std::uint64_t> shard_size = {};  // of the whole shard, when it was known

 private:
  std::vector<Entry> entries_;  // as uint64 [inner chunks..., 2] in C order
};

}  // namespace zarrive
