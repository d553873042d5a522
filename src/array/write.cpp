// The way of a write: pieces; chunks that are written in part are read first, in one batch; then all are encoded and set in one batch. Of a
// source in device memory, whole chunks may be encoded there before that; what is left is brought to pinned memory.
#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>

#include "array/caller.hpp"
#include "array/chunk_locks.hpp"
#include "array/device_stream.hpp"
#include "array/read.hpp"
#include "array/resolve.hpp"
#include "array/rounds.hpp"
#include "array/transfer.hpp"
#include "codec/device_encoder.hpp"

namespace zarrive {
namespace {

class Writer {
 public:
  // `device`: the source is device memory, its parts are brought to pinned memory in this stream. Null: it is the host's.
  Writer(const ArrayParts& array, const Pieces& pieces, Caller source, const WriteOptions& options,
         DeviceStream* device)
      : array_(array),
        metadata_(*array.metadata),
        source_(std::move(source)),
        options_(options),
        device_(device),
        pieces_(pieces) {
    const StoreCapabilities capabilities = array.store->capabilities();
    annotates_ = capabilities.annotates;
    borrows_ = !capabilities.keeps_values;
    // A v2 null fill reads as zeros here but as anything elsewhere: such chunks are always stored.
    may_elide_ = !options.write_empty_chunks && !metadata_.fill_value.is_undefined();
    if (device && pieces_.size() > 0 && source_.same_elements()) make_encoder();
  }

  void run() {
    for (std::uint64_t first = 0; first < pieces_.size();) first += run_window(first);
  }

 private:
  struct Work {
    std::uint64_t piece = 0;
    std::string key = {};
    Context context = {};
    std::shared_ptr<const BoundChain> chain = {};
    bool partial = false;
    std::optional<Buffer> merged = {};  // of partial ones: the new encoded chunk; nothing when it is all fill
    NDArray converted = {};             // of partial ones: our part in the array's type, when that is another
    // Of a source in device memory, when it is encoded there: the value but for its checksums; nothing when it is all fill.
    bool on_device = false;
    std::optional<Buffer> encoded = {};
    // Else our part in pinned memory, there when `arrived` is.
    NDArray block = {};
    std::unique_ptr<gpu::Event> arrived = {};
  };

  // Where the elements of a piece are, and which of them.
  struct Source {
    Caller caller;
    ChunkPart part;
  };
  Source source(const Work& item, const Piece& piece) const {
    if (!item.arrived) return {source_, piece.part};
    item.arrived->wait();
    return {source_.over(item.block.view()), piece.part.to_own_output()};
  }

  void make_encoder() {
    Piece piece;
    pieces_.at(0, piece);
    DeviceEncoder::Options options;
    options.how = options_.device_encode;
    options.max_bytes = options_.max_device_bytes;
    if (may_elide_) options.fill = &metadata_.fill_value;
    encoder_ = DeviceEncoder::make(device_->device(), device_->handle(),
                                   *array_.chain->bind(piece.chunk_shape), options);
  }

  bool encodes_on_device(const Work& item, const Piece& piece) const {
    return encoder_ && piece.whole && item.context.codec_parameters.is_null() &&
           encoder_->takes(piece.part.of_output(source_.view()));
  }

  // The host encodes them all after all when the device has no memory for them.
  void encode_on_device(std::vector<Work>& work) {
    std::vector<Work*> items;
    std::vector<DeviceEncoder::Chunk> chunks;
    Piece piece;
    for (Work& item : work) {
      if (!item.on_device) continue;
      pieces_.at(item.piece, piece);
      items.push_back(&item);
      chunks.push_back({piece.part.of_output(source_.view()), &item.context});
    }
    if (items.empty()) return;
    auto encoded =
        with_place({array_.store->name(), array_.path, {}}, [&] { return encoder_->encode(chunks); });
    if (!encoded) encoder_ = nullptr;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!encoded) items[i]->on_device = false;
      else if (!(*encoded)[i].only_fill) items[i]->encoded = std::move((*encoded)[i].bytes);
    }
  }

  // Begins to bring the parts of a source in device memory here; those of later pieces come while earlier ones are encoded.
  void bring(std::vector<Work>& work) const {
    Piece piece;
    for (Work& item : work) {
      if (item.on_device) continue;
      pieces_.at(item.piece, piece);
      item.block = NDArray::allocate(source_.view().type, piece.part.extents(), pinned());
      gpu::copy_to_host(device_->device(), item.block.view(), piece.part.of_output(source_.view()),
                        device_->handle());
      item.arrived = std::make_unique<gpu::Event>(device_->device());
      item.arrived->record(device_->handle());
    }
  }

