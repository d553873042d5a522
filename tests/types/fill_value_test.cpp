#include "zarrive/fill_value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "types/expect_error.hpp"

namespace zarrive {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsEmpty;

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte b : bytes) {
    text += "0123456789abcdef"[std::to_integer<int>(b) >> 4];
    text += "0123456789abcdef"[std::to_integer<int>(b) & 15];
  }
  return text;
}

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

struct Case {
  const char* type;               // for DataType::parse
  const char* json;               // read
  const char* bytes;              // in memory, hex
  const char* written = nullptr;  // when other than `json`
};

const char* kRecord =
    R"({"name": "struct", "configuration": {"fields": [["a", "int16"], ["t", {"name": "numpy.datetime64", "configuration": )"
    R"({"unit": "s", "scale_factor": 1}}], ["f", "float32"]]}})";

const Case kV3[] = {
    {"bool", "true", "01"},
    {"bool", "false", "00"},
    {"int2", "-2", "fe"},
    {"int2", "1", "01"},
    {"int4", "-8", "f8"},
    {"int4", "7", "07"},
    {"uint2", "3", "03"},
    {"uint4", "15", "0f"},
    {"int8", "-128", "80"},
    {"int8", "127", "7f"},
    {"int16", "-32768", "0080"},
    {"int32", "2147483647", "ffffff7f"},
    {"int64", "-9223372036854775808", "0000000000000080"},
    {"int64", "9223372036854775807", "ffffffffffffff7f"},
    {"int64", "9007199254740993", "0100000000002000"},
    {"uint8", "255", "ff"},
    {"uint16", "65535", "ffff"},
    {"uint32", "4294967295", "ffffffff"},
    {"uint64", "18446744073709551615", "ffffffffffffffff"},
    {"uint64", "0", "0000000000000000"},
    {"float16", "0.1", "662e"},
    {"float16", "\"NaN\"", "007e"},
    {"float16", "\"0x7e00\"", "007e", "\"NaN\""},
    {"float16", "\"0xfc01\"", "01fc"},
    {"float16", "\"Infinity\"", "007c"},
    {"float16", "\"-Infinity\"", "00fc"},
    {"float16", "-0.0", "0080"},
    {"float32", "0", "00000000", "0.0"},
    {"float32", "1", "0000803f", "1.0"},
    {"float32", "0.1", "cdcccc3d"},
    {"float32", "1e20", "ec78ad60", "1e+20"},
    {"float32", "0.10000000149011612", "cdcccc3d", "0.1"},
    {"float32", "\"NaN\"", "0000c07f"},
    {"float32", "\"0x7fc00000\"", "0000c07f", "\"NaN\""},
    {"float32", "\"0x7fa00000\"", "0000a07f"},  // a signalling NaN
    {"float32", "\"0xffc00000\"", "0000c0ff"},
    {"float32", "\"0x7fc00001\"", "0100c07f"},
    {"float32", "\"0x3DCCCCCD\"", "cdcccc3d", "0.1"},
    {"float32", "\"0x80000000\"", "00000080", "-0.0"},
    {"float32", "\"0xff800000\"", "000080ff", "\"-Infinity\""},
    {"float64", "0.1", "9a9999999999b93f"},
    {"float64", "-0.0", "0000000000000080"},
    {"float64", "5e-324", "0100000000000000"},
    {"float64", "1.7976931348623157e+308", "ffffffffffffef7f"},
    {"float64", "\"NaN\"", "000000000000f87f"},
    {"float64", "\"0x7ff0000000000001\"", "010000000000f07f"},
    {"float64", "\"Infinity\"", "000000000000f07f"},
    {"float64", "9223372036854775807", "000000000000e043", "9.223372036854776e+18"},
    {"bfloat16", "0.1", "cd3d"},
    {"bfloat16", "\"NaN\"", "c07f"},
    {"bfloat16", "\"0x7fc1\"", "c17f"},
    {"float8_e3m4", "\"NaN\"", "78"},
    {"float8_e3m4", "\"0x79\"", "79"},
    {"float8_e3m4", "15.5", "6f"},
    {"float8_e4m3", "\"NaN\"", "7c"},
    {"float8_e4m3", "\"0xfc\"", "fc"},
    {"float8_e4m3", "\"-Infinity\"", "f8"},
    {"float8_e5m2", "\"NaN\"", "7e"},
    {"float8_e5m2", "\"0x7d\"", "7d"},
    {"float8_e4m3fnuz", "\"NaN\"", "80"},
    {"float8_e4m3b11fnuz", "30.0", "7f"},
    {"float8_e5m2fnuz", "\"0x80\"", "80", "\"NaN\""},
    {"float8_e5m2fnuz", "-0.0", "00", "0.0"},
    {"float8_e8m0fnu", "\"NaN\"", "ff"},
    {"float8_e8m0fnu", "1.0", "7f"},
    {"float4_e2m1fn", "-6.0", "0f"},
    {"float4_e2m1fn", "\"0x0f\"", "0f", "-6.0"},
    {"float6_e2m3fn", "7.5", "1f"},
    {"float6_e3m2fn", "-0.0", "20"},
    {"complex64", "[1.0, -0.0]", "0000803f00000080"},
    {"complex64", "[\"NaN\", \"0x7fc00001\"]", "0000c07f0100c07f"},
    {"complex64", "[0.1, \"-Infinity\"]", "cdcccc3d000080ff"},
    {"complex128", "[0.1, \"0x7ff0000000000001\"]", "9a9999999999b93f010000000000f07f"},
    {"r24", "[0, 128, 255]", "0080ff"},
    {"r24", "\"AID/\"", "0080ff", "[0, 128, 255]"},
    {"raw_bytes3", "\"AID/\"", "0080ff"},
    {"raw_bytes3", "[0, 128, 255]", "0080ff", "\"AID/\""},
    {"S5", "\"\"", "0000000000"},
    {"S5", "\"YWI=\"", "6162000000"},
    {"S5", "\"YWIA\"", "6162000000", "\"YWI=\""},
    {"S5", "\"AGEA\"", "0061000000", "\"AGE=\""},
    {"U3", "\"\"", "000000000000000000000000"},
    {"U3", "\"a\u00e9\U0001F600\"", "61000000e900000000f60100"},
    {"U3", "\"a\\u0000b\"", "610000000000000062000000"},
    {"datetime64[ms]", "0", "0000000000000000"},
    {"datetime64[ms]", "-1", "ffffffffffffffff"},
    {"datetime64[ms]", "\"NaT\"", "0000000000000080"},
    {"timedelta64[s]", "-9223372036854775808", "0000000000000080", "\"NaT\""},
    {"optional[int16]", "null", "000000"},
    {"optional[int16]", "[0]", "010000"},
    {"optional[int16]", "[-2]", "01feff"},
    {"optional[optional[int16]]", "null", "00000000"},
    {"optional[optional[int16]]", "[null]", "01000000"},
    {"optional[optional[int16]]", "[[5]]", "01010500"},
    {"optional[float32]", "[\"0x7fc00001\"]", "010100c07f"},
    {kRecord, R"({"a": 258, "t": "NaT", "f": "0x7fc00001"})", "020100000000000000800100c07f"},
    {kRecord, R"({"f": 1, "t": 5, "a": -1})", "ffff05000000000000000000803f",
     R"({"a": -1, "t": 5, "f": 1.0})"},
    {kRecord, "\"AgEAAAAAAAAAgAEAwH8=\"", "020100000000000000800100c07f",
     R"({"a": 258, "t": "NaT", "f": "0x7fc00001"})"},
};

