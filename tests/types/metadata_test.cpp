// Data types from and to the metadata of both formats, and the names that people type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "types/expect_error.hpp"
#include "zarrive/data_type.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto L = ByteOrder::little;
constexpr auto B = ByteOrder::big;

Json quoted(const std::string& text) { return Json(text); }

struct Both {
  DataType type;
  const char* v2;  // JSON; nullptr: no such form
  const char* v3;
};

std::vector<Both> every_type() {
  const DataType u1;
  std::vector<Both> all = {
      {DataType(TypeId::boolean), R"("|b1")", R"("bool")"},
      {DataType(TypeId::int2), nullptr, R"("int2")"},
      {DataType(TypeId::int4), nullptr, R"("int4")"},
      {DataType(TypeId::int8), R"("|i1")", R"("int8")"},
      {DataType(TypeId::int16), R"("<i2")", R"("int16")"},
      {DataType(TypeId::int32, B), R"(">i4")", R"("int32")"},
      {DataType(TypeId::int64), R"("<i8")", R"("int64")"},
      {DataType(TypeId::uint2), nullptr, R"("uint2")"},
      {DataType(TypeId::uint4), nullptr, R"("uint4")"},
      {DataType(TypeId::uint8), R"("|u1")", R"("uint8")"},
      {DataType(TypeId::uint16, B), R"(">u2")", R"("uint16")"},
      {DataType(TypeId::uint32), R"("<u4")", R"("uint32")"},
      {DataType(TypeId::uint64), R"("<u8")", R"("uint64")"},
      {DataType(TypeId::float16, B), R"(">f2")", R"("float16")"},
      {DataType(TypeId::float32), R"("<f4")", R"("float32")"},
      {DataType(TypeId::float64, B), R"(">f8")", R"("float64")"},
      {DataType(TypeId::bfloat16), nullptr, R"("bfloat16")"},
      {DataType(TypeId::float4_e2m1fn), nullptr, R"("float4_e2m1fn")"},
      {DataType(TypeId::float6_e2m3fn), nullptr, R"("float6_e2m3fn")"},
      {DataType(TypeId::float6_e3m2fn), nullptr, R"("float6_e3m2fn")"},
      {DataType(TypeId::float8_e3m4), nullptr, R"("float8_e3m4")"},
      {DataType(TypeId::float8_e4m3), nullptr, R"("float8_e4m3")"},
      {DataType(TypeId::float8_e4m3b11fnuz), nullptr, R"("float8_e4m3b11fnuz")"},
      {DataType(TypeId::float8_e4m3fnuz), nullptr, R"("float8_e4m3fnuz")"},
      {DataType(TypeId::float8_e5m2), nullptr, R"("float8_e5m2")"},
      {DataType(TypeId::float8_e5m2fnuz), nullptr, R"("float8_e5m2fnuz")"},
      {DataType(TypeId::float8_e8m0fnu), nullptr, R"("float8_e8m0fnu")"},
      {DataType(TypeId::complex64), R"("<c8")", R"("complex64")"},
      {DataType(TypeId::complex128, B), R"(">c16")", R"("complex128")"},
      {DataType::raw(3, RawName::raw_bytes), R"("|V3")",
       R"({"name": "raw_bytes", "configuration": {"length_bytes": 3}})"},
      {DataType::fixed_bytes(5), R"("|S5")",
       R"({"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}})"},
      {DataType::fixed_utf32(10, B), R"(">U10")",
       R"({"name": "fixed_length_utf32", "configuration": {"length_bytes": 40}})"},
      {DataType(TypeId::object), R"("|O")", nullptr},
      {DataType::datetime64("generic"), R"("<M8")",
       R"({"name": "numpy.datetime64", "configuration": {"unit": "generic", "scale_factor": 1}})"},
      {DataType::timedelta64("us", 25, B), R"(">m8[25us]")",
       R"({"name": "numpy.timedelta64", "configuration": {"unit": "us", "scale_factor": 25}})"},
      {DataType::structured(
           {{"a", u1, {}}, {"b", DataType::structured({{"x", DataType(TypeId::int16, B), {}}}), {}}}),
       R"([["a", "|u1"], ["b", [["x", ">i2"]]]])",
       R"({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "uint8"}, {"name": "b", "data_type": )"
       R"({"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "int16"}]}}}]}})"},
      {DataType::optional(u1), nullptr,
       R"({"name": "optional", "configuration": {"name": "uint8", "configuration": {}}})"},
      {DataType::optional(DataType::optional(DataType::datetime64("s"))), nullptr,
       R"({"name": "optional", "configuration": {"name": "optional", "configuration": )"
       R"({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}}})"},
      {DataType::structured({{"a", DataType(TypeId::float32), {2, 3}}, {"t", DataType::datetime64("s"), {}}}),
       R"([["a", "<f4", [2, 3]], ["t", "<M8[s]"]])", nullptr},
      {DataType::structured({{"a", u1, {}},
                             {"", DataType::raw(3, RawName::raw_bytes), {}},
                             {"c", DataType(TypeId::int32), {}}}),
       R"([["a", "|u1"], ["", "|V3"], ["c", "<i4"]])", nullptr},
  };
  for (const char* unit : {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"}) {
    static std::vector<std::string>& kept = *new std::vector<std::string>;
    kept.reserve(200);
    kept.push_back("\"<M8[" + std::string(unit) + "]\"");
    const char* v2 = kept.back().c_str();
    kept.push_back("{\"name\": \"numpy.datetime64\", \"configuration\": {\"unit\": \"" + std::string(unit) +
                   "\", \"scale_factor\": 1}}");
    all.push_back({DataType::datetime64(unit), v2, kept.back().c_str()});
  }
  return all;
}

