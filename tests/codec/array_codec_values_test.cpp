// What each array codec does to known values, and which configurations it refuses.
#include <cmath>
#include <limits>

#include "base/utf8.hpp"
#include "codec/array_codec_suite.hpp"
#include "codec/array_filter_on_bytes.hpp"
#include "codec/bytes.hpp"
#include "codec/msgpack.hpp"
#include "codec/real_cast.hpp"

namespace zarrive {
namespace {

using namespace testing;
constexpr auto v2 = ZarrFormat::v2;
constexpr auto v3 = ZarrFormat::v3;

struct Encoded {
  std::string elements;
  ArraySpec spec;
  std::string decoded;
};

// A 1-D array of these elements through an array-to-array codec and back.
Encoded through(const std::string& name, const std::string& configuration, ZarrFormat format,
                const DataType& type, const std::string& elements) {
  const NDArray original = array_of(type, Shape{Json::parse(elements).as_array().size()}, elements);
  ArraySpec spec = spec_of(type, original.shape());
  spec.fill = FillValue::from_bytes(
      type, std::span<const std::byte>(original.view().data, type.item_size()));  // one that the codec takes
  const auto codec = array_codec(name, configuration, format)->bind(spec);
  Encoded result{{}, codec->encoded_spec(spec), {}};
  const NDArray encoded = NDArray::allocate(result.spec.type, result.spec.shape);
  codec->encode(original.view(), encoded.view(), {});
  result.elements = elements_of(encoded.view());
  const NDArray decoded = NDArray::allocate(type, spec.shape);
  codec->decode(encoded.view(), decoded.view(), {});
  result.decoded = elements_of(decoded.view());
  return result;
}
Encoded through(const std::string& name, const std::string& configuration, ZarrFormat format,
                const std::string& type, const std::string& elements) {
  return through(name, configuration, format, DataType::parse(type), elements);
}

std::string decode_as(const std::string& name, const std::string& configuration, ZarrFormat format,
                      const std::string& type, const std::string& encoded) {
  const ArraySpec spec = spec_of(type, {Json::parse(encoded).as_array().size()});
  const auto codec = array_codec(name, configuration, format)->bind(spec);
  const NDArray stored = array_of(codec->encoded_spec(spec).type, codec->encoded_spec(spec).shape, encoded);
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  codec->decode(stored.view(), decoded.view(), {});
  return elements_of(decoded.view());
}

std::vector<std::byte> encode_bytes(const std::string& name, const std::string& configuration,
                                    ZarrFormat format, const NDArray& array) {
  const ArraySpec spec = spec_of(array.type(), array.shape());
  return to_bytes(
      bytes_codec(name, configuration, format)->bind(spec)->encode(array.view(), spec, {}).host_span());
}

NDArray strings(TypeId type, const Shape& shape, const std::vector<std::string>& values) {
  const NDArray array = NDArray::allocate(DataType(type), shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    reinterpret_cast<std::string*>(array.view().data)[i] = values[i];
  return array;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// --- bytes ---

TEST(BytesCodec, ByteOrders) {
  const NDArray values = array_of("uint16", "[1, 515]");
  EXPECT_EQ(encode_bytes("bytes", R"({"endian":"little"})", v3, values), to_bytes({1, 0, 3, 2}));
  EXPECT_EQ(encode_bytes("bytes", R"({"endian":"big"})", v3, values), to_bytes({0, 1, 2, 3}));
  EXPECT_EQ(encode_bytes("endian", R"({"endian":"big"})", v3, values), to_bytes({0, 1, 2, 3}));
  const NDArray complex = array_of(DataType(TypeId::complex64), {1}, "[[1.0, 2.0]]");
  EXPECT_EQ(encode_bytes("bytes", R"({"endian":"big"})", v3, complex),
            to_bytes({0x3F, 0x80, 0, 0, 0x40, 0, 0, 0}));
}

TEST(BytesCodec, V2TakesTheOrderOfEachLeaf) {
  const DataType type =
      DataType::from_v2(Json::parse(R"([["a",">u2"],["b","<u2"],["c","|u1"],["d",">u4",[2]]])"));
  const ArraySpec spec = spec_of(type, {});
  const auto codec = make_v2_bytes_codec()->bind(spec);
  EXPECT_EQ(codec->encoded_size(spec), 13U);
  const std::vector<std::byte> stored = to_bytes({0, 1, 1, 0, 9, 0, 0, 0, 2, 0, 0, 1, 0});
  const NDArray decoded = NDArray::allocate(type, {});
  codec->decode(stored, spec, decoded.view(), {});
  EXPECT_EQ(to_bytes(std::span<const std::byte>(decoded.view().data, 13)),
            to_bytes({1, 0, 1, 0, 9, 2, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(to_bytes(codec->encode(decoded.view(), spec, {}).host_span()), stored);
  // Not bound, it works out the same from the type of the array.
  const NDArray again = NDArray::allocate(type, {});
  std::memcpy(again.view().data, stored.data(), stored.size());
  make_v2_bytes_codec()->finish_in_place(again.view());
  EXPECT_TRUE(same_elements(again.view(), decoded.view()));
}

TEST(BytesCodec, OpenBitsAreSettled) {
  const auto decode = [](const DataType& type, std::vector<std::byte> bytes) {
    const ArraySpec spec = spec_of(type, {bytes.size() / type.item_size()});
    const NDArray decoded = NDArray::allocate(type, spec.shape);
    bytes_codec("bytes")->bind(spec)->decode(bytes, spec, decoded.view(), {});
    return to_bytes(std::span<const std::byte>(decoded.view().data, bytes.size()));
  };
  EXPECT_EQ(decode(DataType(TypeId::boolean), to_bytes({0, 1, 2, 255})), to_bytes({0, 1, 1, 1}));
  EXPECT_EQ(decode(DataType(TypeId::int4), to_bytes({0x0E, 0xFE, 0x3E, 7})), to_bytes({0xFE, 0xFE, 0xFE, 7}));
  EXPECT_EQ(decode(DataType(TypeId::uint4), to_bytes({0xFE})), to_bytes({0x0E}));
  EXPECT_EQ(decode(DataType(TypeId::float6_e2m3fn), to_bytes({0xFF})), to_bytes({0x3F}));
  EXPECT_EQ(encode_bytes("bytes", "{}", v3, array_of("int4", "[-2]")), to_bytes({0x0E}));
  const DataType flags = DataType::from_v2(Json::parse(R"([["x","|u1"],["f","|b1",[2]]])"));
  EXPECT_EQ(decode(flags, to_bytes({7, 7, 0, 8, 0, 9})), to_bytes({7, 1, 0, 8, 0, 1}));
}

TEST(BytesCodec, WhatItDecodesIsWhatJsonGives) {
  const NDArray wanted = array_of("int4", "[-2,7,-8]");
  const ArraySpec spec = spec_of(wanted.type(), wanted.shape());
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  bytes_codec("bytes")->bind(spec)->decode(to_bytes({0x0E, 7, 8}), spec, decoded.view(), {});
  EXPECT_TRUE(same_elements(decoded.view(), wanted.view()));
}

TEST(BytesCodec, HugeSubarraysOfRecords) {
  // One fix for a seamless subarray, however long; too many separate ones are refused, not collected.
  const DataType seamless = DataType::from_v2(Json::parse(R"([["a",[["b","|b1"]],[1000000000]]])"));
  EXPECT_NO_THROW(bytes_codec("bytes")->bind(
      spec_of(DataType::from_v2(Json::parse(R"([["a",[["b","|b1"]],[1000]]])")), {1})));
  EXPECT_NO_THROW(make_v2_bytes_codec()->bind(ArraySpec{seamless, {1}, {}}));
  const DataType gaps = DataType::from_v2(Json::parse(R"([["a",[["b","|b1"],["c","|u1"]],[1000000]]])"));
  EXPECT_ERROR(make_v2_bytes_codec()->bind(ArraySpec{gaps, {1}, {}}), ErrorCode::resource_limit,
               "65536 parts");
}

TEST(BytesCodec, EndianRules) {
  const auto bind = [](const std::string& configuration, const DataType& type, bool strict = false,
                       std::vector<std::string>* warnings = nullptr) {
    const auto codec = std::static_pointer_cast<const ArrayToBytesCodec>(
        make_codec("bytes", configuration, v3, strict, warnings));
    return codec->bind(spec_of(type, {1}));
  };
  EXPECT_ERROR(bind("{}", DataType(TypeId::int16)), ErrorCode::invalid_metadata, "'endian' is missing");
  EXPECT_ERROR(bind("{}", DataType(TypeId::complex64)), ErrorCode::invalid_metadata, "'endian' is missing");
  EXPECT_NO_THROW(bind("{}", DataType::raw(5)));
  EXPECT_NO_THROW(bind("{}", DataType::fixed_bytes(5)));
  EXPECT_NO_THROW(bind(R"({"endian":"big"})", DataType(TypeId::uint8)));
  const DataType record = DataType::from_v2(Json::parse(R"([["a","<i4"]])"));
  std::vector<std::string> warnings;
  EXPECT_NO_THROW(bind("{}", record, false, &warnings));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("little"), std::string::npos);
  EXPECT_ERROR(bind("{}", record, true), ErrorCode::invalid_metadata, "'endian' is missing");
  EXPECT_ERROR(make_codec("bytes", R"({"endian":"middle"})"), ErrorCode::invalid_metadata, "middle");
  EXPECT_ERROR(make_codec("bytes", R"({"endian":1})"), ErrorCode::invalid_metadata, "endian");
  EXPECT_ERROR(bind("{}", DataType(TypeId::string)), ErrorCode::unsupported_data_type, "vlen-utf8");
}

TEST(BytesCodec, SizeMustFit) {
  const ArraySpec spec = spec_of("uint8", {4});
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  const auto codec = bytes_codec("bytes")->bind(spec);
  EXPECT_ERROR(codec->decode(to_bytes({1, 2, 3}), spec, decoded.view(), {}), ErrorCode::corrupt_chunk,
               "found 3 bytes, expected exactly 4");
}

// --- variable length ---

TEST(VlenCodecs, GoldenBytes) {
  EXPECT_EQ(encode_bytes("vlen-utf8", "{}", v2, strings(TypeId::string, {2}, {"a", "\u00e9!"})),
            to_bytes({2, 0, 0, 0, 1, 0, 0, 0, 0x61, 3, 0, 0, 0, 0xC3, 0xA9, 0x21}));
  EXPECT_EQ(encode_bytes("vlen-bytes", "{}", v3, strings(TypeId::bytes, {2}, {std::string("\0\xFF", 2), ""})),
            to_bytes({2, 0, 0, 0, 2, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0}));
  EXPECT_EQ(
      encode_bytes("vlen-array", R"({"dtype":"<i2"})", v2, strings(TypeId::object, {2}, {"[1,2,3]", ""})),
      to_bytes({2, 0, 0, 0, 6, 0, 0, 0, 1, 0, 2, 0, 3, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encode_bytes("vlen-array", R"({"dtype":">i2"})", v2, strings(TypeId::object, {1}, {"[1, -2]"})),
            to_bytes({1, 0, 0, 0, 4, 0, 0, 0, 0, 1, 0xFF, 0xFE}));
  EXPECT_EQ(encode_bytes("vlen-array", R"({"dtype":"|u1"})", v2, strings(TypeId::object, {1}, {"null"})),
            to_bytes({1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(VlenCodecs, BadFrames) {
  const ArraySpec spec = spec_of(DataType(TypeId::string), {2});
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  const auto codec = bytes_codec("vlen-utf8")->bind(spec);
  const auto decode = [&](std::initializer_list<int> bytes) {
    codec->decode(to_bytes(bytes), spec, decoded.view(), {});
  };
  EXPECT_ERROR(decode({2, 0}), ErrorCode::corrupt_chunk, "expected a count");
  EXPECT_ERROR(decode({3, 0, 0, 0}), ErrorCode::corrupt_chunk, "count of 3");
  EXPECT_ERROR(decode({255, 255, 255, 255}), ErrorCode::corrupt_chunk, "4294967295");
  EXPECT_ERROR(decode({2, 0, 0, 0, 0, 0}), ErrorCode::corrupt_chunk, "before the length of element 0");
  EXPECT_ERROR(decode({2, 0, 0, 0, 9, 0, 0, 0, 65}), ErrorCode::corrupt_chunk, "length of 9");
  EXPECT_ERROR(decode({2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}), ErrorCode::corrupt_chunk, "1 bytes follow");
  EXPECT_ERROR(decode({2, 0, 0, 0, 1, 0, 0, 0, 0xFF, 0, 0, 0, 0}), ErrorCode::corrupt_chunk, "UTF-8");
  EXPECT_ERROR(encode_bytes("vlen-utf8", "{}", v3, strings(TypeId::string, {1}, {"\xFF"})),
               ErrorCode::invalid_argument, "UTF-8");
  EXPECT_ERROR(bytes_codec("vlen-utf8")->bind(spec_of("int8", {1})), ErrorCode::unsupported_data_type,
               "string");
  EXPECT_ERROR(bytes_codec("vlen-bytes")->bind(spec), ErrorCode::unsupported_data_type, "bytes");
}

TEST(VlenCodecs, VlenArrayErrors) {
  EXPECT_ERROR(make_codec("vlen-array", "{}", v2), ErrorCode::invalid_metadata, "'dtype' is missing");
  EXPECT_ERROR(make_codec("vlen-array", R"({"dtype":"|O"})", v2), ErrorCode::invalid_metadata, "numbers");
  EXPECT_ERROR(make_codec("vlen-array", R"({"dtype":7})", v2), ErrorCode::invalid_metadata,
               "expected a data type");
  EXPECT_ERROR(make_codec("vlen-array", R"({"dtype":"nonsense"})", v2), ErrorCode::invalid_metadata, "dtype");
  EXPECT_ERROR(bytes_codec("vlen-array", R"({"dtype":"<i4"})", v2)->bind(spec_of("int8", {1})),
               ErrorCode::unsupported_data_type, "object");
  for (const char* bad : {"[1, 300]", "7", "[\"a\"]", "[1", "{}"})
    EXPECT_ERROR(encode_bytes("vlen-array", R"({"dtype":"|i1"})", v2, strings(TypeId::object, {1}, {bad})),
                 ErrorCode::invalid_argument, "JSON text of a list");
  const ArraySpec spec = spec_of(DataType(TypeId::object), {1});
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  EXPECT_ERROR(bytes_codec("vlen-array", R"({"dtype":"<i4"})", v2)
                   ->decode(to_bytes({1, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3}), spec, decoded.view(), {}),
               ErrorCode::corrupt_chunk, "no multiple of 4");
}

TEST(Utf8, Validity) {
  for (const char* good :
       {"", "plain ASCII text", "\u00e9\u20ac\U0001F600", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xE2\x82", "\xE2\x28\xA1", "abcdefghijk\xFF", "\xF0\x9F\x98"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

// --- json2 and msgpack2 ---

TEST(Json2, GoldenTextAndForms) {
  const NDArray words = strings(TypeId::object, {4}, {"\"foo\"", "\"bar\"", "\"baz\"", "\"qux\""});
  EXPECT_EQ(text_of(encode_bytes("json2", "{}", v2, words)), R"(["foo","bar","baz","qux","|O",[4]])");
  EXPECT_EQ(text_of(encode_bytes("json2", "{}", v2, strings(TypeId::string, {2}, {"\u00e9", ""}))),
            R"(["\u00e9","","|O",[2]])");
  EXPECT_EQ(text_of(encode_bytes("json2", R"({"ensure_ascii":false,"encoding":"utf8"})", v2,
                                 strings(TypeId::string, {1}, {"\u00e9"}))),
            "[\"\u00e9\",\"|O\",[1]]");
  EXPECT_EQ(text_of(encode_bytes("json2", "{}", v2, array_of(DataType(TypeId::int16), {2, 2}, "[1,2,3,4]"))),
            R"([[1,2],[3,4],"<i2",[2,2]])");
  EXPECT_EQ(text_of(encode_bytes("json2", "{}", v2, array_of(DataType(TypeId::float64), {}, "[1.5]"))),
            R"([1.5,"<f8",[]])");
  EXPECT_EQ(text_of(encode_bytes("json2", "{}", v2, array_of("float32", R"(["NaN","-Infinity"])"))),
            R"([NaN,-Infinity,"<f4",[2]])");
  EXPECT_EQ(
      text_of(encode_bytes("json2", "{}", v2, strings(TypeId::object, {2}, {"", R"({"b":1,"a":[2]})"}))),
      R"([null,{"a":[2],"b":1},"|O",[2]])");
}

std::string json_decoded(const std::string& text, const ArraySpec& spec,
                         const std::string& configuration = "{}") {
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  const Buffer bytes = Buffer::from_string(text);
  bytes_codec("json2", configuration, v2)->bind(spec)->decode(bytes.host_span(), spec, decoded.view(), {});
  if (!spec.type.is_variable()) return elements_of(decoded.view());
  std::string all;
  for (std::uint64_t i = 0; i < decoded.size(); ++i)
    all += (i ? "|" : "") + reinterpret_cast<const std::string*>(decoded.view().data)[i];
  return all;
}

TEST(Json2, Decoding) {
  const ArraySpec objects = spec_of(DataType(TypeId::object), {2});
  EXPECT_EQ(json_decoded(R"([ [1, "x"], {"a": 1.50}, "|O", [2] ])", objects), R"([1,"x"]|{"a":1.50})");
  EXPECT_EQ(json_decoded(R"([[1],[2],"|O",[2]])", objects), "[1]|[2]");
  EXPECT_EQ(json_decoded(R"([[[1],[2]],"|O",[1,2]])", objects),
            "[1]|[2]");  // nested otherwise, as many elements
  EXPECT_EQ(json_decoded(R"([NaN,-Infinity,"<f4",[2]])", spec_of("float32", {2})), R"(["NaN","-Infinity"])");
  EXPECT_EQ(json_decoded(R"([Infinity,1,"<f8",[2]])", spec_of("float64", {2})), R"(["Infinity",1.0])");
  EXPECT_EQ(json_decoded(R"([7,"<i4",[]])", spec_of("int32", {})), "[7]");
}

TEST(Json2, BadDocuments) {
  const ArraySpec spec = spec_of("int32", {2});
  for (const auto& [text, part] : std::vector<std::pair<const char*, const char*>>{
           {"{", "no JSON document"},
           {"7", "no list"},
           {"[1]", "no list"},
           {R"([1,2,"<i4",3])", "expected the shape"},
           {R"([1,2,"<i4",[-2]])", "no natural number"},
           {R"([1,2,5,[2]])", "expected the data type"},
           {R"([1,"<i4",[2]])", "found 1 items"},
           {R"([1,2,3,"<i4",[3]])", "expected the 2 elements"},
           {R"([1,2,"<i4",[4294967296,4294967296]])", "elements"},
           {R"([1,"x","<i4",[2]])", "no int32"},
           {R"([1,3000000000,"<i4",[2]])", "no int32"},
           {R"([[1,2,3],"<i4",[1,2]])", "list of 3"},
           {R"([5,"<i4",[1,2]])", "no list"},
       })
    EXPECT_ERROR(json_decoded(text, spec), ErrorCode::corrupt_chunk, part);
  EXPECT_ERROR(json_decoded(R"([1,"<i4",[2]])", spec), ErrorCode::corrupt_chunk, "found 1 items");
  EXPECT_ERROR(json_decoded(R"([NaN,1,"<f4",[2]])", spec_of("float32", {2}), R"({"allow_nan":false})"),
               ErrorCode::corrupt_chunk, "no JSON document");
  EXPECT_ERROR(json_decoded(std::string(300, '['), spec), ErrorCode::corrupt_chunk, "JSON");
  EXPECT_ERROR(encode_bytes("json2", "{}", v2, strings(TypeId::object, {1}, {"not json"})),
               ErrorCode::invalid_argument, "no JSON text");
}

TEST(Json2, TheOlderIdsHaveNoShape) {
  const NDArray numbers = array_of(DataType(TypeId::int16), {2, 2}, "[1,2,3,4]");
  EXPECT_EQ(text_of(encode_bytes("json", "{}", v2, numbers)), R"([[1,2],[3,4],"<i2"])");
  EXPECT_EQ(encode_bytes("msgpack", "{}", v2, array_of("uint8", "[7]")),
            to_bytes({0x92, 7, 0xA3, '|', 'u', '1'}));
  const ArraySpec spec = spec_of(numbers.type(), numbers.shape());
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  const auto decode = [&](std::string text) {
    const Buffer bytes = Buffer::from_string(std::move(text));
    bytes_codec("json", "{}", v2)->decode(bytes.host_span(), spec, decoded.view(), {});
  };
  decode(R"([[5,6],[7,8],"<i2"])");
  EXPECT_EQ(elements_of(decoded.view()), "[5,6,7,8]");
  EXPECT_ERROR(decode(R"([[5,6],[7,8],"<i2",[2,2]])"), ErrorCode::corrupt_chunk, "found 3 items");
  EXPECT_ERROR(decode(R"([[5,6],[7,8],9,"<i2"])"), ErrorCode::corrupt_chunk, "found 3 items");
  EXPECT_ERROR(decode("[]"), ErrorCode::corrupt_chunk, "no list that ends with a data type");
}

TEST(Json2, Configuration) {
  EXPECT_ERROR(make_codec("json2", R"({"encoding":"utf-16"})", v2), ErrorCode::unsupported_codec, "utf-16");
  EXPECT_ERROR(make_codec("json2", R"({"separators":["a","b"]})", v2), ErrorCode::invalid_metadata,
               "separators");
  EXPECT_ERROR(make_codec("json2", R"({"indent":"x"})", v2), ErrorCode::invalid_metadata, "indent");
  EXPECT_NO_THROW(make_codec(
      "json2", R"({"indent":2,"encoding":"ascii","strict":true,"skipkeys":false,"check_circular":true})",
      v2));
  for (const char* name : {"json2", "msgpack2"}) {
    EXPECT_ERROR(bytes_codec(name, "{}", v2)->bind(spec_of("complex64", {1})),
                 ErrorCode::unsupported_data_type, "objects");
    EXPECT_ERROR(bytes_codec(name, "{}", v2)->bind(spec_of("bfloat16", {1})),
                 ErrorCode::unsupported_data_type, "objects");
  }
}

TEST(MsgPack, EveryFormReadsBack) {
  for (const char* text : {"null",
                           "true",
                           "false",
                           "0",
                           "127",
                           "128",
                           "255",
                           "256",
                           "65535",
                           "65536",
                           "4294967295",
                           "4294967296",
                           "18446744073709551615",
                           "-1",
                           "-32",
                           "-33",
                           "-128",
                           "-129",
                           "-32768",
                           "-32769",
                           "-2147483648",
                           "-2147483649",
                           "-9223372036854775808",
                           "1.5",
                           "-0.0",
                           "1e300",
                           "\"\"",
                           "\"text\"",
                           "[]",
                           "{}",
                           R"({"a":[1,{"b":null}],"c":"d"})",
                           "[[[[1]]]]"}) {
    const Json value = Json::parse(text);
    EXPECT_EQ(read_msgpack(write_msgpack(value, false)), value) << text;
  }
  for (const std::size_t length : {31U, 32U, 255U, 256U, 65535U, 65536U}) {
    const Json text(std::string(length, 'x'));
    EXPECT_EQ(read_msgpack(write_msgpack(text, false)), text);
    const Json list(JsonArray(length, Json(1)));
    EXPECT_EQ(read_msgpack(write_msgpack(list, false)), list);
    if (length > 300) continue;
    JsonObject members;
    for (std::size_t k = 0; k < length; ++k) members.set("k" + std::to_string(k), Json(k));
    const Json map(std::move(members));
    EXPECT_EQ(read_msgpack(write_msgpack(map, false)), map);
  }
  EXPECT_EQ(write_msgpack(Json(1.5), true), to_bytes({0xCA, 0x3F, 0xC0, 0, 0}));
  EXPECT_EQ(write_msgpack(Json(-33), false), to_bytes({0xD0, 0xDF}));
  EXPECT_ERROR(write_msgpack(Json::parse("18446744073709551616"), false), ErrorCode::invalid_argument,
               "64 bits");
  EXPECT_TRUE(std::isnan(read_msgpack(write_msgpack(Json(std::nan("")), false)).as_double()));
}

TEST(MsgPack, BinaryAndLongForms) {
  EXPECT_EQ(read_msgpack(to_bytes({0xC4, 3, 'f', 'o', 'o'})), Json("Zm9v"));
  EXPECT_EQ(read_msgpack(to_bytes({0xC5, 0, 1, 'f'})), Json("Zg=="));
  EXPECT_EQ(read_msgpack(to_bytes({0xC6, 0, 0, 0, 1, 'f'})), Json("Zg=="));
  EXPECT_EQ(read_msgpack(to_bytes({0xDF, 0, 0, 0, 1, 0xA1, 'k', 0xDD, 0, 0, 0, 1, 5})),
            Json::parse(R"({"k":[5]})"));
  EXPECT_EQ(read_msgpack(to_bytes({0xDE, 0, 1, 0xA1, 'k', 0xD9, 1, 'v'})), Json::parse(R"({"k":"v"})"));
}

TEST(MsgPack, BadBytes) {
  EXPECT_ERROR(read_msgpack({}), ErrorCode::corrupt_chunk, "needs 1 more");
  EXPECT_ERROR(read_msgpack(to_bytes({1, 2})), ErrorCode::corrupt_chunk, "1 bytes follow");
  EXPECT_ERROR(read_msgpack(to_bytes({0xC1})), ErrorCode::corrupt_chunk, "0xC1");
  EXPECT_ERROR(read_msgpack(to_bytes({0xD4, 1, 2})), ErrorCode::corrupt_chunk, "extension");
  EXPECT_ERROR(read_msgpack(to_bytes({0xA1, 0xFF})), ErrorCode::corrupt_chunk, "UTF-8");
  EXPECT_ERROR(read_msgpack(to_bytes({0x81, 1, 2})), ErrorCode::corrupt_chunk, "key");
  // Counts of four thousand million with nothing behind them: an error at once, not an allocation.
  EXPECT_ERROR(read_msgpack(to_bytes({0xDD, 0xFF, 0xFF, 0xFF, 0xFF})), ErrorCode::corrupt_chunk,
               "needs 1 more");
  EXPECT_ERROR(read_msgpack(to_bytes({0xDF, 0xFF, 0xFF, 0xFF, 0xFF})), ErrorCode::corrupt_chunk,
               "needs 1 more");
  EXPECT_ERROR(read_msgpack(to_bytes({0xDB, 0xFF, 0xFF, 0xFF, 0xFF, 'x'})), ErrorCode::corrupt_chunk,
               "4294967295");
  EXPECT_ERROR(read_msgpack(std::vector<std::byte>(100000, std::byte{0x91})), ErrorCode::resource_limit,
               "nested deeper");
}

// --- transpose and reshape ---

TEST(Transpose, OrderAndConfiguration) {
  const ArraySpec spec = spec_of("uint8", {2, 3, 4});
  const auto codec = array_codec("transpose", R"({"order":[2,0,1]})")->bind(spec);
  EXPECT_EQ(codec->encoded_spec(spec).shape, (Shape{4, 2, 3}));
  const auto flat = array_codec("transpose", R"({"order":[1,0]})");
  const NDArray original = array_of(DataType(), {2, 3}, "[1,2,3,4,5,6]");
  const NDArray encoded = NDArray::allocate(DataType(), {3, 2});
  flat->encode(original.view(), encoded.view(), {});
  EXPECT_EQ(elements_of(encoded.view()), "[1,4,2,5,3,6]");
  EXPECT_ERROR(flat->bind(spec), ErrorCode::invalid_metadata, "'order' has 2 entries, the array has 3");
  for (const char* bad : {"{}", R"({"order":3})", R"({"order":[0,0]})", R"({"order":[0,2]})",
                          R"({"order":[-1,0]})", R"({"order":["0"]})", R"({"order":"K"})"})
    EXPECT_ERROR(make_codec("transpose", bad), ErrorCode::invalid_metadata, "order");
  std::vector<std::string> warnings;
  make_codec("transpose", R"({"order":"F"})", v3, false, &warnings);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_ERROR(make_codec("transpose", R"({"order":"F"})", v3, true), ErrorCode::invalid_metadata, "dropped");
}

TEST(Reshape, Shapes) {
  const auto shape = [](const std::string& configuration, const Shape& from) {
    const ArraySpec spec = spec_of("uint8", from);
    return array_codec("reshape", "{\"shape\":" + configuration + "}")->bind(spec)->encoded_spec(spec).shape;
  };
  EXPECT_EQ(shape("[[0,1],[2],3]", {100, 50, 64, 3}), (Shape{5000, 64, 3}));
  EXPECT_EQ(shape("[-1]", {2, 3}), (Shape{6}));
  EXPECT_EQ(shape("[2,-1,3]", {4, 6}), (Shape{2, 4, 3}));
  EXPECT_EQ(shape("[-1,[1]]", {4, 6}), (Shape{4, 6}));
  EXPECT_EQ(shape("[]", {1, 1}), (Shape{}));
  EXPECT_EQ(shape("[[0],[],1]", {5}), (Shape{5, 1, 1}));
  EXPECT_ERROR(shape("[4]", {2, 3}), ErrorCode::invalid_metadata, "6 elements");
  EXPECT_ERROR(shape("[4,-1]", {2, 3}), ErrorCode::invalid_metadata, "cannot be divided");
  EXPECT_ERROR(shape("[[0,5]]", {2, 3}), ErrorCode::invalid_metadata, "no dimension 5");
  EXPECT_ERROR(shape("[3,[0]]", {2, 3}), ErrorCode::invalid_metadata, "does not run along");
  for (const char* bad :
       {"{}", R"({"shape":6})", R"({"shape":[0]})", R"({"shape":[-2]})", R"({"shape":[-1,-1]})",
        R"({"shape":[[1],[0]]})", R"({"shape":[[1,0]]})", R"({"shape":[["x"]]})", R"({"shape":["x"]})"})
    EXPECT_ERROR(make_codec("reshape", bad), ErrorCode::invalid_metadata, "shape");
  const ArraySpec spec = spec_of("uint8", {2, 3});
  EXPECT_FALSE(array_codec("reshape", R"({"shape":[6]})")
                   ->bind(spec)
                   ->view_as_encoded(strided(spec.type, spec.shape).view));
}

// --- bitround ---

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

// --- scale_offset ---

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

// --- cast_value ---

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

// --- numcodecs filters ---

TEST(Filters, Delta) {
  const Encoded wrapped = through("delta", R"({"dtype":"|u1"})", v2, "uint8", "[250,5,4]");
  EXPECT_EQ(wrapped.elements, "[250,11,255]");
  EXPECT_EQ(wrapped.decoded, "[250,5,4]");
  const Encoded narrow = through("delta", R"({"dtype":"<i4","astype":"|i1"})", v2, "int32", "[100,90,110]");
  EXPECT_EQ(narrow.elements, "[100,-10,20]");
  EXPECT_EQ(narrow.spec.type.name(), "int8");
  EXPECT_EQ(narrow.decoded, "[100,90,110]");
  EXPECT_EQ(through("delta", "{}", v2, "bool", "[true,true,false]").elements, "[true,false,true]");
  EXPECT_EQ(through("delta", R"({"dtype":"f4"})", v2, "float32", "[1.5,2.0]").elements, "[1.5,0.5]");
  EXPECT_EQ(through("delta", "{}", v2, "float16", "[1.5,2.0]").elements, "[1.5,0.5]");
  // The byte order of astype is kept for the bytes that follow.
  const ArraySpec spec = spec_of("int16", {2});
  EXPECT_EQ(array_codec("delta", R"({"dtype":"<i2","astype":">i2"})", v2)
                ->bind(spec)
                ->encoded_spec(spec)
                .type.byte_order(),
            ByteOrder::big);
  EXPECT_FALSE(array_codec("delta", "{}", v2)->encoded_spec(spec).fill.is_undefined());
  ArraySpec seven = spec;
  seven.fill = FillValue::from_v3(Json(7), spec.type);
  EXPECT_TRUE(array_codec("delta", "{}", v2)->encoded_spec(seven).fill.is_undefined());
  EXPECT_ERROR(array_codec("delta", R"({"dtype":"<i4"})", v2)->bind(spec), ErrorCode::invalid_metadata,
               "found int16");
  EXPECT_ERROR(array_codec("delta", "{}", v2)->bind(spec_of("complex64", {1})),
               ErrorCode::unsupported_data_type, "complex64");
  EXPECT_ERROR(array_codec("delta", R"({"astype":"<c8"})", v2)->bind(spec), ErrorCode::unsupported_data_type,
               "differences");
}

TEST(Filters, DeltaAddsUpFloatsInThePromotedType) {
  const auto last = [](const std::string& type, const std::string& astype, const std::string& differences) {
    const Json list =
        Json::parse(decode_as("delta", R"({"astype":")" + astype + "\"}", v2, type, differences));
    return list.as_array().back().as_double();
  };
  // In float32 100000000 + 1 is 100000000 again and again; in float64 it comes to 100000007, which float32 has as 100000008.
  const std::string differences = "[100000000,1,1,1,1,1,1,1]";
  EXPECT_NEAR(last("float32", "<f4", differences), 1e8, 1);
  EXPECT_NEAR(last("float32", "<f8", differences), 1e8 + 8, 3);
  EXPECT_NEAR(last("float32", "<i4", differences), 1e8 + 8, 3);
  EXPECT_EQ(last("float16", "<f2", "[2048,1,1]"), 2048);
  EXPECT_EQ(last("float16", "<u2", "[2048,1,1]"), 2050);
}

TEST(Filters, OtherByteOrderThanTheArray) {
  // numcodecs takes the bytes as they lie: big-endian 1, 2 read as little-endian 256, 512.
  const DataType big = DataType::parse(">i2");
  const Encoded swapped = through("delta", R"({"dtype":"<i2"})", v2, big, "[1,2]");
  EXPECT_EQ(swapped.elements, "[256,256]");
  EXPECT_EQ(swapped.decoded, "[1,2]");
  EXPECT_EQ(through("delta", R"({"dtype":">i2"})", v2, big, "[1,2]").elements, "[1,1]");
}

TEST(Filters, FixedScaleOffset) {
  const Encoded plain =
      through("fixedscaleoffset", R"({"offset":1000,"scale":10,"dtype":"<f8","astype":"|u1"})", v2, "float64",
              "[1000,1000.11,1000.15,1000.25]");
  EXPECT_EQ(plain.elements, "[0,1,1,2]");  // 1.5 comes out a little below: 1000.15 is no double
  EXPECT_EQ(plain.decoded, "[1000.0,1000.1,1000.1,1000.2]");
  // The C cast wraps.
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":0,"scale":1,"astype":"|u1"})", v2, "float64", "[256,257,-1]")
          .elements,
      "[0,1,255]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":0,"scale":1,"astype":"<u8"})", v2, "float64", "[1e19,-1]")
          .elements,
      "[10000000000000000000,18446744073709551615]");
  EXPECT_EQ(through("fixedscaleoffset", R"({"offset":0,"scale":1,"astype":"<i8"})", v2, "float64",
                    R"(["NaN",1e300])")
                .elements,
            "[-9223372036854775808,-9223372036854775808]");
  // float32 stays float32: 16777217 is not to be had, neither before nor after.
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":1,"scale":1,"astype":"<i4"})", v2, "float32", "[16777216]")
          .elements,
      "[16777215]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":-1,"scale":1,"astype":"<i4"})", v2, "float32", "[16777216]")
          .elements,
      "[16777216]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":-1.0,"scale":1,"astype":"<i4"})", v2, "int32", "[16777216]")
          .elements,
      "[16777217]");
  // Integers with integer parameters wrap in their own type; with a float they do not.
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":10,"scale":2,"astype":"<i4"})", v2, "uint8", "[5]").elements,
      "[246]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":10.0,"scale":2,"astype":"<i4"})", v2, "uint8", "[5]").elements,
      "[-10]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":-1,"scale":2,"astype":"<i4"})", v2, "uint8", "[5]").elements,
      "[12]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":1,"scale":2.5,"astype":"<i4"})", v2, "int16", "[6]").elements,
      "[12]");
  EXPECT_EQ(through("fixedscaleoffset", R"({"offset":0,"scale":3,"astype":"<i2"})", v2, "int16", "[20000]")
                .elements,
            "[-5536]");
  // Half to even.
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":0,"scale":1})", v2, "float64", "[0.5,1.5,2.5,-0.5]").elements,
      "[0.0,2.0,2.0,-0.0]");
  EXPECT_EQ(through("fixedscaleoffset", R"({"offset":0.5,"scale":2})", v2, "float16", "[1.0]").elements,
            "[1.0]");
  for (const char* bad : {R"({"scale":1})", R"({"offset":1})", R"({"offset":1,"scale":0})",
                          R"({"offset":"a","scale":1})", R"({"offset":1,"scale":1,"dtype":"zz"})"})
    EXPECT_ERROR(make_codec("fixedscaleoffset", bad, v2), ErrorCode::invalid_metadata, "fixedscaleoffset");
  EXPECT_ERROR(array_codec("fixedscaleoffset", R"({"offset":1,"scale":1})", v2)->bind(spec_of("bool", {1})),
               ErrorCode::unsupported_data_type, "bool");
  EXPECT_ERROR(array_codec("fixedscaleoffset", R"({"offset":1,"scale":1})", v2)->bind(spec_of("int4", {1})),
               ErrorCode::unsupported_data_type, "int4");
}

