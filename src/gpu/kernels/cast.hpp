// Casts with a stated rounding and a stated rule for what is out of range: codec/real_cast.hpp for kernels, without the floats of fewer
// than 16 bits.
#pragma once

#include "gpu/kernels/numbers.hpp"
#include "gpu/kernels/rounding.hpp"

namespace zarrive::gpu::kernels {

struct Cast {
  NumberType target;
  Rounding rounding;
  OutOfRange out_of_range;

  // False when the target has no such value and none is to stand for it.
  ZARRIVE_KERNEL bool operator()(const Number& number, std::uint64_t& bits) const {
    switch (number.carrier) {
      case Carrier::int64: {
        const bool negative = number.u >> 63 != 0;
        return from_integer(negative, negative ? 0 - number.u : number.u, bits);
      }
      case Carrier::uint64: return from_integer(false, number.u, bits);
      default: return from_double(number.f, bits);
    }
  }

 private:
  // Whether a magnitude between two neighbours goes to the upper one. `rest` compares what is above the lower neighbour with one half.
  ZARRIVE_KERNEL bool rounds_up(bool negative, bool lower_is_odd, int rest) const {
    switch (rounding) {
      case Rounding::nearest_even: return rest > 0 || (rest == 0 && lower_is_odd);
      case Rounding::nearest_away: return rest >= 0;
      case Rounding::towards_positive: return !negative;
      case Rounding::towards_negative: return negative;
      default: return false;
    }
  }

  // The magnitude of the rounded value.
  ZARRIVE_KERNEL double rounded_magnitude(double value) const {
    const double magnitude = ::fabs(value);
    const double lower = ::floor(magnitude);
    if (magnitude == lower) return lower;
    const double rest = magnitude - lower;
    const bool odd = lower - 2 * ::floor(lower / 2) != 0;
    return rounds_up(value < 0, odd, rest < 0.5 ? -1 : rest > 0.5 ? 1 : 0) ? lower + 1 : lower;
  }

  ZARRIVE_KERNEL bool from_double(double value, std::uint64_t& bits) const {
    if (is_float(target)) return to_float(value, bits);
    if (!is_finite(value)) return false;
    constexpr double two_64 = 18446744073709551616.0;
    const double magnitude = rounded_magnitude(value);
    const bool beyond = magnitude >= two_64;
    const double low = beyond ? ::fmod(magnitude, two_64) : magnitude;
    return to_integer(value < 0 && magnitude != 0, static_cast<std::uint64_t>(low), beyond, bits);
  }

  ZARRIVE_KERNEL bool to_integer(bool negative, std::uint64_t magnitude, bool beyond,
                                 std::uint64_t& bits) const {
    const bool is_signed = is_signed_integer(target);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * size_of(target));
    const std::uint64_t greatest = is_signed ? all >> 1 : all;
    const std::uint64_t least_magnitude = is_signed ? greatest + 1 : 0;
    std::uint64_t value = negative ? 0 - magnitude : magnitude;
    if (beyond || magnitude > (negative ? least_magnitude : greatest)) {
      if (out_of_range == OutOfRange::error) return false;
      if (out_of_range == OutOfRange::clamp) value = negative ? 0 - least_magnitude : greatest;
    }
    bits = value & all;
    return true;
  }

  ZARRIVE_KERNEL int precision() const {
    switch (target) {
      case NumberType::float64: return 53;
      case NumberType::float32: return 24;
      case NumberType::float16: return 11;
      default: return 8;
    }
  }
  ZARRIVE_KERNEL double greatest_float() const {
    switch (target) {
      case NumberType::float64: return same_bits<double>(std::uint64_t{0x7FEFFFFFFFFFFFFF});
      case NumberType::float32: return static_cast<double>(same_bits<float>(std::uint32_t{0x7F7FFFFF}));
      case NumberType::float16: return 65504;
      default: return static_cast<double>(same_bits<float>(std::uint32_t{0x7F7F0000}));
    }
  }
  ZARRIVE_KERNEL std::uint64_t bits_of(double exact) const {
    return from_number(target, {Carrier::float64, 0, exact});
  }

  ZARRIVE_KERNEL bool too_large(bool negative, std::uint64_t& bits) const {
    if (out_of_range != OutOfRange::clamp) return false;
    const double infinity = same_bits<double>(std::uint64_t{0x7FF0000000000000});
    bits = bits_of(negative ? -infinity : infinity);
    return true;
  }

  ZARRIVE_KERNEL bool from_integer(bool negative, std::uint64_t magnitude, std::uint64_t& bits) const {
    if (!is_float(target)) return to_integer(negative, magnitude, false, bits);
    const int drop = bit_width(magnitude) - precision();
    double value = static_cast<double>(magnitude);
    if (drop > 0) {
      std::uint64_t kept = magnitude >> drop;
      const std::uint64_t rest = magnitude & ((std::uint64_t{1} << drop) - 1);
      const std::uint64_t half = std::uint64_t{1} << (drop - 1);
      if (rest != 0 && rounds_up(negative, (kept & 1) != 0, rest < half ? -1 : rest > half ? 1 : 0)) ++kept;
      value = static_cast<double>(kept) * power_of_two(drop);
    }
    if (value > greatest_float()) return too_large(negative, bits);
    bits = bits_of(negative ? -value : value);
    return true;
  }

  ZARRIVE_KERNEL bool to_float(double value, std::uint64_t& bits) const {
    if (!is_finite(value) || target == NumberType::float64 || value == 0) {
      bits = bits_of(value);
      return true;
    }
    const int least_exponent = target == NumberType::float16 ? -14 : -126;
    const int unit =
        exponent_of(value, least_exponent) - (precision() - 1);  // 2^unit: the distance of neighbours
    const double rounded = rounded_magnitude(value * power_of_two(-unit)) * power_of_two(unit);
    if (rounded > greatest_float()) return too_large(value < 0, bits);
    bits = bits_of(value < 0 ? -rounded : rounded);
    return true;
  }
};

}  // namespace zarrive::gpu::kernels
