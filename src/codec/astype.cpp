// `astype`: elements cast to another type, as a C cast does it. (numcodecs "astype".)
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/filter.hpp"
#include "codec/numbers.hpp"

namespace zarrive {
namespace {

class AsTypeCodec final : public TypedFilter {
 public:
  using TypedFilter::TypedFilter;
  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .strided = true, .elementwise = true};
  }

 protected:
  void check_types(const Types& types) const override {
    if (!can_cast(types.decoded, types.encoded))
      fail_codec(*this, ErrorCode::unsupported_data_type,
                 "cannot cast " + types.decoded.name() + " to " + types.encoded.name() +
                     "; takes bool, integers, floats, complex");
    const bool times = !types.decoded.unit().empty() && !types.encoded.unit().empty();
    if (times && !(types.decoded == types.encoded))
      fail_codec(
          *this, ErrorCode::unsupported_data_type,
          "cannot convert " + types.decoded.name() + " to " + types.encoded.name() + ": the units differ");
  }
  void encode_as(const ArrayView& decoded, const ArrayView& encoded) const override {
    cast_elements(decoded, encoded);
  }
  void decode_as(const ArrayView& encoded, const ArrayView& decoded) const override {
    cast_elements(encoded, decoded);
  }
  bool add_device_steps_as(gpu::kernels::NumberType encoded, gpu::kernels::NumberType decoded,
                           DeviceSteps& steps) const override {
    if (encoded != decoded) steps.operations.push_back(device_convert(encoded, decoded));
    return true;
  }
};

}  // namespace

std::shared_ptr<Codec> make_astype(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  FilterTypes types = filter_types(configuration, "decode_dtype", "encode_dtype");
  configuration.finish();
  if (!types.encoded) configuration.fail("'encode_dtype' is missing, expected a data type such as \"<i2\"");
  return std::make_shared<AsTypeCodec>(std::move(types));
}

}  // namespace zarrive