TEST(Metadata, EveryTypeInBothFormats) {
  for (const Both& c : every_type()) {
    const std::string name = c.type.name();
    if (c.v2) {
      EXPECT_EQ(c.type.to_v2().dump(), c.v2);
      DataType back = DataType::from_v2(Json::parse(c.v2));
      EXPECT_EQ(back, c.type) << name;
      EXPECT_EQ(back.to_v2().dump(), c.v2);
    } else {
      expect_error(ErrorCode::unsupported_data_type, name, [&] { c.type.to_v2(); });
    }
    if (c.v3) {
      EXPECT_EQ(c.type.to_v3().dump(), c.v3);
      DataType back = DataType::from_v3(Json::parse(c.v3), [](const std::string& w) { ADD_FAILURE() << w; });
      EXPECT_EQ(back, c.type) << name;
      EXPECT_EQ(back.to_v3().dump(), c.v3);
    } else {
      EXPECT_THROW(c.type.to_v3(), Error) << name;
    }
    if (c.type.id() != TypeId::structured) {
      EXPECT_EQ(DataType::parse(name), c.type) << name;
      EXPECT_EQ(DataType::parse(name).name(), name);
    }
    for (const char* json : {c.v2, c.v3}) {
      if (!json) continue;
      const std::string text = json;
      EXPECT_EQ(DataType::parse(text), c.type) << text;
      if (text[0] == '"') {
        EXPECT_EQ(DataType::parse(text.substr(1, text.size() - 2)), c.type) << text;
      }
    }
  }
}

TEST(Metadata, VariableTypesAreObjectsInV2) {
  EXPECT_EQ(DataType(TypeId::string).to_v2().dump(), R"("|O")");
  EXPECT_EQ(DataType(TypeId::bytes).to_v2().dump(), R"("|O")");
  EXPECT_EQ(DataType(TypeId::string).to_v3().dump(), R"("string")");
  EXPECT_EQ(DataType(TypeId::bytes).to_v3().dump(), R"("bytes")");
  for (const char* text : {"|O", "|O8", "|O4", "<O"})
    EXPECT_EQ(DataType::from_v2(quoted(text)).id(), TypeId::object);
}

TEST(Metadata, RawKeepsItsSpelling) {
  EXPECT_EQ(DataType::raw(3).to_v3().dump(), R"("r24")");
  EXPECT_EQ(DataType::raw(3).to_v2().dump(), R"("|V3")");
  EXPECT_EQ(DataType::from_v3("r24").raw_name(), RawName::bits);
  EXPECT_EQ(DataType::from_v2("|V3").raw_name(), RawName::raw_bytes);
  EXPECT_EQ(DataType::parse("r24").name(), "r24");
  EXPECT_EQ(DataType::parse("V3").name(), "V3");
  EXPECT_EQ(DataType::raw(0x7fffffff).to_v3().dump(), R"("r17179869176")");
  EXPECT_EQ(DataType::from_v3("r17179869176").item_size(), 0x7fffffffU);
}

