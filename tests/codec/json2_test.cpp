// json2: golden text, its older forms, and documents that are none.
#include "codec/array_codec_values.hpp"

namespace zarrive {
namespace {

using namespace testing;

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

}  // namespace
}  // namespace zarrive
