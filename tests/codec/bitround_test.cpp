// bitround: known roundings, NaN, and its errors.
#include "codec/array_codec_values.hpp"

namespace zarrive {
namespace {

using namespace testing;

TEST(BitRound, Tables) {
  EXPECT_EQ(
      through("bitround", R"({"keepbits":3})", v3, "uint8", "[0,1,10,11,100,123,200,208,209,255]").elements,
      "[0,1,10,12,96,128,192,192,224,224]");
  EXPECT_EQ(through("bitround", R"({"keepbits":3})", v3, "float32", "[1.1,2.2,3.3,4.4,0.1]").elements,
            "[1.125,2.25,3.25,4.5,0.1015625]");
  EXPECT_EQ(through("bitround", R"({"keepbits":3})", v3, "float32",
                    R"([0,0.1,1.2,12.3,123.4,1234.5,"NaN","Infinity","-Infinity"])")
                .elements,
            R"([0.0,0.1015625,1.25,12.0,120.0,1280.0,"NaN","Infinity","-Infinity"])");
  EXPECT_EQ(through("bitround", R"({"keepbits":3})", v3, "complex64", "[[1.1,2.2]]").elements,
            "[[1.125,2.25]]");
  EXPECT_EQ(through("bitround", R"({"keepbits":3})", v3, "float64", "[1.1]").elements, "[1.125]");
  EXPECT_EQ(through("bitround", R"({"keepbits":3})", v3, "float16", "[1.1]").elements, "[1.125]");
  EXPECT_EQ(through("bitround", R"({"keepbits":3})", v3, "bfloat16", "[1.1]").elements, "[1.125]");
  EXPECT_EQ(through("bitround", R"({"keepbits":1})", v3, "<M8[s]", "[1,3,5,96]").elements, "[1,4,4,128]");
  EXPECT_EQ(through("bitround", R"({"keepbits":0})", v3, "uint8", "[0,1,2,3,255]").elements, "[0,0,0,4,0]");
  EXPECT_EQ(through("bitround", R"({"keepbits":2})", v3, "uint16", "[65535]").elements, "[49152]");
  EXPECT_EQ(through("bitround", R"({"keepbits":8})", v2, "uint8", "[0,11,255]").elements, "[0,11,255]");
}

TEST(BitRound, NaNStaysNaN) {
  const Encoded all_ones =
      through("bitround", R"({"keepbits":1})", v3, "float32", R"(["0x7fffffff","0xffffffff","0x7f800001"])");
  EXPECT_EQ(all_ones.elements, R"(["NaN","0xffc00000","NaN"])");
}

TEST(BitRound, Errors) {
  EXPECT_ERROR(make_codec("bitround", "{}"), ErrorCode::invalid_metadata, "keepbits");
  EXPECT_ERROR(make_codec("bitround", R"({"keepbits":-1})"), ErrorCode::invalid_metadata, "keepbits");
  EXPECT_ERROR(through("bitround", R"({"keepbits":24})", v2, "float32", "[1.5]"), ErrorCode::invalid_metadata,
               "23 bits of mantissa");
  EXPECT_EQ(through("bitround", R"({"keepbits":24})", v3, "float32", "[1.1]").elements, "[1.1]");
  EXPECT_ERROR(array_codec("bitround", R"({"keepbits":3})")->bind(spec_of("bool", {1})),
               ErrorCode::unsupported_data_type, "bool");
  EXPECT_ERROR(array_codec("bitround", R"({"keepbits":3})")->bind(spec_of("int4", {1})),
               ErrorCode::unsupported_data_type, "int4");
}

}  // namespace
}  // namespace zarrive
