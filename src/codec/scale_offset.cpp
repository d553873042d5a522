// `scale_offset`: encoded = (x - offset) * scale, decoded = encoded / scale + offset, in the arithmetic of
// the array's own type. (zarr-extensions "scale_offset".) What that type cannot hold is an error: integers
// are checked for overflow and for a remainder of the division.
#include <cmath>
#include <type_traits>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/device_operations.hpp"
#include "codec/device_steps.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

template <class T>
struct Parameters {
  T offset;
  T scale;
};

// One step each way; false when the type cannot hold a result.
template <class T>
bool encode_one(T x, const Parameters<T>& p, T& out) noexcept {
  if constexpr (std::is_integral_v<T>) {
    T difference = 0;
    return !__builtin_sub_overflow(x, p.offset, &difference) &&
           !__builtin_mul_overflow(difference, p.scale, &out);
  } else {
    out = static_cast<T>(static_cast<T>(x - p.offset) * p.scale);
    return true;
  }
}

template <class T>
bool decode_one(T x, const Parameters<T>& p, T& out) noexcept {
  if constexpr (std::is_integral_v<T>) {
    T quotient = 0;
    if constexpr (std::is_signed_v<T>) {
      if (p.scale == T{-1}) {
        if (__builtin_sub_overflow(T{0}, x, &quotient)) return false;
        return !__builtin_add_overflow(quotient, p.offset, &out);
      }
    }
    if (x % p.scale != 0) return false;
    quotient = static_cast<T>(x / p.scale);
    return !__builtin_add_overflow(quotient, p.offset, &out);
  } else {
    out = static_cast<T>(static_cast<T>(x / p.scale) + p.offset);
    return true;
  }
}

// 16-bit floats: each step in double, then rounded once (53 bits are more than twice as many as theirs, so
// that is the exact rounding).
template <TypeId kId>
struct Small {
  std::uint16_t bits;
  static double round(double value) noexcept { return to_double(kId, from_double(kId, value)); }
};
template <TypeId kId>
bool encode_one(Small<kId> x, const Parameters<Small<kId>>& p, Small<kId>& out) noexcept {
  const double difference = Small<kId>::round(to_double(kId, x.bits) - to_double(kId, p.offset.bits));
  out.bits = from_double(kId, difference * to_double(kId, p.scale.bits));
  return true;
}
template <TypeId kId>
bool decode_one(Small<kId> x, const Parameters<Small<kId>>& p, Small<kId>& out) noexcept {
  const double quotient = Small<kId>::round(to_double(kId, x.bits) / to_double(kId, p.scale.bits));
  out.bits = from_double(kId, quotient + to_double(kId, p.offset.bits));
  return true;
}

// Calls f.operator()<T>() for the element type; false when the codec does not take it.
template <class F>
bool with_type(const DataType& type, F&& f) {
  switch (type.id()) {
    case TypeId::int8: f.template operator()<std::int8_t>(); return true;
    case TypeId::int16: f.template operator()<std::int16_t>(); return true;
    case TypeId::int32: f.template operator()<std::int32_t>(); return true;
    case TypeId::int64: f.template operator()<std::int64_t>(); return true;
    case TypeId::uint8: f.template operator()<std::uint8_t>(); return true;
    case TypeId::uint16: f.template operator()<std::uint16_t>(); return true;
    case TypeId::uint32: f.template operator()<std::uint32_t>(); return true;
    case TypeId::uint64: f.template operator()<std::uint64_t>(); return true;
    case TypeId::float16: f.template operator()<Small<TypeId::float16>>(); return true;
    case TypeId::bfloat16: f.template operator()<Small<TypeId::bfloat16>>(); return true;
    case TypeId::float32: f.template operator()<float>(); return true;
    case TypeId::float64: f.template operator()<double>(); return true;
    default: return false;
  }
}

