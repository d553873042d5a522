#include "codec/array_filter_on_bytes.hpp"

#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/bytes.hpp"
#include "codec/filter.hpp"

namespace zarrive {
namespace {

class ArrayFilterOnBytes final : public BytesToBytesCodec {
 public:
  ArrayFilterOnBytes(std::shared_ptr<const ArrayToArrayCodec> filter, DataType decoded, bool packs_bits)
      : filter_(std::move(filter)), decoded_(std::move(decoded)), packs_bits_(packs_bits) {
    encoded_ = filter_->encoded_spec(decoded_spec(0)).type;
  }

  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    const std::uint64_t count = decoded_size / decoded_.item_size();
    if (packs_bits_) return 1 + ceil_divide(count, 8);
    return multiply(count, encoded_.item_size(), "bytes of a filter");
  }

  Buffer encode(std::span<const std::byte> decoded, const Context& context) const override {
    const ArraySpec from = decoded_spec(elements(decoded.size(), decoded_));
    const ArraySpec to = filter_->encoded_spec(from);
    const auto in_order = make_v2_bytes_codec();
    const NDArray native = NDArray::allocate(from.type, from.shape);
    in_order->decode(decoded, from, native.view(), context);
    const NDArray filtered = NDArray::allocate(to.type, to.shape);
    filter_->bind(from)->encode(native.view(), filtered.view(), context);
    return in_order->encode(filtered.view(), to, context);
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded,
              const Context& context) const override {
    const ArraySpec to = decoded_spec(decoded_count(encoded));
    ArraySpec from = filter_->encoded_spec(to);
    const auto in_order = make_v2_bytes_codec();
    const NDArray stored = NDArray::allocate(from.type, from.shape);
    in_order->decode(encoded, from, stored.view(), context);
    const NDArray native = NDArray::allocate(to.type, to.shape);
    filter_->bind(to)->decode(stored.view(), native.view(), context);
    decoded.assign(in_order->encode(native.view(), to, context).host_span());
  }

 private:
  ArraySpec decoded_spec(std::uint64_t count) const {
    return {decoded_, Shape{count}, FillValue::undefined(decoded_)};
  }

  std::uint64_t elements(std::size_t size, const DataType& type) const {
    if (size % type.item_size() != 0)
      fail_codec(*filter_, ErrorCode::corrupt_chunk,
                 "found " + std::to_string(size) + " bytes, which are no whole number of elements of " +
                     type.name());
    return size / type.item_size();
  }

  std::uint64_t decoded_count(std::span<const std::byte> encoded) const {
    if (!packs_bits_) return elements(encoded.size(), encoded_);
    const std::uint64_t bits = encoded.empty() ? 0 : 8 * (std::uint64_t{encoded.size()} - 1);
    const std::uint64_t padding = encoded.empty() ? 8 : std::to_integer<std::uint64_t>(encoded[0]);
    if (padding > 7 || padding > bits)
      fail_codec(*filter_, ErrorCode::corrupt_chunk,
                 "found " + std::to_string(padding) + " padding bits in " + std::to_string(encoded.size()) +
                     " bytes");
    return bits - padding;
  }

  std::shared_ptr<const ArrayToArrayCodec> filter_;
  DataType decoded_;
  DataType encoded_;
  bool packs_bits_;
};

}  // namespace

std::shared_ptr<const BytesToBytesCodec> make_array_filter_on_bytes(
    std::shared_ptr<const ArrayToArrayCodec> filter, const CodecSpec& spec) {
  const bool packs_bits = spec.name == "packbits";
  CodecOptions options;
  options.format = ZarrFormat::v2;
  Configuration configuration(spec, options);
  const std::optional<DataType> dtype =
      packs_bits ? DataType(TypeId::boolean)
                 : dtype_member(configuration, spec.name == "astype" ? "decode_dtype" : "dtype");
  if (!dtype || dtype->is_variable())
    fail_codec(*filter, ErrorCode::unsupported_codec,
               "follows a codec that gives bytes, and states no data type of fixed size to read them as");
  return std::make_shared<ArrayFilterOnBytes>(std::move(filter), *dtype, packs_bits);
}

}  // namespace zarrive