DataType type_of(const char* text) {
  return std::string(text) == "raw_bytes3" ? DataType::raw(3, RawName::raw_bytes) : DataType::parse(text);
}

void no_warning(const std::string& warning) { ADD_FAILURE() << "warned: " << warning; }

TEST(FillValue, V3EveryEncoding) {
  for (const Case& c : kV3) {
    const std::string where = std::string(c.type) + " " + c.json;
    const DataType type = type_of(c.type);
    const FillValue fill = FillValue::from_v3(Json::parse(c.json), type, no_warning);
    EXPECT_EQ(hex(fill.bytes()), c.bytes) << where;
    EXPECT_EQ(fill.to_v3().dump(), c.written ? c.written : c.json) << where;
    EXPECT_EQ(FillValue::from_v3(fill.to_v3(), type), fill) << where;
    EXPECT_EQ(FillValue::from_bytes(type, from_hex(c.bytes)), fill) << where;
    EXPECT_EQ(fill.is_zero(), std::string(c.bytes).find_first_not_of('0') == std::string::npos) << where;
    EXPECT_FALSE(fill.is_undefined());
    // The element functions say the same, at any address.
    std::vector<std::byte> odd(type.item_size() + 1);
    element_from_json(type, Json::parse(c.json), odd.data() + 1);
    EXPECT_EQ(hex(std::span(odd).subspan(1)), c.bytes) << where;
    EXPECT_EQ(element_to_json(type, odd.data() + 1).dump(), c.written ? c.written : c.json) << where;
  }
}