class ScaleOffsetCodec final : public ArrayToArrayCodec {
 public:
  // JSON null: not given.
  ScaleOffsetCodec(Json offset, Json scale)
      : offset_json_(std::move(offset)), scale_json_(std::move(scale)) {}
  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .strided = true, .elementwise = true};
  }

  std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const override {
    if (!with_type(decoded.type, []<class T>() {}))
      fail_type(*this, decoded.type,
                "int8 to int64, uint8 to uint64, float16, bfloat16, float32 and float64");
    auto bound = std::make_shared<ScaleOffsetCodec>(*this);
    bound->offset_ = scalar(decoded.type, offset_json_, 0, "offset");
    bound->scale_ = scalar(decoded.type, scale_json_, 1, "scale");
    const FillValue scale = FillValue::from_bytes(decoded.type, bound->scale_);
    const FillValue zero = FillValue::from_v3(Json(0), decoded.type);
    if (scale == zero ||
        (decoded.type.is_float() && scale == FillValue::from_v3(Json(JsonNumber{"-0.0"}), decoded.type)))
      fail_codec(*this, ErrorCode::invalid_metadata,
                 "'scale' is 0, which cannot be decoded: expected another number");
    return bound;
  }

  bool add_device_steps(const ArraySpec& decoded, DeviceSteps& steps) const override {
    const auto type = device_number_type(decoded.type);
    if (!type || offset_.empty()) return false;
    const auto bits = [](const std::vector<std::byte>& element) {
      std::uint64_t value = 0;
      std::memcpy(&value, element.data(), element.size());
      return value;
    };
    steps.operations.push_back(device_scale_offset(*type, bits(scale_), bits(offset_)));
    return true;
  }

  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    ArraySpec encoded = decoded;
    try {
      encoded.fill = encode_fill(*this, decoded.fill, decoded.type);
    } catch (const Error& error) {
      throw Error(ErrorCode::invalid_metadata, "the fill value: " + error.message());
    }
    return encoded;
  }

  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context&) const override {
    run(decoded, encoded, [&]<class T>(T x, const Parameters<T>& p, T& out) {
      if (!encode_one(x, p, out))
        fail_codec(*this, ErrorCode::invalid_argument,
                   "(" + shown(decoded.type, &x) + " - offset) * scale does not fit " + decoded.type.name());
    });
  }

  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context&) const override {
    run(encoded, decoded, [&]<class T>(T x, const Parameters<T>& p, T& out) {
      if (!decode_one(x, p, out))
        fail_chunk(*this, shown(decoded.type, &x) + " / scale + offset is no " + decoded.type.name());
    });
  }

 private:
  static std::string shown(const DataType& type, const void* element) {
    return element_to_json(type, static_cast<const std::byte*>(element)).dump();
  }

  std::vector<std::byte> scalar(const DataType& type, const Json& json, int otherwise,
                                const char* member) const {
    try {
      const FillValue value = FillValue::from_v3(json.is_null() ? Json(otherwise) : json, type);
      return {value.bytes().begin(), value.bytes().end()};
    } catch (const Error& error) {
      fail_codec(*this, ErrorCode::invalid_metadata, "'" + std::string(member) + "': " + error.message());
    }
  }

  template <class Step>
  void run(const ArrayView& from, const ArrayView& to, Step&& step) const {
    if (offset_.empty()) {  // not bound yet
      const auto bound = bind(ArraySpec{from.type, from.shape, FillValue::zero(from.type)});
      return static_cast<const ScaleOffsetCodec&>(*bound).run(from, to, step);
    }
    with_type(from.type, [&]<class T>() {
      const Parameters<T> parameters{load<T>(offset_.data()), load<T>(scale_.data())};
      for_each_row(from, to,
                   [&](std::byte* source, std::int64_t source_step, std::byte* target,
                       std::int64_t target_step, std::uint64_t count) {
                     for (std::uint64_t k = 0; k < count; ++k, source += source_step, target += target_step) {
                       T out{};
                       step(load<T>(source), parameters, out);
                       store<T>(target, out);
                     }
                   });
    });
  }

  Json offset_json_;
  Json scale_json_;
  std::vector<std::byte> offset_;  // elements of the bound type
  std::vector<std::byte> scale_;
};

}  // namespace

std::shared_ptr<Codec> make_scale_offset(const CodecSpec& spec, const CodecOptions& options) {
  CodecOptions strict = options;
  strict.strict = true;  // further members are reserved: they would change the meaning
  Configuration configuration(spec, strict);
  const Json* offset = configuration.find("offset");
  const Json* scale = configuration.find("scale");
  configuration.finish();
  return std::make_shared<ScaleOffsetCodec>(offset ? *offset : Json(), scale ? *scale : Json());
}

}  // namespace zarrive
