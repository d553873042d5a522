// The formats of floats of 16 bits and fewer.
#pragma once

#include <cstdint>

#include "zarrive/data_type.hpp"

namespace zarrive::types {

// Which bit patterns are not plain numbers.
enum class Specials : std::uint8_t {
  ieee,           // top exponent: infinity (mantissa 0) and NaN
  fnuz,           // no infinity, no -0; the pattern of -0 is the one NaN
  finite,         // none at all
  exponent_only,  // e8m0: no sign, no mantissa, no zero; all ones is NaN
};

// value = (-1)^sign * 2^(exponent - bias) * 1.mantissa; exponent 0 is subnormal (save exponent_only).
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
  std::uint16_t canonical_nan;  // 0 when there is none

  constexpr int bits() const noexcept {
    return exponent_bits + mantissa_bits + (specials == Specials::exponent_only ? 0 : 1);
  }
  constexpr std::uint16_t mask() const noexcept { return static_cast<std::uint16_t>((1U << bits()) - 1); }
  constexpr bool has_nan() const noexcept { return specials != Specials::finite; }
  constexpr bool has_infinity() const noexcept { return specials == Specials::ieee; }
};

// nullptr for anything but the types that to_double takes.
const FloatFormat* float_format(TypeId id) noexcept;

// Whether from_double (of a type that it takes) gives this value or one that it rounds to, rather than a stand-in: not so when a
// finite value overflows, for NaN or infinity where there is none, and for numbers <= 0 to exponent_only.
bool fits(TypeId id, double value) noexcept;

}  // namespace zarrive::types