TEST(FillValue, V3Refuses) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"bool", {"0", "1", "\"true\"", "null", "[]"}},
      {"int2", {"2", "-3"}},
      {"int4", {"8", "-9"}},
      {"uint2", {"4", "-1"}},
      {"uint4", {"16"}},
      {"int8",
       {"128", "-129", "1.0", "1e1", "0.5", "\"1\"", "true", "null", "NaN", "18446744073709551616", "[1]",
        "{}"}},
      {"int64", {"9223372036854775808", "-9223372036854775809", "1e30"}},
      {"uint8", {"256", "-1", "1.0"}},
      {"uint64", {"18446744073709551616", "-1"}},
      {"float16",
       {"65520", "1e10", "\"0x7e000\"", "\"0x7e0\"", "\"7e00\"", "\"nan\"", "\"1.0\"", "true", "null", "[]"}},
      {"float32",
       {"1e39", "-1e39", "\"0x7ff8000000000000\"", "\"inf\"", "\"+Infinity\"", "\"\"", "\"0xzzzzzzzz\""}},
      {"float64", {"1e309", "\"0x7fc00000\"", "\"-0x1p3\""}},
      {"float8_e4m3fnuz", {"\"Infinity\"", "\"-Infinity\"", "1000", "\"0x080\""}},
      {"float8_e8m0fnu", {"0", "-1", "\"Infinity\"", "1e39"}},
      {"float4_e2m1fn", {"\"NaN\"", "\"Infinity\"", "7", "\"0x10\"", "NaN"}},
      {"complex64", {"1", "[1]", "[1, 2, 3]", "[\"1\", 2]", "[1e39, 0]", "\"NaN\"", "[null, 0]"}},
      {"r24",
       {"[0, 1]", "[0, 1, 2, 3]", "[0, 1, 256]", "[0, 1, -1]", "[0, 1, 1.5]", "\"AAA=\"", "\"AAAA\\u0000\"",
        "0", "null"}},
      {"raw_bytes3", {"\"AA==\"", "\"not base64\"", "3"}},
      {"S3", {"\"YWJjZA==\"", "\"plain text\"", "0", "null"}},
      {"U2", {"\"abc\"", "0", "null", "[\"a\"]"}},
      {"datetime64[s]", {"1.0", "\"nat\"", "\"2020-01-01\"", "9223372036854775808", "null"}},
      {"string", {"0", "null", "[]"}},
      {"bytes", {"0", "null", "\"?\"", "[256]", "{}"}},
      {kRecord,
       {"0", "null", "[]", "\"AAAA\"", R"({"a": 1, "t": 0, "f": 0, "x": 1})", R"({"a": 1.5, "t": 0, "f": 0})",
        R"({"a": null, "t": 0, "f": 0})"}},
  };
  for (const auto& [text, jsons] : cases) {
    const DataType type = type_of(text);
    for (const char* json : jsons) {
      SCOPED_TRACE(std::string(text) + " " + json);
      expect_error(ErrorCode::invalid_metadata,
                   "fill_value: ", [&] { FillValue::from_v3(Json::parse(json), type); });
    }
  }
}

