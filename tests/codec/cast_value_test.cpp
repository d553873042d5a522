// cast_value: rounding, ranges, special values, the scalar map.
#include <cmath>
#include <limits>

#include "codec/array_codec_values.hpp"
#include "codec/real_cast.hpp"

namespace zarrive {
namespace {

using namespace testing;

std::string cast(const std::string& from, const std::string& to, const std::string& value,
                 const std::string& more = "") {
  const auto codec =
      array_codec("cast_value", R"({"data_type":")" + to + "\"" + (more.empty() ? "" : "," + more) + "}");
  const NDArray source = array_of(from, "[" + value + "]");
  const NDArray target = NDArray::allocate(DataType::parse(to), {1});
  codec->encode(source.view(), target.view(), {});
  const std::string list = elements_of(target.view());
  return list.substr(1, list.size() - 2);
}
std::string rounded(const std::string& from, const std::string& to, const std::string& value,
                    const std::string& mode) {
  return cast(from, to, value, R"("rounding":")" + mode + "\"");
}

TEST(CastValue, RoundingToIntegers) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> table = {
      {"nearest-even", {"2", "2", "4", "-2", "-2", "3", "-3"}},
      {"towards-zero", {"1", "2", "3", "-1", "-2", "2", "-2"}},
      {"towards-positive", {"2", "3", "4", "-1", "-2", "3", "-2"}},
      {"towards-negative", {"1", "2", "3", "-2", "-3", "2", "-3"}},
      {"nearest-away", {"2", "3", "4", "-2", "-3", "3", "-3"}}};
  const std::vector<std::string> values = {"1.5", "2.5", "3.5", "-1.5", "-2.5", "2.75", "-2.75"};
  for (const auto& [mode, wanted] : table)
    for (std::size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(rounded("float64", "int8", values[k], mode), wanted[k]) << mode << " " << values[k];
  EXPECT_EQ(cast("float64", "int8", "7.0"), "7");
  EXPECT_EQ(rounded("float32", "uint8", "0.25", "towards-positive"), "1");
}

