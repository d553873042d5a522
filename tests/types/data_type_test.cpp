#include "zarrive/data_type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <tuple>

#include "types/expect_error.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

using ::testing::ElementsAre;
using testing::IsEmpty;

std::tuple<std::size_t, std::size_t, std::size_t, ByteOrder> tie(const DataType::Leaf& l) {
  return {l.offset, l.count, l.unit, l.order};
}

std::vector<std::tuple<std::size_t, std::size_t, std::size_t, ByteOrder>> leaves(const DataType& type) {
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t, ByteOrder>> result;
  for (const DataType::Leaf& l : type.leaves()) result.push_back(tie(l));
  return result;
}

constexpr auto L = ByteOrder::little;
constexpr auto B = ByteOrder::big;

TEST(DataType, DefaultIsUint8) {
  DataType type;
  EXPECT_EQ(type, DataType(TypeId::uint8));
  EXPECT_EQ(type.item_size(), 1U);
  EXPECT_EQ(type.byte_order(), ByteOrder::none);
  EXPECT_EQ(type.swap_unit(), 1U);
}

TEST(DataType, LayoutOfEveryPlainType) {
  struct Case {
    TypeId id;
    const char* name;
    std::size_t size, unit, align;
    bool integer, is_signed, floating, complex;
  };
  const Case cases[] = {
      {TypeId::boolean, "bool", 1, 1, 1, false, false, false, false},
      {TypeId::int2, "int2", 1, 1, 1, true, true, false, false},
      {TypeId::int4, "int4", 1, 1, 1, true, true, false, false},
      {TypeId::int8, "int8", 1, 1, 1, true, true, false, false},
      {TypeId::int16, "int16", 2, 2, 2, true, true, false, false},
      {TypeId::int32, "int32", 4, 4, 4, true, true, false, false},
      {TypeId::int64, "int64", 8, 8, 8, true, true, false, false},
      {TypeId::uint2, "uint2", 1, 1, 1, true, false, false, false},
      {TypeId::uint4, "uint4", 1, 1, 1, true, false, false, false},
      {TypeId::uint8, "uint8", 1, 1, 1, true, false, false, false},
      {TypeId::uint16, "uint16", 2, 2, 2, true, false, false, false},
      {TypeId::uint32, "uint32", 4, 4, 4, true, false, false, false},
      {TypeId::uint64, "uint64", 8, 8, 8, true, false, false, false},
      {TypeId::float16, "float16", 2, 2, 2, false, true, true, false},
      {TypeId::float32, "float32", 4, 4, 4, false, true, true, false},
      {TypeId::float64, "float64", 8, 8, 8, false, true, true, false},
      {TypeId::bfloat16, "bfloat16", 2, 2, 2, false, true, true, false},
      {TypeId::float4_e2m1fn, "float4_e2m1fn", 1, 1, 1, false, true, true, false},
      {TypeId::float8_e5m2, "float8_e5m2", 1, 1, 1, false, true, true, false},
      {TypeId::float8_e8m0fnu, "float8_e8m0fnu", 1, 1, 1, false, false, true, false},
      {TypeId::complex64, "complex64", 8, 4, 4, false, false, false, true},
      {TypeId::complex128, "complex128", 16, 8, 8, false, false, false, true},
  };
  for (const Case& c : cases) {
    DataType type(c.id, B);
    EXPECT_EQ(type.name(), c.name);
    EXPECT_EQ(type.id(), c.id) << c.name;
    EXPECT_EQ(type.item_size(), c.size) << c.name;
    EXPECT_EQ(type.swap_unit(), c.unit) << c.name;
    EXPECT_EQ(type.alignment(), c.align) << c.name;
    EXPECT_EQ(type.is_integer(), c.integer) << c.name;
    EXPECT_EQ(type.is_signed(), c.is_signed) << c.name;
    EXPECT_EQ(type.is_float(), c.floating) << c.name;
    EXPECT_EQ(type.is_complex(), c.complex) << c.name;
    EXPECT_EQ(type.is_real(), c.integer || c.floating) << c.name;
    EXPECT_FALSE(type.is_variable()) << c.name;
    EXPECT_EQ(type.byte_order(), c.unit > 1 ? B : ByteOrder::none) << c.name;
    EXPECT_EQ(type.with_byte_order(L).byte_order(), c.unit > 1 ? L : ByteOrder::none) << c.name;
    EXPECT_EQ(type, type.with_byte_order(L)) << c.name;
    EXPECT_EQ(type.leaves().size(), c.unit > 1 ? 1U : 0U) << c.name;
  }
}

