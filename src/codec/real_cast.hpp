// Casts of real numbers with a stated rounding and a stated rule for what is out of range. (zarr-extensions
// "cast_value".)
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gpu/kernels/rounding.hpp"
#include "zarrive/data_type.hpp"

namespace zarrive {

using gpu::kernels::OutOfRange;
using gpu::kernels::Rounding;

// Casts to one target type. Sources come as the widest type that holds them exactly (numbers.hpp). Results
// are the element's bits in the low bytes; nullopt: out of range, or NaN or infinity that the target cannot
// hold.
class RealCast {
 public:
  RealCast(DataType target, Rounding rounding, OutOfRange out_of_range);

  std::optional<std::uint64_t> from_double(double value) const;
  std::optional<std::uint64_t> from_int64(std::int64_t value) const {
    const auto bits = static_cast<std::uint64_t>(value);
    return from_integer(value < 0, value < 0 ? 0 - bits : bits);
  }
  std::optional<std::uint64_t> from_uint64(std::uint64_t value) const { return from_integer(false, value); }

 private:
  std::optional<std::uint64_t> from_integer(bool negative, std::uint64_t magnitude) const;
  std::optional<std::uint64_t> to_integer(bool negative, std::uint64_t magnitude, bool beyond) const;
  std::optional<std::uint64_t> to_float(double value) const;
  std::optional<std::uint64_t> to_listed_float(double value) const;
  std::optional<std::uint64_t> too_large(bool negative) const;
  std::uint64_t bits_of(double exact) const;

  DataType target_;
  Rounding rounding_;
  OutOfRange out_of_range_;
  // Integers: greatest magnitudes on both sides, and bits.
  std::uint64_t greatest_ = 0;
  std::uint64_t least_magnitude_ = 0;
  unsigned bits_ = 0;
  // Floats of 16 bits and more: bits of precision, least exponent, greatest finite value.
  int precision_ = 0;
  int least_exponent_ = 0;
  double greatest_float_ = 0;
  bool has_infinity_ = false;
  bool has_nan_ = false;
  // Smaller floats: every finite value, ascending.
  struct Listed {
    double value;
    std::uint8_t bits;
  };
  std::vector<Listed> listed_;
};

// `value` rounded to an integral value.
double round_integral(double value, Rounding rounding) noexcept;

}  // namespace zarrive
