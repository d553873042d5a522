// Real numbers as kernels handle them: the bits of an element, and the widest number that holds it exactly. The same rules as
// codec/numbers.hpp, whose results the tests compare with; only the payload of a NaN may differ on a device.
#pragma once

#include <math.h>

#include "gpu/kernels/portable.hpp"

namespace zarrive::gpu::kernels {

enum class NumberType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64
};

enum class Carrier : std::uint8_t { int64, uint64, float64 };

struct Number {
  Carrier carrier;
  std::uint64_t u;  // of the integers; int64 in two's complement
  double f;         // of float64
};

ZARRIVE_KERNEL constexpr bool is_float(NumberType type) { return type >= NumberType::float16; }
ZARRIVE_KERNEL constexpr bool is_signed_integer(NumberType type) {
  return type >= NumberType::int8 && type <= NumberType::int64;
}
ZARRIVE_KERNEL constexpr unsigned size_of(NumberType type) {
  switch (type) {
    case NumberType::boolean:
    case NumberType::int8:
    case NumberType::uint8: return 1;
    case NumberType::int16:
    case NumberType::uint16:
    case NumberType::float16:
    case NumberType::bfloat16: return 2;
    case NumberType::int32:
    case NumberType::uint32:
    case NumberType::float32: return 4;
    default: return 8;
  }
}

// The low `bits` of a word, extended by their sign.
ZARRIVE_KERNEL inline std::uint64_t sign_extended(std::uint64_t word, unsigned bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const std::uint64_t low = word & (~std::uint64_t{0} >> (64 - bits));
  return (low ^ sign) - sign;
}

// 2^exponent, of normal doubles.
ZARRIVE_KERNEL inline double power_of_two(int exponent) {
  return same_bits<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Exponent of a finite number, but not below `least`.
ZARRIVE_KERNEL inline int exponent_of(double value, int least) {
  const int exponent = static_cast<int>(same_bits<std::uint64_t>(value) >> 52 & 0x7FF) - 1023;
  return exponent < least ? least : exponent;
}

ZARRIVE_KERNEL inline bool is_nan(double value) { return value != value; }
ZARRIVE_KERNEL inline bool is_finite(double value) {
  return (same_bits<std::uint64_t>(value) >> 52 & 0x7FF) != 0x7FF;
}
ZARRIVE_KERNEL inline bool is_negative(double value) { return same_bits<std::uint64_t>(value) >> 63 != 0; }

// Floats of 16 bits.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  std::uint16_t nan;  // what every NaN becomes
  ZARRIVE_KERNEL int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  ZARRIVE_KERNEL std::uint32_t infinity() const { return ((1U << exponent_bits) - 1) << mantissa_bits; }
};

ZARRIVE_KERNEL inline SmallFloat small_float(NumberType type) {
  return type == NumberType::float16 ? SmallFloat{5, 10, 0x7E00} : SmallFloat{8, 7, 0x7FC0};
}

