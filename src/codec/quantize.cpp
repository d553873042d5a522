// `quantize`: floats rounded to a number of decimal digits, so that they compress better. (numcodecs
// "quantize".)
//
// scale = 2^ceil(log2(10^digits)); encoded = round_half_even(scale * x) / scale in the precision of `dtype`,
// cast to `astype`.
#include <cmath>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/filter.hpp"
#include "codec/number_rows.hpp"

namespace zarrive {
namespace {

bool takes(const DataType& type) noexcept {
  return type.id() == TypeId::float16 || type.id() == TypeId::float32 || type.id() == TypeId::float64;
}

class QuantizeCodec final : public TypedFilter {
 public:
  QuantizeCodec(FilterTypes types, double scale) : TypedFilter(std::move(types)), scale_(scale) {}
  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .strided = true, .elementwise = true};
  }

 protected:
  void check_types(const Types& types) const override {
    for (const DataType* type : {&types.decoded, &types.encoded})
      if (!takes(*type)) fail_type(*this, *type, "float16, float32 and float64");
  }

  void encode_as(const ArrayView& decoded, const ArrayView& encoded) const override {
    transform_numbers(decoded, encoded, [&](NumberBlock& block, std::size_t count) {
      quantize(decoded.type.id(), block, count);
    });
  }
  void decode_as(const ArrayView& encoded, const ArrayView& decoded) const override {
    cast_elements(encoded, decoded);
  }
  bool add_device_steps_as(gpu::kernels::NumberType encoded, gpu::kernels::NumberType decoded,
                           DeviceSteps& steps) const override {
    if (encoded != decoded) steps.operations.push_back(device_convert(encoded, decoded));
    return true;
  }

 private:
  void quantize(TypeId id, NumberBlock& block, std::size_t count) const noexcept {
    if (id == TypeId::float64) {
      for (std::size_t k = 0; k < count; ++k) block.f[k] = std::nearbyint(scale_ * block.f[k]) / scale_;
    } else if (id == TypeId::float32) {
      const float scale = static_cast<float>(scale_);
      for (std::size_t k = 0; k < count; ++k)
        block.f[k] = static_cast<double>(std::nearbyint(scale * static_cast<float>(block.f[k])) / scale);
    } else {
      const auto half = [](double value) {
        return to_double(TypeId::float16, from_double(TypeId::float16, value));
      };
      const double scale = half(scale_);
      for (std::size_t k = 0; k < count; ++k)
        block.f[k] = half(std::nearbyint(half(scale * block.f[k])) / scale);
    }
  }

  double scale_;
};

}  // namespace

std::shared_ptr<Codec> make_quantize(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const std::int64_t digits = configuration.required_integer("digits", -300, 300);
  FilterTypes types = filter_types(configuration);
  configuration.finish();
  // In these steps, because their rounding decides: numcodecs first takes the decimal exponent of 10^-digits,
  // away from zero.
  double exponent = std::log10(std::pow(10.0, static_cast<double>(-digits)));
  exponent = exponent < 0 ? std::floor(exponent) : std::ceil(exponent);
  const double scale = std::exp2(std::ceil(std::log2(std::pow(10.0, -exponent))));
  return std::make_shared<QuantizeCodec>(std::move(types), scale);
}

}  // namespace zarrive
