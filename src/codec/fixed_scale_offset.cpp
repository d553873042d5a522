// `fixedscaleoffset`: encoded = round_half_even((x - offset) * scale), decoded = encoded / scale + offset.
// (numcodecs "fixedscaleoffset".)
//
// The precision of each step is NumPy's, because the stored values depend on it: Python scalars are weak, so
// float32 stays float32; integers with a parameter that is a float become float64; integers with integer
// parameters stay what they are, and wrap; a division always gives floats.
#include <cmath>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/filter.hpp"
#include "codec/number_rows.hpp"

namespace zarrive {
namespace {

struct Parameter {
  double value = 0;
  std::optional<std::int64_t> whole = {};  // when the metadata has it as an integer
};

// Rounds to the precision that the type computes in: its own for floats, else float64.
double in_precision(TypeId id, double value) noexcept {
  if (id == TypeId::float32) return static_cast<double>(static_cast<float>(value));
  if (id == TypeId::float16 || id == TypeId::bfloat16) return to_double(id, from_double(id, value));
  return value;
}

// An integer as the type keeps it after it wrapped.
std::uint64_t wrapped(const DataType& type, std::uint64_t value) noexcept {
  const unsigned unused = 64 - 8 * static_cast<unsigned>(type.item_size());
  if (type.is_signed())
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
  return value << unused >> unused;
}

bool holds(const DataType& type, std::int64_t value) noexcept {
  if (!type.is_signed() && value < 0) return false;
  return wrapped(type, static_cast<std::uint64_t>(value)) == static_cast<std::uint64_t>(value);
}

class FixedScaleOffsetCodec final : public TypedFilter {
 public:
  FixedScaleOffsetCodec(FilterTypes types, Parameter offset, Parameter scale)
      : TypedFilter(std::move(types)), offset_(offset), scale_(scale) {}
  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .strided = true, .elementwise = true};
  }

 protected:
  void check_types(const Types& types) const override {
    for (const DataType* type : {&types.decoded, &types.encoded})
      if (!type->is_real() || (type->is_float() && type->item_size() == 1) || is_sub_byte(*type))
        fail_type(*this, *type, "int8 to uint64, float16, bfloat16, float32 and float64");
  }

  void encode_as(const ArrayView& decoded, const ArrayView& encoded) const override {
    transform_numbers(decoded, encoded, [&](NumberBlock& block, std::size_t count) {
      encode_block(decoded.type, block, count);
    });
  }

  void decode_as(const ArrayView& encoded, const ArrayView& decoded) const override {
    const TypeId work = encoded.type.id();
    const double scale = in_precision(work, scale_.value);
    const double offset = in_precision(work, offset_.value);
    transform_numbers(encoded, decoded, [&](NumberBlock& block, std::size_t count) {
      block.to_floats(count);
      if (encoded.type.is_integer() || work == TypeId::float64) {
        for (std::size_t k = 0; k < count; ++k) block.f[k] = block.f[k] / scale + offset;
      } else {
        for (std::size_t k = 0; k < count; ++k)
          block.f[k] = in_precision(work, in_precision(work, block.f[k] / scale) + offset);
      }
    });
  }

  bool add_device_steps_as(gpu::kernels::NumberType encoded, gpu::kernels::NumberType decoded,
                           DeviceSteps& steps) const override {
    steps.operations.push_back(device_fixed_scale_offset(encoded, decoded, scale_.value, offset_.value));
    return true;
  }

 private:
  void encode_block(const DataType& type, NumberBlock& block, std::size_t count) const noexcept {
    bool integers = type.is_integer();
    if (integers && offset_.whole && holds(type, *offset_.whole)) {
      for (std::size_t k = 0; k < count; ++k)
        block.u[k] = wrapped(type, block.u[k] - static_cast<std::uint64_t>(*offset_.whole));
    } else {
      block.to_floats(count);
      const TypeId work = integers ? TypeId::float64 : type.id();
      const double offset = in_precision(work, offset_.value);
      for (std::size_t k = 0; k < count; ++k) block.f[k] = in_precision(work, block.f[k] - offset);
      integers = false;
    }
    if (integers && scale_.whole && holds(type, *scale_.whole)) {
      for (std::size_t k = 0; k < count; ++k)
        block.u[k] = wrapped(type, block.u[k] * static_cast<std::uint64_t>(*scale_.whole));
      return;  // integers are round
    }
    block.to_floats(count);
    const TypeId work = type.is_integer() ? TypeId::float64 : type.id();
    const double scale = in_precision(work, scale_.value);
    for (std::size_t k = 0; k < count; ++k)
      block.f[k] = std::nearbyint(in_precision(work, block.f[k] * scale));
  }

  Parameter offset_;
  Parameter scale_;
};

Parameter parameter(Configuration& configuration, const char* member) {
  const Json* value = configuration.find(member);
  if (!value) configuration.fail("'" + std::string(member) + "' is missing, expected a number");
  Parameter result;
  result.value = configuration.number(member, 0);
  if (value->is_integer()) result.whole = value->to_int64();
  return result;
}

}  // namespace

std::shared_ptr<Codec> make_fixed_scale_offset(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const Parameter offset = parameter(configuration, "offset");
  const Parameter scale = parameter(configuration, "scale");
  FilterTypes types = filter_types(configuration);
  configuration.finish();
  if (scale.value == 0) configuration.fail("'scale' is 0, which cannot be decoded: expected another number");
  return std::make_shared<FixedScaleOffsetCodec>(std::move(types), offset, scale);
}

}  // namespace zarrive