TEST(FillValue, MessagesNameValueTypeAndRange) {
  expect_error(ErrorCode::invalid_metadata, "300 (number) is none of type uint8: an integer from 0 to 255",
               [] { FillValue::from_v3(300, DataType()); });
  expect_error(ErrorCode::invalid_metadata, "8 digits",
               [] { FillValue::from_v3("0x7fc0", DataType(TypeId::float32)); });
  expect_error(ErrorCode::invalid_metadata, "at most 3 bytes, not 4",
               [] { FillValue::from_v3("YWJjZA==", DataType::fixed_bytes(3)); });
}

TEST(FillValue, V3StructFillsMissingFields) {
  std::vector<std::string> warnings;
  FillValue fill = FillValue::from_v3(Json::parse(R"({"f": 1})"), DataType::parse(kRecord),
                                      [&](const std::string& w) { warnings.push_back(w); });
  EXPECT_EQ(fill.to_v3().dump(), R"({"a": 0, "t": "NaT", "f": 1.0})");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("\"a\""), HasSubstr("\"t\"")));
}

TEST(FillValue, VariableTypes) {
  const DataType string(TypeId::string), bytes(TypeId::bytes), object(TypeId::object);
  EXPECT_EQ(FillValue::from_v3("é", string).string(), "é");
  EXPECT_EQ(FillValue::from_v3("é", string).to_v3().dump(), "\"é\"");
  EXPECT_EQ(FillValue::from_v3("AID/", bytes).string(), std::string("\0\x80\xff", 3));
  EXPECT_EQ(FillValue::from_v3(Json::parse("[0, 128, 255]"), bytes).to_v3().dump(), "\"AID/\"");
  EXPECT_EQ(FillValue::from_v3("", bytes).to_v3().dump(), "\"\"");
  EXPECT_THAT(FillValue::from_v3("x", string).bytes(), IsEmpty());
  EXPECT_TRUE(FillValue::zero(string).is_zero());
  EXPECT_FALSE(FillValue::from_string(string, "x").is_zero());
  EXPECT_EQ(FillValue::from_string(bytes, "\xff").to_v2().dump(), "\"/w==\"");
  expect_error(ErrorCode::invalid_argument, "UTF-8", [&] { FillValue::from_string(string, "\xff"); });
  for (const char* json : {"{\"a\": [1, 2.50]}", "0", "\"text\"", "[]", "false"}) {
    FillValue fill = FillValue::from_v2(Json::parse(json), object);
    EXPECT_EQ(fill.to_v2().dump(), json);
  }
  EXPECT_EQ(FillValue::zero(object).to_v2().dump(), "null");
  expect_error(ErrorCode::unsupported_data_type, "object", [&] { FillValue::zero(object).to_v3(); });

  std::string element;
  element_from_json(string, "abc", reinterpret_cast<std::byte*>(&element));
  EXPECT_EQ(element, "abc");
  EXPECT_EQ(element_to_json(bytes, reinterpret_cast<const std::byte*>(&element)).dump(), "\"YWJj\"");
  element_from_json(object, Json::parse("[1, {\"a\": null}]"), reinterpret_cast<std::byte*>(&element));
  EXPECT_EQ(element_to_json(object, reinterpret_cast<const std::byte*>(&element)),
            Json::parse("[1, {\"a\": null}]"));
  element = "\xc3";
  expect_error(ErrorCode::invalid_argument, "UTF-8",
               [&] { element_to_json(string, reinterpret_cast<const std::byte*>(&element)); });
}

struct V2Case {
  const char* type;
  const char* json;
  const char* bytes;
  const char* written = nullptr;
  bool warns = false;
};