TEST(Filters, Quantize) {
  EXPECT_EQ(through("quantize", R"({"digits":1,"dtype":"<f8"})", v2, "float64", "[0.1,1.23456]").elements,
            "[0.125,1.25]");
  EXPECT_EQ(through("quantize", R"({"digits":3,"dtype":"<f8"})", v2, "float64", "[0.1]").elements,
            "[0.099609375]");
  EXPECT_EQ(through("quantize", R"({"digits":-1})", v2, "float64", "[13,20]").elements, "[16.0,16.0]");
  EXPECT_EQ(through("quantize", R"({"digits":1,"dtype":"<f4","astype":"<f2"})", v2, "float32", "[0.1]")
                .spec.type.name(),
            "float16");
  EXPECT_EQ(through("quantize", R"({"digits":1})", v2, "float16", "[0.1]").elements, "[0.125]");
  EXPECT_ERROR(make_codec("quantize", "{}", v2), ErrorCode::invalid_metadata, "digits");
  EXPECT_ERROR(array_codec("quantize", R"({"digits":1})", v2)->bind(spec_of("int32", {1})),
               ErrorCode::unsupported_data_type, "int32");
}

TEST(Filters, AsType) {
  EXPECT_EQ(
      through("astype", R"({"encode_dtype":"<i2","decode_dtype":"<f8"})", v2, "float64", "[1.9,-1.9,70000]")
          .elements,
      "[1,-1,4464]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"|b1"})", v2, "int32", "[0,5]").elements, "[false,true]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"<f4"})", v2, "complex128", "[[1.5,2.0]]").decoded,
            "[[1.5,0.0]]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"<i8"})", v2, "<M8[s]", "[5]").elements, "[5]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"float8_e5m2"})", v2, "float32", "[1.5]").elements, "[1.5]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"int4"})", v2, "int32", "[9,-1]").elements, "[-7,-1]");
  EXPECT_ERROR(make_codec("astype", "{}", v2), ErrorCode::invalid_metadata, "encode_dtype");
  EXPECT_ERROR(array_codec("astype", R"({"encode_dtype":"|S4"})", v2)->bind(spec_of("int32", {1})),
               ErrorCode::unsupported_data_type, "cannot cast");
  EXPECT_ERROR(array_codec("astype", R"({"encode_dtype":"<M8[ms]"})", v2)->bind(spec_of("<M8[s]", {1})),
               ErrorCode::unsupported_data_type, "units");
  EXPECT_ERROR(
      array_codec("astype", R"({"encode_dtype":"<i4"})", v2)->bind(spec_of(DataType(TypeId::string), {1})),
      ErrorCode::invalid_metadata, "string");
}

