// numcodecs "packbits", an array-to-array codec: byte 0 says how many padding bits there are, then eight
// bools a byte, the first in the highest bit. (The array-to-bytes codec "packbits" of Zarr v3 has the
// opposite bit order: packbits.cpp.)
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"

namespace zarrive {
namespace {

class PackBitsFilter final : public ArrayToArrayCodec {
 public:
  CodecCapabilities capabilities() const noexcept override { return {.fixed_size = true}; }

  std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const override {
    const TypeId id = decoded.type.id();
    if (id != TypeId::boolean && id != TypeId::uint8 && id != TypeId::int8)
      fail_type(*this, decoded.type, "bool");
    return ArrayToArrayCodec::bind(decoded);
  }

  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    const DataType uint8;
    return {uint8, Shape{1 + ceil_divide(decoded.size(), 8)}, FillValue::undefined(uint8)};
  }

  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context&) const override {
    const std::uint64_t count = decoded.size();
    const std::uint64_t packed = ceil_divide(count, 8);
    encoded.data[0] = static_cast<std::byte>(packed * 8 - count);
    for (std::uint64_t b = 0; b < packed; ++b) {
      unsigned bits = 0;
      for (std::uint64_t k = 8 * b; k < 8 * b + 8; ++k)
        bits = bits << 1 | (k < count && decoded.data[k] != std::byte{0});
      encoded.data[1 + b] = static_cast<std::byte>(bits);
    }
  }

  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context&) const override {
    const std::uint64_t count = decoded.size();
    const std::uint64_t padding = ceil_divide(count, 8) * 8 - count;
    const std::uint64_t found = std::to_integer<std::uint64_t>(encoded.data[0]);
    if (found != padding)
      fail_chunk(*this, "found " + std::to_string(found) + " padding bits, expected " +
                            std::to_string(padding) + " for " + std::to_string(count) + " elements");
    for (std::uint64_t k = 0; k < count; ++k)
      decoded.data[k] = (encoded.data[1 + k / 8] >> (7 - k % 8)) & std::byte{1};
  }
};

}  // namespace

std::shared_ptr<Codec> make_packbits_filter(const CodecSpec& spec, const CodecOptions& options) {
  Configuration(spec, options).finish();
  return std::make_shared<PackBitsFilter>();
}

}  // namespace zarrive