TEST(Metadata, V2ByteOrders) {
  EXPECT_EQ(DataType::from_v2(">u1"), DataType());
  EXPECT_EQ(DataType::from_v2("<b1").byte_order(), ByteOrder::none);
  EXPECT_EQ(DataType::from_v2(">S3"), DataType::fixed_bytes(3));
  EXPECT_EQ(DataType::from_v2("<V3"), DataType::raw(3));
  EXPECT_EQ(DataType::from_v2(">f8").byte_order(), B);
  EXPECT_EQ(DataType::from_v2("<f8").byte_order(), L);
  EXPECT_EQ(DataType::from_v2(">M8[ns]").byte_order(), B);
}

TEST(Metadata, V2Times) {
  EXPECT_EQ(DataType::from_v2("<M8"), DataType::datetime64("generic"));
  EXPECT_EQ(DataType::from_v2("<m8[generic]"), DataType::timedelta64("generic"));
  EXPECT_EQ(DataType::from_v2("<M8[25s]"), DataType::datetime64("s", 25));
  EXPECT_EQ(DataType::from_v2("<M8[μs]"), DataType::datetime64("us"));
  EXPECT_EQ(DataType::from_v2("<M8[µs]").to_v2().dump(), R"("<M8[us]")");
  EXPECT_EQ(DataType::from_v2("<M8[2147483647as]").unit_scale(), 2147483647U);
  EXPECT_EQ(DataType::datetime64("generic", 3).to_v2().dump(), R"("<M8[3generic]")");
}

TEST(Metadata, V2RefusesNonsense) {
  for (const char* text : {"",
                           "<",
                           "f4",
                           "u1",
                           "!b1",
                           "=f4",
                           "<x4",
                           "<f",
                           "<fx",
                           "<f4x",
                           "<f04",
                           "|f4",
                           "|U3",
                           "|M8[s]",
                           "<M4",
                           "<M8[",
                           "<M8]",
                           "<M8[]",
                           "<M8s",
                           "<M8[q]",
                           "<M8[0s]",
                           "<M8[01s]",
                           "<M8[2147483648s]",
                           "<M8[99999999999999999999s]",
                           "<M8[-1s]",
                           "<M8[s/2]",
                           "<M8[25]",
                           "|S0",
                           "|V0",
                           "<U0",
                           "|S",
                           "|S-1",
                           "|S 5",
                           "|S5 ",
                           "|O16",
                           "<f99999999999999999999999",
                           "<\xff",
                           "float32",
                           "<i4\n"})
    expect_error(ErrorCode::invalid_metadata, "dtype", [&] { DataType::from_v2(quoted(text)); });
  for (const char* text : {"<f16", "<f12", "<c32", ">c24"})
    expect_error(ErrorCode::unsupported_data_type, "long double", [&] { DataType::from_v2(quoted(text)); });
  for (const char* text : {"<f1", "<i3", "<u16", "|b2", "<c4", "<f0"})
    expect_error(ErrorCode::unsupported_data_type, text, [&] { DataType::from_v2(quoted(text)); });
  for (const char* text :
       {"|V99999999999", "|S2147483648", "<U536870912", "|V18446744073709551615", "<U18446744073709551615"})
    expect_error(ErrorCode::resource_limit, "2147483647", [&] { DataType::from_v2(quoted(text)); });
  for (const char* json : {"null",
                           "3",
                           "true",
                           "{}",
                           "[]",
                           "[1]",
                           "[[]]",
                           R"([["a"]])",
                           R"([["a", "|u1", [1], 2]])",
                           R"([[1, "|u1"]])",
                           R"([["a", 1]])",
                           R"([["a", "|u1", "x"]])",
                           R"([["a", "|u1", [-1]]])",
                           R"([["a", "|u1", [1.5]]])",
                           R"([["a", "|u1", [0]]])",
                           R"([["a", "|u1", null]])",
                           R"([["a", "|u1"], ["a", "<i2"]])",
                           R"([["", "|u1"]])",
                           R"([[["t", "a"], "|u1"]])",
                           R"([["a", []]])"})
    expect_error(ErrorCode::invalid_metadata, "", [&] { DataType::from_v2(Json::parse(json)); });
  expect_error(ErrorCode::unsupported_data_type, "variable length",
               [] { DataType::from_v2(Json::parse(R"([["a", "|O"]])")); });
}

