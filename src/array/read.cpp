// The way of a read: pieces, one batch with a context for each, decoding of each chunk as it arrives.
#include <algorithm>

#include "array/caller.hpp"
#include "array/pieces.hpp"
#include "array/read.hpp"
#include "array/resolve.hpp"
#include "array/rounds.hpp"
#include "array/transfer.hpp"
#include "codec/device_read.hpp"

namespace zarrive {
namespace {

class Reader {
 public:
  Reader(const ArrayParts& array, const Pieces& pieces, Caller caller, const ReadOptions& options,
         DeviceRead* device, std::span<std::uint8_t> stored)
      : array_(array),
        metadata_(*array.metadata),
        caller_(std::move(caller)),
        options_(options),
        device_(device),
        pieces_(pieces),
        stored_(stored) {
    annotates_ = array.store->capabilities().annotates;
  }

  void run() {
    for (std::uint64_t first = 0; first < pieces_.size();) {
      const std::uint64_t count = std::min(batch_size(first), pieces_.size() - first);
      run_batch(first, count);
      first += count;
    }
  }

 private:
  // Chunks of a batch. What a shard keeps while it is read grows with its inner chunks. Parts for a device are put together in memory of ours.
  std::uint64_t batch_size(std::uint64_t first) const {
    if (device_) return batch_of_bytes(first);
    return batch_of_chunks(first);
  }

  std::uint64_t batch_of_bytes(std::uint64_t first) const {
    const std::uint64_t most = batch_of_chunks(first);
    Piece piece;
    std::uint64_t bytes = 0, count = 0;
    for (; count < most && first + count < pieces_.size(); ++count) {
      pieces_.at(first + count, piece);
      bytes = add(bytes, multiply(piece.part.size(), metadata_.data_type.item_size(), "a part"), "a batch");
      if (bytes > options_.max_bytes_in_flight && count > 0) break;
    }
    return count;
  }

  std::uint64_t batch_of_chunks(std::uint64_t first) const {
    Piece piece;
    pieces_.at(first, piece);
    const auto inner = array_.chain->bind(piece.chunk_shape)->inner_chunk_shape();
    if (!inner) return kMaxBatch;
    std::uint64_t parts = 1;
    for (std::size_t d = 0; d < inner->size(); ++d)
      parts *= std::min<std::uint64_t>(
          ceil_divide(piece.chunk_shape[d], (*inner)[d]),
          piece.part.is_points() ? piece.part.size() : piece.part.dimensions()[d].count);
    return std::max<std::uint64_t>(1, kMaxBatch / std::max<std::uint64_t>(1, parts));
  }

  void run_batch(std::uint64_t first, std::uint64_t count) {
    std::vector<Context> contexts(count);
    std::vector<std::shared_ptr<const BoundChain>> chains(count);  // partial decodes refer to them
    std::vector<RoundItem> items(count);
    Piece piece;
    for (std::uint64_t i = 0; i < count; ++i) {
      pieces_.at(first + i, piece);
      RoundItem& item = items[i];
      Context& context = contexts[i];
      item.key = pieces_.key(first + i, piece, array_.path);
      context = pieces_.context(piece, item.key, array_.path);
      context.verify_checksums = options_.verify_checksums;
      chains[i] = i > 0 && chains[i - 1]->decoded().shape == piece.chunk_shape
                      ? chains[i - 1]
                      : array_.chain->bind(piece.chunk_shape);
      const BoundChain& chain = *chains[i];
      add_destination(piece, chain, context);
      if (annotates_) array_.store->annotate(context);
      item.context = &context;
      if (!piece.covers)
        item.begin = [this, n = first + i, &chain, &context](auto memo) {
          return begin(n, chain, context, std::move(memo));
        };
      item.whole = [this, n = first + i, &chain, &context](GetResult&& result) {
        place(n, chain, context, result);
      };
      item.missing = [this, n = first + i](PartialDecode*) { place_fill(n); };
    }
    RoundOptions options;
    options.get.stop = options_.stop;
    options.get.max_concurrency = options_.max_concurrency;
    options.get.max_bytes_in_flight = options_.max_bytes_in_flight;
    options.coalesce_gap = options_.coalesce_gap;
    options.coalesce_limit = options_.coalesce_limit;
    with_place({{}, array_.path, {}}, [&] { run_rounds(*array_.store, *array_.memos, items, options); });
  }

  // Encoded bytes that are the chunk itself may go straight to their place.
  void add_destination(const Piece& piece, const BoundChain& chain, Context& context) const {
    context.prototype = device_ ? device_->encoded_memory() : options_.prototype.value_or(Prototype{});
    context.device_read = device_;
    context.expected_size = chain.encoded_size();
    if (!piece.whole || !caller_.same_elements() || !chain.is_memory_layout()) return;
    if (device_ && (!device_->direct() || chain.finishes_in_place())) return;
    context.destination = piece.part.of_output(caller_.view());
  }

  // Compressed chunks are read in part in two rounds at least. When the part's box is more than an eighth of the chunk, most of the compressed
  // blocks are needed anyway, and one round for the whole is as good.
  static bool takes_most_blocks(const Piece& piece) {
    if (piece.part.empty()) return false;
    return element_count(piece.part.bounds().extent) > element_count(piece.chunk_shape) / 8;
  }