TEST(DataType, VariableTypesAreStrings) {
  for (TypeId id : {TypeId::string, TypeId::bytes, TypeId::object}) {
    DataType type(id);
    EXPECT_TRUE(type.is_variable());
    EXPECT_EQ(type.item_size(), sizeof(std::string));
    EXPECT_EQ(type.alignment(), alignof(std::string));
    EXPECT_EQ(type.swap_unit(), 1U);
    EXPECT_THAT(type.leaves(), IsEmpty());
  }
}

TEST(DataType, ParametersAreChecked) {
  expect_error(ErrorCode::invalid_argument, "needs parameters", [] { return DataType(TypeId::raw); });
  expect_error(ErrorCode::invalid_argument, "needs parameters", [] { return DataType(TypeId::structured); });
  expect_error(ErrorCode::invalid_argument, "byte order",
               [] { return DataType(TypeId::int16, ByteOrder::none); });
  expect_error(ErrorCode::invalid_argument, "at least 1", [] { DataType::raw(0); });
  expect_error(ErrorCode::resource_limit, "2147483647", [] { DataType::raw(0x80000000U); });
  EXPECT_EQ(DataType::raw(0x7fffffff).item_size(), 0x7fffffffU);
  expect_error(ErrorCode::resource_limit, "2147483647", [] { DataType::fixed_utf32(0x20000000U); });
  expect_error(ErrorCode::resource_limit, "2147483647", [] { DataType::fixed_utf32(~std::size_t{0}); });
  expect_error(ErrorCode::invalid_argument, "byte order", [] { DataType::fixed_utf32(1, ByteOrder::none); });
  expect_error(ErrorCode::invalid_argument, "time unit", [] { DataType::datetime64("fortnight"); });
  expect_error(ErrorCode::invalid_argument, "scale", [] { DataType::datetime64("s", 0); });
  expect_error(ErrorCode::invalid_argument, "scale", [] { DataType::timedelta64("s", 0x80000000U); });
  expect_error(ErrorCode::invalid_argument, "byte order",
               [] { DataType::timedelta64("s", 1, ByteOrder::none); });
  expect_error(ErrorCode::invalid_argument, "little or big",
               [] { DataType().with_byte_order(ByteOrder::none); });
}

TEST(DataType, Times) {
  DataType type = DataType::datetime64("µs", 25, B);
  EXPECT_EQ(type.unit(), "us");
  EXPECT_EQ(type.unit_scale(), 25U);
  EXPECT_EQ(type.name(), "datetime64[25us]");
  EXPECT_EQ(type.swap_unit(), 8U);
  EXPECT_EQ(type.item_size(), 8U);
  EXPECT_EQ(DataType::timedelta64("μs").unit(), "us");  // the Greek letter
  EXPECT_NE(type, DataType::timedelta64("us", 25));
  EXPECT_NE(type, DataType::datetime64("us", 24));
  EXPECT_NE(type, DataType::datetime64("ms", 25));
  EXPECT_EQ(type, DataType::datetime64("us", 25));
  EXPECT_FALSE(type.is_real());
}

TEST(DataType, StructuredIsPackedInOrder) {
  DataType inner =
      DataType::structured({{"x", DataType(TypeId::int16, B), {}}, {"y", DataType(TypeId::uint8), {}}});
  DataType type = DataType::structured({{"a", DataType(TypeId::uint8), {}},
                                        {"b", DataType(TypeId::float32), {2, 3}},
                                        {"c", inner, {2}},
                                        {"", DataType::raw(3), {}},
                                        {"d", DataType(TypeId::complex128), {}},
                                        {"", DataType::raw(1), {}}});
  EXPECT_EQ(type.item_size(), 1U + 24 + 6 + 3 + 16 + 1);
  EXPECT_EQ(type.alignment(), 1U);
  EXPECT_EQ(type.byte_order(), ByteOrder::none);
  EXPECT_EQ(type.swap_unit(), 0U);
  EXPECT_THAT(leaves(type), ElementsAre(std::tuple(1U, 6U, 4U, L), std::tuple(25U, 1U, 2U, B),
                                        std::tuple(28U, 1U, 2U, B), std::tuple(34U, 2U, 8U, L)));
  EXPECT_EQ(type.fields()[2].offset, 25U);
  EXPECT_EQ(type.fields()[2].size(), 6U);
  EXPECT_EQ(
      type.name(),
      "struct{a: uint8, b: float32[2, 3], c: struct{x: int16, y: uint8}[2], : r24, d: complex128, : r8}");

  DataType big = type.with_byte_order(B);
  EXPECT_EQ(big, type);
  for (const DataType::Leaf& leaf : big.leaves()) EXPECT_EQ(leaf.order, B);
  EXPECT_EQ(leaves(type)[0], std::tuple(1U, 6U, 4U, L)) << "the original is untouched";
}

