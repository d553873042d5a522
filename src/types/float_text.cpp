// Decimal text to float with a single rounding.
//
// Rounding to double first and to the small type after would round twice. So the double is rounded to odd instead: when the text is
// not exactly a double, the last bit of the truncated one is set. It then stands for "a little more", and the second rounding sees
// ties only where the text has them (the double has more than two bits more than any of the types).
#include "types/float_text.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/json_number.hpp"
#include "types/small_floats.hpp"

namespace zarrive::types {
namespace {

// 0.d1d2d3... x 10^exponent, without leading and trailing zeros; no digits for zero.
struct Decimal {
  std::string digits;
  std::int64_t exponent = 0;
};

Decimal magnitude_of(std::string_view text) {
  Decimal result;
  std::int64_t whole = 0;
  bool fraction = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      fraction = true;
    } else if (text[at] != '-') {
      const bool leading = result.digits.empty() && text[at] == '0';
      if (!leading) result.digits += text[at];
      if (!fraction && !leading) ++whole;
      if (fraction && leading) --whole;
    }
  }
  while (!result.digits.empty() && result.digits.back() == '0') result.digits.pop_back();
  std::int64_t exponent = 0;
  bool negative = false;
  for (++at; at < text.size(); ++at) {
    if (text[at] == '-') negative = true;
    else if (text[at] != '+' && exponent < (std::int64_t{1} << 50))
      exponent = exponent * 10 + (text[at] - '0');
  }
  result.exponent = whole + (negative ? -exponent : exponent);
  return result;
}

// -1, 0, 1: whether the magnitude of `text` is below, equal to or above that of the finite `value`.
int compare_magnitude(std::string_view text, double value) {
  // 767 significant digits write any double exactly.
  char buffer[800];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::scientific, 766);
  const Decimal a = magnitude_of(text);
  const Decimal b = magnitude_of(std::string_view(buffer, static_cast<std::size_t>(end.ptr - buffer)));
  if (a.digits.empty() || b.digits.empty())
    return static_cast<int>(!a.digits.empty()) - static_cast<int>(!b.digits.empty());
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
  const int order = a.digits.compare(b.digits);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// `nearest` is the double nearest to the text.
double round_to_odd(std::string_view text, double nearest) {
  if (std::isinf(nearest)) return nearest;
  const int order = compare_magnitude(text, nearest);
  if (order == 0) return nearest;
  double truncated = std::fabs(nearest);
  if (order < 0) truncated = std::nextafter(truncated, 0.0);
  return std::copysign(std::bit_cast<double>(std::bit_cast<std::uint64_t>(truncated) | 1), nearest);
}

double double_at(TypeId id, std::uint64_t bits) {
  switch (id) {
    case TypeId::float64: return std::bit_cast<double>(bits);
    case TypeId::float32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default: return to_double(id, static_cast<std::uint16_t>(bits));
  }
}

}  // namespace

namespace {

// To any type but float64; nullopt when the type does not hold the value.
std::optional<std::uint64_t> narrow(TypeId id, double value) {
  if (std::isinf(value)) return std::nullopt;
  if (id == TypeId::float32) {
    // The tie between the largest float and the next power of two rounds away.
    if (std::fabs(value) >= 0x1.ffffffp127) return std::nullopt;
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (!fits(id, value)) return std::nullopt;
  return from_double(id, value);
}

}  // namespace

bool fits(TypeId id, double value) noexcept {
  const FloatFormat* f = float_format(id);
  if (std::isnan(value)) return f->has_nan();
  if (std::isinf(value)) return f->has_infinity();
  if (f->specials != Specials::finite) return std::isfinite(to_double(id, from_double(id, value)));
  // The largest pattern is odd, so the tie above it rounds away.
  const double largest = to_double(id, static_cast<std::uint16_t>(f->mask() >> 1));
  const double before = to_double(id, static_cast<std::uint16_t>((f->mask() >> 1) - 1));
  return std::fabs(value) < largest + (largest - before) / 2;
}

FloatBits float_bits(TypeId id) noexcept {
  if (id == TypeId::float64)
    return {8, ~std::uint64_t{0}, std::uint64_t{1} << 63, 0x7ff8000000000000, 0x7ff0000000000000};
  if (id == TypeId::float32) return {4, 0xffffffff, 0x80000000, 0x7fc00000, 0x7f800000};
  const FloatFormat* f = float_format(id);
  if (!f) return {};
  FloatBits result{f->bits() > 8 ? 2 : 1, f->mask(), 0};
  if (f->specials != Specials::exponent_only) result.sign = std::uint64_t{1} << (f->bits() - 1);
  if (f->has_nan()) result.nan = f->canonical_nan;
  if (f->has_infinity()) result.infinity = std::uint64_t((1U << f->exponent_bits) - 1) << f->mantissa_bits;
  return result;
}

bool is_nan(TypeId id, std::uint64_t bits) noexcept {
  const FloatBits f = float_bits(id);
  if (f.infinity) return (bits & f.mask & ~f.sign) > *f.infinity;
  return f.nan && (bits & f.mask) == *f.nan;
}

std::optional<std::uint64_t> float_from_decimal(TypeId id, std::string_view text) {
  if (id == TypeId::float64) {
    const double value = detail::double_of(text);
    if (std::isinf(value)) return std::nullopt;
    return std::bit_cast<std::uint64_t>(value);
  }
  // Most texts are far from a tie, so that the double and its neighbours agree; the exact comparison is slow.
  const double nearest = detail::double_of(text);
  const std::optional<std::uint64_t> bits = narrow(id, nearest);
  if (bits == narrow(id, std::nextafter(nearest, -HUGE_VAL)) &&
      bits == narrow(id, std::nextafter(nearest, HUGE_VAL)))
    return bits;
  return narrow(id, round_to_odd(text, nearest));
}

std::string float_to_decimal(TypeId id, std::uint64_t bits) {
  const double value = double_at(id, bits);
  if (id == TypeId::float64 || float_bits(id).bytes == 1) return detail::text_of(value);
  char buffer[64];
  if (id == TypeId::float32) {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value),
                                   std::chars_format::scientific);
    return detail::text_of(
        detail::double_of(std::string_view(buffer, static_cast<std::size_t>(end.ptr - buffer))));
  }
  // 16 bits: at most 5 digits tell the values apart.
  for (int digits = 0; digits < 17; ++digits) {
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, digits);
    const std::string_view text(buffer, static_cast<std::size_t>(end.ptr - buffer));
    if (float_from_decimal(id, text) == bits) return detail::text_of(detail::double_of(text));
  }
  return detail::text_of(value);
}

std::optional<std::uint64_t> float_from_hex(TypeId id, std::string_view text) {
  const FloatBits f = float_bits(id);
  if (!text.starts_with("0x") || text.size() != 2 + 2 * static_cast<std::size_t>(f.bytes))
    return std::nullopt;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (error != std::errc() || end != text.data() + text.size() || (bits & ~f.mask)) return std::nullopt;
  return bits;
}

std::string float_to_hex(TypeId id, std::uint64_t bits) {
  const int digits = 2 * float_bits(id).bytes;
  std::string text = "0x";
  for (int i = digits - 1; i >= 0; --i) text += "0123456789abcdef"[bits >> (4 * i) & 15];
  return text;
}

}  // namespace zarrive::types