  // A decode from part of the chunk's bytes, where the codecs can do that.
  std::unique_ptr<PartialDecode> begin(std::uint64_t i, const BoundChain& chain, const Context& context,
                                       std::shared_ptr<const PartialMemo> memo) const {
    set_stored(i, 1);  // also when it was found missing before, and then came into being
    Piece piece;
    pieces_.at(i, piece);
    if (chain.has_byte_codecs() && !chain.inner_chunk_shape() && takes_most_blocks(piece)) return nullptr;
    if (caller_.same_elements())
      return chain.decode_partial({piece.part, caller_.view(), std::move(memo)}, context);
    auto decode = std::make_unique<OwnPart>(*this, piece.part, chain);
    if (!decode->begin(context, std::move(memo))) return nullptr;
    return decode;
  }

  // A partial decode into memory of the array's own type; when it is done, the caller gets what it wants of it.
  class OwnPart final : public PartialDecode {
   public:
    OwnPart(const Reader& reader, ChunkPart part, const BoundChain& chain)
        : reader_(reader), part_(std::move(part)), chain_(chain) {}
    bool begin(const Context& context, std::shared_ptr<const PartialMemo> memo) {
      own_ = scratch_array(chain_.decoded().type, part_.extents());
      decode_ = chain_.decode_partial({part_.to_own_output(), own_.view(), std::move(memo)}, context);
      return decode_ != nullptr;
    }
    std::vector<WantedBytes> wanted() override {
      std::vector<WantedBytes> out = decode_->wanted();
      if (out.empty()) reader_.caller_.gather(own_.view(), part_.from_own_output());
      return out;
    }
    void receive(std::size_t i, const Buffer& bytes, std::optional<std::uint64_t> value_size) override {
      decode_->receive(i, bytes, value_size);
    }
    std::shared_ptr<const PartialMemo> memo() const override { return decode_->memo(); }

   private:
    const Reader& reader_;
    const ChunkPart part_;
    const BoundChain& chain_;
    NDArray own_;
    std::unique_ptr<PartialDecode> decode_;
  };

  // A whole chunk has arrived.
  void place(std::uint64_t i, const BoundChain& chain, const Context& context,
             const GetResult& result) const {
    Piece piece;
    pieces_.at(i, piece);
    if (result.placed && device_) {
      device_->count_direct(piece.part.size() * metadata_.data_type.item_size());
    } else if (result.placed) {
      chain.finish_in_place(piece.part.of_output(caller_.view()));
    } else if (caller_.whole_elements()) {
      chain.decode_part(result.value(), piece.part, caller_.view(), context);
    } else {
      const NDArray own = scratch_array(chain.decoded().type, piece.part.extents());
      chain.decode_part(result.value(), piece.part.to_own_output(), own.view(), context);
      caller_.gather(own.view(), piece.part.from_own_output());
    }
  }

  void set_stored(std::uint64_t i, std::uint8_t value) const {
    if (!stored_.empty()) stored_[static_cast<std::size_t>(i)] = value;
  }

  void place_fill(std::uint64_t i) const {
    set_stored(i, 0);
    Piece piece;
    pieces_.at(i, piece);
    if (device_) device_->fill(piece.part, caller_.view(), metadata_.fill_value);
    else caller_.fill(piece.part, metadata_.fill_value);
  }

  const ArrayParts array_;
  const ArrayMetadata& metadata_;
  const Caller caller_;
  const ReadOptions& options_;
  DeviceRead* const device_;  // null: the caller's memory is the host's
  const Pieces& pieces_;
  const std::span<std::uint8_t> stored_;  // entries start as 1
  bool annotates_ = false;
};

void run_job(const ArrayParts& array, const Job& job, const ArrayView& destination,
             const ReadOptions& options, std::span<std::uint8_t> stored) {
  if (!destination.space.host_accessible()) read_to_device(array, job, destination, options, stored);
  else if (job.pieces.size() > 0)
    read_pieces(array, job.pieces, job.caller(destination), options, nullptr, stored);
}

}  // namespace

void read_pieces(const ArrayParts& array, const Pieces& pieces, Caller caller, const ReadOptions& options,
                 DeviceRead* device, std::span<std::uint8_t> stored) {
  Reader(array, pieces, std::move(caller), options, device, stored).run();
}

void run_read(const ArrayParts& array, const Selection& selection, const ArrayView& destination,
              const ReadOptions& options) {
  const ResolvedSelection resolved = resolve(selection, *array.metadata);
  check_transfer({Transfer::read, destination, options.convert}, selection, resolved, *array.metadata);
  const Pieces pieces(array.metadata, resolved);
  const auto caller = [&](const ArrayView& memory) {
    return Caller(*array.metadata, selection, resolved, memory);
  };
  run_job(array, {pieces, caller}, destination, options, {});
}

std::vector<bool> run_read_parts(const ArrayParts& array, std::span<const ChunkAccess> accesses,
                                 const ArrayView& output, const ReadOptions& options) {
  check_transfer({Transfer::read, output, options.convert}, accesses, *array.metadata);
  const Pieces pieces(array.metadata, accesses);
  const auto caller = [&](const ArrayView& memory) { return Caller(*array.metadata, memory); };
  // Bytes, for several threads set them.
  std::vector<std::uint8_t> stored(static_cast<std::size_t>(pieces.size()), 1);
  run_job(array, {pieces, caller}, output, options, stored);
  std::vector<bool> found(accesses.size(), true);
  for (std::size_t i = 0; i < stored.size(); ++i) found[pieces.entry(i)] = stored[i] != 0;
  return found;
}

}  // namespace zarrive
