#include "codec/real_cast.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <utility>

namespace zarrive {
namespace {

// Whether a magnitude that lies between two neighbours goes to the upper one.
// `rest` compares what is above the lower neighbour with one half: -1, 0, 1; not zero above it at all.
bool rounds_up(Rounding rounding, bool negative, bool lower_is_odd, int rest) noexcept {
  switch (rounding) {
    case Rounding::nearest_even: return rest > 0 || (rest == 0 && lower_is_odd);
    case Rounding::nearest_away: return rest >= 0;
    case Rounding::towards_positive: return !negative;
    case Rounding::towards_negative: return negative;
    case Rounding::towards_zero: break;
  }
  return false;
}

int compare(double a, double b) noexcept { return a < b ? -1 : a > b ? 1 : 0; }

}  // namespace

double round_integral(double value, Rounding rounding) noexcept {
  const double magnitude = std::fabs(value);
  const double lower = std::floor(magnitude);
  double rounded = lower;
  if (magnitude != lower &&
      rounds_up(rounding, value < 0, std::fmod(lower, 2) != 0, compare(magnitude - lower, 0.5)))
    rounded = lower + 1;
  return std::copysign(rounded, value);
}

RealCast::RealCast(DataType target, Rounding rounding, OutOfRange out_of_range)
    : target_(std::move(target)), rounding_(rounding), out_of_range_(out_of_range) {
  if (target_.is_integer()) {
    switch (target_.id()) {
      case TypeId::int2:
      case TypeId::uint2: bits_ = 2; break;
      case TypeId::int4:
      case TypeId::uint4: bits_ = 4; break;
      default: bits_ = 8 * static_cast<unsigned>(target_.item_size());
    }
    greatest_ = ~std::uint64_t{0} >> (64 - bits_);
    if (target_.is_signed()) {
      greatest_ >>= 1;
      least_magnitude_ = greatest_ + 1;
    }
    return;
  }
  switch (target_.id()) {
    case TypeId::float64: precision_ = 53, least_exponent_ = -1022, greatest_float_ = DBL_MAX; break;
    case TypeId::float32: precision_ = 24, least_exponent_ = -126, greatest_float_ = FLT_MAX; break;
    case TypeId::float16: precision_ = 11, least_exponent_ = -14, greatest_float_ = 65504; break;
    case TypeId::bfloat16:
      precision_ = 8, least_exponent_ = -126, greatest_float_ = to_double(TypeId::bfloat16, 0x7F7F);
      break;
    default: break;
  }
  has_infinity_ = has_nan_ = precision_ != 0;
  if (precision_ != 0) return;
  unsigned width = 8;
  if (target_.id() == TypeId::float4_e2m1fn) width = 4;
  if (target_.id() == TypeId::float6_e2m3fn || target_.id() == TypeId::float6_e3m2fn) width = 6;
  for (unsigned bits = 0; bits < (1U << width); ++bits) {
    const double value = to_double(target_.id(), static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) has_nan_ = true;
    else if (std::isinf(value)) has_infinity_ = true;
    else if (!(value == 0 && std::signbit(value)))
      listed_.push_back({value, static_cast<std::uint8_t>(bits)});  // -0 equals 0 here
  }
  std::sort(listed_.begin(), listed_.end(),
            [](const Listed& a, const Listed& b) { return a.value < b.value; });
}

std::uint64_t RealCast::bits_of(double exact) const {
  if (target_.id() == TypeId::float64) return std::bit_cast<std::uint64_t>(exact);
  if (target_.id() == TypeId::float32) return std::bit_cast<std::uint32_t>(static_cast<float>(exact));
  return zarrive::from_double(target_.id(), exact);
}

std::optional<std::uint64_t> RealCast::from_double(double value) const {
  if (!target_.is_integer()) return to_float(value);
  if (!std::isfinite(value)) return std::nullopt;
  const double whole = round_integral(value, rounding_);
  const double magnitude = std::fabs(whole);
  constexpr double kTwo64 = 18446744073709551616.0;
  const std::uint64_t low = static_cast<std::uint64_t>(std::fmod(magnitude, kTwo64));  // modulo 2^64, exact
  const bool negative = whole < 0;
  return to_integer(negative, low, magnitude >= kTwo64);
}

// `magnitude` modulo 2^64; `beyond`: it was greater.
std::optional<std::uint64_t> RealCast::to_integer(bool negative, std::uint64_t magnitude, bool beyond) const {
  std::uint64_t value = negative ? 0 - magnitude : magnitude;
  if (beyond || magnitude > (negative ? least_magnitude_ : greatest_)) {
    if (out_of_range_ == OutOfRange::error) return std::nullopt;
    if (out_of_range_ == OutOfRange::clamp) value = negative ? 0 - least_magnitude_ : greatest_;
  }
  if (bits_ < 64) {  // its low bits, extended to the whole element
    const std::uint64_t low = value & (~std::uint64_t{0} >> (64 - bits_));
    const std::uint64_t sign = target_.is_signed() ? std::uint64_t{1} << (bits_ - 1) : 0;
    value = (low ^ sign) - sign;
  }
  return value;
}

std::optional<std::uint64_t> RealCast::from_integer(bool negative, std::uint64_t magnitude) const {
  if (target_.is_integer()) return to_integer(negative, magnitude, false);
  if (precision_ == 0) {
    // So small floats end far below 2^53, where double is exact; above it any value is as good for the
    // rounding that matters.
    return to_listed_float(negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude));
  }
  const int drop = std::bit_width(magnitude) - precision_;
  double value = static_cast<double>(magnitude);
  if (drop > 0) {
    std::uint64_t kept = magnitude >> drop;
    const std::uint64_t rest = magnitude & ((std::uint64_t{1} << drop) - 1);
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    if (rest != 0 && rounds_up(rounding_, negative, kept & 1U, rest < half ? -1 : rest > half ? 1 : 0))
      ++kept;
    value = std::ldexp(static_cast<double>(kept), drop);
  }
  if (value > greatest_float_) return too_large(negative);
  return bits_of(negative ? -value : value);
}

