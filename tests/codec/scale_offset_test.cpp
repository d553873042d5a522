// scale_offset: known values, the fill value, what does not fit.
#include "codec/array_codec_values.hpp"

namespace zarrive {
namespace {

using namespace testing;

TEST(ScaleOffset, Values) {
  const Encoded floats =
      through("scale_offset", R"({"offset":5,"scale":0.5})", v3, "float32", R"([5,7,"NaN","Infinity"])");
  EXPECT_EQ(floats.elements, R"([0.0,1.0,"NaN","Infinity"])");
  EXPECT_EQ(floats.decoded, R"([5.0,7.0,"NaN","Infinity"])");
  EXPECT_EQ(through("scale_offset", R"({"offset":1000})", v3, "uint16", "[1000,1255]").elements, "[0,255]");
  EXPECT_EQ(through("scale_offset", R"({"offset":-3,"scale":-2})", v3, "int8", "[0,10]").elements,
            "[-6,-26]");
  EXPECT_EQ(through("scale_offset", R"({"scale":-1})", v3, "int8", "[127,-5]").decoded, "[127,-5]");
  EXPECT_EQ(through("scale_offset", R"({"offset":0.25,"scale":2})", v3, "float16", "[1.25,-0.75]").elements,
            "[2.0,-2.0]");
  EXPECT_EQ(through("scale_offset", R"({"offset":0.5,"scale":4})", v3, "bfloat16", "[1.5]").elements,
            "[4.0]");
  EXPECT_EQ(through("scale_offset", "{}", v3, "uint64", "[18446744073709551615]").decoded,
            "[18446744073709551615]");
}

TEST(ScaleOffset, TheFillValueGoesAlong) {
  ArraySpec spec = spec_of("float64", {2});
  spec.fill = FillValue::from_v3(Json(300), spec.type);
  const auto codec = array_codec("scale_offset", R"({"offset":100,"scale":0.5})")->bind(spec);
  EXPECT_EQ(codec->encoded_spec(spec).fill.to_v3().as_double(), 100.0);
  ArraySpec bytes = spec_of("uint8", {2});
  EXPECT_ERROR(array_codec("scale_offset", R"({"offset":1})")->bind(bytes)->encoded_spec(bytes),
               ErrorCode::invalid_metadata, "the fill value");
  bytes.fill = FillValue::undefined(bytes.type);
  EXPECT_TRUE(
      array_codec("scale_offset", R"({"offset":1})")->bind(bytes)->encoded_spec(bytes).fill.is_undefined());
}

TEST(ScaleOffset, WhatDoesNotFitIsAnError) {
  // A fill value of 10 keeps the fill out of the way.
  const auto run = [](const std::string& configuration, const std::string& type, const std::string& elements,
                      bool decode) {
    ArraySpec spec = spec_of(type, {1});
    const auto codec = array_codec("scale_offset", configuration)->bind(spec);
    const NDArray from = array_of(type, elements);
    const NDArray to = NDArray::allocate(spec.type, spec.shape);
    if (decode) codec->decode(from.view(), to.view(), {});
    else codec->encode(from.view(), to.view(), {});
  };
  EXPECT_ERROR(run(R"({"offset":1})", "uint8", "[0]", false), ErrorCode::invalid_argument,
               "does not fit uint8");
  EXPECT_ERROR(run(R"({"scale":2})", "int8", "[64]", false), ErrorCode::invalid_argument,
               "does not fit int8");
  EXPECT_ERROR(run(R"({"scale":2})", "int32", "[3]", true), ErrorCode::corrupt_chunk, "is no int32");
  EXPECT_ERROR(run(R"({"scale":-1})", "int8", "[-128]", true), ErrorCode::corrupt_chunk, "is no int8");
  EXPECT_ERROR(run(R"({"offset":200})", "uint8", "[100]", true), ErrorCode::corrupt_chunk, "is no uint8");
  EXPECT_ERROR(run(R"({"scale":0})", "int8", "[1]", false), ErrorCode::invalid_metadata, "'scale' is 0");
  EXPECT_ERROR(run(R"({"scale":-0.0})", "float32", "[1]", false), ErrorCode::invalid_metadata,
               "'scale' is 0");
  EXPECT_ERROR(run(R"({"offset":300})", "uint8", "[1]", false), ErrorCode::invalid_metadata, "'offset'");
  EXPECT_ERROR(run(R"({"scale":0.1})", "uint8", "[1]", false), ErrorCode::invalid_metadata, "'scale'");
  EXPECT_ERROR(run("{}", "bool", "[true]", false), ErrorCode::unsupported_data_type, "bool");
  EXPECT_ERROR(make_codec("scale_offset", R"({"factor":1})"), ErrorCode::invalid_metadata, "factor");
}

TEST(ScaleOffset, WorksUnbound) {
  const auto codec = array_codec("scale_offset", R"({"offset":1})");
  const NDArray from = array_of("int16", "[5]");
  const NDArray to = NDArray::allocate(from.type(), from.shape());
  codec->encode(from.view(), to.view(), {});
  EXPECT_EQ(elements_of(to.view()), "[4]");
}

}  // namespace
}  // namespace zarrive
