// `optional`: which elements have a value, then the values of those that have one, each through a chain of its own. (zarr-extensions proposal
// "optional", as zarrs writes it.)
//
// mask size and data size in bytes (uint64, little-endian), the mask (bool, the chunk's shape), the data (the present values in C order, of rank
// 1). Without a present value the data has no bytes, whatever its codecs.
#include <cstring>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/rows.hpp"
#include "zarrive/codec_chain.hpp"

namespace zarrive {
namespace {

constexpr std::size_t kHeaderSize = 16;

class OptionalCodec final : public ArrayToBytesCodec {
 public:
  OptionalCodec(std::vector<CodecSpec> mask_codecs, std::vector<CodecSpec> data_codecs,
                MetadataOptions options)
      : mask_codecs_(std::move(mask_codecs)),
        data_codecs_(std::move(data_codecs)),
        options_(std::move(options)) {}

  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override {
    if (decoded.type.id() != TypeId::optional) fail_type(*this, decoded.type, "optional types");
    auto bound = std::make_shared<OptionalCodec>(*this);
    const DataType mask(TypeId::boolean);
    const DataType& value = decoded.type.fields()[1].type;
    bound->mask_ = CodecChain::create(mask_codecs_, mask, FillValue::zero(mask), options_);
    bound->data_ = CodecChain::create(data_codecs_, value, FillValue::zero(value), options_);
    // What does not fit is found here, before any chunk.
    bound->mask_->bind(decoded.shape);
    bound->data_->bind({decoded.size()});
    return bound;
  }

  Buffer encode(const ArrayView& decoded, const ArraySpec& spec, const Context& context) const override {
    if (!mask_) return bind(spec)->encode(decoded, spec, context);
    const std::size_t item = spec.type.item_size();
    const std::uint64_t count = spec.size();
    const NDArray mask = NDArray::allocate(DataType(TypeId::boolean), spec.shape);
    std::uint64_t present = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool has_value = decoded.data[i * item] != std::byte{0};
      mask.view().data[i] = std::byte{has_value};
      present += has_value;
    }
    const NDArray values = NDArray::allocate(spec.type.fields()[1].type, {present});
    std::byte* to = values.view().data;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (mask.view().data[i] == std::byte{0}) continue;
      std::memcpy(to, decoded.data + i * item + 1, item - 1);
      to += item - 1;
    }
    const Buffer mask_bytes = mask_->bind(spec.shape)->encode(mask.view(), context);
    const Buffer data_bytes =
        present == 0 ? Buffer() : data_->bind({present})->encode(values.view(), context);
    Buffer out = allocate_encoded(kHeaderSize + mask_bytes.size() + data_bytes.size());
    std::byte* at = out.mutable_data();
    store<std::uint64_t>(at, mask_bytes.size());
    store<std::uint64_t>(at + 8, data_bytes.size());
    at = std::copy_n(mask_bytes.data(), mask_bytes.size(), at + kHeaderSize);
    std::copy_n(data_bytes.data(), data_bytes.size(), at);
    return out;
  }

  void decode(std::span<const std::byte> encoded, const ArraySpec& spec, const ArrayView& decoded,
              const Context& context) const override {
    if (!mask_) return bind(spec)->decode(encoded, spec, decoded, context);
    if (encoded.size() < kHeaderSize)
      fail_chunk(*this, "found " + std::to_string(encoded.size()) + " bytes, expected a header of " +
                            std::to_string(kHeaderSize));
    const auto mask_size = load<std::uint64_t>(encoded.data());
    const auto data_size = load<std::uint64_t>(encoded.data() + 8);
    const std::size_t rest = encoded.size() - kHeaderSize;
    if (mask_size > rest || data_size != rest - mask_size)
      fail_chunk(*this, "the header says " + std::to_string(mask_size) + " bytes of mask and " +
                            std::to_string(data_size) + " of data, found " + std::to_string(rest) +
                            " after it");
    const std::span<const std::byte> mask_bytes =
        encoded.subspan(kHeaderSize, static_cast<std::size_t>(mask_size));
    const std::span<const std::byte> data_bytes =
        encoded.subspan(kHeaderSize + static_cast<std::size_t>(mask_size));

    const std::size_t item = spec.type.item_size();
    const std::uint64_t count = spec.size();
    const NDArray mask = NDArray::allocate(DataType(TypeId::boolean), spec.shape);
    mask_->bind(spec.shape)->decode(Buffer::borrow(mask_bytes), mask.view(), context);
    std::uint64_t present = 0;
    for (std::uint64_t i = 0; i < count; ++i) present += mask.view().data[i] != std::byte{0};
    if (present == 0 && data_size != 0)
      fail_chunk(*this,
                 "no element has a value, yet there are " + std::to_string(data_size) + " bytes of data");
    const NDArray values = NDArray::allocate(spec.type.fields()[1].type, {present});
    if (present != 0) data_->bind({present})->decode(Buffer::borrow(data_bytes), values.view(), context);

    const std::byte* from = values.view().data;
    std::byte* to = decoded.data;
    for (std::uint64_t i = 0; i < count; ++i, to += item) {
      if (mask.view().data[i] == std::byte{0}) {
        std::memset(to, 0, item);
        continue;
      }
      *to = std::byte{1};
      std::memcpy(to + 1, from, item - 1);
      from += item - 1;
    }
  }

 private:
  std::vector<CodecSpec> mask_codecs_;
  std::vector<CodecSpec> data_codecs_;
  MetadataOptions options_;
  std::optional<CodecChain> mask_ = {};  // these two once bound
  std::optional<CodecChain> data_ = {};
};

std::vector<CodecSpec> codec_list(Configuration& configuration, const char* member) {
  const Json* list = configuration.find(member);
  if (list == nullptr || !list->is_array() || list->as_array().empty())
    configuration.fail("'" + std::string(member) + "' is missing or no list of codecs");
  std::vector<CodecSpec> codecs;
  codecs.reserve(list->as_array().size());
  for (const Json& entry : list->as_array()) codecs.push_back(configuration.codec(entry));
  return codecs;
}

}  // namespace

std::shared_ptr<Codec> make_optional(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  std::vector<CodecSpec> mask = codec_list(configuration, "mask_codecs");
  std::vector<CodecSpec> data = codec_list(configuration, "data_codecs");
  configuration.finish();
  return std::make_shared<OptionalCodec>(std::move(mask), std::move(data),
                                         MetadataOptions{.strict = options.strict, .warn = options.warn});
}

}  // namespace zarrive