ZARRIVE_KERNEL inline double from_small(SmallFloat format, std::uint32_t bits) {
  const std::uint64_t sign = std::uint64_t{bits >> 15 & 1} << 63;
  const std::uint32_t magnitude = bits & 0x7FFF;
  const std::uint64_t mantissa = magnitude & ((1U << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  if (magnitude > format.infinity()) return same_bits<double>(std::uint64_t{0x7FF8} << 48);
  if (magnitude == format.infinity()) return same_bits<double>(sign | std::uint64_t{0x7FF0} << 48);
  if (exponent == 0) {
    const double value =
        static_cast<double>(mantissa) * power_of_two(1 - format.bias() - format.mantissa_bits);
    return same_bits<double>(sign | same_bits<std::uint64_t>(value));
  }
  return same_bits<double>(sign | static_cast<std::uint64_t>(exponent - format.bias() + 1023) << 52 |
                           mantissa << (52 - format.mantissa_bits));
}

// Rounded to nearest, half to even.
ZARRIVE_KERNEL inline std::uint16_t to_small(SmallFloat format, double value) {
  if (is_nan(value)) return format.nan;
  const std::uint32_t sign = is_negative(value) ? 0x8000 : 0;
  std::uint64_t code = format.infinity();
  if (is_finite(value)) {
    const int lowest = 1 - format.bias();
    const int exponent = exponent_of(value, lowest);
    const double units = ::fabs(value) * power_of_two(format.mantissa_bits - exponent);  // exact
    const double floor = ::floor(units);
    const double rest = units - floor;
    auto whole = static_cast<std::uint64_t>(floor);
    if (rest > 0.5 || (rest == 0.5 && (whole & 1) != 0)) ++whole;
    code = (static_cast<std::uint64_t>(exponent - lowest) << format.mantissa_bits) + whole;
  }
  if (code > format.infinity()) code = format.infinity();
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(code));
}

ZARRIVE_KERNEL inline Number to_number(NumberType type, std::uint64_t bits) {
  switch (type) {
    case NumberType::boolean: return {Carrier::uint64, (bits & 0xFF) != 0 ? 1U : 0U, 0};
    case NumberType::int8: return {Carrier::int64, sign_extended(bits, 8), 0};
    case NumberType::int16: return {Carrier::int64, sign_extended(bits, 16), 0};
    case NumberType::int32: return {Carrier::int64, sign_extended(bits, 32), 0};
    case NumberType::int64: return {Carrier::int64, bits, 0};
    case NumberType::uint8: return {Carrier::uint64, bits & 0xFF, 0};
    case NumberType::uint16: return {Carrier::uint64, bits & 0xFFFF, 0};
    case NumberType::uint32: return {Carrier::uint64, bits & 0xFFFFFFFF, 0};
    case NumberType::uint64: return {Carrier::uint64, bits, 0};
    case NumberType::float16:
    case NumberType::bfloat16:
      return {Carrier::float64, 0, from_small(small_float(type), static_cast<std::uint32_t>(bits))};
    case NumberType::float32:
      return {Carrier::float64, 0, static_cast<double>(same_bits<float>(static_cast<std::uint32_t>(bits)))};
    default: return {Carrier::float64, 0, same_bits<double>(bits)};
  }
}

ZARRIVE_KERNEL inline double to_double(const Number& number) {
  switch (number.carrier) {
    case Carrier::int64: return static_cast<double>(static_cast<std::int64_t>(number.u));
    case Carrier::uint64: return static_cast<double>(number.u);
    default: return number.f;
  }
}

// The C cast as NumPy does it: integers wrap, floats are truncated and wrap (NaN and what is outside 64 bits become the lowest int64),
// bool is "not zero", floats round to nearest, half to even.
ZARRIVE_KERNEL inline std::uint64_t from_number(NumberType type, const Number& number) {
  const bool floating = number.carrier == Carrier::float64;
  switch (type) {
    case NumberType::boolean: return (floating ? number.f != 0 : number.u != 0) ? 1 : 0;
    case NumberType::float16:
    case NumberType::bfloat16: return to_small(small_float(type), to_double(number));
    case NumberType::float32: {
      float value = 0;
      if (floating) value = static_cast<float>(number.f);
      else if (number.carrier == Carrier::int64)
        value = static_cast<float>(static_cast<std::int64_t>(number.u));
      else value = static_cast<float>(number.u);
      return same_bits<std::uint32_t>(value);
    }
    case NumberType::float64: return same_bits<std::uint64_t>(to_double(number));
    default: break;
  }
  std::uint64_t whole = number.u;
  if (floating) {
    constexpr double two_63 = 9223372036854775808.0;
    if (type == NumberType::uint64 && number.f >= two_63 && number.f < 2 * two_63)
      whole = static_cast<std::uint64_t>(number.f);
    else if (number.f >= -two_63 && number.f < two_63)
      whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(number.f));
    else whole = std::uint64_t{1} << 63;
  }
  return whole & (~std::uint64_t{0} >> (64 - 8 * size_of(type)));
}

}  // namespace zarrive::gpu::kernels