TEST(Filters, PackBits) {
  const Encoded packed = through("packbits", "{}", v2, "bool", "[true,false,false,true]");
  EXPECT_EQ(packed.elements, "[4,144]");
  EXPECT_EQ(packed.spec.shape, (Shape{2}));
  EXPECT_EQ(through("packbits", "{}", v2, "uint8", "[7,0]").elements, "[6,128]");
  EXPECT_ERROR(array_codec("packbits", "{}", v2)->bind(spec_of("int16", {1})),
               ErrorCode::unsupported_data_type, "bool");
  const ArraySpec spec = spec_of("bool", {4});
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  const NDArray wrong = array_of("uint8", "[3,144]");
  EXPECT_ERROR(array_codec("packbits", "{}", v2)->bind(spec)->decode(wrong.view(), decoded.view(), {}),
               ErrorCode::corrupt_chunk, "3 padding bits");
}

TEST(Filters, Categorize) {
  const std::string labels =
      R"({"labels":["foo","b\u00e4r","\u20ac\ud83d\ude00"],"dtype":"|O","astype":"|u1"})";
  for (const char* name : {"categorize", "numcodecs.categorize"}) {
    const ZarrFormat format = std::string(name) == "categorize" ? v2 : v3;
    const NDArray words =
        strings(TypeId::string, {4}, {"b\u00e4r", "\u20ac\U0001F600", "none of them", "foo"});
    const ArraySpec spec = spec_of(words.type(), words.shape());
    const auto codec = array_codec(name, labels, format)->bind(spec);
    const NDArray codes = NDArray::allocate(codec->encoded_spec(spec).type, spec.shape);
    codec->encode(words.view(), codes.view(), {});
    EXPECT_EQ(elements_of(codes.view()), "[2,3,0,1]");
    const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
    codec->decode(codes.view(), decoded.view(), {});
    EXPECT_TRUE(same_elements(
        decoded.view(), strings(TypeId::string, {4}, {"b\u00e4r", "\u20ac\U0001F600", "", "foo"}).view()));
    codes.view().data[0] = std::byte{9};
    EXPECT_ERROR(codec->decode(codes.view(), decoded.view(), {}), ErrorCode::corrupt_chunk, "found code 9");
  }
  // Fixed-width text: too long a label is cut, as NumPy does it.
  const Encoded fixed =
      through("categorize", R"({"labels":["foo","b\u00e4r\u20ac\ud83d\ude00"],"dtype":"<U4","astype":"<i2"})",
              v2, "<U5", R"(["foo","b\u00e4r\u20ac\ud83d\ude00","x"])");
  EXPECT_EQ(fixed.elements, "[1,2,0]");
  EXPECT_EQ(decode_as("categorize", R"({"labels":["foo","longer"]})", v2, "<U3", "[1,2,0]"),
            R"(["foo","lon",""])");
  // Objects are JSON texts in memory.
  const NDArray objects = strings(TypeId::object, {3}, {"\"foo\"", "7", ""});
  const ArraySpec spec = spec_of(objects.type(), objects.shape());
  const auto codec = array_codec("categorize", R"({"labels":["foo"]})", v2)->bind(spec);
  const NDArray codes = NDArray::allocate(codec->encoded_spec(spec).type, spec.shape);
  codec->encode(objects.view(), codes.view(), {});
  EXPECT_EQ(elements_of(codes.view()), "[1,0,0]");
  codec->decode(codes.view(), objects.view(), {});
  EXPECT_EQ(*reinterpret_cast<std::string*>(objects.view().data), "\"foo\"");

  EXPECT_ERROR(make_codec("categorize", "{}", v2), ErrorCode::invalid_metadata, "labels");
  EXPECT_ERROR(make_codec("categorize", R"({"labels":[1]})", v2), ErrorCode::invalid_metadata, "texts only");
  EXPECT_ERROR(make_codec("categorize", R"({"labels":[],"astype":"<f4"})", v2), ErrorCode::invalid_metadata,
               "astype");
  std::string many = R"({"labels":["a")";
  for (int k = 0; k < 255; ++k) many += ",\"" + std::to_string(k) + "\"";
  EXPECT_ERROR(make_codec("categorize", many + "]}", v2), ErrorCode::invalid_metadata, "256 labels");
  EXPECT_ERROR(array_codec("categorize", R"({"labels":[]})", v2)->bind(spec_of("int8", {1})),
               ErrorCode::unsupported_data_type, "text");
}

