// Parts of chunks through a codec chain.
#include <algorithm>
#include <utility>

#include "codec/device_read.hpp"
#include "codec/device_steps.hpp"
#include "codec/partial.hpp"
#include "indexing/projection.hpp"
#include "memory/scratch.hpp"
#include "zarrive/codec_chain.hpp"

namespace zarrive {
namespace {

// Ranges of what a bytes-to-bytes codec decodes: each round of `inner` becomes rounds of ranges of the encoded bytes.
class ThroughBytesCodec final : public PartialDecode {
 public:
  ThroughBytesCodec(std::unique_ptr<PartialDecode> inner, const BytesToBytesCodec& codec,
                    std::optional<std::uint64_t> decoded_size, const Context& context)
      : inner_(std::move(inner)), codec_(codec), decoded_size_(decoded_size), context_(context) {}

  std::vector<WantedBytes> wanted() override {
    for (;;) {
      if (ranges_) {
        std::vector<WantedBytes> out = ranges_->wanted();
        if (!out.empty()) return out;
        ranges_.reset();
      }
      std::vector<ByteRange> ranges;
      for (const WantedBytes& wanted : inner_->wanted()) {
        const ByteRange::Resolved at = cut_to(wanted.range, *decoded_size_);
        ranges.push_back(ByteRange::range(at.offset, at.length));
      }
      if (ranges.empty()) return {};
      ranges_ = codec_.decode_ranges(
          std::move(ranges),
          [this](std::size_t i, const Buffer& bytes) { inner_->receive(i, bytes, decoded_size_); },
          decoded_size_, context_);
    }
  }
  void receive(std::size_t i, const Buffer& bytes, std::optional<std::uint64_t> value_size) override {
    ranges_->receive(i, bytes, value_size);
  }
  std::shared_ptr<const PartialMemo> memo() const override { return inner_->memo(); }

 private:
  const std::unique_ptr<PartialDecode> inner_;
  const BytesToBytesCodec& codec_;
  const std::optional<std::uint64_t> decoded_size_;
  const Context& context_;
  std::unique_ptr<PartialDecode> ranges_;
};

// A part for device memory that is decoded into pinned memory, and goes on from there.
class ThroughPinnedBlock final : public PartialDecode {
 public:
  ThroughPinnedBlock(DeviceRead& read, PartialRequest request, const DataType& type)
      : read_(read), request_(std::move(request)), block_(read.block(type, request_.part.extents())) {}
  // False when the chain cannot decode it in parts.
  bool begin(const BoundChain& chain, const Context& context) {
    decode_ = chain.decode_partial({request_.part.to_own_output(), block_.view(), std::move(request_.memo)},
                                   context);
    return decode_ != nullptr;
  }
  std::vector<WantedBytes> wanted() override {
    std::vector<WantedBytes> out = decode_->wanted();
    if (out.empty()) read_.place_block(block_, request_.part, request_.output);
    return out;
  }
  void receive(std::size_t i, const Buffer& bytes, std::optional<std::uint64_t> value_size) override {
    decode_->receive(i, bytes, value_size);
  }
  std::shared_ptr<const PartialMemo> memo() const override { return decode_->memo(); }