  // As many pieces as fit the bounds; returns their number.
  std::uint64_t run_window(std::uint64_t first) {
    std::vector<Work> work;
    std::unordered_set<std::string> seen;
    std::uint64_t held = 0;
    Piece piece;
    for (std::uint64_t i = first; i < pieces_.size() && work.size() < kMaxBatch; ++i) {
      pieces_.at(i, piece);
      const bool partial = !piece.covers || !source_.whole_elements();
      if (partial) {
        held = add(held, decoded_size(piece), "a partial write");
        if (held > options_.max_bytes_in_flight && !work.empty()) break;
      }
      if (device_) {
        held = add(held, multiply(piece.part.size(), source_.view().type.item_size(), "a part"), "a write");
        if (held > options_.max_bytes_in_flight && !work.empty()) break;
      }
      Work item;
      item.piece = i;
      item.key = pieces_.key(i, piece, array_.path);
      // A chunk that comes again does so on top of what it is after this window.
      if (pieces_.may_repeat() && !seen.insert(item.key).second) break;
      item.context = pieces_.context(piece, item.key, array_.path);
      item.context.prototype = Prototype{};
      item.chain = array_.chain->bind(piece.chunk_shape);
      item.context.expected_size = item.chain->encoded_size();
      item.context.write_empty_chunks = !may_elide_;
      item.context.shard_order = options_.shard_order;
      item.partial = partial;
      if (annotates_) array_.store->annotate(item.context);
      item.on_device = !partial && encodes_on_device(item, piece);
      work.push_back(std::move(item));
    }
    // Within this process nobody else writes these chunks until we are done, so that no part of another write is lost.
    std::vector<std::string> keys;
    keys.reserve(work.size());
    for (const Work& item : work) keys.push_back(item.key);
    const ChunkLocks::Held locks = ChunkLocks::global().acquire(*array_.store, keys);
    // Also when a step fails: the stream may still be writing to the blocks.
    const auto wait = [](DeviceStream* stream) { gpu::drain(stream->device(), stream->handle()); };
    const std::unique_ptr<DeviceStream, decltype(wait)> passed(device_, wait);
    if (device_) {
      encode_on_device(work);
      bring(work);
    }
    read_partial(work);
    write_all(work);
    return work.size();
  }

  // Reads what partial writes keep, and puts our part in.
  void read_partial(std::vector<Work>& work) const {
    std::vector<RoundItem> items;
    for (Work& item : work) {
      if (!item.partial) continue;
      RoundItem round;
      round.key = item.key;
      round.context = &item.context;
      round.begin = [this, &item](auto memo) { return begin(item, std::move(memo)); };
      round.whole = [this, &item](GetResult&& result) { item.merged = merge(item, &result); };
      round.missing = [this, &item](PartialDecode* encode) {
        item.merged = encode ? static_cast<PartialEncode*>(encode)->finish() : merge(item, nullptr);
      };
      round.done = [&item](PartialDecode& encode) {
        item.merged = static_cast<PartialEncode&>(encode).finish();
      };
      items.push_back(std::move(round));
    }
    if (items.empty()) return;
    RoundOptions options;
    options.get.stop = options_.stop;
    options.get.max_concurrency = options_.max_concurrency;
    options.get.max_bytes_in_flight = options_.max_bytes_in_flight;
    with_place({{}, array_.path, {}}, [&] { run_rounds(*array_.store, *array_.memos, items, options); });
  }

  void write_all(std::vector<Work>& work) const {
    std::vector<SetRequest> sets(work.size());
    for (std::size_t i = 0; i < work.size(); ++i) {
      Work& item = work[i];
      sets[i].key = item.key;
      sets[i].context = &item.context;
      sets[i].produce = [this, &item]() -> std::optional<Buffer> {
        if (item.partial) return std::exchange(item.merged, std::nullopt);
        return with_place({array_.store->name(), array_.path, item.key},
                          [&] { return item.on_device ? finish_encoded(item) : encode_covered(item); });
      };
    }
    SetOptions options;
    options.stop = options_.stop;
    options.max_concurrency = options_.max_concurrency;
    options.max_bytes_in_flight = options_.max_bytes_in_flight;
    for (const Work& item : work) array_.memos->drop(item.key);  // about a state that ends now
    array_.store->set(sets, options);
  }

  std::uint64_t decoded_size(const Piece& piece) const {
    return multiply(element_count(piece.chunk_shape), metadata_.data_type.item_size(), "a chunk");
  }

  // A change of the encoded chunk that leaves most of its bytes alone, where the codecs can do that.
  std::unique_ptr<PartialDecode> begin(Work& item, std::shared_ptr<const PartialMemo> memo) const {
    Piece piece;
    pieces_.at(item.piece, piece);
    const BoundChain& chain = *item.chain;
    if (!source_.whole_elements()) return nullptr;  // the elements' other fields are needed
    const Source from = source(item, piece);
    if (source_.same_elements())
      return chain.encode_partial({from.part, from.caller.view(), std::move(memo)}, item.context);
    item.converted = scratch_array(metadata_.data_type, piece.part.extents());
    auto encode = chain.encode_partial({from.part.to_own_output(), item.converted.view(), std::move(memo)},
                                       item.context);
    if (encode) from.caller.scatter(from.part.from_own_output(), item.converted.view());
    return encode;
  }

