// vlen-utf8, vlen-bytes and vlen-array: golden bytes, and frames that lie.
#include "codec/array_codec_values.hpp"

namespace zarrive {
namespace {

using namespace testing;

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

}  // namespace
}  // namespace zarrive