const V2Case kV2[] = {
    {"|b1", "true", "01"},
    {"|b1", "1", "01", "true", true},
    {"|b1", "0", "00", "false", true},
    {"|b1", "0.0", "00", "false", true},
    {">i4", "-2", "feffffff"},
    {"<i4", "0.0", "00000000", "0", true},
    {"<i4", "-1e3", "18fcffff", "-1000", true},
    {"<u8", "18446744073709551615", "ffffffffffffffff"},
    {">f4", "0.1", "cdcccc3d"},
    {"<f4", "\"NaN\"", "0000c07f"},
    {"<f4", "\"nan\"", "0000c07f", "\"NaN\"", true},
    {"<f4", "NaN", "0000c07f", "\"NaN\"", true},
    {"<f8", "-Infinity", "000000000000f0ff", "\"-Infinity\"", true},
    {"<f8", "\"-inf\"", "000000000000f0ff", "\"-Infinity\"", true},
    {"<f8", "\"+Infinity\"", "000000000000f07f", "\"Infinity\"", true},
    {"<f8", "\"Infinity\"", "000000000000f07f"},
    {"<f8", "-9999", "000000008087c3c0", "-9999.0"},
    {"<c8", "[1.0, \"NaN\"]", "0000803f0000c07f"},
    {"<c8", "0.0", "0000000000000000", "[0.0, 0.0]", true},
    {"<M8[s]", "5", "0500000000000000"},
    {">M8[s]", "\"NaT\"", "0000000000000080", "-9223372036854775808"},
    {"<m8[s]", "0.0", "0000000000000000", "0", true},
    {"|S3", "\"MA==\"", "300000"},
    {"|S7", "\"\"", "00000000000000"},
    {"|S3", "0", "000000", "\"\"", true},
    {"|S3", "\"a b\"", "612062", "\"YSBi\"", true},
    {"<U1", "\"0\"", "30000000"},
    {">U2", "0", "0000000000000000", "\"\"", true},
    {">U2", "\"ab\"", "6100000062000000"},
    {"|V3", "\"AID/\"", "0080ff"},
    {"|V3", "0", "000000", "\"AAAA\"", true},
    {R"([["a", "|u1"], ["b", ">u2"]])", "\"AQID\"", "010302"},
    {R"([["a", "|u1"], ["b", ">u2"]])", "0", "000000", "\"AAAA\"", true},
    {R"([["a", ">f4", [2]], ["", "|V1"], ["c", [["d", "<i2"], ["e", ">c8"]]]])",
     "\"P4AAAEAAAAAHAQI/gAAAQAAAAA==\"",
     "0000803f00000040070102"
     "0000803f00000040"},
    {R"([["a", "|u1"], ["b", [["b1", "|u1"], ["b2", "|u1"], ["b3", "<u2"], ["b5", "|u1"]]], ["c", "|S3"], ["d", "|i1"]])",
     "\"Av/+/v/9WloA/g==\"", "02fffefefffd5a5a00fe"},
};

TEST(FillValue, V2EveryEncoding) {
  for (const V2Case& c : kV2) {
    const std::string where = std::string(c.type) + " " + c.json;
    const DataType type = DataType::parse(c.type);
    int warnings = 0;
    const FillValue fill =
        FillValue::from_v2(Json::parse(c.json), type, [&](const std::string&) { ++warnings; });
    EXPECT_EQ(hex(fill.bytes()), c.bytes) << where;
    EXPECT_EQ(fill.to_v2().dump(), c.written ? c.written : c.json) << where;
    EXPECT_EQ(warnings > 0, c.warns) << where;
    EXPECT_EQ(FillValue::from_v2(Json::parse(c.json), type), fill) << "without a callback";
    EXPECT_EQ(FillValue::from_v2(fill.to_v2(), type, no_warning), fill) << where;
  }
}

TEST(FillValue, V2Variable) {
  std::vector<std::string> warnings;
  auto warn = [&](const std::string& w) { warnings.push_back(w); };
  EXPECT_EQ(FillValue::from_v2(0, DataType(TypeId::string), warn).string(), "");
  EXPECT_EQ(FillValue::from_v2(0, DataType(TypeId::bytes), warn).string(), "");
  EXPECT_EQ(FillValue::from_v2("n/a", DataType(TypeId::bytes), warn).string(), "n/a");
  EXPECT_EQ(warnings.size(), 3U);
  EXPECT_EQ(FillValue::from_v2("YWJj", DataType(TypeId::bytes), no_warning).string(), "abc");
  EXPECT_EQ(FillValue::from_v2("n/a", DataType(TypeId::string), no_warning).to_v2().dump(), "\"n/a\"");
}

