#include "codec/shard_store.hpp"

#include <utility>

#include "codec/partial.hpp"

namespace zarrive {
namespace {

constexpr const char* kDocument = "zarr.json";
const ChunkKeyEncoding kKeys = {};  // "c/0/1"

}  // namespace

ShardStore::ShardStore(std::shared_ptr<Store> base, std::string key, std::shared_ptr<const BoundChain> chain)
    : base_(std::move(base)), key_(std::move(key)), chain_(std::move(chain)) {
  codec_ = std::dynamic_pointer_cast<const ShardingCodec>(chain_->bytes_codec());
  if (!codec_)
    throw Error(ErrorCode::invalid_argument, "the chunk is no shard: its codecs have no 'sharding_indexed'");
  if (chain_->has_byte_codecs())
    throw Error(
        ErrorCode::unsupported,
        "the shard is encoded further by codecs after 'sharding_indexed', so its inner chunks do not lie "
        "in the stored value");
}

std::string ShardStore::name() const { return base_->name() + "/" + key_; }

StoreCapabilities ShardStore::capabilities() const {
  StoreCapabilities all = base_->capabilities();
  all.writable = false;
  all.listable = true;
  all.annotates = false;
  return all;
}

std::shared_ptr<const ShardIndex> ShardStore::index() {
  const std::lock_guard lock(mutex_);
  if (index_) return index_;
  GetRequest request;
  request.key = key_;
  request.ranges = {codec_->index_range()};
  GetResult found;
  base_->get(std::span(&request, 1), [&](std::size_t, GetResult&& result) { found = std::move(result); });
  found.rethrow();
  if (found.status == GetStatus::missing) return index_ = std::make_shared<ShardIndex>(codec_->inner_count());
  auto decoded = codec_->decode_index(found.value(), Context{});
  decoded->shard_size = found.total_size;
  generation_ = found.generation;
  return index_ = std::move(decoded);
}

std::optional<ShardIndex::Entry> ShardStore::find(const std::string& key) {
  const auto at = kKeys.parse(key, codec_->grid().ndim());
  if (!at) return std::nullopt;
  const Shape grid = codec_->grid().grid_shape(chain_->encoded_array().shape);
  for (std::size_t d = 0; d < grid.size(); ++d)
    if ((*at)[d] >= grid[d]) return std::nullopt;
  const ShardIndex::Entry entry = codec_->entry(*index(), codec_->number_of(*at));
  if (entry.is_empty()) return std::nullopt;
  return entry;
}

// The shard as an array of its own: what its array codecs make of it, with the inner chunks' codecs.
std::string ShardStore::document() const {
  ArrayMetadata metadata;
  const ArraySpec& spec = chain_->encoded_array();
  metadata.shape = spec.shape;
  metadata.data_type = spec.type;
  metadata.fill_value = spec.fill;
  metadata.chunk_grid = codec_->grid();
  metadata.codecs = codec_->inner_codecs();
  for (const auto& [name, document] : metadata.to_documents())
    if (name == kDocument) return document.dump();
  throw Error(ErrorCode::internal, "a v3 array without zarr.json");
}

GetResult ShardStore::do_get_one(const GetRequest& request) {
  GetResult result;
  if (request.key == kDocument) {
    const Buffer value = Buffer::from_string(document());
    result.status = GetStatus::found;
    result.total_size = value.size();
    for (const ByteRange& range : request.ranges) {
      const ByteRange::Resolved at = range.resolve(value.size());
      result.values.push_back(
          value.slice(static_cast<std::size_t>(at.offset), static_cast<std::size_t>(at.length)));
    }
    if (request.ranges.empty()) result.values.push_back(value);
    return result;
  }
  const auto entry = find(request.key);
  if (!entry) return result;
  GetRequest inner;
  inner.key = key_;
  inner.context = request.context;
  inner.destinations = request.destinations;
  for (const ByteRange& range :
       request.ranges.empty() ? std::vector<ByteRange>{ByteRange::all()} : request.ranges) {
    const ByteRange::Resolved at = range.resolve(entry->nbytes);
    inner.ranges.push_back(ByteRange::range(entry->offset + at.offset, at.length));
  }
  base_->get(std::span(&inner, 1), [&](std::size_t, GetResult&& found) { result = std::move(found); });
  if (result.status == GetStatus::error) return result;
  const std::lock_guard lock(mutex_);
  if (result.status == GetStatus::missing || result.generation != generation_)
    throw Error(ErrorCode::unavailable, "the shard has changed since its index was read; open it again");
  result.total_size = entry->nbytes;
  return result;
}

std::optional<std::uint64_t> ShardStore::do_size(const std::string& key) {
  if (key == kDocument) return document().size();
  const auto entry = find(key);
  if (!entry) return std::nullopt;
  return entry->nbytes;
}

std::vector<std::string> ShardStore::do_list(const std::string& prefix) {
  std::vector<std::string> keys;
  const std::string start = prefix.empty() ? "" : prefix + "/";
  const auto add = [&](std::string key) {
    if (key.starts_with(start)) keys.push_back(std::move(key));
  };
  add(kDocument);
  const auto entries = index();
  for (std::size_t i = 0; i < entries->size(); ++i)
    if (!(*entries)[i].is_empty()) add(kKeys.key(codec_->inner_index(i)));
  return keys;
}

}  // namespace zarrive