std::optional<std::uint64_t> RealCast::too_large(bool negative) const {
  if (out_of_range_ != OutOfRange::clamp) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (has_infinity_) return bits_of(negative ? -kInfinity : kInfinity);
  return negative ? listed_.front().bits : listed_.back().bits;
}

std::optional<std::uint64_t> RealCast::to_float(double value) const {
  if (std::isnan(value)) {
    if (!has_nan_) return std::nullopt;
    return bits_of(value);
  }
  if (std::isinf(value)) {
    if (!has_infinity_) return std::nullopt;
    return bits_of(value);
  }
  if (precision_ == 0) return to_listed_float(value);
  if (precision_ == 53 || value == 0) return bits_of(value);
  const int exponent = std::max(std::ilogb(value), least_exponent_);
  const int unit = exponent - (precision_ - 1);  // 2^unit: the distance of neighbours here
  const double rounded = std::ldexp(round_integral(std::ldexp(value, -unit), rounding_), unit);
  if (std::fabs(rounded) > greatest_float_) return too_large(value < 0);
  return bits_of(rounded);
}

std::optional<std::uint64_t> RealCast::to_listed_float(double value) const {
  if (value == 0) {
    const std::uint16_t negative_zero = zarrive::from_double(target_.id(), -0.0);
    const bool keeps_sign = to_double(target_.id(), negative_zero) == 0;
    if (std::signbit(value) && keeps_sign) return negative_zero;
  }
  const auto above = std::lower_bound(listed_.begin(), listed_.end(), value,
                                      [](const Listed& entry, double v) { return entry.value < v; });
  if (above != listed_.end() && above->value == value) return above->bits;
  const bool negative = value < 0;
  if (above != listed_.begin() && above != listed_.end()) {
    // Between two neighbours; the lower one in magnitude is the one nearer to zero.
    const Listed& high = *above;
    const Listed& low = *(above - 1);
    const Listed& inner = negative ? high : low;
    const Listed& outer = negative ? low : high;
    const double middle = (low.value + high.value) / 2;
    const bool up =
        rounds_up(rounding_, negative, inner.bits & 1U, compare(std::fabs(value), std::fabs(middle)));
    const Listed& chosen = up ? outer : inner;
    if (chosen.value == 0 && negative) return zarrive::from_double(target_.id(), -0.0);
    return chosen.bits;
  }
  if (above == listed_.begin() && listed_.front().value >= 0) {  // no negative numbers, no zero
    if (out_of_range_ == OutOfRange::clamp) return listed_.front().bits;
    return std::nullopt;
  }
  // Beyond the greatest: it is reached when rounding comes back from where the next value would be.
  const Listed& last = above == listed_.end() ? listed_.back() : listed_.front();
  const Listed& before = above == listed_.end() ? listed_[listed_.size() - 2] : listed_[1];
  const double step = target_.id() == TypeId::float8_e8m0fnu ? last.value : last.value - before.value;
  const double next = last.value + step;
  if (std::fabs(value) < std::fabs(next) &&
      !rounds_up(rounding_, negative, last.bits & 1U,
                 compare(std::fabs(value), std::fabs(last.value + step / 2))))
    return last.bits;
  return too_large(negative);
}

}  // namespace zarrive
