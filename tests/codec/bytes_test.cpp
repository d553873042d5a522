// The codec bytes: byte orders, bits that the stored form leaves open, sizes.
#include "codec/bytes.hpp"
#include "codec/array_codec_values.hpp"

namespace zarrive {
namespace {

using namespace testing;

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

}  // namespace
}  // namespace zarrive