TEST(DataType, SwapUnitOfUniformStructs) {
  DataType two =
      DataType::structured({{"a", DataType(TypeId::uint16), {}}, {"b", DataType(TypeId::int16), {}}});
  EXPECT_EQ(two.swap_unit(), 2U);
  EXPECT_THAT(leaves(two), ElementsAre(std::tuple(0U, 2U, 2U, L)));
  DataType bytes =
      DataType::structured({{"a", DataType(TypeId::uint8), {}}, {"b", DataType::fixed_bytes(3), {}}});
  EXPECT_EQ(bytes.swap_unit(), 1U);
  DataType mixed =
      DataType::structured({{"a", DataType(TypeId::uint16), {}}, {"b", DataType(TypeId::int16, B), {}}});
  EXPECT_EQ(mixed.swap_unit(), 0U);
  DataType tail =
      DataType::structured({{"a", DataType(TypeId::uint16), {}}, {"b", DataType(TypeId::int8), {}}});
  EXPECT_EQ(tail.swap_unit(), 0U);
}

TEST(DataType, StructuredRefuses) {
  const DataType u1;
  expect_error(ErrorCode::invalid_argument, "without fields", [] { DataType::structured({}); });
  expect_error(ErrorCode::invalid_argument, "two fields are named \"a\"", [&] {
    DataType::structured({{"a", u1, {}}, {"a", u1, {}}});
  });
  expect_error(ErrorCode::invalid_argument, "no name", [&] { DataType::structured({{"", u1, {}}}); });
  expect_error(ErrorCode::invalid_argument, "holds nothing", [&] {
    DataType::structured({{"a", u1, {2, 0}}});
  });
  expect_error(ErrorCode::unsupported_data_type, "variable length", [] {
    DataType::structured({{"a", DataType(TypeId::string), {}}});
  });
  expect_error(ErrorCode::resource_limit, "2147483647", [&] {
    DataType::structured({{"a", u1, {0x80000000U}}});
  });
  expect_error(ErrorCode::resource_limit, "2147483647", [] {
    DataType::structured({{"a", DataType::raw(0x7fffffff), {}}, {"b", DataType::raw(0x7fffffff), {}}});
  });
  const std::uint64_t huge = std::uint64_t{1} << 40;
  EXPECT_THROW(DataType::structured({{"a", u1, {huge, huge}}}), Error);
  DataType record = DataType::structured({{"a", u1, {}}, {"b", DataType(TypeId::int16), {}}});
  expect_error(ErrorCode::resource_limit, "separately ordered", [&] {
    DataType::structured({{"r", record, {70000}}});
  });
  EXPECT_EQ(DataType::structured({{"r", record, {65536}}}).leaves().size(), 65536U);
  EXPECT_EQ(DataType::structured({{"r", DataType(TypeId::int16), {1000000000}}}).leaves().size(), 1U);
}