TEST(Metadata, V2Subarrays) {
  EXPECT_EQ(DataType::from_v2(Json::parse(R"([["a", "|u1", 3]])")),
            DataType::structured({{"a", DataType(), {3}}}));
  EXPECT_EQ(DataType::from_v2(Json::parse(R"([["a", "|u1", []]])")),
            DataType::structured({{"a", DataType(), {}}}));
  for (const char* json :
       {R"([["a", "|u1", [4294967296, 4294967296]]])", R"([["a", "|u1", [9223372036854775807, 4]]])",
        R"([["a", "<f8", [268435456]]])", R"([["a", "|V2147483647"], ["b", "|V1"]])",
        R"([["a", [["b", "|u1"], ["c", "<i2"]], [1000000]]])"})
    EXPECT_THROW(DataType::from_v2(Json::parse(json)), Error) << json;
  std::string ones = "1";
  for (int i = 0; i < 32; ++i) ones += ", 1";
  expect_error(ErrorCode::invalid_metadata, "dimensions",
               [&] { DataType::from_v2(Json::parse(R"([["a", "|u1", [)" + ones + "]]]")); });
}

TEST(Metadata, DepthIsBounded) {
  auto nested = [](int levels) {
    std::string json = R"("|u1")";
    for (int i = 0; i < levels; ++i) json = R"([["a", )" + json + "]]";
    return json;
  };
  EXPECT_EQ(DataType::from_v2(Json::parse(nested(32))).item_size(), 1U);
  expect_error(ErrorCode::resource_limit, "deeper", [&] { DataType::from_v2(Json::parse(nested(33))); });
  expect_error(ErrorCode::resource_limit, "deeper", [&] { DataType::from_v2(Json::parse(nested(90))); });
  std::string json = R"("uint8")";
  for (int i = 0; i < 33; ++i)
    json = R"({"name": "structured", "configuration": {"fields": [["a", )" + json + "]]}}";
  expect_error(ErrorCode::resource_limit, "deeper", [&] { DataType::from_v3(Json::parse(json)); });
}

TEST(Metadata, V3Aliases) {
  EXPECT_EQ(DataType::from_v3("variable_length_bytes"), DataType(TypeId::bytes));
  EXPECT_EQ(DataType::from_v3("binary"), DataType(TypeId::bytes));
  EXPECT_EQ(DataType::from_v3("complex_float32"), DataType(TypeId::complex64));
  EXPECT_EQ(DataType::from_v3("complex_float64"), DataType(TypeId::complex128));
  EXPECT_EQ(DataType::from_v3(Json::parse(R"({"name": "uint8"})")), DataType());
  EXPECT_EQ(
      DataType::from_v3(Json::parse(R"({"name": "uint8", "configuration": {}, "must_understand": true})")),
      DataType());
  EXPECT_EQ(DataType::from_v3(Json::parse(
                R"({"name": "numpy.datetime64", "configuration": {"unit": "μs", "scale_factor": 10}})")),
            DataType::datetime64("us", 10));
  const DataType two = DataType::structured({{"a", DataType(), {}}, {"b", DataType::fixed_bytes(3), {}}});
  const char* fields =
      R"([["a", "uint8"], {"name": "b", "data_type": {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}}])";
  for (const char* name : {"struct", "structured"}) {
    DataType type = DataType::from_v3(Json::parse(std::string(R"({"name": ")") + name +
                                                  R"(", "configuration": {"fields": )" + fields + "}}"));
    EXPECT_EQ(type, two);
    EXPECT_EQ(type.to_v3().find("name")->as_string(), "struct");
  }
}

