// A shard seen as a store of its inner chunks.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "codec/sharding.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

// Read-only. Keys are those of a v3 array that is the shard: "zarr.json", and "c/0/1" for the inner chunk at (0, 1). An inner chunk that is
// not in the shard is a missing key. The index is read once; Error(unavailable) when the shard has changed since.
class ShardStore final : public Store {
 public:
  // `chain` is a bound chain whose encoded bytes are the shard. Error(unsupported) when it has codecs after the sharding.
  ShardStore(std::shared_ptr<Store> base, std::string key, std::shared_ptr<const BoundChain> chain);

  std::string name() const override;
  StoreCapabilities capabilities() const override;

 protected:
  GetResult do_get_one(const GetRequest& request) override;
  std::optional<std::uint64_t> do_size(const std::string& key) override;
  std::vector<std::string> do_list(const std::string& prefix) override;

 private:
  // The entry of an inner chunk; nullopt when the key is none or the chunk is empty.
  std::optional<ShardIndex::Entry> find(const std::string& key);
  std::shared_ptr<const ShardIndex> index();
  std::string document() const;

  const std::shared_ptr<Store> base_;
  const std::string key_;
  const std::shared_ptr<const BoundChain> chain_;
  std::shared_ptr<const ShardingCodec> codec_;
  std::mutex mutex_;
  std::shared_ptr<const ShardIndex> index_;
  Generation generation_;
};

}  // namespace zarrive
