#include "types/small_floats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "types/float_text.hpp"

namespace zarrive {
namespace {

using types::float_format;
using types::FloatFormat;
using types::Specials;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const TypeId kTypes[] = {TypeId::float16,       TypeId::bfloat16,           TypeId::float4_e2m1fn,
                         TypeId::float6_e2m3fn, TypeId::float6_e3m2fn,      TypeId::float8_e3m4,
                         TypeId::float8_e4m3,   TypeId::float8_e4m3b11fnuz, TypeId::float8_e4m3fnuz,
                         TypeId::float8_e5m2,   TypeId::float8_e5m2fnuz,    TypeId::float8_e8m0fnu};

std::string named(TypeId id, unsigned bits) { return DataType(id).name() + " 0x" + std::to_string(bits); }

TEST(SmallFloats, KnownValues) {
  struct Case {
    TypeId id;
    std::uint16_t bits;
    double value;
  };
  const Case cases[] = {
      {TypeId::float16, 0x3c00, 1.0},           {TypeId::float16, 0x7bff, 65504.0},
      {TypeId::float16, 0x0001, 0x1p-24},       {TypeId::float16, 0xc000, -2.0},
      {TypeId::float16, 0x7c00, kInf},          {TypeId::float16, 0xfc00, -kInf},
      {TypeId::bfloat16, 0x3f80, 1.0},          {TypeId::bfloat16, 0x7f7f, 0x1.fep127},
      {TypeId::bfloat16, 0x0001, 0x1p-133},     {TypeId::float8_e3m4, 0x30, 1.0},
      {TypeId::float8_e3m4, 0x6f, 15.5},        {TypeId::float8_e3m4, 0x70, kInf},
      {TypeId::float8_e4m3, 0x38, 1.0},         {TypeId::float8_e4m3, 0x77, 240.0},
      {TypeId::float8_e4m3, 0xf8, -kInf},       {TypeId::float8_e5m2, 0x3c, 1.0},
      {TypeId::float8_e5m2, 0x7b, 57344.0},     {TypeId::float8_e5m2, 0x01, 0x1p-16},
      {TypeId::float8_e4m3fnuz, 0x40, 1.0},     {TypeId::float8_e4m3fnuz, 0x7f, 240.0},
      {TypeId::float8_e4m3fnuz, 0x01, 0x1p-10}, {TypeId::float8_e4m3b11fnuz, 0x58, 1.0},
      {TypeId::float8_e4m3b11fnuz, 0x7f, 30.0}, {TypeId::float8_e4m3b11fnuz, 0xff, -30.0},
      {TypeId::float8_e5m2fnuz, 0x40, 1.0},     {TypeId::float8_e5m2fnuz, 0x7f, 57344.0},
      {TypeId::float8_e5m2fnuz, 0x01, 0x1p-17}, {TypeId::float8_e8m0fnu, 0x7f, 1.0},
      {TypeId::float8_e8m0fnu, 0xfe, 0x1p127},  {TypeId::float8_e8m0fnu, 0x00, 0x1p-127},
      {TypeId::float4_e2m1fn, 0x7, 6.0},        {TypeId::float4_e2m1fn, 0x1, 0.5},
      {TypeId::float4_e2m1fn, 0xf, -6.0},       {TypeId::float6_e2m3fn, 0x1f, 7.5},
      {TypeId::float6_e2m3fn, 0x01, 0.125},     {TypeId::float6_e2m3fn, 0x28, -1.0},
      {TypeId::float6_e3m2fn, 0x1f, 28.0},      {TypeId::float6_e3m2fn, 0x01, 0.0625},
      {TypeId::float6_e3m2fn, 0x0c, 1.0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(to_double(c.id, c.bits), c.value) << named(c.id, c.bits);
    EXPECT_EQ(from_double(c.id, c.value), c.bits) << named(c.id, c.bits);
  }
}

TEST(SmallFloats, EveryPatternComesBack) {
  for (TypeId id : kTypes) {
    const FloatFormat& f = *float_format(id);
    for (unsigned bits = 0; bits <= f.mask(); ++bits) {
      const double value = to_double(id, static_cast<std::uint16_t>(bits));
      EXPECT_EQ(std::isnan(value), types::is_nan(id, bits)) << named(id, bits);
      const std::uint16_t back = from_double(id, value);
      ASSERT_EQ(back, std::isnan(value) ? f.canonical_nan : bits) << named(id, bits);
      ASSERT_EQ(types::fits(id, value), true) << named(id, bits);
      // Text keeps every finite value too.
      if (std::isfinite(value)) {
        ASSERT_EQ(types::float_from_decimal(id, types::float_to_decimal(id, bits)), bits) << named(id, bits);
      }
      // Bits above the type's are ignored.
      if (f.bits() < 16) {
        const double high = to_double(id, static_cast<std::uint16_t>(bits | (0xffffU << f.bits())));
        EXPECT_EQ(std::memcmp(&high, &value, sizeof value), 0) << named(id, bits);
      }
    }
  }
}

// Between every two neighbours: the middle goes to the even pattern, a hair to either side to the nearer one.
TEST(SmallFloats, RoundsHalfToEvenEverywhere) {
  for (TypeId id : kTypes) {
    const FloatFormat& f = *float_format(id);
    std::map<double, unsigned> values;
    for (unsigned bits = 0; bits <= f.mask(); ++bits) {
      const double value = to_double(id, static_cast<std::uint16_t>(bits));
      if (std::isfinite(value) && !(value == 0 && std::signbit(value))) values[value] = bits;
    }
    for (auto low = values.begin(), high = std::next(low); high != values.end(); ++low, ++high) {
      const double middle = low->first + (high->first - low->first) / 2;
      const bool zero = low->second == 0 || high->second == 0;
      const unsigned low_bits = from_double(id, std::nextafter(middle, -kInf));
      const unsigned high_bits = from_double(id, std::nextafter(middle, kInf));
      if (!zero) {
        ASSERT_EQ(low_bits, low->second) << named(id, low->second);
        ASSERT_EQ(high_bits, high->second) << named(id, high->second);
      } else {  // may be -0
        ASSERT_EQ(to_double(id, static_cast<std::uint16_t>(low_bits)), low->first);
        ASSERT_EQ(to_double(id, static_cast<std::uint16_t>(high_bits)), high->first);
      }
      const unsigned even = (low->second & 1) ? high->second : low->second;
      ASSERT_EQ(to_double(id, from_double(id, middle)), to_double(id, static_cast<std::uint16_t>(even)))
          << named(id, low->second);
    }
  }
}

TEST(SmallFloats, BeyondTheRange) {
  EXPECT_EQ(from_double(TypeId::float16, 65519.99), 0x7bff);
  EXPECT_EQ(from_double(TypeId::float16, 65520), 0x7c00);
  EXPECT_EQ(from_double(TypeId::float16, -1e300), 0xfc00);
  EXPECT_EQ(from_double(TypeId::float16, 5e-324), 0x0000);
  EXPECT_EQ(from_double(TypeId::float16, -5e-324), 0x8000);
  EXPECT_EQ(from_double(TypeId::float16, kNaN), 0x7e00);
  EXPECT_EQ(from_double(TypeId::bfloat16, kNaN), 0x7fc0);
  EXPECT_EQ(from_double(TypeId::float8_e3m4, kNaN), 0x78);
  EXPECT_EQ(from_double(TypeId::float8_e4m3, kNaN), 0x7c);
  EXPECT_EQ(from_double(TypeId::float8_e5m2, kNaN), 0x7e);
  for (TypeId id : {TypeId::float8_e4m3fnuz, TypeId::float8_e4m3b11fnuz, TypeId::float8_e5m2fnuz}) {
    for (double value : {kNaN, kInf, -kInf, 1e300, -1e6}) EXPECT_EQ(from_double(id, value), 0x80);
    EXPECT_EQ(from_double(id, -0.0), 0x00) << "no negative zero";
    EXPECT_EQ(from_double(id, -1e-300), 0x00);
    EXPECT_FALSE(std::signbit(to_double(id, 0)));
    EXPECT_FALSE(types::fits(id, kInf));
    EXPECT_TRUE(types::fits(id, kNaN));
  }
  EXPECT_EQ(from_double(TypeId::float8_e8m0fnu, 0.0), 0xff);
  EXPECT_EQ(from_double(TypeId::float8_e8m0fnu, -1.0), 0xff);
  EXPECT_EQ(from_double(TypeId::float8_e8m0fnu, kInf), 0xff);
  EXPECT_EQ(from_double(TypeId::float8_e8m0fnu, kNaN), 0xff);
  EXPECT_EQ(from_double(TypeId::float8_e8m0fnu, 1e-300), 0x00);
  EXPECT_EQ(from_double(TypeId::float8_e8m0fnu, 0x1.7fp127), 0xfe);
  EXPECT_EQ(from_double(TypeId::float8_e8m0fnu, 0x1.8p127), 0xfe);  // 0xfe is even: the tie stays
  EXPECT_EQ(from_double(TypeId::float8_e8m0fnu, 0x1.81p127), 0xff);
  EXPECT_EQ(from_double(TypeId::float4_e2m1fn, 100), 0x7);
  EXPECT_EQ(from_double(TypeId::float4_e2m1fn, -kInf), 0xf);
  EXPECT_EQ(from_double(TypeId::float4_e2m1fn, kNaN), 0x0);
  EXPECT_TRUE(types::fits(TypeId::float4_e2m1fn, 6.99));
  EXPECT_FALSE(types::fits(TypeId::float4_e2m1fn, 7));
  EXPECT_FALSE(types::fits(TypeId::float4_e2m1fn, kNaN));
  EXPECT_FALSE(types::fits(TypeId::float4_e2m1fn, kInf));
}

TEST(SmallFloats, OtherTypesAreNotTaken) {
  EXPECT_EQ(float_format(TypeId::float32), nullptr);
  EXPECT_EQ(float_format(TypeId::int8), nullptr);
  EXPECT_TRUE(std::isnan(to_double(TypeId::float32, 0)));
  EXPECT_EQ(from_double(TypeId::int16, 3.0), 0);
  EXPECT_EQ(types::float_bits(TypeId::int16).bytes, 0);
}

TEST(FloatText, RoundsOnce) {
  using types::float_from_decimal;
  // The tie between 1 and the next float16, then a hair above and below it that a double cannot see.
  EXPECT_EQ(float_from_decimal(TypeId::float16, "1.00048828125"), 0x3c00U);
  EXPECT_EQ(float_from_decimal(TypeId::float16, "1.0004882812500000000000000000000000000001"), 0x3c01U);
  EXPECT_EQ(float_from_decimal(TypeId::float16, "1.00146484374999999999999999999999999999999"), 0x3c01U);
  EXPECT_EQ(float_from_decimal(TypeId::float16, "-1.00146484375"), 0xbc02U);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "1.000000059604644775390625"), 0x3f800000U);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "1.00000005960464477539062500000000000000000001"),
            0x3f800001U);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "10000000596046447753906250000000000000001E-40"),
            0x3f800001U);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "0.1"), 0x3dcccccdU);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "0.10000000149011612"), 0x3dcccccdU);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "1e-46"), 0U);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "-1e-400"), 0x80000000U);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "1.401298464324817e-45"), 1U);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "3.4028234663852886e+38"), 0x7f7fffffU);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "3.40282356e38"), 0x7f7fffffU);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "3.4028236e38"), std::nullopt);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "1e999999999999999999999"), std::nullopt);
  EXPECT_EQ(float_from_decimal(TypeId::float32, "1e-999999999999999999999"), 0U);
  EXPECT_EQ(float_from_decimal(TypeId::float64, "1.7976931348623157e308"), 0x7fefffffffffffffU);
  EXPECT_EQ(float_from_decimal(TypeId::float64, "1.8e308"), std::nullopt);
  EXPECT_EQ(float_from_decimal(TypeId::float64, "-0.0"), 0x8000000000000000U);
  EXPECT_EQ(float_from_decimal(TypeId::float16, "65520"), std::nullopt);
  EXPECT_EQ(float_from_decimal(TypeId::float16, "65519.999999999999999999999999999999"), 0x7bffU);
  EXPECT_EQ(float_from_decimal(TypeId::float8_e4m3fnuz, "-0.0"), 0x00U);
  EXPECT_EQ(float_from_decimal(TypeId::float8_e4m3fnuz, "250"), std::nullopt);
  EXPECT_EQ(float_from_decimal(TypeId::float8_e8m0fnu, "0"), std::nullopt);
  EXPECT_EQ(float_from_decimal(TypeId::float8_e8m0fnu, "-2"), std::nullopt);
  EXPECT_EQ(float_from_decimal(TypeId::float8_e8m0fnu, "0.004"), 0x77U);
  EXPECT_EQ(float_from_decimal(TypeId::float4_e2m1fn, "6.999999999999999999999999999999"), 0x7U);
  EXPECT_EQ(float_from_decimal(TypeId::float4_e2m1fn, "7.0"), std::nullopt);
  // Thousands of digits are no trouble.
  EXPECT_EQ(float_from_decimal(TypeId::float16, "1." + std::string(5000, '0') + "1"), 0x3c00U);
  EXPECT_EQ(float_from_decimal(TypeId::float16, "0." + std::string(5000, '0') + "1e5001"), 0x3c00U);
}