TEST(Metadata, V3UnknownMembersWarn) {
  std::vector<std::string> warnings;
  auto warn = [&](const std::string& w) { warnings.push_back(w); };
  EXPECT_EQ(DataType::from_v3(
                Json::parse(R"({"name": "uint8", "endian": "little", "configuration": {"size": 1}})"), warn),
            DataType());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("\"endian\""), HasSubstr("\"size\"")));
  warnings.clear();
  DataType::from_v3(
      Json::parse(
          R"({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int8", "unit": "m"}], "x": 1}})"),
      warn);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("\"unit\""), HasSubstr("\"x\"")));
  EXPECT_NO_THROW(DataType::from_v3(
      Json::parse(R"({"name": "uint8", "endian": "little", "configuration": {"size": 1}})")));
}

TEST(Metadata, V3Refuses) {
  for (const char* name : {"complex_float16", "json", "fixed_size_list", "float128", "<f4", "object",
                           "https://example.org/x", "r24x", "R24", "uint3"})
    expect_error(ErrorCode::unsupported_data_type, name, [&] { DataType::from_v3(quoted(name)); });
  expect_error(ErrorCode::unsupported_data_type, "fixed size", [] {
    DataType::from_v3(
        Json::parse(R"({"name": "optional", "configuration": {"name": "string", "configuration": {}}})"));
  });
  for (const char* json :
       {R"("")",
        "null",
        "7",
        "[]",
        "{}",
        R"({"name": 3})",
        R"({"configuration": {}})",
        R"("optional")",
        R"({"name": "optional", "configuration": {}})",
        R"({"name": "optional", "configuration": {"name": 5}})",
        R"({"name": "optional", "configuration": {"name": "uint8", "configuration": 5}})",
        R"("r0")",
        R"("r7")",
        R"("r08")",
        R"("r99999999999999999999")",
        R"({"name": "uint8", "must_understand": false})",
        R"({"name": "uint8", "must_understand": "yes"})",
        R"({"name": "uint8", "configuration": 1})",
        R"({"name": "uint8", "configuration": null})",
        R"("raw_bytes")",
        R"("numpy.datetime64")",
        R"("struct")",
        R"({"name": "raw_bytes", "configuration": {}})",
        R"({"name": "raw_bytes", "configuration": {"length_bytes": 0}})",
        R"({"name": "raw_bytes", "configuration": {"length_bytes": -1}})",
        R"({"name": "raw_bytes", "configuration": {"length_bytes": 1.5}})",
        R"({"name": "raw_bytes", "configuration": {"length_bytes": "3"}})",
        R"({"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}})",
        R"({"name": "numpy.datetime64", "configuration": {"unit": "s"}})",
        R"({"name": "numpy.datetime64", "configuration": {"scale_factor": 1}})",
        R"({"name": "numpy.datetime64", "configuration": {"unit": "sec", "scale_factor": 1}})",
        R"({"name": "numpy.datetime64", "configuration": {"unit": 1, "scale_factor": 1}})",
        R"({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 0}})",
        R"({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 2147483648}})",
        R"({"name": "struct", "configuration": {"fields": []}})",
        R"({"name": "struct", "configuration": {"fields": {}}})",
        R"({"name": "struct", "configuration": {"fields": ["a"]}})",
        R"({"name": "struct", "configuration": {"fields": [["a"]]}})",
        R"({"name": "struct", "configuration": {"fields": [{"name": "a"}]}})",
        R"({"name": "struct", "configuration": {"fields": [{"data_type": "int8"}]}})",
        R"({"name": "struct", "configuration": {"fields": [{"name": 1, "data_type": "int8"}]}})",
        R"({"name": "struct", "configuration": {"fields": [{"name": "", "data_type": "r8"}]}})",
        R"({"name": "struct", "configuration": {"fields": [["a", "int8"], ["a", "int8"]]}})"})
    expect_error(ErrorCode::invalid_metadata, "", [&] { DataType::from_v3(Json::parse(json)); });
  expect_error(ErrorCode::unsupported_data_type, "variable length", [] {
    DataType::from_v3(Json::parse(R"({"name": "struct", "configuration": {"fields": [["a", "string"]]}})"));
  });
  expect_error(ErrorCode::resource_limit, "2147483647", [] {
    DataType::from_v3(
        Json::parse(R"({"name": "raw_bytes", "configuration": {"length_bytes": 99999999999}})"));
  });
  expect_error(ErrorCode::resource_limit, "2147483647", [] { DataType::from_v3("r17179869184"); });
}

