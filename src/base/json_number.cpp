#include "base/json_number.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "zarrive/checked.hpp"

namespace zarrive::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits(std::string_view text, std::size_t at) {
  std::size_t n = 0;
  while (at + n < text.size() && is_digit(text[at + n])) ++n;
  return n;
}

// A number taken apart: the value is the digits of `whole` and `fraction` joined, times 10^(exponent - fraction.size()).
struct Parts {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;  // clamped far beyond what matters

  std::size_t count() const { return whole.size() + fraction.size(); }
  char digit(std::size_t i) const { return i < whole.size() ? whole[i] : fraction[i - whole.size()]; }
  // Power of ten that digit i counts.
  std::int64_t weight(std::size_t i) const {
    return static_cast<std::int64_t>(whole.size()) - 1 - static_cast<std::int64_t>(i) + exponent;
  }
};

Parts take_apart(std::string_view text) {
  Parts parts;
  std::size_t at = 0;
  if (text[at] == '-') parts.negative = true, ++at;
  parts.whole = text.substr(at, digits(text, at));
  at += parts.whole.size();
  if (at < text.size() && text[at] == '.') {
    parts.fraction = text.substr(at + 1, digits(text, at + 1));
    at += 1 + parts.fraction.size();
  }
  if (at < text.size()) {  // e or E
    ++at;
    const bool minus = text[at] == '-';
    if (minus || text[at] == '+') ++at;
    constexpr std::int64_t bound = std::int64_t{1} << 50;
    for (; at < text.size(); ++at)
      if (parts.exponent < bound) parts.exponent = parts.exponent * 10 + (text[at] - '0');
    if (minus) parts.exponent = -parts.exponent;
  }
  return parts;
}

}  // namespace

std::size_t number_length(std::string_view text) noexcept {
  std::size_t at = 0;
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else {
    const std::size_t n = digits(text, at);
    if (n == 0) return 0;
    at += n;
  }
  if (at < text.size() && text[at] == '.')
    if (const std::size_t n = digits(text, at + 1)) at += 1 + n;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t first = at + 1;
    if (first < text.size() && (text[first] == '+' || text[first] == '-')) ++first;
    if (const std::size_t n = digits(text, first)) at = first + n;
  }
  return at;
}

bool is_number_text(std::string_view text) noexcept {
  if (text.empty()) return false;
  return number_length(text) == text.size() || text == "NaN" || text == "Infinity" || text == "-Infinity";
}

std::optional<Magnitude> integer_of(std::string_view text, bool integral_floats) noexcept {
  if (text.empty() || !is_digit(text.back())) return std::nullopt;  // bare NaN and infinities
  if (!integral_floats && text.find_first_of(".eE") != std::string_view::npos) return std::nullopt;
  const Parts parts = take_apart(text);
  Magnitude result{parts.negative, 0};
  for (std::size_t i = 0; i < parts.count(); ++i) {
    const auto digit = static_cast<std::uint64_t>(parts.digit(i) - '0');
    if (parts.weight(i) < 0) {
      if (digit != 0) return std::nullopt;
      continue;
    }
    const auto shifted = checked_multiply(result.value, 10);
    const auto next = shifted ? checked_add(*shifted, digit) : std::nullopt;
    if (!next) return std::nullopt;
    result.value = *next;
  }
  if (result.value == 0) return result;
  for (std::int64_t zeros = parts.weight(parts.count() - 1); zeros > 0; --zeros) {
    const auto next = checked_multiply(result.value, 10);
    if (!next) return std::nullopt;
    result.value = *next;
  }
  return result;
}

double double_of(std::string_view text) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return infinity;
  if (text == "-Infinity") return -infinity;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return value;
  // Out of range: the weight of the first digit that counts tells which way.
  const Parts parts = take_apart(text);
  double magnitude = 0;
  for (std::size_t i = 0; i < parts.count(); ++i) {
    if (parts.digit(i) == '0') continue;
    if (parts.weight(i) > 0) magnitude = infinity;
    break;
  }
  return parts.negative ? -magnitude : magnitude;
}

std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));  // [-]d[.ddd]e[+-]xx
  std::string out;
  if (text.front() == '-') out += '-', text.remove_prefix(1);
  const std::size_t e = text.find('e');
  std::string significant(1, text[0]);
  if (e > 2) significant += text.substr(2, e - 2);
  int exponent = 0;
  const char* first = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(first, text.data() + text.size(), exponent);

  // Python's float_repr_style: plain between 1e-4 and 1e16, else d.ddde+XX with two exponent digits or more.
  const int n = static_cast<int>(significant.size());
  if (exponent < -4 || exponent >= 16) {
    out += significant[0];
    if (n > 1) out += "." + significant.substr(1);
    return out + std::string(text.substr(e));
  }
  if (exponent < 0)
    return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + significant;
  if (n <= exponent + 1)
    return out + significant + std::string(static_cast<std::size_t>(exponent + 1 - n), '0') + ".0";
  return out + significant.substr(0, static_cast<std::size_t>(exponent) + 1) + "." +
         significant.substr(static_cast<std::size_t>(exponent) + 1);
}

}  // namespace zarrive::detail