TEST(Filters, OnBytes) {
  const auto on_bytes = [](const std::string& name, const std::string& configuration) {
    const auto filter = array_codec(name, configuration, v2);
    CodecSpec spec = filter->spec();
    return make_array_filter_on_bytes(filter, spec);
  };
  const auto round_trip = [](const std::shared_ptr<const BytesToBytesCodec>& codec,
                             const std::vector<std::byte>& bytes, const std::vector<std::byte>& wanted) {
    const Buffer encoded = codec->encode(bytes, {});
    EXPECT_EQ(to_bytes(encoded.host_span()), wanted);
    EXPECT_EQ(codec->encoded_size(bytes.size()), wanted.size());
    ByteOutput output(bytes.size(), bytes.size());
    codec->decode(encoded.host_span(), output, {});
    EXPECT_EQ(to_bytes(output.bytes()), bytes);
  };
  round_trip(on_bytes("delta", R"({"dtype":">i2"})"), to_bytes({0, 1, 0, 3, 1, 0}),
             to_bytes({0, 1, 0, 2, 0, 253}));
  round_trip(on_bytes("delta", R"({"dtype":"|u1","astype":">u2"})"), to_bytes({1, 3}),
             to_bytes({0, 1, 0, 2}));
  round_trip(on_bytes("astype", R"({"decode_dtype":"|u1","encode_dtype":"<u2"})"), to_bytes({1, 3}),
             to_bytes({1, 0, 3, 0}));
  round_trip(on_bytes("packbits", "{}"), to_bytes({1, 0, 1}), to_bytes({5, 0xA0}));
  round_trip(on_bytes("packbits", "{}"), {}, to_bytes({0}));

  const auto decode = [](const std::shared_ptr<const BytesToBytesCodec>& codec,
                         std::initializer_list<int> bytes) {
    ByteOutput output(std::nullopt, 1000);
    codec->decode(to_bytes(bytes), output, {});
  };
  EXPECT_ERROR(decode(on_bytes("delta", R"({"dtype":"<i4"})"), {1, 2, 3}), ErrorCode::corrupt_chunk,
               "whole number");
  EXPECT_ERROR(decode(on_bytes("packbits", "{}"), {8, 1}), ErrorCode::corrupt_chunk, "8 padding bits");
  EXPECT_ERROR(decode(on_bytes("packbits", "{}"), {}), ErrorCode::corrupt_chunk, "padding bits");
  EXPECT_ERROR(on_bytes("bitround", R"({"keepbits":3})"), ErrorCode::unsupported_codec,
               "states no data type");
  EXPECT_ERROR(on_bytes("categorize", R"({"labels":[],"dtype":"|O"})"), ErrorCode::unsupported_codec,
               "states no data type");
}