 private:
  DeviceRead& read_;
  PartialRequest request_;
  const NDArray block_;
  std::unique_ptr<PartialDecode> decode_;
};

// Of chunks of fewer bytes nothing is left out: zstd decodes blocks of 128 KiB.
constexpr std::uint64_t kLeastWindowed = 256 << 10;
// Up to so many bytes a chunk is decoded in one piece: it stays in a second-level cache, and zstd needs no window of its own.
constexpr std::uint64_t kOneWindow = 1 << 20;
constexpr std::uint64_t kWindow = 512 << 10;

// When more than this share of a chunk is wanted, all of it is read: ranges cost more than the rest of the bytes.
bool wants_most(const ChunkPart& part, const ArraySpec& chunk) { return part.size() > chunk.size() / 2; }

}  // namespace

bool BoundChain::seen_by_bytes_codec(PartialRequest& request) const {
  for (const auto& codec : array_codecs_) {
    const auto order = codec->transposition(request.part.ndim());
    if (!order) return false;
    if (!request.part.is_points()) request.output = request.output.transposed(*order);
    request.part = request.part.transposed(*order);
  }
  return true;
}

bool BoundChain::device_steps(DeviceSteps& steps, ChunkPart& part, ArrayView& output) const {
  if (encoded_array_.type.is_variable()) return false;
  for (std::size_t i = byte_codecs_.size(); i-- > 0;)
    if (steps.container != DeviceContainer::plain ||
        !byte_codecs_[i]->add_device_steps(encoded_array_, steps))
      return false;
  if (!bytes_codec_->add_device_steps(encoded_array_, steps)) return false;
  bool renamed = false;
  for (std::size_t k = array_codecs_.size(); k-- > 0;) {
    if (array_codecs_[k]->transposition(array_specs_[k].shape.size())) {
      renamed = true;
      continue;
    }
    if (!array_codecs_[k]->add_device_steps(array_specs_[k], steps)) return false;
    if (steps.delta && renamed) return false;  // sums are along another order than the stored one
  }
  for (std::size_t k = 0; k < array_codecs_.size(); ++k) {
    const auto order = array_codecs_[k]->transposition(part.ndim());
    if (!order) continue;
    if (!part.is_points()) output = output.transposed(*order);
    part = part.transposed(*order);
  }
  return true;
}

std::optional<DeviceContainer> BoundChain::device_encoding() const {
  const bool as_in_memory = array_codecs_.empty() && bytes_codec_->is_memory_layout(encoded_array_) &&
                            !bytes_codec_->finishes_in_place(encoded_array_);
  if (!as_in_memory || byte_codecs_.empty()) return std::nullopt;
  for (std::size_t i = 1; i < byte_codecs_.size(); ++i)
    if (!byte_codecs_[i]->capabilities().fixed_size) return std::nullopt;
  return byte_codecs_[0]->device_encoding();
}

Buffer BoundChain::finish_device_encoding(Buffer encoded, const Context& context) const {
  for (std::size_t i = 1; i < byte_codecs_.size(); ++i)
    encoded = byte_codecs_[i]->encode(encoded.host_span(), context);
  return encoded;
}

std::span<const std::byte> BoundChain::without_checksums(std::span<const std::byte> encoded,
                                                         const Context& context) const {
  for (std::size_t i = byte_codecs_.size(); i-- > 0;)
    if (!decode_to_view(encoded, i, context)) break;
  return encoded;
}

std::optional<Shape> BoundChain::inner_chunk_shape() const {
  std::optional<Shape> shape = bytes_codec_->inner_chunk_shape();
  if (!shape) return std::nullopt;
  for (std::size_t k = array_codecs_.size(); k-- > 0;) {
    const auto order = array_codecs_[k]->transposition(shape->size());
    if (!order) return array_specs_[k].shape == encoded_array_.shape ? shape : std::nullopt;
    Shape decoded(shape->size());
    for (std::size_t d = 0; d < order->size(); ++d) decoded[(*order)[d]] = (*shape)[d];
    shape = std::move(decoded);
  }
  return shape;
}

std::unique_ptr<PartialDecode> BoundChain::decode_partial(PartialRequest request,
                                                          const Context& context) const {
  if (!bytes_codec_->capabilities().partial_decode) return nullptr;
  const bool sharded = bytes_codec_->inner_chunk_shape().has_value();
  if (!sharded && wants_most(request.part, decoded_)) return nullptr;
  if (!sharded && !request.output.space.host_accessible()) {
    auto decode =
        std::make_unique<ThroughPinnedBlock>(DeviceRead::of(context), std::move(request), decoded_.type);
    if (!decode->begin(*this, context)) return nullptr;
    return decode;
  }
  for (std::size_t i = 0; i < byte_codecs_.size(); ++i)
    if (!byte_sizes_[i] || !byte_codecs_[i]->can_decode_ranges(context)) return nullptr;
  if (!seen_by_bytes_codec(request)) return nullptr;
  auto decode = bytes_codec_->decode_partial(std::move(request), encoded_array_, context);
  for (std::size_t i = 0; i < byte_codecs_.size(); ++i)
    decode =
        std::make_unique<ThroughBytesCodec>(std::move(decode), *byte_codecs_[i], byte_sizes_[i], context);
  return decode;
}

std::unique_ptr<PartialEncode> BoundChain::encode_partial(PartialRequest request,
                                                          const Context& context) const {
  if (!bytes_codec_->capabilities().partial_encode || !byte_codecs_.empty()) return nullptr;
  if (!seen_by_bytes_codec(request)) return nullptr;
  return bytes_codec_->encode_partial(std::move(request), encoded_array_, context);
}

// A shard inside a value that is there whole: it is decoded, but not all of its inner chunks. False when the chain has none that can be got at.
bool BoundChain::decode_shard_part(const Buffer& encoded, PartialRequest request,
                                   const Context& context) const {
  if (!bytes_codec_->inner_chunk_shape() || !seen_by_bytes_codec(request)) return false;
  std::span<const std::byte> bytes = encoded.host_span();
  const Buffer kept = decode_bytes(bytes, 0, byte_codecs_.size(), context);
  // Inner chunks may be used from their place in the value after this returns (device reads), and keep it alive.
  const Buffer value = Buffer::share(std::make_shared<std::pair<Buffer, Buffer>>(encoded, kept), bytes.data(),
                                     bytes.size(), kept.empty() ? encoded.space() : kept.space());
  const auto decode = bytes_codec_->decode_partial(std::move(request), encoded_array_, context);
  decode_from_memory(*decode, value, true);
  return true;
}

// A part of a chunk whose bytes are decoded in order: no further than the part goes, and large ones through a window. False when that is
// not possible, or would gain nothing.
bool BoundChain::decode_windows(const Buffer& encoded, PartialRequest request, const Context& context) const {
  const std::uint64_t total = encoded_array_.type.is_variable() ? 0 : encoded_array_.nbytes();
  if (byte_codecs_.empty() || total < kLeastWindowed || encoded_array_.shape.empty() ||
      !bytes_codec_->is_memory_layout(encoded_array_) || request.part.empty() ||
      !seen_by_bytes_codec(request))
    return false;
  std::span<const std::byte> bytes = encoded.host_span();
  for (std::size_t i = byte_codecs_.size(); i-- > 1;)
    if (!decode_to_view(bytes, i, context)) return false;
  // Windows hold whole rows: all of the chunk at one or more positions of the first dimension that has more than one.
  const Shape& shape = encoded_array_.shape;
  std::size_t d = 0;
  while (d + 1 < shape.size() && shape[d] == 1) ++d;
  const std::uint64_t row = total / shape[d];
  const Box bounds = request.part.bounds();
  const std::uint64_t wanted = (bounds.start[d] + bounds.extent[d]) * row;
  Shape window_shape = shape;
  if (total > kOneWindow) window_shape[d] = std::clamp<std::uint64_t>(kWindow / row, 1, shape[d]);
  else if (wanted == total) return false;
  const NDArray window = scratch_array(encoded_array_.type, window_shape);
  const std::uint64_t window_bytes = window.view().nbytes();
  // The part cut along the windows, in their order.
  const ChunkGrid grid = ChunkGrid::regular(window_shape);
  const GridProjection projection(request.part, cuts_of(grid));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces(projection.size());  // window, piece
  Index index;
  ChunkPart part;
  for (std::uint64_t p = 0; p < pieces.size(); ++p) {
    projection.at(p, index, part);
    pieces[p] = {index[d], p};
  }
  std::sort(pieces.begin(), pieces.end());
  auto next = pieces.begin();
  ByteSink sink({window.view().data, window_bytes}, total, wanted,
                [&](std::uint64_t offset, std::span<std::byte> arrived) {
                  Shape extent = window_shape;
                  extent[d] = arrived.size() / row;
                  const ArrayView view(arrived.data(), encoded_array_.type, extent);
                  if (next == pieces.end() || next->first != offset / window_bytes) return;
                  bytes_codec_->finish_in_place(view);
                  for (; next != pieces.end() && next->first == offset / window_bytes; ++next) {
                    projection.at(next->second, index, part);
                    gather(view, part, request.output);
                  }
                });
  if (!byte_codecs_[0]->decode_in_order(bytes, sink, context)) return false;
  sink.close();
  return true;
}

void BoundChain::decode_part(const Buffer& encoded, const ChunkPart& part, const ArrayView& output,
                             const Context& context) const {
  check_encoded_size(encoded.size());
  if (!output.space.host_accessible()) {
    if (!decode_shard_part(encoded, {part, output, nullptr}, context))
      DeviceRead::of(context).place(*this, encoded, part, output, context);
    return;
  }
  if (output.type == decoded_.type) {
    if (part.is_ranges() && part.covers(decoded_.shape))
      return decode(encoded, part.of_output_in_chunk_order(output), context);
    const PartialRequest request{part, output, nullptr};
    if (auto decode = decode_partial(request, context)) return decode_from_memory(*decode, encoded, true);
    if (decode_shard_part(encoded, request, context)) return;
    if (decode_windows(encoded, request, context)) return;
  }
  NDArray chunk = scratch_array(decoded_.type, decoded_.shape);
  decode(encoded, chunk.view(), context);
  gather(chunk.view(), part, output);
}

}  // namespace zarrive