TEST(Metadata, ToV3RefusesWhatItCannotSay) {
  expect_error(ErrorCode::unsupported_data_type, "subarray", [] {
    DataType::structured({{"a", DataType(), {2}}}).to_v3();
  });
  expect_error(ErrorCode::unsupported_data_type, "padding", [] {
    DataType::structured({{"", DataType::raw(2), {}}}).to_v3();
  });
  expect_error(ErrorCode::unsupported_data_type, "objects", [] { DataType(TypeId::object).to_v3(); });
}

TEST(Metadata, ParseTakesEveryWayOfWriting) {
  const std::pair<const char*, DataType> cases[] = {
      {"float32", DataType(TypeId::float32)},
      {" float32 ", DataType(TypeId::float32)},
      {"<f4", DataType(TypeId::float32)},
      {"f4", DataType(TypeId::float32)},
      {"u1", DataType()},
      {"S5", DataType::fixed_bytes(5)},
      {"U10", DataType::fixed_utf32(10)},
      {"|V3", DataType::raw(3)},
      {"b1", DataType(TypeId::boolean)},
      {"bool", DataType(TypeId::boolean)},
      {"string", DataType(TypeId::string)},
      {"str", DataType(TypeId::string)},
      {"bytes", DataType(TypeId::bytes)},
      {"object", DataType(TypeId::object)},
      {"O", DataType(TypeId::object)},
      {"c8", DataType(TypeId::complex64)},
      {"complex64", DataType(TypeId::complex64)},
      {"datetime64[ms]", DataType::datetime64("ms")},
      {"timedelta64[10us]", DataType::timedelta64("us", 10)},
      {"datetime64", DataType::datetime64("generic")},
      {"numpy.datetime64[D]", DataType::datetime64("D")},
      {"M8[D]", DataType::datetime64("D")},
      {"\"float32\"", DataType(TypeId::float32)},
      {R"({"name": "raw_bytes", "configuration": {"length_bytes": 2}})", DataType::raw(2)},
      {R"([["a", "|u1"]])", DataType::structured({{"a", DataType(), {}}})},
      {"bfloat16", DataType(TypeId::bfloat16)},
      {"optional[ optional[<f4]]", DataType::optional(DataType::optional(DataType(TypeId::float32)))},
      {"optional[datetime64[ms]]", DataType::optional(DataType::datetime64("ms"))},
  };
  for (const auto& [text, type] : cases) EXPECT_EQ(DataType::parse(text), type) << text;
  EXPECT_EQ(DataType::parse(">i2").byte_order(), B);
  for (const char* text : {"", "float", "floaty32", "x", "struct", "raw_bytes", "3", "datetime", "int 8"})
    expect_error(ErrorCode::unsupported_data_type, "no data type", [&] { DataType::parse(text); });
  for (const char* text : {"\"\"", "\"\\\"x\\\"\"", "\"{}\"", "{", "[", "\"", "{}", "[]", "datetime64[x]",
                           "datetime64ms", "S0", "r7", "<f4 x"})
    EXPECT_THROW(DataType::parse(text), Error) << text;
  for (const char* text : {"optional", "optional[", "optional[]", "optional[uint8", "optional[string]"})
    EXPECT_THROW(DataType::parse(text), Error) << text;
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "optional[";
  expect_error(ErrorCode::resource_limit, "deeper",
               [&] { DataType::parse(deep + "uint8" + std::string(100000, ']')); });
}

TEST(Metadata, MessagesAreShortAndClean) {
  const std::string long_name(100000, 'a');
  for (const std::string& text : {long_name, std::string(79, 'a') + "é and so on and on",
                                  std::string("a\x01\x02") + std::string("b")}) {
    try {
      DataType::from_v3(Json(text));
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_LT(e.message().size(), 300U);
      EXPECT_EQ(e.message().find('\x01'), std::string::npos);
      EXPECT_NO_THROW(Json(e.message()).dump()) << "still UTF-8";
    }
  }
}