// --- packbits of v3 ---

TEST(PackBits, GoldenBytes) {
  EXPECT_EQ(encode_bytes("packbits", "{}", v3, array_of("int4", "[1,-2,3]")), to_bytes({0xE1, 0x03}));
  EXPECT_EQ(encode_bytes("packbits", "{}", v3, array_of("bool", "[true,false,false,true]")),
            to_bytes({0x09}));
  EXPECT_EQ(encode_bytes("packbits", R"({"padding_encoding":"first_byte"})", v3, array_of("bool", "[true]")),
            to_bytes({7, 1}));
  EXPECT_EQ(encode_bytes("packbits", R"({"padding_encoding":"last_byte"})", v3, array_of("bool", "[true]")),
            to_bytes({1, 7}));
  EXPECT_EQ(encode_bytes("packbits", R"({"first_bit":4,"last_bit":11})", v3, array_of("uint16", "[4660]")),
            to_bytes({0x23}));
}

TEST(PackBits, Errors) {
  const ArraySpec spec = spec_of("uint8", {3});
  for (const char* bad : {R"({"first_bit":8})", R"({"last_bit":8})", R"({"first_bit":5,"last_bit":4})"})
    EXPECT_ERROR(bytes_codec("packbits", bad)->bind(spec), ErrorCode::invalid_metadata,
                 "are not among the 8 bits");
  EXPECT_ERROR(bytes_codec("packbits")->bind(spec_of("|S4", {1})), ErrorCode::unsupported_data_type, "bool");
  EXPECT_ERROR(make_codec("packbits", R"({"padding_encoding":"middle"})"), ErrorCode::invalid_metadata,
               "padding_encoding");
  EXPECT_ERROR(make_codec("packbits", R"({"first_bit":64})"), ErrorCode::invalid_metadata, "first_bit");
  const ArraySpec flags = spec_of("bool", {3});
  const NDArray decoded = NDArray::allocate(flags.type, flags.shape);
  EXPECT_ERROR(bytes_codec("packbits", R"({"padding_encoding":"first_byte"})")
                   ->decode(to_bytes({4, 1}), flags, decoded.view(), {}),
               ErrorCode::corrupt_chunk, "4 padding bits, expected 5");
}

// --- zfp ---

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

// --- the list ---

TEST(ArrayCodecList, RefusedByName) {
  EXPECT_ERROR(make_codec("sharding_indexed"), ErrorCode::unsupported_codec, "not yet supported");
  EXPECT_ERROR(make_codec("pickle", "{}", v2), ErrorCode::unsupported_codec, "pickle");
  EXPECT_ERROR(make_codec("numcodecs.pcodec"), ErrorCode::unsupported_codec, "pcodec");
}

}  // namespace
}  // namespace zarrive
