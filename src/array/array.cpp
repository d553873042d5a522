#include "zarrive/array.hpp"

#include <mutex>

#include "array/device_stream.hpp"
#include "array/nodes.hpp"
#include "array/resolve.hpp"
#include "array/transfer.hpp"
#include "codec/shard_store.hpp"

namespace zarrive {

// The chain is made on first use, so that an array with an unknown codec can be opened and looked at.
struct Array::LazyChain {
  std::mutex mutex;  // not a once_flag: making it may throw, and is then tried again
  std::optional<CodecChain> chain;
  MetadataOptions options;
};

Array::Array(std::shared_ptr<Store> store, std::string path, ArrayMetadata metadata, MetadataOptions options)
    : store_(std::move(store)),
      path_(std::move(path)),
      metadata_(std::make_shared<const ArrayMetadata>(std::move(metadata))),
      chain_(std::make_shared<LazyChain>()),
      memos_(std::make_shared<MemoCache>()) {
  chain_->options = std::move(options);
}

Array Array::with_store(std::shared_ptr<Store> store, std::string path) const {
  Array out = *this;
  out.store_ = std::move(store);
  out.path_ = std::move(path);
  out.memos_ = std::make_shared<MemoCache>();  // keys of the one store mean nothing in the other
  return out;
}

const CodecChain& Array::codec_chain() const {
  return with_place({store_->name(), path_, {}}, [&]() -> const CodecChain& {
    const std::lock_guard lock(chain_->mutex);
    if (!chain_->chain) chain_->chain = CodecChain::create(*metadata_, chain_->options);
    return *chain_->chain;
  });
}

MemoCache& Array::memos() const { return *memos_; }

ArrayParts Array::parts() const { return {store_, path_, metadata_, &codec_chain(), memos_.get()}; }

void Array::set_attributes(JsonObject attributes) {
  ArrayMetadata changed = *metadata_;
  changed.attributes = std::move(attributes);
  write_documents(*store_, path_, changed.to_documents(), changed.format);
  metadata_ = std::make_shared<const ArrayMetadata>(std::move(changed));
}

// --- reading ---

Shape Array::result_shape(const Selection& selection) const { return resolve(selection).result_shape(); }

ResolvedSelection Array::resolve(const Selection& selection) const {
  return with_place({store_->name(), path_, {}}, [&] { return zarrive::resolve(selection, *metadata_); });
}

DataType Array::result_type(const Selection& selection) const {
  return with_place({store_->name(), path_, {}},
                    [&] { return selected_type(selection, metadata_->data_type); });
}

void Array::read_into(const Selection& selection, const ArrayView& destination,
                      const ReadOptions& options) const {
  with_place({store_->name(), path_, {}}, [&] { run_read(parts(), selection, destination, options); });
}

NDArray Array::read_as(const DataType& type, const Selection& selection, const ReadOptions& options) const {
  return with_place({store_->name(), path_, {}}, [&] {
    NDArray result =
        NDArray::allocate(type, result_shape(selection), options.prototype.value_or(Prototype{}));
    run_read(parts(), selection, result.view(), options);
    return result;
  });
}

NDArray Array::read(const Selection& selection, const ReadOptions& options) const {
  return read_as(result_type(selection), selection, options);
}

namespace {

// Flat memory of `count` elements seen with the shape of a selection.
ArrayView flat_view(const Shape& shape, const DataType& type, const std::byte* data, std::size_t count,
                    const char* what) {
  if (element_count(shape) != count)
    throw Error(ErrorCode::invalid_argument,
                std::string("the ") + what + " has " + std::to_string(count) + " elements, the selection " +
                    std::to_string(element_count(shape)) + " (shape " + to_string(shape) + ")");
  return ArrayView(const_cast<std::byte*>(data), type, shape);
}

}  // namespace

void Array::read_flat(const Selection& selection, const DataType& type, std::byte* data, std::size_t count,
                      const ReadOptions& options) const {
  read_into(selection, flat_view(result_shape(selection), type, data, count, "destination"), options);
}

// --- writing ---

void Array::write(const Selection& selection, const ArrayView& source, const WriteOptions& options) {
  with_place({store_->name(), path_, {}}, [&] { run_write(parts(), selection, source, options); });
}

void Array::write_flat(const Selection& selection, const DataType& type, const std::byte* data,
                       std::size_t count, const WriteOptions& options) {
  write(selection, flat_view(result_shape(selection), type, data, count, "source"), options);
}

void Array::write_value(const Selection& selection, const Json& value, const WriteOptions& options) {
  const DataType type = result_type(selection);
  NDArray element = NDArray::allocate(type, {});
  element_from_json(type, value, element.view().data);
  const Shape shape = result_shape(selection);
  write(selection, ArrayView(element.view().data, type, shape, Strides(shape.size(), 0)), options);
}

// --- parts of chunks ---

std::vector<bool> Array::read_parts(std::span<const ChunkAccess> accesses, const ArrayView& output,
                                    const ReadOptions& options) const {
  return with_place({store_->name(), path_, {}},
                    [&] { return run_read_parts(parts(), accesses, output, options); });
}

void Array::write_parts(std::span<const ChunkAccess> accesses, const ArrayView& source,
                        const WriteOptions& options) {
  with_place({store_->name(), path_, {}}, [&] { run_write_parts(parts(), accesses, source, options); });
}

// --- whole chunks ---

namespace {

NDArray to_device_memory(const NDArray& array, const Prototype& prototype, void* callers_stream) {
  NDArray copy = NDArray::allocate(array.type(), array.shape(), prototype);
  DeviceStream stream(prototype.space, callers_stream);
  gpu::copy_to_device(stream.device(), copy.view(), array.view(), stream.handle());
  stream.synchronize();
  return copy;
}

}  // namespace

void Array::check_chunk_index(std::span<const std::uint64_t> index) const {
  const Shape grid = grid_shape();
  bool inside = index.size() == grid.size();
  for (std::size_t d = 0; inside && d < grid.size(); ++d) inside = index[d] < grid[d];
  if (!inside)
    throw Error(ErrorCode::out_of_bounds,
                "chunk " + to_string(index) + " is outside the chunk grid " + to_string(grid),
                {store_->name(), path_, {}});
}

std::string Array::chunk_key(std::span<const std::uint64_t> index) const {
  check_chunk_index(index);
  return join_key(path_, metadata_->chunk_key_encoding.key(index));
}

Context Array::chunk_context(std::span<const std::uint64_t> index) const {
  Context context;
  context.key = chunk_key(index);
  context.node = path_;
  context.array = metadata_;
  context.chunk_index = Index(index.begin(), index.end());
  context.chunk_shape = metadata_->chunk_grid.chunk_shape(index);
  context.prototype = Prototype{};
  if (store_->capabilities().annotates) store_->annotate(context);
  return context;
}

NDArray Array::read_chunk(std::span<const std::uint64_t> index, const ReadOptions& options) const {
  const Context context = chunk_context(index);
  return with_place({store_->name(), path_, *context.key}, [&] {
    if (const Prototype wanted = options.prototype.value_or(Prototype{}); !wanted.space.host_accessible()) {
      ReadOptions to_pinned = options;
      to_pinned.prototype = pinned();
      return to_device_memory(read_chunk(index, to_pinned), wanted, options.stream);
    }
    NDArray chunk = NDArray::allocate(metadata_->data_type, *context.chunk_shape,
                                      options.prototype.value_or(Prototype{}));
    const auto chain = codec_chain().bind(*context.chunk_shape);
    if (const auto encoded = store_->get(*context.key, ByteRange::all(), &context)) {
      chain->decode(*encoded, chunk.view(), context);
    } else {
      fill(chunk.view(), metadata_->fill_value);
    }
    return chunk;
  });
}

void Array::write_chunk(std::span<const std::uint64_t> index, const ArrayView& chunk,
                        const WriteOptions& options) {
  const Shape full = (check_chunk_index(index), metadata_->chunk_grid.chunk_shape(index));
  if (chunk.shape != full)
    throw Error(ErrorCode::invalid_argument, "the chunk has shape " + to_string(chunk.shape) + ", chunk " +
                                                 to_string(index) + " of the grid " + to_string(full));
  // The part inside the array, written as a selection: one way for all writes.
  const Index origin = metadata_->chunk_grid.chunk_origin(index);
  Shape inside = full;
  for (std::size_t d = 0; d < inside.size(); ++d)
    inside[d] = std::min(full[d], metadata_->shape[d] - origin[d]);
  write(Selection::box(origin, inside), chunk.box(Index(inside.size(), 0), inside), options);
}

std::optional<Buffer> Array::read_encoded_chunk(std::span<const std::uint64_t> index) const {
  const Context context = chunk_context(index);
  return store_->get(*context.key, ByteRange::all(), &context);
}

void Array::write_encoded_chunk(std::span<const std::uint64_t> index, Buffer encoded) {
  const Context context = chunk_context(index);
  store_->set(*context.key, std::move(encoded), &context);
}

void Array::erase_chunk(std::span<const std::uint64_t> index) { store_->erase(chunk_key(index)); }

bool Array::chunk_exists(std::span<const std::uint64_t> index) const {
  return store_->exists(chunk_key(index));
}

std::optional<Shape> Array::inner_chunk_shape() const {
  const ChunkGrid& grid = metadata_->chunk_grid;
  return codec_chain().bind(grid.chunk_shape(Index(grid.ndim(), 0)))->inner_chunk_shape();
}

std::shared_ptr<Store> Array::open_shard(std::span<const std::uint64_t> index) const {
  check_chunk_index(index);
  return with_place({store_->name(), path_, {}}, [&] {
    return std::make_shared<ShardStore>(store_, chunk_key(index),
                                        codec_chain().bind(metadata_->chunk_grid.chunk_shape(index)));
  });
}

std::uint64_t Array::stored_chunk_count() const {
  const std::size_t skip = path_.empty() ? 0 : path_.size() + 1;
  const Shape grid = grid_shape();
  std::uint64_t count = 0;
  for (const std::string& key : store_->list(path_)) {
    const auto index = metadata_->chunk_key_encoding.parse(std::string_view(key).substr(skip), grid.size());
    if (!index) continue;
    bool inside = true;
    for (std::size_t d = 0; d < grid.size(); ++d) inside = inside && (*index)[d] < grid[d];
    count += inside;
  }
  return count;
}

}  // namespace zarrive