TEST(FloatText, WritesTheShortest) {
  using types::float_to_decimal;
  EXPECT_EQ(float_to_decimal(TypeId::float16, 0x2e66), "0.1");
  EXPECT_EQ(float_to_decimal(TypeId::float16, 0x7bff), "65500.0");
  EXPECT_EQ(float_to_decimal(TypeId::float16, 0x8000), "-0.0");
  EXPECT_EQ(float_to_decimal(TypeId::bfloat16, 0x3dcd), "0.1");
  EXPECT_EQ(float_to_decimal(TypeId::float32, 0x3dcccccd), "0.1");
  EXPECT_EQ(float_to_decimal(TypeId::float32, 0x7f7fffff), "3.4028235e+38");
  EXPECT_EQ(float_to_decimal(TypeId::float32, 0x80000000), "-0.0");
  EXPECT_EQ(float_to_decimal(TypeId::float32, 1), "1e-45");
  EXPECT_EQ(float_to_decimal(TypeId::float64, 0x3fb999999999999a), "0.1");
  EXPECT_EQ(float_to_decimal(TypeId::float8_e4m3, 0x77), "240.0");
  EXPECT_EQ(float_to_decimal(TypeId::float8_e5m2, 0x3d), "1.25");
  EXPECT_EQ(float_to_decimal(TypeId::float8_e8m0fnu, 0x83), "16.0");
}

