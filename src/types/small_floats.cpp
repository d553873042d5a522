// Small floats to and from double. Every one of them is exact as a double, so only from_double rounds.
#include "types/small_floats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zarrive {

namespace types {

const FloatFormat* float_format(TypeId id) noexcept {
  static constexpr FloatFormat kFloat16{5, 10, 15, Specials::ieee, 0x7e00};
  static constexpr FloatFormat kBfloat16{8, 7, 127, Specials::ieee, 0x7fc0};
  static constexpr FloatFormat kE3m4{3, 4, 3, Specials::ieee, 0x78};
  static constexpr FloatFormat kE4m3{4, 3, 7, Specials::ieee, 0x7c};
  static constexpr FloatFormat kE5m2{5, 2, 15, Specials::ieee, 0x7e};
  static constexpr FloatFormat kE4m3fnuz{4, 3, 8, Specials::fnuz, 0x80};
  static constexpr FloatFormat kE4m3b11fnuz{4, 3, 11, Specials::fnuz, 0x80};
  static constexpr FloatFormat kE5m2fnuz{5, 2, 16, Specials::fnuz, 0x80};
  static constexpr FloatFormat kE8m0fnu{8, 0, 127, Specials::exponent_only, 0xff};
  static constexpr FloatFormat kE2m1fn{2, 1, 1, Specials::finite, 0};
  static constexpr FloatFormat kE2m3fn{2, 3, 1, Specials::finite, 0};
  static constexpr FloatFormat kE3m2fn{3, 2, 3, Specials::finite, 0};
  switch (id) {
    case TypeId::float16: return &kFloat16;
    case TypeId::bfloat16: return &kBfloat16;
    case TypeId::float8_e3m4: return &kE3m4;
    case TypeId::float8_e4m3: return &kE4m3;
    case TypeId::float8_e5m2: return &kE5m2;
    case TypeId::float8_e4m3fnuz: return &kE4m3fnuz;
    case TypeId::float8_e4m3b11fnuz: return &kE4m3b11fnuz;
    case TypeId::float8_e5m2fnuz: return &kE5m2fnuz;
    case TypeId::float8_e8m0fnu: return &kE8m0fnu;
    case TypeId::float4_e2m1fn: return &kE2m1fn;
    case TypeId::float6_e2m3fn: return &kE2m3fn;
    case TypeId::float6_e3m2fn: return &kE3m2fn;
    default: return nullptr;
  }
}

namespace {

// Nearest integer, ties to even, whatever the rounding mode of the thread; q >= 0 and small.
std::int64_t round_half_even(double q) noexcept {
  const double floor = std::floor(q);
  const double rest = q - floor;
  const auto n = static_cast<std::int64_t>(floor);
  return rest > 0.5 || (rest == 0.5 && (n & 1)) ? n + 1 : n;
}

std::uint16_t exponent_only_bits(const FloatFormat& f, double value) noexcept {
  if (!(value > 0) || std::isinf(value)) return f.canonical_nan;
  int exponent = std::ilogb(value);
  if (exponent < -f.bias) return 0;
  const double significand = std::ldexp(value, -exponent);  // [1, 2)
  if (significand > 1.5 || (significand == 1.5 && ((exponent + f.bias) & 1))) ++exponent;
  const int code = exponent + f.bias;
  return code >= 0xff ? f.canonical_nan : static_cast<std::uint16_t>(code);
}

}  // namespace
}  // namespace types

using types::FloatFormat;
using types::Specials;

double to_double(TypeId small_float, std::uint16_t bits) noexcept {
  const FloatFormat* f = types::float_format(small_float);
  if (!f) return std::numeric_limits<double>::quiet_NaN();
  bits &= f->mask();
  const int exponent = (bits >> f->mantissa_bits) & ((1 << f->exponent_bits) - 1);
  const int mantissa = bits & ((1 << f->mantissa_bits) - 1);
  if (f->specials == Specials::exponent_only)
    return bits == f->canonical_nan ? std::numeric_limits<double>::quiet_NaN()
                                    : std::ldexp(1.0, exponent - f->bias);
  const double sign = (bits >> (f->bits() - 1)) & 1 ? -1.0 : 1.0;
  if (f->specials == Specials::fnuz && bits == f->canonical_nan)
    return std::numeric_limits<double>::quiet_NaN();
  if (f->specials == Specials::ieee && exponent == (1 << f->exponent_bits) - 1)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
  return sign * std::ldexp((1 << f->mantissa_bits) + mantissa, exponent - f->bias - f->mantissa_bits);
}

std::uint16_t from_double(TypeId small_float, double value) noexcept {
  const FloatFormat* f = types::float_format(small_float);
  if (!f) return 0;
  if (std::isnan(value)) return f->canonical_nan;
  if (f->specials == Specials::exponent_only) return types::exponent_only_bits(*f, value);

  const int sign_shift = f->bits() - 1;
  const std::int64_t top = std::int64_t{1} << sign_shift;  // one past the largest magnitude pattern
  const std::int64_t limit =
      f->specials == Specials::ieee ? ((std::int64_t{1} << f->exponent_bits) - 1) << f->mantissa_bits : top;
  std::int64_t code = limit;
  if (!std::isinf(value)) {
    const double magnitude = std::fabs(value);
    const int lowest = 1 - f->bias;
    const int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
    // In units of the last place: exact, since only the exponent changes. The implicit bit carries into the exponent field.
    const std::int64_t units = types::round_half_even(std::ldexp(magnitude, f->mantissa_bits - exponent));
    code = (std::int64_t{exponent - lowest} << f->mantissa_bits) + units;
  }
  if (code >= limit) {
    if (f->specials == Specials::fnuz) return f->canonical_nan;
    code = f->specials == Specials::ieee ? limit : top - 1;
  }
  const bool negative = std::signbit(value) && !(f->specials == Specials::fnuz && code == 0);
  return static_cast<std::uint16_t>(code | (negative ? top : 0));
}

}  // namespace zarrive