TEST(FillValue, V2Refuses) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"|b1", {"2", "\"true\"", "0.5"}},
      {"<i4", {"0.5", "1e10", "2147483648", "true", "\"0\"", "NaN"}},
      {"<u8", {"-1", "1.5", "1e30"}},
      {"<f4", {"\"0x7fc00000\"", "1e39", "\"x\"", "true", "[]"}},
      {"<c8", {"\"NaN\"", "[1]", "[1, \"x\"]"}},
      {"<M8[s]", {"0.5", "\"x\"", "true"}},
      {"|S3", {"\"YWJjZA==\"", "\"too long!\"", "1", "[]"}},
      {"<U2", {"\"abc\"", "1", "false"}},
      {"|V3", {"\"AAA=\"", "\"zzz\"", "1", "[0, 0, 0]"}},
      {R"([["a", "|u1"]])", {"{\"a\": 1}", "\"AAA=\"", "1", "[0]"}},
      {"string", {"1", "[]"}},
      {"bytes", {"1", "{}"}},
  };
  for (const auto& [text, jsons] : cases) {
    const DataType type = DataType::parse(text);
    for (const char* json : jsons) {
      SCOPED_TRACE(std::string(text) + " " + json);
      expect_error(ErrorCode::invalid_metadata,
                   "fill_value: ", [&] { FillValue::from_v2(Json::parse(json), type); });
    }
  }
  for (const char* text : {"bfloat16", "int4", "float8_e5m2"})
    expect_error(ErrorCode::unsupported_data_type, text,
                 [&] { FillValue::zero(DataType::parse(text)).to_v2(); });
}

TEST(FillValue, V2HasOneNaN) {
  FillValue fill = FillValue::from_v3("0x7fc00001", DataType(TypeId::float32));
  EXPECT_EQ(fill.to_v2().dump(), "\"NaN\"");
  EXPECT_EQ(fill.to_v3().dump(), "\"0x7fc00001\"");
}

TEST(FillValue, NullIsUndefinedInV2) {
  for (const char* text : {"uint8", "float32", "complex128", "datetime64[s]", "S3", "U3", "V3", "string",
                           "bytes", "object", R"([["a", "<M8[s]"]])"}) {
    const DataType type = DataType::parse(text);
    FillValue fill = FillValue::from_v2(nullptr, type, no_warning);
    EXPECT_TRUE(fill.is_undefined()) << text;
    EXPECT_EQ(fill.to_v2().dump(), "null") << text;
    EXPECT_EQ(fill, FillValue::zero(type)) << text;
    EXPECT_EQ(fill, FillValue::undefined(type)) << text;
    EXPECT_EQ(fill.is_zero(), std::string(text) != "datetime64[s]") << text;
    if (type.id() == TypeId::object) continue;
    EXPECT_EQ(fill.to_v3(), FillValue::zero(type).to_v3()) << text;
  }
  EXPECT_EQ(FillValue::zero(DataType::datetime64("s")).to_v3().dump(), "\"NaT\"");
}

TEST(FillValue, ZeroIsBits) {
  EXPECT_TRUE(FillValue().is_zero());
  EXPECT_EQ(FillValue(), FillValue::zero(DataType()));
  EXPECT_FALSE(FillValue::from_v3(Json::parse("-0.0"), DataType(TypeId::float64)).is_zero());
  EXPECT_NE(FillValue::from_v3(Json::parse("-0.0"), DataType(TypeId::float64)),
            FillValue::from_v3(Json::parse("0.0"), DataType(TypeId::float64)));
  EXPECT_EQ(FillValue::from_v3("NaN", DataType(TypeId::float64)),
            FillValue::from_v3("0x7ff8000000000000", DataType(TypeId::float64)));
  EXPECT_NE(FillValue::zero(DataType(TypeId::int8)), FillValue());
  EXPECT_NE(FillValue::from_string(DataType(TypeId::string), "a"), FillValue::zero(DataType(TypeId::string)));
}

TEST(FillValue, SizesAreChecked) {
  const std::byte two[2] = {};
  expect_error(ErrorCode::invalid_argument, "2 bytes for type uint8",
               [&] { FillValue::from_bytes(DataType(), two); });
  expect_error(ErrorCode::invalid_argument, "from_string",
               [&] { FillValue::from_bytes(DataType(TypeId::string), two); });
  expect_error(ErrorCode::invalid_argument, "from_bytes", [&] { FillValue::from_string(DataType(), "x"); });
}

