// Other shapes for an array that is there: chunks that fall outside are erased, those that reach outside get the fill value there.
//
// The order of steps is such that the metadata document never promises elements that are not there as they should be. Shrinking erases
// first and writes the document last. Appending writes the elements first, then the document, which makes all of them visible at once.
#include <algorithm>

#include "array/chunk_locks.hpp"
#include "array/nodes.hpp"
#include "array/transfer.hpp"
#include "zarrive/array.hpp"

namespace zarrive {
namespace {

// Chunks that may be there are asked for by key up to this number; beyond it the store lists what there is.
constexpr std::uint64_t kAskAtMost = 4096;
// Without a listing this many chunks are asked for at most: more would never end.
constexpr std::uint64_t kAskWithoutListing = 100'000'000;

// A box of the chunk grid: [first, last) along each dimension.
struct GridBox {
  Index first;
  Index last;

  bool contains(std::span<const std::uint64_t> index) const {
    for (std::size_t d = 0; d < first.size(); ++d)
      if (index[d] < first[d] || index[d] >= last[d]) return false;
    return true;
  }
  // nullopt when there are 2^64 or more.
  std::optional<std::uint64_t> size() const {
    std::optional<std::uint64_t> out = 1;
    for (std::size_t d = 0; d < first.size(); ++d) {
      if (last[d] <= first[d]) return 0;
      if (out) out = checked_multiply(*out, last[d] - first[d]);
    }
    return out;
  }
};

// What a smaller shape does to the chunks of the larger one. Boxes do not overlap.
struct Fallen {
  std::vector<GridBox> outside;   // erased
  std::vector<GridBox> reaching;  // partly outside: the rest becomes fill

  std::optional<std::uint64_t> count() const {
    std::optional<std::uint64_t> sum = 0;
    for (const auto* boxes : {&outside, &reaching})
      for (const GridBox& box : *boxes) {
        const auto size = box.size();
        sum = sum && size ? checked_add(*sum, *size) : std::nullopt;
      }
    return sum;
  }
};

bool in_any(const std::vector<GridBox>& boxes, std::span<const std::uint64_t> index) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const GridBox& box) { return box.contains(index); });
}

Fallen fallen_chunks(const ArrayMetadata& metadata, const Shape& shape) {
  const ChunkGrid& grid = metadata.chunk_grid;
  const std::size_t ndim = shape.size();
  const Shape before = grid.grid_shape(metadata.shape);
  Shape kept_shape = shape;
  for (std::size_t d = 0; d < ndim; ++d) kept_shape[d] = std::min(kept_shape[d], metadata.shape[d]);
  const Shape kept = grid.grid_shape(kept_shape);
  Shape untouched = kept;  // along a dimension: chunks that stay whole
  for (std::size_t d = 0; d < ndim; ++d) {
    if (kept[d] == 0 || kept_shape[d] == metadata.shape[d]) continue;
    const std::uint64_t last = kept[d] - 1;
    if (kept_shape[d] - grid.chunk_start(d, last) < grid.chunk_edge(d, last)) untouched[d] = last;
  }
  Fallen out;
  // Of the dimensions before d, what the earlier boxes left; of d, the part; of those after d, everything.
  const auto cut = [&](const Shape& inner, const Shape& outer, std::vector<GridBox>& boxes) {
    for (std::size_t d = 0; d < ndim; ++d) {
      if (inner[d] == outer[d]) continue;
      GridBox box{Index(ndim, 0), outer};
      std::copy_n(inner.begin(), d, box.last.begin());
      box.first[d] = inner[d];
      if (box.size() != std::uint64_t{0}) boxes.push_back(std::move(box));
    }
  };
  cut(kept, before, out.outside);
  cut(untouched, kept, out.reaching);
  return out;
}

// The part of a chunk outside of the array's shape, as boxes that do not overlap, is set to the fill value.
void fill_outside(const ArrayView& chunk, const Index& origin, const Shape& shape, const FillValue& value) {
  const std::size_t ndim = shape.size();
  Shape inside = chunk.shape;
  for (std::size_t d = 0; d < ndim; ++d) inside[d] = std::min(inside[d], shape[d] - origin[d]);
  for (std::size_t d = 0; d < ndim; ++d) {
    if (inside[d] == chunk.shape[d]) continue;
    Index start(ndim, 0);
    Shape extent = chunk.shape;
    std::copy_n(inside.begin(), d, extent.begin());
    start[d] = inside[d];
    extent[d] = chunk.shape[d] - inside[d];
    fill(chunk.box(start, extent), value);
  }
}

