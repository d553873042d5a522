// packbits of Zarr v3: golden bytes and its errors.
#include "codec/array_codec_values.hpp"

namespace zarrive {
namespace {

using namespace testing;

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

}  // namespace
}  // namespace zarrive
