// `bitround`: rounds numbers to a few significant bits, half to even, so that they compress better. Decoding
// changes nothing. (zarr-extensions "bitround"; numcodecs "bitround" does the same for floats.)
//
// Floats keep `keepbits` bits of the mantissa; a carry goes into the exponent as it should. Integers keep
// `keepbits` bits from the highest set one of their bit pattern, and what would not fit any more is cut off
// instead of rounded up (uint8 255 to 3 bits is 224). NaN stays NaN.
#include <bit>
#include <limits>
#include <type_traits>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/device_steps.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

template <class U>
U keep_high(U bits, int drop) noexcept {
  return static_cast<U>(static_cast<U>(bits >> drop) << drop);
}

// Half to even: what is added below the cut carries when the rest is above one half, or one half and the last
// kept bit is set.
template <class U>
U rounding(U bits, int drop) noexcept {
  return static_cast<U>((static_cast<U>(bits >> drop) & 1U) + (static_cast<U>(U{1} << (drop - 1)) - 1U));
}

template <class U, int kMantissa>
U round_float(U bits, int keep) noexcept {
  const int drop = kMantissa - keep;
  constexpr U kExponent =
      static_cast<U>(static_cast<U>(std::numeric_limits<U>::max() >> 1) >> kMantissa << kMantissa);
  constexpr U kFraction = static_cast<U>((U{1} << kMantissa) - 1U);
  if ((bits & kExponent) ==
      kExponent) {  // infinity is round already; a NaN keeps its high bits and stays one
    if ((bits & kFraction) == 0) return bits;
    return static_cast<U>(keep_high(bits, drop) | U{1} << (kMantissa - 1));
  }
  return keep_high(static_cast<U>(bits + rounding(bits, drop)), drop);
}

template <class U>
U round_integer(U bits, int keep) noexcept {
  const int drop = static_cast<int>(std::bit_width(bits)) - keep;
  if (drop <= 0) return bits;
  if (drop == std::numeric_limits<U>::digits) return 0;  // no bit is kept
  U sum = 0;
  if (__builtin_add_overflow(bits, rounding(bits, drop), &sum)) sum = std::numeric_limits<U>::max();
  return keep_high(sum, drop);
}

template <class U, class Round>
void round_all(const ArrayView& from, const ArrayView& to, std::size_t parts, Round&& round) {
  for_each_row(from, to,
               [&](std::byte* source, std::int64_t source_step, std::byte* target, std::int64_t target_step,
                   std::uint64_t count) {
                 for (std::uint64_t k = 0; k < count; ++k, source += source_step, target += target_step)
                   for (std::size_t p = 0; p < parts; ++p)
                     store<U>(target + p * sizeof(U), round(load<U>(source + p * sizeof(U))));
               });
}

// Mantissa bits of the float types that are taken, 0 for others.
int mantissa_bits(TypeId id) noexcept {
  switch (id) {
    case TypeId::bfloat16: return 7;
    case TypeId::float16: return 10;
    case TypeId::float32:
    case TypeId::complex64: return 23;
    case TypeId::float64:
    case TypeId::complex128: return 52;
    default: return 0;
  }
}

class BitRoundCodec final : public ArrayToArrayCodec {
 public:
  BitRoundCodec(int keep, ZarrFormat format) : keep_(keep), format_(format) {}
  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .strided = true, .elementwise = true};
  }

  std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const override {
    const DataType& type = decoded.type;
    const bool time = type.id() == TypeId::datetime64 || type.id() == TypeId::timedelta64;
    const bool whole = type.is_integer() &&
                       (type.item_size() > 1 || type.id() == TypeId::int8 || type.id() == TypeId::uint8);
    if (!mantissa_bits(type.id()) && !whole && !time)
      fail_type(*this, type,
                "integers of 8 bits and more, float16, bfloat16, float32, float64, complex and datetimes");
    return ArrayToArrayCodec::bind(decoded);
  }

  bool add_device_steps(const ArraySpec&, DeviceSteps&) const override {
    return true;
  }  // decoded elements are as stored

  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    ArraySpec encoded = decoded;
    // A fill value that cannot be rounded makes writing fail, not reading.
    if (mantissa_bits(decoded.type.id()) >= keep_ || !mantissa_bits(decoded.type.id()))
      encoded.fill = encode_fill(*this, decoded.fill, decoded.type);
    return encoded;
  }

  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context&) const override {
    const int mantissa = mantissa_bits(decoded.type.id());
    const std::size_t unit = decoded.type.swap_unit();
    const std::size_t parts = decoded.type.item_size() / unit;
    if (mantissa && keep_ > mantissa && format_ == ZarrFormat::v2)
      fail_codec(*this, ErrorCode::invalid_metadata,
                 "'keepbits' is " + std::to_string(keep_) + ", but " + decoded.type.name() + " has " +
                     std::to_string(mantissa) + " bits of mantissa");
    if (mantissa && keep_ >= mantissa) return copy(decoded, encoded);
    const auto floats = [&]<class U, int kMantissa>() {
      round_all<U>(decoded, encoded, parts, [&](U bits) { return round_float<U, kMantissa>(bits, keep_); });
    };
    const auto integers = [&]<class U>() {
      round_all<U>(decoded, encoded, parts, [&](U bits) { return round_integer<U>(bits, keep_); });
    };
    switch (mantissa) {
      case 7: return floats.template operator()<std::uint16_t, 7>();
      case 10: return floats.template operator()<std::uint16_t, 10>();
      case 23: return floats.template operator()<std::uint32_t, 23>();
      case 52: return floats.template operator()<std::uint64_t, 52>();
      default: break;
    }
    switch (unit) {
      case 1: return integers.template operator()<std::uint8_t>();
      case 2: return integers.template operator()<std::uint16_t>();
      case 4: return integers.template operator()<std::uint32_t>();
      default: return integers.template operator()<std::uint64_t>();
    }
  }

  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context&) const override {
    copy(encoded, decoded);
  }

 private:
  int keep_;
  ZarrFormat format_;
};

}  // namespace

std::shared_ptr<Codec> make_bitround(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const std::int64_t keep = configuration.required_integer("keepbits", 0, 64);
  configuration.finish();
  return std::make_shared<BitRoundCodec>(static_cast<int>(keep), options.format);
}

}  // namespace zarrive
