// The way of a write: pieces; chunks that are written in part are read first, in one batch; then all are encoded and set in one batch.
#include <algorithm>

#include "array/chunk_locks.hpp"
#include "array/pieces.hpp"
#include "array/transfer.hpp"

namespace zarrive {
namespace {

class Writer {
 public:
  Writer(const std::shared_ptr<Store>& store, const std::string& path,
         const std::shared_ptr<const ArrayMetadata>& metadata, const CodecChain& chain,
         const ResolvedSelection& selection, const ArrayView& source, const WriteOptions& options)
      : store_(store),
        path_(path),
        metadata_(metadata),
        chain_(chain),
        source_(source),
        options_(options),
        pieces_(metadata, selection) {
    annotates_ = store->capabilities().annotates;
    // A v2 null fill reads as zeros here but as anything elsewhere: such chunks are always stored.
    may_elide_ = !options.write_empty_chunks && !metadata->fill_value.is_undefined();
  }

  void run() {
    for (std::uint64_t first = 0; first < pieces_.size();) first += run_window(first);
  }

 private:
  // As many pieces as fit the bounds; returns their number.
  std::uint64_t run_window(std::uint64_t first) {
    struct Work {
      Context context;
      bool partial = false;
      std::optional<Buffer> merged =
          {};  // of partial ones: the new encoded chunk; nothing when it is all fill
    };
    std::vector<Work> work;
    std::vector<std::string> keys;
    std::uint64_t held = 0;
    Piece piece;
    for (std::uint64_t i = first; i < pieces_.size() && work.size() < kMaxBatch; ++i) {
      pieces_.at(i, piece);
      if (!piece.covers) {
        held = add(held, decoded_size(piece), "a partial write");
        if (held > options_.max_bytes_in_flight && !work.empty()) break;
      }
      Work item;
      keys.push_back(join_key(path_, metadata_->chunk_key_encoding.key(piece.chunk)));
      item.context = pieces_.context(piece, keys.back(), path_);
      item.context.prototype = Prototype{};
      item.context.expected_size = chain_.bind(piece.chunk_shape)->encoded_size();
      item.partial = !piece.covers;
      if (annotates_) store_->annotate(item.context);
      work.push_back(std::move(item));
    }
    // Within this process nobody else writes these chunks until we are done, so that no part of another write is lost.
    const ChunkLocks::Held locks = ChunkLocks::global().acquire(*store_, keys);

    std::vector<GetRequest> gets;
    std::vector<std::size_t> got;  // index into work
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (!work[i].partial) continue;
      GetRequest request;
      request.key = keys[i];
      request.context = &work[i].context;
      gets.push_back(std::move(request));
      got.push_back(i);
    }
    if (!gets.empty()) {
      GetOptions options;
      options.stop = options_.stop;
      options.max_concurrency = options_.max_concurrency;
      options.max_bytes_in_flight = options_.max_bytes_in_flight;
      store_->get(
          gets,
          [&](std::size_t g, GetResult&& result) {
            Work& item = work[got[g]];
            with_place(place_of(keys[got[g]]),
                       [&] { item.merged = merge(first + got[g], item.context, std::move(result)); });
          },
          options);
    }

    std::vector<SetRequest> sets(work.size());
    for (std::size_t i = 0; i < work.size(); ++i) {
      sets[i].key = keys[i];
      sets[i].context = &work[i].context;
      sets[i].produce = [&, i, n = first + i]() -> std::optional<Buffer> {
        Work& item = work[i];
        if (item.partial) return std::exchange(item.merged, std::nullopt);
        return with_place(place_of(keys[i]), [&] { return encode_covered(n, item.context); });
      };
    }
    SetOptions options;
    options.stop = options_.stop;
    options.max_concurrency = options_.max_concurrency;
    options.max_bytes_in_flight = options_.max_bytes_in_flight;
    store_->set(sets, options);
    return work.size();
  }

  ErrorPlace place_of(const std::string& key) const { return {store_->name(), path_, key}; }

  std::uint64_t decoded_size(const Piece& piece) const {
    return multiply(element_count(piece.chunk_shape), metadata_->data_type.item_size(), "a chunk");
  }

  // The stored chunk (or fill) with our part put in, encoded.
  std::optional<Buffer> merge(std::uint64_t i, const Context& context, GetResult&& result) const {
    if (result.status == GetStatus::error) result.rethrow();
    Piece piece;
    pieces_.at(i, piece);
    const auto chain = chain_.bind(piece.chunk_shape);
    if (result.status == GetStatus::found) chain->check_encoded_size(result.value().size());
    NDArray chunk = scratch_chunk(metadata_->data_type, piece.chunk_shape);
    if (result.status == GetStatus::missing) {
      fill(chunk.view(), metadata_->fill_value);
    } else {
      chain->decode(result.value(), chunk.view(), context);
    }
    scatter(source_, piece.part, chunk.view());
    if (may_elide_ && all_equal(chunk.view(), metadata_->fill_value)) return std::nullopt;
    return chain->encode(chunk.view(), context);
  }

  // A chunk that our part covers: nothing of what is stored matters.
  std::optional<Buffer> encode_covered(std::uint64_t i, const Context& context) const {
    Piece piece;
    pieces_.at(i, piece);
    const auto chain = chain_.bind(piece.chunk_shape);
    if (piece.whole && source_.type == metadata_->data_type) {
      const ArrayView part = piece.part.of_output(source_);
      if (may_elide_ && all_equal(part, metadata_->fill_value)) return std::nullopt;
      return chain->encode(part, context);
    }
    NDArray chunk = scratch_chunk(metadata_->data_type, piece.chunk_shape);
    if (!piece.whole) fill(chunk.view(), metadata_->fill_value);  // also past the array's end
    scatter(source_, piece.part, chunk.view());
    if (may_elide_ && all_equal(chunk.view(), metadata_->fill_value)) return std::nullopt;
    return chain->encode(chunk.view(), context);
  }

  const std::shared_ptr<Store>& store_;
  const std::string& path_;
  const std::shared_ptr<const ArrayMetadata>& metadata_;
  const CodecChain& chain_;
  const ArrayView source_;
  const WriteOptions& options_;
  const Pieces pieces_;
  bool annotates_ = false;
  bool may_elide_ = false;
};

}  // namespace

void run_write(const std::shared_ptr<Store>& store, const std::string& path,
               const std::shared_ptr<const ArrayMetadata>& metadata, const CodecChain& chain,
               const Selection& selection, const ArrayView& source, const WriteOptions& options) {
  const ResolvedSelection resolved = resolve(selection, metadata->shape);
  check_transfer({Transfer::write, source, options.convert}, selection, resolved, *metadata);
  if (resolved.empty()) return;
  Writer(store, path, metadata, chain, resolved,
         with_dropped_dimensions(with_type_of(source, *metadata), resolved), options)
      .run();
}

}  // namespace zarrive
