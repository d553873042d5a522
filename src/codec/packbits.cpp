// `packbits` of Zarr v3, array to bytes: the chosen bits of each element, end to end. (zarr-extensions
// "packbits".)
//
// Bit i of the stream is bit i % 8 of byte i / 8, and the bits of an element come lowest first. (The
// specification leaves the order open; zarrs does it so.)
#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/dense_part.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

enum class Padding : std::uint8_t { none, first_byte, last_byte };

// How one element becomes bits, for a data type.
struct Layout {
  std::size_t components = 1;
  std::size_t width = 1;  // bytes of a component in memory
  unsigned first = 0;     // lowest bit that is kept
  unsigned bits = 8;      // kept bits of a component
  bool extend_sign = false;
  std::uint64_t element_bits() const noexcept { return components * std::uint64_t{bits}; }
};

std::uint64_t load_component(const std::byte* at, std::size_t width) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, at, width);
  return value;
}

// `count` (at most 64) bits of the stream from bit `position` on.
std::uint64_t read_bits(std::span<const std::byte> stream, std::uint64_t position, unsigned count) noexcept {
  std::uint64_t value = 0;
  unsigned have = 0;
  while (have < count) {
    const unsigned skip = static_cast<unsigned>(position % 8);
    const unsigned take = std::min(8 - skip, count - have);
    const std::uint64_t part =
        std::to_integer<std::uint64_t>(stream[static_cast<std::size_t>(position / 8)]) >> skip &
        ((1U << take) - 1);
    value |= part << have;
    have += take;
    position += take;
  }
  return value;
}

void write_bits(std::span<std::byte> stream, std::uint64_t position, unsigned count,
                std::uint64_t value) noexcept {
  while (count > 0) {
    const unsigned skip = static_cast<unsigned>(position % 8);
    const unsigned take = std::min(8 - skip, count);
    stream[static_cast<std::size_t>(position / 8)] |=
        static_cast<std::byte>((value & ((1U << take) - 1)) << skip);
    value >>= take;
    count -= take;
    position += take;
  }
}