TEST(FloatText, Hex) {
  using types::float_from_hex;
  EXPECT_EQ(float_from_hex(TypeId::float32, "0x7fc00000"), 0x7fc00000U);
  EXPECT_EQ(float_from_hex(TypeId::float32, "0x7FA00000"), 0x7fa00000U);
  EXPECT_EQ(float_from_hex(TypeId::float64, "0xffffffffffffffff"), ~std::uint64_t{0});
  EXPECT_EQ(float_from_hex(TypeId::float4_e2m1fn, "0x0f"), 0x0fU);
  for (const char* bad : {"", "0x", "0x7fc0000", "0x7fc000000", "7fc00000", "0X7fc00000", "0x7fc0000g",
                          "0x-fc00000", "0x 7c0000", "0x0x000000"})
    EXPECT_EQ(float_from_hex(TypeId::float32, bad), std::nullopt) << bad;
  EXPECT_EQ(float_from_hex(TypeId::float4_e2m1fn, "0x10"), std::nullopt) << "beyond the four bits";
  EXPECT_EQ(float_from_hex(TypeId::float6_e3m2fn, "0x40"), std::nullopt);
  EXPECT_EQ(types::float_to_hex(TypeId::float16, 0x7e01), "0x7e01");
  EXPECT_EQ(types::float_to_hex(TypeId::float8_e4m3, 0x0f), "0x0f");
}

}  // namespace
}  // namespace zarrive
