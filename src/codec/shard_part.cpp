// Parts of shards: the index first, then the inner chunks that are wanted, as one round of ranges.
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/device_read.hpp"
#include "codec/partial.hpp"
#include "codec/sharding.hpp"
#include "memory/scratch.hpp"

namespace zarrive {
namespace {

// An inner chunk of fewer bytes is read whole even when little of it is wanted: another round costs more.
constexpr std::uint64_t kWorthAnotherRound = 256 << 10;

// What reading and writing part of a shard have in common: the index, and which part of which inner chunk is meant.
class ShardAccess {
 public:
  ShardAccess(const ShardingCodec& codec, PartialRequest request, const ArraySpec& spec,
              const Context& context)
      : codec_(codec),
        request_(std::move(request)),
        spec_(spec),
        context_(context),
        cuts_(codec.cuts()),
        projection_((check_part(codec, spec, request_.part), request_.part), cuts_) {}

  WantedBytes wanted_index() const { return {codec_.index_range(), {}}; }

  void receive_index(const Buffer& bytes, std::optional<std::uint64_t> shard_size) {
    auto index = codec_.decode_index(bytes, context_);
    index->shard_size = shard_size;
    index_ = std::move(index);
  }

  std::size_t piece_count() const { return static_cast<std::size_t>(projection_.size()); }
  // Number of the inner chunk that piece `p` is in, and the part of it.
  std::size_t piece(std::size_t p, ChunkPart& part) const {
    Index index;
    projection_.at(p, index, part);
    return codec_.number_of(index);
  }

  Context inner_context(std::size_t number, const ChunkPart& part) const {
    Context context = codec_.inner_context(context_);
    context.chunk_index = codec_.inner_index(number);
    if (!part.is_whole(*context.chunk_shape)) context.chunk_selection = part.bounds();
    context.output_selection = part.output_bounds();
    return context;
  }

  void check_length(std::size_t number, const ByteRange& range, const Buffer& bytes) const {
    if (bytes.size() != range.length)
      codec_.fail_inner(number, "the shard ends after " + std::to_string(bytes.size()) + " of its " +
                                    std::to_string(range.length) + " bytes from " +
                                    std::to_string(range.offset) + " on");
  }

  const ShardingCodec& codec_;
  const PartialRequest request_;
  const ArraySpec& spec_;
  const Context& context_;
  const std::vector<DimensionCut> cuts_;
  const GridProjection projection_;
  std::shared_ptr<const ShardIndex> index_;
};

class ShardDecode final : public PartialDecode, private ShardAccess {
 public:
  using ShardAccess::ShardAccess;

  std::vector<WantedBytes> wanted() override {
    if (!started_ && request_.memo) index_ = std::dynamic_pointer_cast<const ShardIndex>(request_.memo);
    if (!std::exchange(started_, true) && request_.part.empty()) return {};
    if (!index_) return {wanted_index()};
    return std::exchange(planned_, true) ? next_round() : first_round();
  }

  void receive(std::size_t i, const Buffer& bytes, std::optional<std::uint64_t> value_size) override {
    if (!planned_) return receive_index(bytes, value_size);
    const Item& item = items_[i];
    Piece& piece = pieces_[item.piece];
    codec_.naming_inner(piece.number, [&] {
      if (piece.decode) {
        piece.decode->receive(item.inner, bytes, piece.entry.nbytes);
        return;
      }
      check_length(piece.number, item.range, bytes);
      ChunkPart part;
      this->piece(piece.number_of_piece, part);
      codec_.inner()->decode_part(bytes, part, request_.output, inner_context(piece.number, part));
    });
  }

  std::shared_ptr<const PartialMemo> memo() const override { return index_; }

 private:
  struct Piece {
    std::size_t number_of_piece = 0;
    std::size_t number = 0;  // of the inner chunk
    ShardIndex::Entry entry = {};
    std::unique_ptr<Context> context = {};  // of a decode in parts
    std::unique_ptr<PartialDecode> decode = {};
  };
  // One range of the round.
  struct Item {
    std::size_t piece;  // in pieces_
    std::size_t inner;  // in the inner decode's round
    ByteRange range;
  };

  std::vector<WantedBytes> first_round() {
    std::vector<WantedBytes> out;
    std::vector<ChunkPart> empty;
    const bool decodes = codec_.inner()->has_byte_codecs() && !spec_.type.is_variable();
    const std::uint64_t decoded_size = decodes ? codec_.inner()->decoded().nbytes() : 0;
    for (std::size_t p = 0; p < piece_count(); ++p) {
      ChunkPart part;
      Piece piece{p, this->piece(p, part), {}, {}, {}};
      piece.entry = codec_.entry(*index_, piece.number);
      if (piece.entry.is_empty()) {
        empty.push_back(std::move(part));
        continue;
      }
      if (piece.entry.nbytes >= kWorthAnotherRound) {
        piece.context = std::make_unique<Context>(inner_context(piece.number, part));
        piece.decode = codec_.inner()->decode_partial({part, request_.output, nullptr}, *piece.context);
      }
      pieces_.push_back(std::move(piece));
      if (pieces_.back().decode) {
        ask(pieces_.size() - 1, out);
      } else {
        const ShardIndex::Entry& entry = pieces_.back().entry;
        out.push_back({ByteRange::range(entry.offset, entry.nbytes), destination(part), decoded_size});
        items_.push_back({pieces_.size() - 1, 0, out.back().range});
      }
    }
    // A kept index that leaves nothing to read is read again, and all this begun anew (array/rounds.cpp).
    if (out.empty() && request_.memo) return out;
    for (const ChunkPart& part : empty) {
      if (request_.output.space.host_accessible()) fill_places(part, request_.output, spec_.fill);
      else DeviceRead::of(context_).fill(part, request_.output, spec_.fill);
    }
    return out;
  }

