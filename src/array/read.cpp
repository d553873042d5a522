// The way of a read: pieces, one batch with a context for each, decoding of each chunk as it arrives.
#include <algorithm>

#include "array/pieces.hpp"
#include "array/transfer.hpp"

namespace zarrive {
namespace {

class Reader {
 public:
  Reader(const std::shared_ptr<Store>& store, const std::string& path,
         const std::shared_ptr<const ArrayMetadata>& metadata, const CodecChain& chain,
         const ResolvedSelection& selection, const ArrayView& output, const ReadOptions& options)
      : store_(store),
        path_(path),
        metadata_(metadata),
        chain_(chain),
        output_(output),
        options_(options),
        pieces_(metadata, selection) {
    converts_ = !(output.type == metadata->data_type);
    annotates_ = store->capabilities().annotates;
  }

  void run() {
    for (std::uint64_t first = 0; first < pieces_.size(); first += kMaxBatch)
      run_batch(first, std::min(kMaxBatch, pieces_.size() - first));
  }

 private:
  void run_batch(std::uint64_t first, std::uint64_t count) {
    std::vector<Context> contexts(count);
    std::vector<GetRequest> requests(count);
    Piece piece;
    for (std::uint64_t i = 0; i < count; ++i) {
      pieces_.at(first + i, piece);
      requests[i].key = join_key(path_, metadata_->chunk_key_encoding.key(piece.chunk));
      contexts[i] = pieces_.context(piece, requests[i].key, path_);
      add_destination(piece, contexts[i]);
      if (annotates_) store_->annotate(contexts[i]);
      requests[i].context = &contexts[i];
    }
    GetOptions options;
    options.stop = options_.stop;
    options.max_concurrency = options_.max_concurrency;
    options.max_bytes_in_flight = options_.max_bytes_in_flight;
    store_->get(
        requests,
        [&](std::size_t i, GetResult&& result) {
          with_place({store_->name(), path_, *contexts[i].key},
                     [&] { place(first + i, contexts[i], std::move(result)); });
        },
        options);
  }

  // Encoded bytes that are the chunk itself may go straight to their place.
  void add_destination(const Piece& piece, Context& context) const {
    const auto chain = chain_.bind(piece.chunk_shape);
    context.prototype = options_.prototype.value_or(Prototype{});
    context.expected_size = chain->encoded_size();
    if (!piece.whole || converts_ || !chain->is_memory_layout()) return;
    ArrayView part = piece.part.of_output(output_);
    if (part.is_contiguous()) context.destination = std::move(part);
  }

  // One chunk has arrived.
  void place(std::uint64_t i, const Context& context, GetResult&& result) const {
    Piece piece;
    pieces_.at(i, piece);
    if (result.status == GetStatus::error) result.rethrow();
    if (result.status == GetStatus::missing) {
      // Converted only now: a fill value such as NaN is in nobody's way while every chunk is there.
      fill_places(piece.part, output_, converts_ ? converted_fill(output_.type) : metadata_->fill_value);
      return;
    }
    const auto chain = chain_.bind(piece.chunk_shape);
    if (result.placed) {
      chain->finish_in_place(piece.part.of_output(output_));
    } else if (piece.whole && !converts_) {
      chain->decode(result.value(), piece.part.of_output(output_), context);
    } else {
      chain->check_encoded_size(result.value().size());
      NDArray chunk = scratch_chunk(metadata_->data_type, piece.chunk_shape);
      chain->decode(result.value(), chunk.view(), context);
      gather(chunk.view(), piece.part, output_);
    }
  }

  FillValue converted_fill(const DataType& type) const {
    const FillValue& fill = metadata_->fill_value;
    std::vector<std::byte> bytes(type.item_size());
    convert_elements(fill.type(), fill.bytes().data(), 0, type, bytes.data(), 0, 1);
    return FillValue::from_bytes(type, bytes);
  }

  const std::shared_ptr<Store>& store_;
  const std::string& path_;
  const std::shared_ptr<const ArrayMetadata>& metadata_;
  const CodecChain& chain_;
  const ArrayView output_;
  const ReadOptions& options_;
  const Pieces pieces_;
  bool converts_ = false;
  bool annotates_ = false;
};

}  // namespace

void run_read(const std::shared_ptr<Store>& store, const std::string& path,
              const std::shared_ptr<const ArrayMetadata>& metadata, const CodecChain& chain,
              const Selection& selection, const ArrayView& destination, const ReadOptions& options) {
  const ResolvedSelection resolved = resolve(selection, metadata->shape);
  check_transfer({Transfer::read, destination, options.convert}, selection, resolved, *metadata);
  if (resolved.empty()) return;
  Reader(store, path, metadata, chain, resolved,
         with_dropped_dimensions(with_type_of(destination, *metadata), resolved), options)
      .run();
}

}  // namespace zarrive
