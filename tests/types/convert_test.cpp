#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>

#include "types/expect_error.hpp"
#include "zarrive/data_type.hpp"

namespace zarrive {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class To, class From>
To convert(const DataType& from, From value, const DataType& to) {
  To result{};
  convert_elements(from, reinterpret_cast<const std::byte*>(&value), sizeof value, to,
                   reinterpret_cast<std::byte*>(&result), sizeof result, 1);
  return result;
}

template <class To, class From>
To convert(From value) {
  return convert<To>(data_type_of<From>(), value, data_type_of<To>());
}

template <class To, class From>
void refuses(From value) {
  expect_error(ErrorCode::out_of_bounds, "cannot hold", [&] { convert<To>(value); });
}

TEST(Convert, IntegersInRange) {
  EXPECT_EQ((convert<std::int8_t>(std::int64_t{-128})), -128);
  EXPECT_EQ((convert<std::uint64_t>(std::int64_t{std::numeric_limits<std::int64_t>::max()})),
            0x7fffffffffffffffU);
  EXPECT_EQ((convert<std::int64_t>(std::uint64_t{5})), 5);
  EXPECT_EQ((convert<std::uint16_t>(std::uint8_t{255})), 255);
  refuses<std::int8_t>(std::int64_t{128});
  refuses<std::int8_t>(std::int16_t{-129});
  refuses<std::uint8_t>(-1);
  refuses<std::uint64_t>(std::int8_t{-1});
  refuses<std::int64_t>(std::uint64_t{1} << 63);
  refuses<std::uint32_t>(std::uint64_t{1} << 32);
}

TEST(Convert, FloatsToIntegersTruncate) {
  EXPECT_EQ(convert<int>(2.9), 2);
  EXPECT_EQ(convert<int>(-2.9f), -2);
  EXPECT_EQ(convert<std::uint8_t>(-0.99), 0);
  EXPECT_EQ(convert<std::uint8_t>(255.99), 255);
  EXPECT_EQ(convert<std::int8_t>(-128.99), -128);
  EXPECT_EQ(convert<long long>(-0x1p63), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert<std::uint64_t>(0x1.fffffffffffffp63), 0xfffffffffffff800U);
  refuses<std::uint8_t>(256.0);
  refuses<std::uint8_t>(-1.0);
  refuses<std::int8_t>(-129.0);
  refuses<std::int64_t>(0x1p63);
  refuses<std::uint64_t>(0x1p64);
  for (double value : {kNaN, kInf, -kInf, 1e300}) {
    refuses<int>(value);
    refuses<std::int64_t>(value);
    refuses<std::uint64_t>(value);
  }
}

TEST(Convert, ToFloatsRoundsOnce) {
  EXPECT_EQ(convert<float>(std::int64_t{16777217}), 16777216.0f);
  // Through a double this would be a tie and go to the even neighbour below.
  const std::int64_t hair = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_EQ(convert<float>(hair), 0x1.000002p60f);
  EXPECT_EQ(convert<double>(std::numeric_limits<std::uint64_t>::max()), 0x1p64);
  EXPECT_EQ(convert<float>(1e300), std::numeric_limits<float>::infinity());
  EXPECT_EQ(convert<float>(0.1), 0.1f);
  EXPECT_TRUE(std::isnan(convert<float>(kNaN)));
  const DataType bf(TypeId::bfloat16), half(TypeId::float16);
  const std::int64_t near_tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;  // bfloat16 has 8 bits
  EXPECT_EQ(convert<std::uint16_t>(data_type_of<std::int64_t>(), near_tie, bf), 0x5e81);
  EXPECT_EQ(convert<std::uint16_t>(data_type_of<std::int64_t>(), -near_tie, bf), 0xde81);
  EXPECT_EQ(convert<std::uint16_t>(data_type_of<std::int64_t>(), near_tie - 1, bf), 0x5e80);
  EXPECT_EQ(convert<std::uint16_t>(data_type_of<std::uint64_t>(), ~std::uint64_t{0}, bf), 0x5f80);
  EXPECT_EQ(convert<std::uint16_t>(data_type_of<double>(), 1e10, half), 0x7c00) << "overflow is infinity";
  EXPECT_EQ(convert<double>(half, std::uint16_t{0x3555}, data_type_of<double>()), 0.333251953125);
}

TEST(Convert, SmallFloatsWithoutInfinity) {
  const DataType e2m1(TypeId::float4_e2m1fn), fnuz(TypeId::float8_e4m3fnuz), e8m0(TypeId::float8_e8m0fnu);
  const DataType f64 = data_type_of<double>();
  EXPECT_EQ(convert<std::uint8_t>(f64, 6.5, e2m1), 0x7);
  EXPECT_EQ(convert<std::uint8_t>(f64, kNaN, fnuz), 0x80);
  EXPECT_EQ(convert<std::uint8_t>(f64, 4.0, e8m0), 0x81);
  EXPECT_EQ(convert<double>(e8m0, std::uint8_t{0x81}, f64), 4.0);
  for (double value : {7.0, kInf, kNaN, -1e9})
    EXPECT_THROW(convert<std::uint8_t>(f64, value, e2m1), Error) << value;
  for (double value : {1e9, kInf}) EXPECT_THROW(convert<std::uint8_t>(f64, value, fnuz), Error) << value;
  for (double value : {0.0, -1.0, kInf})
    EXPECT_THROW(convert<std::uint8_t>(f64, value, e8m0), Error) << value;
}

TEST(Convert, NarrowIntegers) {
  const DataType i4(TypeId::int4), u4(TypeId::uint4), i2(TypeId::int2), u2(TypeId::uint2),
      i64 = data_type_of<std::int64_t>();
  EXPECT_EQ(convert<std::int64_t>(i4, std::uint8_t{0x3b}, i64), -5) << "high bits ignored";
  EXPECT_EQ(convert<std::int64_t>(u4, std::uint8_t{0xfb}, i64), 11);
  EXPECT_EQ(convert<std::int64_t>(i2, std::uint8_t{2}, i64), -2);
  EXPECT_EQ(convert<std::int64_t>(u2, std::uint8_t{0xff}, i64), 3);
  EXPECT_EQ(convert<std::int8_t>(i64, std::int64_t{-8}, i4), -8);
  EXPECT_EQ(convert<std::int8_t>(data_type_of<double>(), -2.5, i2), -2);
  EXPECT_EQ(convert<std::uint8_t>(i64, std::int64_t{15}, u4), 15);
  EXPECT_EQ(convert<std::uint8_t>(i64, std::int64_t{3}, u2), 3);
  for (std::int64_t value : {-9, 8}) EXPECT_THROW(convert<std::int8_t>(i64, value, i4), Error);
  for (std::int64_t value : {-3, 2}) EXPECT_THROW(convert<std::int8_t>(i64, value, i2), Error);
  for (std::int64_t value : {-1, 16}) EXPECT_THROW(convert<std::int8_t>(i64, value, u4), Error);
  for (std::int64_t value : {-1, 4}) EXPECT_THROW(convert<std::int8_t>(i64, value, u2), Error);
}

TEST(Convert, Booleans) {
  EXPECT_TRUE(convert<bool>(0.5));
  EXPECT_FALSE(convert<bool>(-0.0));
  EXPECT_TRUE(convert<bool>(kNaN));
  EXPECT_TRUE(convert<bool>(std::uint64_t{1} << 63));
  EXPECT_FALSE(convert<bool>(0));
  EXPECT_TRUE(convert<bool>(std::complex<float>(0, 1)));
  EXPECT_FALSE(convert<bool>(std::complex<double>(0, 0)));
  EXPECT_EQ(convert<double>(data_type_of<bool>(), std::uint8_t{255}, data_type_of<double>()), 1.0)
      << "any non-zero byte is true";
}

TEST(Convert, Complex) {
  using C4 = std::complex<float>;
  using C8 = std::complex<double>;
  EXPECT_EQ(convert<C8>(C4(1, -2)), C8(1, -2));
  EXPECT_EQ(convert<C4>(C8(0.1, 1e300)), C4(0.1f, std::numeric_limits<float>::infinity()));
  EXPECT_EQ(convert<C8>(3), C8(3, 0));
  EXPECT_EQ(convert<C4>(std::uint64_t{7}), C4(7, 0));
  EXPECT_EQ(convert<C4>(0.5), C4(0.5f, 0));
  EXPECT_EQ(convert<double>(C8(2.5, 0)), 2.5);
  EXPECT_EQ(convert<int>(C8(2.5, -0.0)), 2);
  refuses<double>(C8(1, 1));
  refuses<float>(C4(1, std::numeric_limits<float>::quiet_NaN()));
  refuses<int>(C8(kNaN, 0));
  const DataType c16 = data_type_of<C8>();
  EXPECT_EQ(convert<C8>(c16, C8(1, 2), c16), C8(1, 2));
}

TEST(Convert, AgreesWithCxxOnRandomValues) {
  std::mt19937_64 random(1);
  std::vector<double> values(1000);
  for (double& v : values)
    v = std::ldexp(static_cast<double>(random()) / 0x1p64 - 0.5, static_cast<int>(random() % 60));
  std::vector<float> floats(values.size());
  std::vector<std::int64_t> longs(values.size());
  const auto* source = reinterpret_cast<const std::byte*>(values.data());
  convert_elements(data_type_of<double>(), source, 8, data_type_of<float>(),
                   reinterpret_cast<std::byte*>(floats.data()), 4, values.size());
  convert_elements(data_type_of<double>(), source, 8, data_type_of<std::int64_t>(),
                   reinterpret_cast<std::byte*>(longs.data()), 8, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(floats[i], static_cast<float>(values[i]));
    EXPECT_EQ(longs[i], static_cast<std::int64_t>(values[i]));
  }
}

TEST(Convert, StridesOfEverySign) {
  const std::int16_t source[] = {1, -1, 2, -2, 3, -3};
  std::byte destination[30] = {};  // unaligned doubles, backwards
  convert_elements(data_type_of<std::int16_t>(), reinterpret_cast<const std::byte*>(source), 4,
                   data_type_of<double>(), destination + 19, -9, 3);
  for (int i = 0; i < 3; ++i) {
    double value;
    std::memcpy(&value, destination + 19 - 9 * i, 8);
    EXPECT_EQ(value, i + 1);
  }
  std::int16_t same[3] = {};
  convert_elements(data_type_of<std::int16_t>(), reinterpret_cast<const std::byte*>(source + 5), -4,
                   data_type_of<std::int16_t>(), reinterpret_cast<std::byte*>(same), 2, 3);
  EXPECT_EQ(same[0], -3);
  EXPECT_EQ(same[2], -1);
  std::int32_t broadcast[4] = {};
  convert_elements(data_type_of<std::int16_t>(), reinterpret_cast<const std::byte*>(source + 4), 0,
                   data_type_of<std::int32_t>(), reinterpret_cast<std::byte*>(broadcast), 4, 4);
  for (std::int32_t v : broadcast) EXPECT_EQ(v, 3);
}

TEST(Convert, EqualTypesCopy) {
  const std::string source[] = {"a", std::string(100, 'b'), ""};
  std::string destination[3] = {"x", "y", "z"};
  const DataType string(TypeId::string);
  convert_elements(string, reinterpret_cast<const std::byte*>(source), sizeof(std::string), string,
                   reinterpret_cast<std::byte*>(destination), sizeof(std::string), 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(destination[i], source[i]);
  const DataType record = DataType::parse(R"([["a", "|u1"], ["b", ">i2"]])");
  const std::byte in[6] = {std::byte{1}, std::byte{2}, std::byte{3},
                           std::byte{4}, std::byte{5}, std::byte{6}};
  std::byte out[6] = {};
  convert_elements(record, in, 3, record.with_byte_order(ByteOrder::little), out, 3, 2);
  EXPECT_EQ(std::memcmp(in, out, 6), 0) << "memory is in this machine's order either way";
  convert_elements(record, nullptr, 3, record, nullptr, 3, 0);
}

TEST(Convert, TellsTheElement) {
  std::vector<double> values(1000, 1.0);
  values[700] = 300;
  std::vector<std::uint8_t> bytes(values.size());
  expect_error(ErrorCode::out_of_bounds, "element 700 is 300.0 of type float64, which uint8 cannot hold",
               [&] {
                 convert_elements(data_type_of<double>(), reinterpret_cast<const std::byte*>(values.data()),
                                  8, data_type_of<std::uint8_t>(), reinterpret_cast<std::byte*>(bytes.data()),
                                  1, values.size());
               });
  std::vector<std::complex<double>> complex(10, 1.0);
  complex[3] = 400;
  complex[5] = {0, 1};
  expect_error(ErrorCode::out_of_bounds, "element 3 is (400.0, 0.0)", [&] {
    convert_elements(data_type_of<std::complex<double>>(), reinterpret_cast<const std::byte*>(complex.data()),
                     16, data_type_of<std::uint8_t>(), reinterpret_cast<std::byte*>(bytes.data()), 1,
                     complex.size());
  });
  complex[3] = 4;
  expect_error(ErrorCode::out_of_bounds, "element 5 is (0.0, 1.0)", [&] {
    convert_elements(data_type_of<std::complex<double>>(), reinterpret_cast<const std::byte*>(complex.data()),
                     16, data_type_of<std::uint8_t>(), reinterpret_cast<std::byte*>(bytes.data()), 1,
                     complex.size());
  });
}

TEST(Convert, WhatConverts) {
  const DataType numbers[] = {DataType(TypeId::boolean),        DataType(TypeId::int2),
                              DataType(TypeId::uint64),         DataType(TypeId::float16),
                              DataType(TypeId::float8_e8m0fnu), DataType(TypeId::complex64)};
  const DataType others[] = {DataType(TypeId::string),  DataType(TypeId::bytes),
                             DataType::raw(4),          DataType::fixed_bytes(4),
                             DataType::datetime64("s"), DataType::structured({{"a", DataType(), {}}})};
  for (const DataType& a : numbers)
    for (const DataType& b : numbers) EXPECT_TRUE(can_convert(a, b));
  for (const DataType& a : others) {
    for (const DataType& b : others) EXPECT_EQ(can_convert(a, b), a == b) << a.name() << b.name();
    for (const DataType& b : numbers) EXPECT_FALSE(can_convert(a, b) || can_convert(b, a));
  }
  EXPECT_FALSE(can_convert(DataType::datetime64("s"), DataType::datetime64("ms")));
  expect_error(ErrorCode::unsupported, "string cannot be converted to uint8",
               [] { convert_elements(DataType(TypeId::string), nullptr, 0, DataType(), nullptr, 0, 0); });
}

}  // namespace
}  // namespace zarrive