// The chunk grid that covers `shape`. A rectilinear dimension that is too short gets one more chunk, as long as what is missing (as
// zarr-python does), rounded up to whole inner chunks of a shard.
ChunkGrid grown_grid(const ArrayMetadata& metadata, const Shape& shape) {
  const ChunkGrid& grid = metadata.chunk_grid;
  if (grid.is_regular()) return grid;
  std::vector<ChunkGrid::Dimension> dimensions = grid.dimensions();
  // Inner chunk lengths in the array's order of dimensions.
  Shape inner(shape.size(), 1);
  std::vector<std::size_t> order(shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  for (const CodecSpec& codec : metadata.codecs) {
    if (codec.name == "transpose") {
      const Json* given = codec.configuration.find("order");
      if (!given || !given->is_array() || given->as_array().size() != order.size()) break;
      std::vector<std::size_t> turned;
      for (const Json& d : given->as_array())
        turned.push_back(order[std::min<std::uint64_t>(d.to_uint64().value_or(0), order.size() - 1)]);
      order = std::move(turned);
    } else if (codec.name == "sharding_indexed") {
      const Json* given = codec.configuration.find("chunk_shape");
      if (!given || !given->is_array() || given->as_array().size() != order.size()) break;
      for (std::size_t d = 0; d < order.size(); ++d)
        inner[order[d]] = std::max<std::uint64_t>(1, given->as_array()[d].to_uint64().value_or(1));
      break;
    }
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (dimensions[d].repeat) continue;
    std::uint64_t covered = 0;
    for (const ChunkGrid::Run& run : dimensions[d].runs) covered += run.edge * run.count;
    if (covered >= shape[d]) continue;
    dimensions[d].runs.push_back(
        {multiply(ceil_divide(shape[d] - covered, inner[d]), inner[d], "a chunk edge"), 1});
  }
  return ChunkGrid::rectilinear(std::move(dimensions));
}

}  // namespace

// Erases and resets, in batches.
class ShapeCut {
 public:
  ShapeCut(const Array& array, const Shape& shape, const WriteOptions& options)
      : array_(array), shape_(shape), options_(options) {}

  void run() {
    const Fallen fallen = fallen_chunks(array_.metadata(), shape_);
    if (!fallen.reaching.empty())
      array_.codec_chain();  // an unknown codec is found before anything is erased
    const auto count = fallen.count();
    const StoreCapabilities capabilities = array_.store()->capabilities();
    if (count && (*count <= kAskAtMost || (!capabilities.listable && *count <= kAskWithoutListing))) {
      for (const GridBox& box : fallen.reaching) each(box, [&](const Index& index) { add_reaching(index); });
      reset();
      for (const GridBox& box : fallen.outside) each(box, [&](const Index& index) { add_outside(index); });
    } else if (!capabilities.listable) {
      throw Error(ErrorCode::unsupported, "the new shape " + to_string(shape_) +
                                              " cuts through or leaves out " +
                                              (count ? std::to_string(*count) : "more than 2^64") +
                                              " chunks, and this store cannot list which of them are there");
    } else {
      const std::size_t ndim = shape_.size();
      const std::string& path = array_.path();
      const std::size_t skip = path.empty() ? 0 : path.size() + 1;
      const std::vector<std::string> keys = array_.store()->list(path);
      const auto index_of = [&](const std::string& key) {
        return array_.metadata().chunk_key_encoding.parse(std::string_view(key).substr(skip), ndim);
      };
      for (const std::string& key : keys)
        if (const auto index = index_of(key); index && in_any(fallen.reaching, *index)) add_reaching(*index);
      reset();
      for (const std::string& key : keys)
        if (const auto index = index_of(key); index && in_any(fallen.outside, *index)) add_outside(*index);
    }
    erase();
  }

 private:
  template <class Visit>
  void each(const GridBox& box, const Visit& visit) {
    Index at = box.first;
    for (;;) {
      visit(at);
      std::size_t d = at.size();
      for (;; --d) {
        if (d == 0) return;
        if (++at[d - 1] < box.last[d - 1]) break;
        at[d - 1] = box.first[d - 1];
      }
    }
  }