  // The stored chunk (or fill, when there is none) with our part put in, encoded.
  std::optional<Buffer> merge(const Work& item, const GetResult* stored) const {
    Piece piece;
    pieces_.at(item.piece, piece);
    const BoundChain& chain = *item.chain;
    if (stored) chain.check_encoded_size(stored->value().size());
    NDArray chunk = scratch_array(metadata_.data_type, piece.chunk_shape);
    if (stored) {
      chain.decode(stored->value(), chunk.view(), item.context);
    } else {
      fill(chunk.view(), metadata_.fill_value);
    }
    const Source from = source(item, piece);
    from.caller.scatter(from.part, chunk.view());
    if (may_elide_ && all_equal(chunk.view(), metadata_.fill_value)) return std::nullopt;
    return chain.encode(chunk.view(), item.context);
  }

  // A chunk that our part covers: nothing of what is stored matters.
  std::optional<Buffer> encode_covered(const Work& item) const {
    Piece piece;
    pieces_.at(item.piece, piece);
    const BoundChain& chain = *item.chain;
    const Source from = source(item, piece);
    if (piece.whole && source_.same_elements()) {
      const ArrayView part = from.part.of_output(from.caller.view());
      if (may_elide_ && all_equal(part, metadata_.fill_value)) return std::nullopt;
      if (borrows_)
        if (const auto bytes = chain.encoded_view(part)) return Buffer::borrow(*bytes);
      return chain.encode(part, item.context);
    }
    NDArray chunk = scratch_array(metadata_.data_type, piece.chunk_shape);
    if (!piece.whole) fill(chunk.view(), metadata_.fill_value);  // also past the array's end
    from.caller.scatter(from.part, chunk.view());
    if (may_elide_ && all_equal(chunk.view(), metadata_.fill_value)) return std::nullopt;
    return chain.encode(chunk.view(), item.context);
  }

  // What the device encoded.
  std::optional<Buffer> finish_encoded(Work& item) const {
    if (!item.encoded) return std::nullopt;
    return item.chain->finish_device_encoding(*std::exchange(item.encoded, std::nullopt), item.context);
  }

  const ArrayParts array_;
  const ArrayMetadata& metadata_;
  const Caller source_;
  const WriteOptions& options_;
  DeviceStream* const device_;
  const Pieces& pieces_;
  bool annotates_ = false;
  bool borrows_ = false;  // the store takes values from the source's memory
  bool may_elide_ = false;
  std::unique_ptr<DeviceEncoder> encoder_;  // null: the host encodes
};

// Device memory is brought to pinned memory part by part where the pieces are ranges, else all of it at once.
void write_from_device(const ArrayParts& array, const Job& job, const ArrayView& source,
                       const WriteOptions& options) {
  DeviceStream stream(source.space, options.stream);
  Caller caller = job.caller(source);
  if (caller.same_elements() && job.pieces.are_ranges())
    return Writer(array, job.pieces, std::move(caller), options, &stream).run();
  const NDArray block = NDArray::allocate(source.type, source.shape, pinned());
  gpu::copy_to_host(stream.device(), block.view(), source, stream.handle());
  stream.synchronize();
  Writer(array, job.pieces, job.caller(block.view()), options, nullptr).run();
}

void run_job(const ArrayParts& array, const Job& job, const ArrayView& source, const WriteOptions& options) {
  if (job.pieces.size() == 0) return;
  if (!source.space.host_accessible()) return write_from_device(array, job, source, options);
  Writer(array, job.pieces, job.caller(source), options, nullptr).run();
}

}  // namespace

void run_write(const ArrayParts& array, const Selection& selection, const ArrayView& source,
               const WriteOptions& options) {
  const ResolvedSelection resolved = resolve(selection, *array.metadata);
  check_transfer({Transfer::write, source, options.convert}, selection, resolved, *array.metadata);
  const Pieces pieces(array.metadata, resolved);
  const auto caller = [&](const ArrayView& memory) {
    return Caller(*array.metadata, selection, resolved, memory);
  };
  run_job(array, {pieces, caller}, source, options);
}

void run_write_parts(const ArrayParts& array, std::span<const ChunkAccess> accesses, const ArrayView& source,
                     const WriteOptions& options) {
  check_transfer({Transfer::write, source, options.convert}, accesses, *array.metadata);
  const Pieces pieces(array.metadata, accesses);
  const auto caller = [&](const ArrayView& memory) { return Caller(*array.metadata, memory); };
  run_job(array, {pieces, caller}, source, options);
}

}  // namespace zarrive