TEST(FillValue, HugeElementsCostNoMemory) {
  // 2 GiB each; the zeros are the system's until they are written.
  std::vector<FillValue> fills;
  for (int i = 0; i < 8; ++i) fills.push_back(FillValue::from_v2(nullptr, DataType::raw(0x7fffffff)));
  EXPECT_EQ(fills[0].bytes().size(), 0x7fffffffU);
}

TEST(Elements, UnusedBitsAreIgnored) {
  const std::byte high{0xfb};
  EXPECT_EQ(element_to_json(DataType(TypeId::int4), &high).dump(), "-5");
  EXPECT_EQ(element_to_json(DataType(TypeId::uint4), &high).dump(), "11");
  EXPECT_EQ(element_to_json(DataType(TypeId::int2), &high).dump(), "-1");
  EXPECT_EQ(element_to_json(DataType(TypeId::uint2), &high).dump(), "3");
  EXPECT_EQ(element_to_json(DataType(TypeId::float4_e2m1fn), &high).dump(), "-1.5");
  EXPECT_EQ(element_to_json(DataType(TypeId::boolean), &high).dump(), "true");
}

TEST(Elements, SubarraysAreNestedLists) {
  const DataType type = DataType::parse(R"([["a", "<i2", [2, 3]], ["", "|V2"], ["b", "|u1"]])");
  std::vector<std::byte> element(type.item_size(), std::byte{0xff});
  const Json json = Json::parse(R"({"a": [[1, 2, 3], [4, 5, -6]], "b": 7})");
  element_from_json(type, json, element.data());
  EXPECT_EQ(hex(element),
            "01000200030004000500faff"
            "0000"
            "07");
  EXPECT_EQ(element_to_json(type, element.data()).dump(), json.dump());
  for (const char* bad : {R"({"a": [[1, 2, 3]], "b": 7})", R"({"a": [[1, 2, 3], [4, 5]], "b": 7})",
                          R"({"a": 1, "b": 7})", R"({"a": [1, 2], "b": 7})"})
    expect_error(ErrorCode::invalid_metadata, "[2, 3]",
                 [&] { element_from_json(type, Json::parse(bad), element.data()); });
}

TEST(Elements, TextThatIsNotUnicode) {
  const DataType type = DataType::fixed_utf32(2);
  for (std::uint32_t point : {0xd800U, 0xdfffU, 0x110000U, 0xffffffffU}) {
    std::byte element[8] = {};
    std::memcpy(element + 4, &point, 4);
    expect_error(ErrorCode::invalid_argument, "position 1", [&] { element_to_json(type, element); });
  }
  for (std::uint32_t point : {0x7fU, 0x80U, 0x7ffU, 0x800U, 0xd7ffU, 0xe000U, 0xffffU, 0x10000U, 0x10ffffU}) {
    std::byte element[8] = {}, back[8] = {};
    std::memcpy(element, &point, 4);
    const Json json = element_to_json(type, element);
    element_from_json(type, json, back);
    EXPECT_EQ(std::memcmp(element, back, 8), 0) << point;
  }
  std::byte element[8];
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80",
                          "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3("})
    EXPECT_THROW(element_from_json(type, Json(bad), element), Error) << bad;
}

TEST(Base64, KnownTexts) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"66", "Zg=="},
                                                       {"666f", "Zm8="},
                                                       {"666f6f", "Zm9v"},
                                                       {"666f6f62", "Zm9vYg=="},
                                                       {"fbff", "+/8="},
                                                       {"00000000", "AAAAAA=="}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(base64_encode(from_hex(bytes)), text);
    ASSERT_TRUE(base64_decode(text)) << text;
    EXPECT_EQ(hex(*base64_decode(text)), bytes);
  }
  for (int length = 0; length < 100; ++length) {
    std::vector<std::byte> bytes;
    for (int i = 0; i < length; ++i) bytes.push_back(static_cast<std::byte>(i * 89 + length));
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
  }
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "=", "Zg==Zg==", "Z-==", "Zm9_", "Zm 9",
                          "Zm9v\n", "Zm=v", "é==="})
    EXPECT_EQ(base64_decode(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace zarrive