CustomType bcd(const std::string& name) {
  CustomType type;
  type.name = name;
  type.item_size = 2;
  type.parse_fill = [](const Json& json) {
    if (!json.is_string() || json.as_string().size() != 2)
      throw Error(ErrorCode::invalid_metadata, "two letters are expected");
    return std::vector<std::byte>{std::byte(json.as_string()[0]), std::byte(json.as_string()[1])};
  };
  type.format_element = [](const std::byte* e) {
    return Json(std::string{static_cast<char>(e[0]), static_cast<char>(e[1])});
  };
  return type;
}

TEST(CustomTypes, AreFoundUnderTheirName) {
  register_data_type(bcd("test.letters"));
  DataType type = DataType::from_v3("test.letters");
  EXPECT_EQ(type.id(), TypeId::custom);
  EXPECT_EQ(type.item_size(), 2U);
  EXPECT_EQ(type.alignment(), 1U);
  EXPECT_EQ(type.name(), "test.letters");
  EXPECT_EQ(type.custom()->name, "test.letters");
  EXPECT_EQ(type, DataType::from_v2("test.letters"));
  EXPECT_EQ(type, DataType::parse("test.letters"));
  EXPECT_EQ(type.to_v3().dump(), R"("test.letters")");
  EXPECT_EQ(type.to_v2().dump(), R"("test.letters")");
  EXPECT_NE(type, DataType::raw(2));
  FillValue fill = FillValue::from_v3("hi", type);
  EXPECT_EQ(fill.to_v3().dump(), R"("hi")");
  EXPECT_EQ(fill.to_v2().dump(), R"("hi")");
  expect_error(ErrorCode::invalid_metadata, "fill_value: two letters",
               [&] { FillValue::from_v3("long", type); });
  EXPECT_TRUE(FillValue::zero(type).is_zero());
  expect_error(ErrorCode::unsupported_data_type, "another configuration", [] {
    DataType::from_v3(Json::parse(R"({"name": "test.letters", "configuration": {"n": 1}})"));
  });
  EXPECT_EQ(DataType::from_v3(Json::parse(R"({"name": "test.letters", "configuration": {}})")), type);
  EXPECT_FALSE(DataType::registered("test.unknown"));
}

TEST(CustomTypes, WithConfiguration) {
  CustomType custom = bcd("test.configured");
  custom.configuration = Json::parse(R"({"digits": 4})");
  register_data_type(custom);
  const char* json = R"({"name": "test.configured", "configuration": {"digits": 4}})";
  EXPECT_EQ(DataType::from_v3(Json::parse(json)).to_v3().dump(), json);
  expect_error(ErrorCode::unsupported_data_type, "configuration",
               [] { DataType::from_v3("test.configured"); });
}

TEST(CustomTypes, NamesAreTakenOnce) {
  register_data_type(bcd("test.once"));
  expect_error(ErrorCode::already_exists, "test.once", [] { register_data_type(bcd("test.once")); });
  for (const char* name : {"uint8", "<f4", "r24", "datetime64[ms]", "bytes", "|O"})
    expect_error(ErrorCode::already_exists, name, [&] { register_data_type(bcd(name)); });
  expect_error(ErrorCode::invalid_argument, "without a name", [] { register_data_type(bcd("")); });
  CustomType type = bcd("test.bad");
  type.item_size = 0;
  expect_error(ErrorCode::invalid_argument, "at least 1", [&] { register_data_type(type); });
  type = bcd("test.bad");
  type.parse_fill = nullptr;
  expect_error(ErrorCode::invalid_argument, "parse_fill", [&] { register_data_type(type); });
  type = bcd("test.bad");
  type.configuration = 3;
  expect_error(ErrorCode::invalid_argument, "configuration", [&] { register_data_type(type); });
  type = bcd("test.short_fill");
  type.parse_fill = [](const Json&) { return std::vector<std::byte>(1); };
  register_data_type(type);
  expect_error(ErrorCode::invalid_argument, "gave 1 bytes",
               [] { FillValue::from_v3("x", DataType::parse("test.short_fill")); });
}

TEST(CustomTypes, RegisterAndLookUpFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        const std::string name = "test.thread" + std::to_string(t) + "." + std::to_string(i);
        register_data_type(bcd(name));
        EXPECT_EQ(DataType::parse(name).item_size(), 2U);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace zarrive
