// Parts of chunks through a codec chain.
#include <utility>

#include "codec/partial.hpp"
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

void BoundChain::decode_part(const Buffer& encoded, const ChunkPart& part, const ArrayView& output,
                             const Context& context) const {
  check_encoded_size(encoded.size());
  if (output.type == decoded_.type) {
    if (part.is_ranges() && part.covers(decoded_.shape))
      return decode(encoded, part.of_output_in_chunk_order(output), context);
    PartialRequest request{part, output, nullptr};
    if (auto decode = decode_partial(request, context)) return decode_from_memory(*decode, encoded, true);
    // A shard inside a compressed value: that is decoded whole, but not all of its inner chunks.
    if (bytes_codec_->inner_chunk_shape() && seen_by_bytes_codec(request)) {
      std::span<const std::byte> bytes = encoded.host_span();
      const Buffer kept = decode_bytes(bytes, 0, byte_codecs_.size(), context);
      const auto decode = bytes_codec_->decode_partial(std::move(request), encoded_array_, context);
      return decode_from_memory(*decode, Buffer::borrow(bytes), true);
    }
  }
  NDArray chunk = scratch_array(decoded_.type, decoded_.shape);
  decode(encoded, chunk.view(), context);
  gather(chunk.view(), part, output);
}

}  // namespace zarrive
