// The optional codec against bytes that zarrs wrote, and its errors.
#include "codec/array_codec_suite.hpp"

namespace zarrive {
namespace {

using namespace testing;

constexpr const char* kPlain = R"({"mask_codecs":["packbits"],"data_codecs":["bytes"]})";
constexpr const char* kNested =
    R"({"mask_codecs":["packbits"],"data_codecs":[{"name":"optional","configuration":)"
    R"({"mask_codecs":["packbits"],"data_codecs":["bytes"]}}]})";

struct Golden {
  const char* type;
  const char* configuration;
  const char* elements;
  std::vector<std::byte> bytes;
};

// Chunks of the fixtures zarrs/v3/array_optional and array_optional_nested.
std::vector<Golden> golden() {
  return {
      {"optional[uint8]", kPlain, "[[0],null,null,[5]]",
       to_bytes({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 5})},
      {"optional[uint8]", kPlain, "[[2],[3],null,[7]]",
       to_bytes({1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0x0b, 2, 3, 7})},
      {"optional[optional[uint8]]", kNested, "[null,[null],null,[[5]]]",
       to_bytes({1, 0, 0, 0, 0, 0, 0, 0, 0x12, 0, 0, 0, 0, 0, 0, 0, 0x0a, 1,
                 0, 0, 0, 0, 0, 0, 0, 1, 0,    0, 0, 0, 0, 0, 0, 2, 5})},
      {"optional[optional[uint8]]", kNested, "[null,null,null,null]",
       to_bytes({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
  };
}

TEST(Optional, GoldenBytes) {
  for (const Golden& c : golden()) {
    SCOPED_TRACE(c.elements);
    const DataType type = DataType::parse(c.type);
    const ArraySpec spec = spec_of(type, {2, 2});
    const NDArray values = array_of(type, spec.shape, c.elements);
    const auto unbound = bytes_codec("optional", c.configuration);
    for (const auto& codec : {unbound, unbound->bind(spec)}) {
      EXPECT_EQ(to_bytes(codec->encode(values.view(), spec, {}).host_span()), c.bytes);
      const NDArray decoded = NDArray::allocate(type, spec.shape);
      std::memset(decoded.view().data, 0xEE, decoded.view().nbytes());
      codec->decode(c.bytes, spec, decoded.view(), {});
      EXPECT_EQ(elements_of(decoded.view()), c.elements);
      EXPECT_TRUE(same_elements(values.view(), decoded.view())) << "an absent value is zeros";
    }
  }
}

TEST(Optional, WhatIsBesideAnAbsentValueIsNotStored) {
  const DataType type = DataType::parse("optional[uint8]");
  const ArraySpec spec = spec_of(type, {3});
  const auto codec = bytes_codec("optional", kPlain)->bind(spec);
  NDArray values = NDArray::allocate(type, spec.shape);
  const std::vector<std::byte> memory = to_bytes({0, 7, 2, 8, 0, 9});  // any flag but 0 is a value
  std::memcpy(values.view().data, memory.data(), memory.size());
  const NDArray decoded = NDArray::allocate(type, spec.shape);
  codec->decode(codec->encode(values.view(), spec, {}).host_span(), spec, decoded.view(), {});
  EXPECT_EQ(to_bytes({decoded.view().data, 6}), to_bytes({0, 0, 1, 8, 0, 0}));
}

TEST(Optional, SizesMustFit) {
  const ArraySpec spec = spec_of("optional[uint8]", {4});
  const auto codec = bytes_codec("optional", kPlain)->bind(spec);
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  const auto fails = [&](std::initializer_list<int> bytes, const char* word) {
    EXPECT_ERROR(codec->decode(to_bytes(bytes), spec, decoded.view(), {}), ErrorCode::corrupt_chunk, word);
  };
  fails({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "a header of 16");
  fails({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 5}, "2 of data");
  fails({2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, "2 bytes of mask");
  // Sizes whose sum wraps around.
  fails({255, 255, 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 0, 0, 0, 1}, "of mask");
  fails({1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 5}, "no element has a value");
  fails({1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 5}, "bytes");  // two values, one byte
  fails({0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5}, "bytes");     // no mask
}

TEST(Optional, Configuration) {
  const ArraySpec spec = spec_of("optional[int16]", {4});
  for (const char* text :
       {"{}", R"({"mask_codecs":["bytes"]})", R"({"mask_codecs":[],"data_codecs":["bytes"]})",
        R"({"mask_codecs":"bytes","data_codecs":["bytes"]})",
        R"({"mask_codecs":[5],"data_codecs":["bytes"]})"})
    EXPECT_ERROR(make_codec("optional", text), ErrorCode::invalid_metadata, "codec");
  EXPECT_ERROR(bytes_codec("optional", kPlain)->bind(spec_of("uint8", {4})), ErrorCode::unsupported_data_type,
               "optional types");
  EXPECT_ERROR(bytes_codec("bytes", R"({"endian":"little"})")->bind(spec), ErrorCode::unsupported_data_type,
               "use optional");
  EXPECT_ERROR(bytes_codec("optional", kPlain)->bind(spec), ErrorCode::invalid_metadata,
               "'endian' is missing");
  EXPECT_ERROR(bytes_codec("optional", R"({"mask_codecs":["packbits"],"data_codecs":["zstd"]})")->bind(spec),
               ErrorCode::invalid_metadata, "codec");
  EXPECT_ERROR(
      bytes_codec("optional", R"({"mask_codecs":["none-such"],"data_codecs":["bytes"]})")->bind(spec),
      ErrorCode::unsupported_codec, "none-such");
}

}  // namespace
}  // namespace zarrive