  void add_outside(const Index& index) {
    outside_.push_back(array_.chunk_key(index));
    if (outside_.size() == kMaxBatch) erase();
  }

  void erase() {
    if (outside_.empty()) return;
    if (options_.stop.stop_requested()) throw Error(ErrorCode::cancelled, "stopped while erasing chunks");
    const ChunkLocks::Held locks = ChunkLocks::global().acquire(*array_.store(), outside_);
    for (const std::string& key : outside_) array_.memos().drop(key);
    array_.store()->erase(outside_);
    outside_.clear();
  }

  void add_reaching(const Index& index) {
    const std::uint64_t size = multiply(element_count(array_.metadata().chunk_grid.chunk_shape(index)),
                                        array_.data_type().item_size(), "a chunk");
    held_ = add(held_, size, "chunks that reach out of a shape");
    if (!reaching_.empty() && (held_ > options_.max_bytes_in_flight || reaching_.size() == kMaxBatch)) {
      reset();
      held_ = size;
    }
    reaching_.push_back(index);
  }

  // Reads the chunks, fills what lies outside, and writes them back; those that are nothing but fill now are erased.
  void reset() {
    held_ = 0;
    if (reaching_.empty()) return;
    const ArrayMetadata& metadata = array_.metadata();
    Store& store = *array_.store();
    const std::size_t count = reaching_.size();
    const bool may_erase = !options_.write_empty_chunks && !metadata.fill_value.is_undefined();
    std::vector<Context> contexts(count);
    std::vector<GetRequest> gets(count);
    std::vector<std::string> keys(count);
    for (std::size_t i = 0; i < count; ++i) {
      contexts[i] = array_.chunk_context(reaching_[i]);
      contexts[i].write_empty_chunks = !may_erase;
      contexts[i].shard_order = options_.shard_order;
      keys[i] = *contexts[i].key;
      gets[i].key = keys[i];
      gets[i].context = &contexts[i];
    }
    const ChunkLocks::Held locks = ChunkLocks::global().acquire(store, keys);
    std::vector<std::optional<Buffer>> encoded(count);
    std::vector<char> found(count, 0);
    GetOptions get_options;
    get_options.stop = options_.stop;
    get_options.max_concurrency = options_.max_concurrency;
    get_options.max_bytes_in_flight = options_.max_bytes_in_flight;
    const auto recode = [&](std::size_t i, const Buffer& value) {
      const Shape& chunk_shape = *contexts[i].chunk_shape;
      const auto chain = array_.codec_chain().bind(chunk_shape);
      chain->check_encoded_size(value.size());
      NDArray chunk = scratch_array(metadata.data_type, chunk_shape);
      chain->decode(value, chunk.view(), contexts[i]);
      fill_outside(chunk.view(), metadata.chunk_grid.chunk_origin(reaching_[i]), shape_, metadata.fill_value);
      found[i] = 1;
      if (!may_erase || !all_equal(chunk.view(), metadata.fill_value))
        encoded[i] = chain->encode(chunk.view(), contexts[i]);
    };
    store.get(
        gets,
        [&](std::size_t i, GetResult&& result) {
          with_place({store.name(), array_.path(), keys[i]}, [&] {
            if (result.status == GetStatus::error) result.rethrow();
            if (result.status == GetStatus::found) recode(i, result.value());
          });
        },
        get_options);
    std::vector<SetRequest> sets;
    for (std::size_t i = 0; i < count; ++i) {
      if (!found[i]) continue;
      array_.memos().drop(keys[i]);
      SetRequest& request = sets.emplace_back();
      request.key = keys[i];
      request.context = &contexts[i];
      request.produce = [&encoded, i] { return std::exchange(encoded[i], std::nullopt); };
    }
    SetOptions set_options;
    set_options.stop = options_.stop;
    set_options.max_concurrency = options_.max_concurrency;
    set_options.max_bytes_in_flight = options_.max_bytes_in_flight;
    if (!sets.empty()) store.set(sets, set_options);
    reaching_.clear();
  }

  const Array& array_;
  const Shape& shape_;
  const WriteOptions& options_;
  std::vector<std::string> outside_;
  std::vector<Index> reaching_;
  std::uint64_t held_ = 0;
};

