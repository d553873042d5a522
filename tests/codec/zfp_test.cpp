// zfp and zfpy: every mode, bounds of their errors, configurations and streams that are refused.
#include "codec/array_codec_values.hpp"

namespace zarrive {
namespace {

using namespace testing;

TEST(Zfp, ModesAndErrors) {
  if (!CodecRegistry::global().contains("zfp", v3)) GTEST_SKIP() << "built without libzfp";
  std::string list = "[";
  for (int k = 0; k < 64; ++k) list += (k ? "," : "") + std::to_string(0.5 * k);
  const NDArray smooth = array_of(DataType(TypeId::float64), {4, 16}, list + "]");
  const ArraySpec spec = spec_of(smooth.type(), smooth.shape());
  const std::vector<std::pair<const char*, ZarrFormat>> modes = {
      {R"({"mode":"fixed_accuracy","tolerance":0.05})", v3},
      {R"({"mode":"fixed_rate","rate":16})", v3},
      {R"({"mode":"fixed_precision","precision":24})", v3},
      {R"({"mode":"expert","minbits":1,"maxbits":4096,"maxprec":40,"minexp":-20})", v3},
      {R"({"mode":4,"tolerance":0.05})", v2},
      {R"({"mode":2,"rate":16})", v2},
      {R"({"mode":3,"precision":24})", v2},
  };
  for (const auto& [configuration, format] : modes) {
    const auto codec = bytes_codec(format == v3 ? "zfp" : "zfpy", configuration, format)->bind(spec);
    const Buffer encoded = codec->encode(smooth.view(), spec, {});
    EXPECT_LT(encoded.size(), spec.nbytes()) << configuration;
    const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
    codec->decode(encoded.host_span(), spec, decoded.view(), {});
    for (std::size_t k = 0; k < 64; ++k)
      EXPECT_NEAR(decoded.span<double>()[k], smooth.span<double>()[k], 0.06) << configuration;
  }
  for (const char* bad : {"{}", R"({"mode":"fixed_accuracy"})", R"({"mode":"fixed_rate","rate":0})",
                          R"({"mode":"fixed_precision"})", R"({"mode":"reversible","write_header":true})",
                          R"({"mode":"expert","minbits":1,"maxbits":0,"maxprec":1,"minexp":0})"})
    EXPECT_ERROR(make_codec("zfp", bad), ErrorCode::invalid_metadata, "zfp");
  EXPECT_ERROR(bytes_codec("zfp", R"({"mode":"expert","minbits":9,"maxbits":8,"maxprec":1,"minexp":0})")
                   ->encode(smooth.view(), spec, {}),
               ErrorCode::invalid_metadata, "expert");
  EXPECT_ERROR(bytes_codec("zfp", R"({"mode":"reversible"})")->bind(spec_of("complex64", {1})),
               ErrorCode::unsupported_data_type, "complex64");
  EXPECT_ERROR(bytes_codec("zfp", R"({"mode":"reversible"})")->bind(spec_of("float32", {1, 1, 1, 1, 1})),
               ErrorCode::invalid_metadata, "at most 4");
  EXPECT_ERROR(bytes_codec("zfpy", "{}", v2)->bind(spec_of("int8", {1})), ErrorCode::unsupported_data_type,
               "int32");
  const NDArray large = array_of("uint64", "[18446744073709551615]");
  EXPECT_ERROR(
      bytes_codec("zfp", R"({"mode":"reversible"})")->encode(large.view(), spec_of("uint64", {1}), {}),
      ErrorCode::invalid_argument, "does not fit");
  const NDArray also_large = array_of("uint32", "[4294967295]");
  EXPECT_ERROR(
      bytes_codec("zfp", R"({"mode":"reversible"})")->encode(also_large.view(), spec_of("uint32", {1}), {}),
      ErrorCode::invalid_argument, "does not fit");
  // A header for something else.
  const Buffer doubles = bytes_codec("zfpy", "{}", v2)->encode(smooth.view(), spec, {});
  const NDArray floats = NDArray::allocate(DataType(TypeId::float32), {4, 16});
  EXPECT_ERROR(bytes_codec("zfpy", "{}", v2)
                   ->decode(doubles.host_span(), spec_of("float32", {4, 16}), floats.view(), {}),
               ErrorCode::corrupt_chunk, "another data type");
  const NDArray fewer = NDArray::allocate(spec.type, {4, 15});
  EXPECT_ERROR(bytes_codec("zfpy", "{}", v2)
                   ->decode(doubles.host_span(), spec_of("float64", {4, 15}), fewer.view(), {}),
               ErrorCode::corrupt_chunk, "for 64 elements");
  const auto fixed_rate = bytes_codec("zfp", R"({"mode":"fixed_rate","rate":64})");
  EXPECT_ERROR(fixed_rate->decode(to_bytes({1, 2, 3}), spec, smooth.view(), {}), ErrorCode::corrupt_chunk,
               "expected at least");
}

}  // namespace
}  // namespace zarrive