TEST(DataType, OptionalIsAByteAndTheValue) {
  const DataType type = DataType::optional(DataType(TypeId::float32, B));
  EXPECT_EQ(type.id(), TypeId::optional);
  EXPECT_EQ(type.item_size(), 5U);
  EXPECT_EQ(type.alignment(), 1U);
  EXPECT_EQ(type.swap_unit(), 0U);
  EXPECT_EQ(type.byte_order(), ByteOrder::none);
  EXPECT_FALSE(type.is_float());
  EXPECT_THAT(leaves(type), ElementsAre(std::tuple(1U, 1U, 4U, B)));
  EXPECT_THAT(leaves(type.with_byte_order(L)), ElementsAre(std::tuple(1U, 1U, 4U, L)));
  ASSERT_EQ(type.fields().size(), 2U);
  EXPECT_EQ(type.fields()[1].type, DataType(TypeId::float32));
  EXPECT_EQ(type.name(), "optional[float32]");
  EXPECT_EQ(type, DataType::optional(DataType(TypeId::float32)));
  EXPECT_NE(type, DataType::optional(DataType(TypeId::int32)));
  EXPECT_NE(type, DataType::optional(type));
  expect_error(ErrorCode::unsupported_data_type, "fixed size",
               [] { DataType::optional(DataType(TypeId::string)); });
  expect_error(ErrorCode::unsupported_data_type, "its fields cannot", [&] {
    DataType::structured({{"a", type, {}}});
  });
  expect_error(ErrorCode::resource_limit, "2147483647",
               [] { DataType::optional(DataType::raw(0x7fffffff)); });
  expect_error(ErrorCode::invalid_argument, "needs parameters", [] { return DataType(TypeId::optional); });
}

TEST(DataType, DepthIsBounded) {
  DataType type;
  for (int i = 0; i < 32; ++i) type = DataType::structured({{"a", type, {}}});
  expect_error(ErrorCode::resource_limit, "deeper", [&] { DataType::structured({{"a", type, {}}}); });
  expect_error(ErrorCode::resource_limit, "deeper", [&] { DataType::optional(type); });
}

TEST(DataType, EqualityIsLayoutAndMeaning) {
  EXPECT_NE(DataType(TypeId::int8), DataType(TypeId::uint8));
  EXPECT_NE(DataType::raw(3), DataType::fixed_bytes(3));
  EXPECT_NE(DataType::raw(3), DataType::raw(4));
  EXPECT_EQ(DataType::raw(3), DataType::raw(3, RawName::raw_bytes));
  EXPECT_EQ(DataType::fixed_utf32(2, L), DataType::fixed_utf32(2, B));
  const DataType u1;
  DataType a = DataType::structured({{"a", u1, {}}, {"b", u1, {}}});
  EXPECT_EQ(a, DataType::structured({{"a", u1, {}}, {"b", u1, {}}}));
  EXPECT_NE(a, DataType::structured({{"a", u1, {}}, {"c", u1, {}}}));
  EXPECT_NE(a, DataType::structured({{"a", u1, {2}}}));
  EXPECT_NE(a, DataType::structured({{"a", u1, {}}, {"b", DataType(TypeId::int8), {}}}));
  EXPECT_NE(DataType::structured({{"a", u1, {2}}}), DataType::structured({{"a", u1, {2, 1}}}));
}

TEST(DataType, OfCxxTypes) {
  EXPECT_EQ(data_type_of<bool>(), DataType(TypeId::boolean));
  EXPECT_EQ(data_type_of<std::byte>(), DataType::raw(1));
  EXPECT_EQ(data_type_of<std::int8_t>(), DataType(TypeId::int8));
  EXPECT_EQ(data_type_of<const std::int16_t>(), DataType(TypeId::int16));
  EXPECT_EQ(data_type_of<int>(), DataType(TypeId::int32));
  EXPECT_EQ(data_type_of<long long>(), DataType(TypeId::int64));
  EXPECT_EQ(data_type_of<std::uint8_t>(), DataType(TypeId::uint8));
  EXPECT_EQ(data_type_of<std::uint16_t>(), DataType(TypeId::uint16));
  EXPECT_EQ(data_type_of<std::uint32_t>(), DataType(TypeId::uint32));
  EXPECT_EQ(data_type_of<std::uint64_t>(), DataType(TypeId::uint64));
  EXPECT_EQ(data_type_of<float>(), DataType(TypeId::float32));
  EXPECT_EQ(data_type_of<double>(), DataType(TypeId::float64));
  EXPECT_EQ(data_type_of<std::complex<float>>(), DataType(TypeId::complex64));
  EXPECT_EQ(data_type_of<std::complex<double>>(), DataType(TypeId::complex128));
  EXPECT_EQ(data_type_of<std::string>(), DataType(TypeId::string));
}

}  // namespace
}  // namespace zarrive
