// Contexts: what is known about one key of a batch, handed to the store and to the codecs.
//
// Every member is optional and every component that reads one works without it. The idea and the names prototype/meta_array and ConstantMap
// come from zarr-python 2.15's Store.getitems(keys, *, contexts); the further members are what its users asked for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/chunk_part.hpp"
#include "zarrive/export.hpp"
#include "zarrive/json.hpp"
#include "zarrive/memory.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {

class DeviceRead;

// In which order the inner chunks of a shard that is written lie: the last dimension fastest, along a Z-order curve (the first dimension
// fastest), or the first dimension fastest. Readers take any. In zarr-python: lexicographic, morton (its default), colexicographic.
enum class ShardOrder : std::uint8_t { c_order, morton, f_order };

struct ZARRIVE_API Context {
  int version = 1;                                  // of this structure
  std::optional<Prototype> prototype = {};          // where and how to allocate the bytes ("meta_array")
  std::optional<std::string> key = {};              // the store key, as seen by the array
  std::string node = {};                            // path of the array or group, for messages
  std::shared_ptr<const ArrayMetadata> array = {};  // shape, data type, fill value, codecs of the array
  std::optional<Index> chunk_index = {};            // the chunk's place in the chunk grid
  std::optional<Shape> chunk_shape = {};            // full shape of the chunk
  std::optional<Box> chunk_selection =
      {};  // the part of the chunk that is wanted (bounding box); absent: all of it
  std::optional<Box> output_selection = {};  // its place in the output (bounding box)
  // Memory that the value may land in as it is, its bytes being the elements in C order: a store may write the whole value there when it is
  // accessible to the store and exactly as large as the value; the result then says `placed`.
  std::optional<ArrayView> destination = {};
  std::optional<std::uint64_t> expected_size = {};  // bytes of the value, when the codec chain fixes them
  Json codec_parameters = {};  // per-chunk parameters for codecs (an object), null when none
  // Of an inner chunk: the context of its shard (whose key this one repeats). chunk_index counts within the shard.
  const Context* shard = nullptr;
  bool verify_checksums = true;     // false: parts of checksummed values may be read without the rest
  bool write_empty_chunks = false;  // inner chunks of nothing but fill are stored too
  ShardOrder shard_order = ShardOrder::c_order;
  // Of an array's read into device memory: what takes the decoded parts to their places there. Set by Array.
  DeviceRead* device_read = nullptr;
};

// A context for a key. Read-only; the contexts outlive the call they are given to.
class ZARRIVE_API ContextMap {
 public:
  virtual ~ContextMap() = default;
  virtual const Context* find(std::string_view key) const = 0;  // nullptr: no context for this key
  virtual std::size_t size() const = 0;
};

// Gives the same context for each of its keys, stored once.
class ZARRIVE_API ConstantMap final : public ContextMap {
 public:
  ConstantMap(std::span<const std::string> keys, Context constant);
  ConstantMap(std::initializer_list<std::string> keys, Context constant);
  const Context* find(std::string_view key) const override;
  std::size_t size() const override { return keys_.size(); }
  const std::vector<std::string>& keys() const noexcept { return keys_; }  // sorted, each once
  const Context& constant() const noexcept { return constant_; }

 private:
  std::vector<std::string> keys_;
  Context constant_;
};

// An ordinary map of contexts.
class ZARRIVE_API MapOfContexts final : public ContextMap {
 public:
  MapOfContexts() = default;
  explicit MapOfContexts(std::map<std::string, Context, std::less<>> contexts)
      : contexts_(std::move(contexts)) {}
  void set(std::string key, Context context) {
    contexts_.insert_or_assign(std::move(key), std::move(context));
  }
  const Context* find(std::string_view key) const override;
  std::size_t size() const override { return contexts_.size(); }

 private:
  std::map<std::string, Context, std::less<>> contexts_;
};

// How calls take contexts: by reference (`contexts` outlives the call), or a temporary such as ConstantMap(keys, context) moved in.
class ContextsRef {
 public:
  ContextsRef() = default;
  ContextsRef(const ContextMap& contexts) : contexts_(std::shared_ptr<const ContextMap>(), &contexts) {}
  ContextsRef(ConstantMap&& contexts) : contexts_(std::make_shared<const ConstantMap>(std::move(contexts))) {}
  ContextsRef(MapOfContexts&& contexts)
      : contexts_(std::make_shared<const MapOfContexts>(std::move(contexts))) {}
  const Context* find(std::string_view key) const { return contexts_ ? contexts_->find(key) : nullptr; }

 private:
  std::shared_ptr<const ContextMap> contexts_;
};

}  // namespace zarrive