void Array::resize(Shape shape, const WriteOptions& options) {
  with_place({store_->name(), path_, {}}, [&] {
    const ArrayMetadata grown = with_shape(shape);
    if (shape == metadata_->shape) return;
    ShapeCut(*this, shape, options).run();
    write_documents(*store_, path_, grown.to_documents(), grown.format);
    metadata_ = std::make_shared<const ArrayMetadata>(grown);
  });
}

// Our metadata with another shape, checked.
ArrayMetadata Array::with_shape(const Shape& shape) const {
  if (shape.size() != metadata_->shape.size())
    throw Error(ErrorCode::invalid_argument, "the new shape " + to_string(shape) + " has " +
                                                 std::to_string(shape.size()) + " dimensions, the array " +
                                                 std::to_string(ndim()) + "; resizing keeps their number");
  for (std::uint64_t extent : shape)
    if (extent > max_extent)
      throw Error(ErrorCode::resource_limit,
                  "the new shape " + to_string(shape) + " has a length above 2^63 - 1");
  ArrayMetadata out = *metadata_;
  out.chunk_grid = grown_grid(*metadata_, shape);
  out.shape = shape;
  out.validate();
  if (!(out.chunk_grid ==
        metadata_->chunk_grid)) {  // chunks of a new shape: must the codecs refuse it, then now
    Index last = out.chunk_grid.grid_shape(shape);
    for (std::uint64_t& chunk : last) chunk -= chunk > 0;
    if (element_count(shape) > 0) codec_chain().bind(out.chunk_grid.chunk_shape(last));
  }
  return out;
}

namespace {

std::size_t checked_axis(std::ptrdiff_t axis, std::size_t ndim) {
  const auto count = static_cast<std::ptrdiff_t>(ndim);
  if (axis < -count || axis >= count)
    throw Error(ErrorCode::invalid_argument,
                "axis " + std::to_string(axis) + " of an array of " + std::to_string(ndim) + " dimensions");
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

}  // namespace

Shape Array::append(const ArrayView& source, std::ptrdiff_t axis, const WriteOptions& options) {
  return with_place({store_->name(), path_, {}}, [&] {
    const std::size_t along = checked_axis(axis, ndim());
    const Shape before = metadata_->shape;
    bool fits = source.shape.size() == ndim();
    for (std::size_t d = 0; fits && d < ndim(); ++d) fits = d == along || source.shape[d] == before[d];
    if (!fits)
      throw Error(ErrorCode::invalid_argument, "cannot append an array of shape " + to_string(source.shape) +
                                                   " to one of shape " + to_string(before) + " along axis " +
                                                   std::to_string(along) +
                                                   "; all other lengths must be the same");
    Shape shape = before;
    shape[along] = add(shape[along], source.shape[along], "the length of the array");
    const ArrayMetadata grown = with_shape(shape);
    Array target = *this;
    target.metadata_ = std::make_shared<const ArrayMetadata>(grown);
    Index start(ndim(), 0);
    start[along] = before[along];
    try {
      target.write(Selection::box(start, source.shape), source, options);
      write_documents(*store_, path_, grown.to_documents(), grown.format);
    } catch (...) {
      // What was written lies outside the shape that the document states; it must not show when the array grows later.
      try {
        ShapeCut(target, before, WriteOptions{}).run();
      } catch (...) {
        // The first failure is the one to tell.
      }
      throw;
    }
    metadata_ = target.metadata_;
    return shape;
  });
}

Shape Array::append_flat(const DataType& type, const std::byte* data, std::size_t count, std::ptrdiff_t axis,
                         const WriteOptions& options) {
  Shape shape = metadata_->shape;
  const std::size_t along =
      with_place({store_->name(), path_, {}}, [&] { return checked_axis(axis, ndim()); });
  shape[along] = 1;
  const std::uint64_t slice = element_count(shape);
  if (slice == 0 || count % slice != 0)
    throw Error(ErrorCode::invalid_argument,
                "cannot append " + std::to_string(count) + " elements along axis " + std::to_string(along) +
                    " of an array of shape " + to_string(metadata_->shape) + ", where one step has " +
                    std::to_string(slice),
                {store_->name(), path_, {}});
  shape[along] = count / slice;
  return append(ArrayView(const_cast<std::byte*>(data), type, shape), axis, options);
}

}  // namespace zarrive