TEST(CastValue, OutOfRange) {
  const std::string clamp = R"("out_of_range":"clamp")";
  const std::string wrap = R"("out_of_range":"wrap")";
  EXPECT_ERROR(cast("float64", "int8", "128.0"), ErrorCode::invalid_argument, "does not fit int8");
  EXPECT_EQ(cast("float64", "int8", "128.0", clamp), "127");
  EXPECT_EQ(cast("float64", "int8", "128.0", wrap), "-128");
  EXPECT_EQ(cast("int32", "int16", "32768", wrap), "-32768");
  EXPECT_EQ(cast("int32", "int16", "32769", wrap), "-32767");
  EXPECT_EQ(cast("int32", "int16", "-32769", wrap), "32767");
  EXPECT_EQ(cast("int32", "uint8", "-1", clamp), "0");
  EXPECT_EQ(cast("int32", "uint8", "-1", wrap), "255");
  EXPECT_EQ(cast("uint64", "int64", "18446744073709551615", wrap), "-1");
  EXPECT_EQ(cast("uint64", "int64", "18446744073709551615", clamp), "9223372036854775807");
  EXPECT_EQ(cast("float64", "uint64", "18446744073709551616", wrap), "0");
  EXPECT_EQ(cast("float64", "uint64", "18446744073709551616", clamp), "18446744073709551615");
  EXPECT_EQ(cast("float64", "int64", "-1e300", clamp), "-9223372036854775808");
  EXPECT_EQ(cast("float64", "uint64", "18446744073709549568"), "18446744073709549568");
  EXPECT_ERROR(cast("float64", "uint64", "18446744073709551616"), ErrorCode::invalid_argument,
               "does not fit");
  EXPECT_EQ(cast("float64", "int64", "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(cast("int8", "int4", "9", wrap), "-7");
  EXPECT_EQ(cast("int8", "uint2", "5", wrap), "1");
  EXPECT_EQ(cast("int8", "int2", "-9", clamp), "-2");
  for (const std::string& rule : {clamp, wrap}) {
    EXPECT_ERROR(cast("float64", "int8", "\"NaN\"", rule), ErrorCode::invalid_argument, "NaN");
    EXPECT_ERROR(cast("float64", "int8", "\"Infinity\"", rule), ErrorCode::invalid_argument, "Infinity");
  }
  EXPECT_ERROR(cast("float64", "float32", "1e300"), ErrorCode::invalid_argument, "does not fit");
  EXPECT_EQ(cast("float64", "float32", "1e300", clamp), "\"Infinity\"");
  EXPECT_EQ(cast("float64", "float16", "-65520.0", clamp), "\"-Infinity\"");
  EXPECT_EQ(cast("float64", "float16", "65519.0"), "65500.0");
  EXPECT_ERROR(cast("float64", "float16", "65520.0"), ErrorCode::invalid_argument, "does not fit");
  EXPECT_EQ(rounded("float64", "float16", "65535.0", "towards-zero"), "65500.0");
  EXPECT_EQ(cast("uint32", "float16", "65504"), "65500.0");
  EXPECT_ERROR(cast("uint32", "float16", "70000"), ErrorCode::invalid_argument, "does not fit");
  EXPECT_EQ(cast("int32", "float16", "-70000", clamp), "\"-Infinity\"");
}

TEST(CastValue, FloatsAndSpecialValues) {
  EXPECT_EQ(cast("float32", "float64", "\"NaN\""), "\"NaN\"");
  EXPECT_EQ(cast("float64", "bfloat16", "\"-Infinity\""), "\"-Infinity\"");
  EXPECT_EQ(cast("float64", "float32", "-0.0"), "-0.0");
  EXPECT_EQ(rounded("float64", "float32", "0.1", "towards-negative"),
            rounded("float64", "float32", "0.1", "towards-zero"));
  EXPECT_NE(rounded("float64", "float32", "0.1", "towards-positive"),
            rounded("float64", "float32", "0.1", "towards-zero"));
  EXPECT_EQ(cast("float64", "float32", "1e-45"), cast("float32", "float32", "1e-45"));  // subnormal
  EXPECT_EQ(rounded("float64", "float32", "1e-50", "towards-positive"), cast("float32", "float32", "1e-45"));
  EXPECT_EQ(rounded("float64", "float32", "1e-50", "nearest-even"), "0.0");
  EXPECT_EQ(rounded("int64", "float32", "16777217", "nearest-even"), "16777216.0");
  EXPECT_EQ(rounded("int64", "float32", "16777219", "nearest-even"), "16777220.0");
  EXPECT_EQ(rounded("int64", "float32", "16777217", "nearest-away"), "16777218.0");
  EXPECT_EQ(rounded("int64", "float32", "-16777217", "towards-negative"), "-16777218.0");
  EXPECT_EQ(rounded("int64", "float64", "9223372036854775807", "towards-zero"), "9.223372036854775e+18");
  EXPECT_EQ(rounded("int64", "float64", "9223372036854775807", "towards-positive"), "9.223372036854776e+18");
}

// Every rounding of every double near values of a small float is compared with a search among all its values.
TEST(CastValue, SmallFloatsAgainstSearch) {
  for (const char* name : {"float4_e2m1fn", "float6_e3m2fn", "float8_e4m3", "float8_e5m2", "float8_e4m3fnuz",
                           "float8_e8m0fnu", "float8_e3m4"}) {
    const DataType type = DataType::parse(name);
    const unsigned width = std::string(name).starts_with("float4")   ? 4
                           : std::string(name).starts_with("float6") ? 6
                                                                     : 8;
    std::vector<double> values;
    for (unsigned bits = 0; bits < (1U << width); ++bits) {
      const double value = to_double(type.id(), static_cast<std::uint16_t>(bits));
      if (std::isfinite(value)) values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (std::size_t k = 0; k + 1 < values.size(); ++k) {
      const double low = values[k];
      const double high = values[k + 1];
      for (const double part : {0.0, 0.25, 0.5, 0.75}) {
        const double x = low + part * (high - low);
        const auto image = [&](Rounding rounding) {
          const auto bits = RealCast(type, rounding, OutOfRange::error).from_double(x);
          return bits ? to_double(type.id(), static_cast<std::uint16_t>(*bits)) : std::nan("");
        };
        EXPECT_EQ(image(Rounding::towards_negative), low) << name << " " << x;
        EXPECT_EQ(image(Rounding::towards_positive), part == 0 ? low : high) << name << " " << x;
        EXPECT_EQ(image(Rounding::towards_zero), part == 0 || x > 0 ? low : high) << name << " " << x;
        if (part != 0.5) {
          EXPECT_EQ(image(Rounding::nearest_even), part < 0.5 ? low : high) << name << " " << x;
        } else {
          EXPECT_EQ(image(Rounding::nearest_away), x > 0 ? high : low) << name << " " << x;
        }
      }
    }
  }
}

TEST(CastValue, SmallFloatRanges) {
  EXPECT_EQ(cast("float64", "float4_e2m1fn", "6.5"), "6.0");
  EXPECT_ERROR(cast("float64", "float4_e2m1fn", "7.5"), ErrorCode::invalid_argument, "does not fit");
  EXPECT_EQ(cast("float64", "float4_e2m1fn", "-700.0", R"("out_of_range":"clamp")"), "-6.0");
  EXPECT_ERROR(cast("float64", "float4_e2m1fn", "\"NaN\""), ErrorCode::invalid_argument, "NaN");
  EXPECT_ERROR(cast("float64", "float8_e4m3fnuz", "\"Infinity\""), ErrorCode::invalid_argument, "Infinity");
  EXPECT_EQ(cast("float64", "float8_e5m2", "1e9", R"("out_of_range":"clamp")"), "\"Infinity\"");
  EXPECT_EQ(cast("float64", "float8_e5m2", "-0.0"), "-0.0");
  EXPECT_EQ(cast("float64", "float8_e4m3fnuz", "-0.0"), "0.0");
  EXPECT_EQ(cast("int8", "float8_e4m3", "-3"), "-3.0");
  EXPECT_ERROR(cast("float64", "float8_e8m0fnu", "0.0"), ErrorCode::invalid_argument, "does not fit");
  EXPECT_ERROR(cast("float64", "float8_e8m0fnu", "-1.0"), ErrorCode::invalid_argument, "does not fit");
  EXPECT_NO_THROW(cast("float64", "float8_e8m0fnu", "-1.0", R"("out_of_range":"clamp")"));
  EXPECT_EQ(cast("float64", "float8_e8m0fnu", "4.0"), "4.0");
}

TEST(CastValue, ScalarMap) {
  const std::string map =
      R"("scalar_map":{"encode":[["NaN",-1],["NaN",5],["+Infinity",7],[0.0,3]],"decode":[[-1,"NaN"]]})";
  EXPECT_EQ(cast("float64", "int8", "\"NaN\"", map), "-1");  // the first of equal keys
  EXPECT_EQ(cast("float64", "int8", "\"Infinity\"", map), "7");
  EXPECT_EQ(cast("float64", "int8", "-0.0", map), "3");
  EXPECT_EQ(cast("float64", "int8", "9.0", map), "9");
  EXPECT_EQ(
      decode_as("cast_value", R"({"data_type":"int8",)" + map.substr(0, 13) + R"({"decode":[[-1,"NaN"]]}})",
                v3, "float64", "[-1,2]"),
      R"(["NaN",2.0])");
  for (const char* bad :
       {R"({"data_type":"int8","scalar_map":[]})", R"({"data_type":"int8","scalar_map":{"both":[]}})"})
    EXPECT_ERROR(make_codec("cast_value", bad), ErrorCode::invalid_metadata, "scalar_map");
  for (const char* bad : {R"({"data_type":"int8","scalar_map":{"encode":3}})",
                          R"({"data_type":"int8","scalar_map":{"encode":[[1]]}})",
                          R"({"data_type":"int8","scalar_map":{"encode":[[1,1000]]}})"})
    EXPECT_ERROR(array_codec("cast_value", bad)->bind(spec_of("float64", {1})), ErrorCode::invalid_metadata,
                 "scalar_map.encode");
}

TEST(CastValue, FillMustSurvive) {
  ArraySpec spec = spec_of("float64", {1});
  const auto encoded_fill = [&](const Json& fill, const std::string& configuration) {
    spec.fill = FillValue::from_v3(fill, spec.type);
    return array_codec("cast_value", configuration)->bind(spec)->encoded_spec(spec).fill.to_v3().dump();
  };
  EXPECT_EQ(encoded_fill(Json(7), R"({"data_type":"int8"})"), "7");
  EXPECT_EQ(
      encoded_fill(
          Json("NaN"),
          R"({"data_type":"int16","scalar_map":{"encode":[["NaN",-32768]],"decode":[[-32768,"NaN"]]}})"),
      "-32768");
  EXPECT_ERROR(encoded_fill(Json("NaN"), R"({"data_type":"int16","scalar_map":{"encode":[["NaN",-32768]]}})"),
               ErrorCode::invalid_metadata, "comes back as");
  EXPECT_ERROR(encoded_fill(Json(1.5), R"({"data_type":"int8"})"), ErrorCode::invalid_metadata,
               "comes back as");
  EXPECT_ERROR(encoded_fill(Json("NaN"), R"({"data_type":"int8"})"), ErrorCode::invalid_metadata,
               "the fill value");
  spec.fill = FillValue::undefined(spec.type);
  EXPECT_TRUE(array_codec("cast_value", R"({"data_type":"int8"})")->encoded_spec(spec).fill.is_undefined());
}

TEST(CastValue, Configuration) {
  EXPECT_ERROR(make_codec("cast_value", "{}"), ErrorCode::invalid_metadata, "'data_type' is missing");
  EXPECT_ERROR(make_codec("cast_value", R"({"data_type":"int8","rounding":"up"})"),
               ErrorCode::invalid_metadata, "rounding");
  EXPECT_ERROR(make_codec("cast_value", R"({"data_type":"int8","out_of_range":"ignore"})"),
               ErrorCode::invalid_metadata, "out_of_range");
  EXPECT_ERROR(make_codec("cast_value", R"({"data_type":"float32","out_of_range":"wrap"})"),
               ErrorCode::invalid_metadata, "integer types");
  EXPECT_ERROR(make_codec("cast_value", R"({"data_type":"int8","extra":1})"), ErrorCode::invalid_metadata,
               "extra");
  EXPECT_ERROR(make_codec("cast_value", R"({"data_type":"complex64"})"), ErrorCode::unsupported_data_type,
               "complex64");
  EXPECT_ERROR(array_codec("cast_value", R"({"data_type":"int8"})")->bind(spec_of("bool", {1})),
               ErrorCode::unsupported_data_type, "bool");
  // Not bound, it binds itself to what it is given.
  const auto codec = array_codec("cast_value", R"({"data_type":"int8"})");
  const NDArray stored = array_of("int8", "[5]");
  const NDArray decoded = NDArray::allocate(DataType(TypeId::float32), {1});
  codec->decode(stored.view(), decoded.view(), {});
  EXPECT_EQ(elements_of(decoded.view()), "[5.0]");
  EXPECT_ERROR(decode_as("cast_value", R"({"data_type":"int16"})", v3, "int8", "[300]"),
               ErrorCode::corrupt_chunk, "stored value 300");
}

}  // namespace
}  // namespace zarrive