  // Rounds of inner chunks that are decoded in parts themselves.
  std::vector<WantedBytes> next_round() {
    items_.clear();
    std::vector<WantedBytes> out;
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      if (pieces_[p].decode) ask(p, out);
    return out;
  }

  void ask(std::size_t p, std::vector<WantedBytes>& out) {
    Piece& piece = pieces_[p];
    codec_.naming_inner(piece.number, [&] {
      const std::vector<WantedBytes> wanted = piece.decode->wanted();
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const ByteRange::Resolved at = cut_to(wanted[i].range, piece.entry.nbytes);
        items_.push_back({p, i, ByteRange::range(piece.entry.offset + at.offset, at.length)});
        out.push_back({items_.back().range, wanted[i].destination, wanted[i].decoded_size});
      }
      if (wanted.empty()) piece.decode.reset();
    });
  }

  // Where an inner chunk may be read to as it is.
  std::span<std::byte> destination(const ChunkPart& part) const {
    if (!request_.output.space.host_accessible() || !codec_.inner()->is_memory_layout() ||
        !part.is_whole(codec_.grid().chunk_shape()))
      return {};
    const ArrayView place = part.of_output(request_.output);
    if (!place.is_contiguous() || place.nbytes() != codec_.inner()->encoded_size()) return {};
    return {place.data, place.nbytes()};
  }

  std::vector<Piece> pieces_;
  std::vector<Item> items_;
  bool started_ = false;
  bool planned_ = false;
};

// Inner chunks that the part covers are encoded anew, those it touches are read and changed, all others are kept as they are.
class ShardEncode final : public PartialEncode, private ShardAccess {
 public:
  ShardEncode(const ShardingCodec& codec, PartialRequest request, const ArraySpec& spec,
              const Context& context)
      : ShardAccess(codec, std::move(request), spec, context) {
    chunks_.resize(codec.inner_count());
    touched_.resize(codec.inner_count(), kUntouched);
    for (std::size_t p = 0; p < piece_count(); ++p) {
      ChunkPart part;
      touched_[piece(p, part)] = p;
    }
  }

  std::vector<WantedBytes> wanted() override {
    if (!index_) return {wanted_index()};
    std::vector<WantedBytes> out;
    if (std::exchange(planned_, true)) return out;
    for (std::size_t number = 0; number < chunks_.size(); ++number) {
      const ShardIndex::Entry entry = codec_.entry(*index_, number);
      if (entry.is_empty() || is_covered(number)) continue;
      out.push_back({ByteRange::range(entry.offset, entry.nbytes), {}});
      items_.push_back(number);
    }
    return out;
  }

  void receive(std::size_t i, const Buffer& bytes, std::optional<std::uint64_t> value_size) override {
    if (!planned_) return receive_index(bytes, value_size);
    const std::size_t number = items_[i];
    const ShardIndex::Entry entry = (*index_)[number];
    check_length(number, ByteRange::range(entry.offset, entry.nbytes), bytes);
    chunks_[number] = bytes;
  }

  std::shared_ptr<const PartialMemo> memo() const override { return index_; }
  void missing() override {}

  std::optional<Buffer> finish() override {
    codec_.for_each_inner(
        piece_count(),
        [&](std::size_t p) {
          ChunkPart part;
          return piece(p, part);
        },
        context_,
        [&](std::size_t p, const Context& context) {
          ChunkPart part;
          const std::size_t number = piece(p, part);
          codec_.naming_inner(number, [&] { chunks_[number] = changed(part, chunks_[number], context); });
        });
    for (const auto& chunk : chunks_)
      if (chunk) return codec_.assemble(std::move(chunks_), context_);
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kUntouched = ~std::size_t{0};

  bool is_covered(std::size_t number) const {
    if (touched_[number] == kUntouched) return false;
    ChunkPart part;
    piece(touched_[number], part);
    return part.covers(codec_.grid().chunk_shape());
  }

  // The inner chunk with the part put in, encoded.
  std::optional<Buffer> changed(const ChunkPart& part, const std::optional<Buffer>& old,
                                const Context& context) const {
    const Shape& shape = codec_.grid().chunk_shape();
    if (part.is_whole(shape)) return codec_.encode_inner(part.of_output(request_.output), context);
    NDArray chunk = scratch_array(spec_.type, shape);
    if (old) {
      codec_.inner()->decode(*old, chunk.view(), context);
    } else if (!part.covers(shape)) {
      fill(chunk.view(), spec_.fill);
    }
    scatter(request_.output, part, chunk.view());
    return codec_.encode_inner(chunk.view(), context);
  }

  std::vector<std::optional<Buffer>> chunks_;  // encoded
  std::vector<std::size_t> touched_;           // the piece in each inner chunk
  std::vector<std::size_t> items_;
  bool planned_ = false;
};

}  // namespace

std::unique_ptr<PartialDecode> ShardingCodec::decode_partial(PartialRequest request, const ArraySpec& spec,
                                                             const Context& context) const {
  return std::make_unique<ShardDecode>(*this, std::move(request), spec, context);
}

std::unique_ptr<PartialEncode> ShardingCodec::encode_partial(PartialRequest request, const ArraySpec& spec,
                                                             const Context& context) const {
  return std::make_unique<ShardEncode>(*this, std::move(request), spec, context);
}

}  // namespace zarrive