class PackBitsCodec final : public ArrayToBytesCodec {
 public:
  PackBitsCodec(Padding padding, std::optional<unsigned> first, std::optional<unsigned> last)
      : padding_(padding), first_(first), last_(last) {}

  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .partial_decode = true, .strided = true};
  }

  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override {
    layout(decoded.type);
    return ArrayToBytesCodec::bind(decoded);
  }

  std::optional<std::uint64_t> encoded_size(const ArraySpec& decoded) const override {
    return ceil_divide(bit_count(layout(decoded.type), decoded.size()), 8) + (padding_ != Padding::none);
  }

  Buffer encode(const ArrayView& decoded, const ArraySpec& spec, const Context&) const override {
    const Layout element = layout(spec.type);
    const std::size_t size = static_cast<std::size_t>(*encoded_size(spec));
    Buffer out = allocate_encoded(size);
    const std::span<std::byte> bytes = out.mutable_host_span();
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    if (padding_ != Padding::none)
      bytes[padding_ == Padding::first_byte ? 0 : size - 1] = static_cast<std::byte>(padding_bits(spec));
    const std::span<std::byte> stream = padding_ == Padding::first_byte ? bytes.subspan(1) : bytes;
    std::uint64_t position = 0;
    for_each_row(decoded, [&](std::byte* row, std::int64_t step, std::uint64_t count) {
      for (std::uint64_t k = 0; k < count; ++k, row += step)
        for (std::size_t c = 0; c < element.components; ++c, position += element.bits) {
          std::uint64_t value = load_component(row + c * element.width, element.width);
          if (spec.type.id() == TypeId::boolean) value = value != 0;
          write_bits(stream, position, element.bits, value >> element.first);
        }
    });
    return out;
  }

  void decode(std::span<const std::byte> encoded, const ArraySpec& spec, const ArrayView& decoded,
              const Context&) const override {
    check_encoded_size(*this, encoded.size(), *encoded_size(spec));
    if (padding_ != Padding::none) {
      const std::uint64_t found =
          std::to_integer<std::uint64_t>(padding_ == Padding::first_byte ? encoded.front() : encoded.back());
      if (found != padding_bits(spec))
        fail_chunk(*this, "found " + std::to_string(found) + " padding bits, expected " +
                              std::to_string(padding_bits(spec)));
    }
    unpack(padding_ == Padding::first_byte ? encoded.subspan(1) : encoded, 0, layout(spec.type), decoded);
  }

  std::unique_ptr<PartialDecode> decode_partial(PartialRequest request, const ArraySpec& spec,
                                                const Context&) const override {
    const Layout element = layout(spec.type);
    const std::uint64_t shift = padding_ == Padding::first_byte ? 1 : 0;
    DenseLayout dense;
    dense.encoded_size = *encoded_size(spec);
    dense.bytes_of = [element, shift](std::uint64_t first, std::uint64_t count) {
      const std::uint64_t from = first * element.element_bits();
      const std::uint64_t to = (first + count) * element.element_bits();
      return ByteRange::range(shift + from / 8, ceil_divide(to, 8) - from / 8);  // whole bytes
    };
    dense.elements = [element, &type = spec.type](const Buffer& encoded, std::uint64_t first,
                                                  std::uint64_t count) {
      Buffer own = allocate_encoded(multiply(count, type.item_size(), "a part of a chunk"));
      unpack(encoded.host_span(), first * element.element_bits() % 8, element,
             ArrayView(own.mutable_data(), type, Shape{count}));
      return own;
    };
    return decode_dense_part(*this, std::move(request), spec, std::move(dense));
  }

 private:
  Layout layout(const DataType& type) const {
    Layout result;
    result.components = type.is_complex() ? 2 : 1;
    result.width = type.item_size() / result.components;
    unsigned all = static_cast<unsigned>(8 * result.width);
    switch (type.id()) {
      case TypeId::boolean: all = 1; break;
      case TypeId::int2:
      case TypeId::uint2: all = 2; break;
      case TypeId::int4:
      case TypeId::uint4:
      case TypeId::float4_e2m1fn: all = 4; break;
      case TypeId::float6_e2m3fn:
      case TypeId::float6_e3m2fn: all = 6; break;
      default:
        if (!type.is_real() && !type.is_complex())
          fail_type(*this, type, "bool, integers, floats and complex");
    }
    result.first = first_.value_or(0);
    const unsigned last = last_.value_or(all - 1);
    if (last >= all || result.first > last)
      fail_codec(*this, ErrorCode::invalid_metadata,
                 "bits " + std::to_string(result.first) + " to " + std::to_string(last) +
                     " are not among the " + std::to_string(all) + " bits of " + type.name());
    result.bits = last - result.first + 1;
    result.extend_sign = type.is_integer() && type.is_signed();
    return result;
  }

  static std::uint64_t bit_count(const Layout& element, std::uint64_t elements) {
    return multiply(elements, element.element_bits(), "bits of a chunk");
  }
  std::uint64_t padding_bits(const ArraySpec& spec) const {
    const std::uint64_t bits = bit_count(layout(spec.type), spec.size());
    return ceil_divide(bits, 8) * 8 - bits;
  }

  static void unpack(std::span<const std::byte> stream, std::uint64_t position, const Layout& element,
                     const ArrayView& decoded) {
    const unsigned top = element.first + element.bits;  // bits of the restored value below its extension
    for_each_row(decoded, [&](std::byte* row, std::int64_t step, std::uint64_t count) {
      for (std::uint64_t k = 0; k < count; ++k, row += step)
        for (std::size_t c = 0; c < element.components; ++c, position += element.bits) {
          std::uint64_t value = read_bits(stream, position, element.bits) << element.first;
          if (element.extend_sign && top < 64 && (value >> (top - 1) & 1U)) value |= ~std::uint64_t{0} << top;
          std::memcpy(row + c * element.width, &value, element.width);
        }
    });
  }

  Padding padding_;
  std::optional<unsigned> first_;
  std::optional<unsigned> last_;
};

std::optional<unsigned> bit_index(Configuration& configuration, const char* name, const char* other_name) {
  const char* member = configuration.find(name) ? name : other_name;
  const Json* value = configuration.find(member);
  if (!value || value->is_null()) return std::nullopt;
  return static_cast<unsigned>(configuration.required_integer(member, 0, 63));
}

}  // namespace

std::shared_ptr<Codec> make_packbits(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  // The specification's schema has other words than its text; both are read.
  const std::string padding = configuration.choice(
      "padding_encoding", "none", {"none", "first_byte", "last_byte", "start_byte", "end_byte"});
  const std::optional<unsigned> first = bit_index(configuration, "first_bit", "start_bit");
  const std::optional<unsigned> last = bit_index(configuration, "last_bit", "end_bit");
  configuration.ignore("start_bit");
  configuration.ignore("end_bit");
  configuration.finish();
  const Padding encoding = padding == "none"                                    ? Padding::none
                           : padding == "first_byte" || padding == "start_byte" ? Padding::first_byte
                                                                                : Padding::last_byte;
  return std::make_shared<PackBitsCodec>(encoding, first, last);
}

}  // namespace zarrive
