#include "cli/element_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

#include "cli/elements.hpp"
#include "cli/text.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive::cli {

namespace {

constexpr int max_fraction = 8;

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

double load_real(TypeId id, const std::byte* element) {
  switch (id) {
    case TypeId::float32: return static_cast<double>(load<float>(element));
    case TypeId::float64: return load<double>(element);
    case TypeId::float16:
    case TypeId::bfloat16: return to_double(id, load<std::uint16_t>(element));
    default: return to_double(id, load<std::uint8_t>(element));
  }
}

// Digits after the point in the shortest scientific form that reads back as the same value of the type.
int shortest_precision(double value, TypeId type) {
  char text[64];
  if (type == TypeId::float64 || type == TypeId::float32) {
    const auto end = type == TypeId::float64
                         ? std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr
                         : std::to_chars(text, text + sizeof text, static_cast<float>(value),
                                         std::chars_format::scientific)
                               .ptr;
    const std::string_view digits(text, static_cast<std::size_t>(end - text));
    const std::size_t point = digits.find('.');
    return point == std::string_view::npos ? 0 : static_cast<int>(digits.find('e') - point) - 1;
  }
  for (int precision = 0; precision < 12; ++precision) {
    std::snprintf(text, sizeof text, "%.*e", precision, value);
    if (from_double(type, std::strtod(text, nullptr)) == from_double(type, value)) return precision;
  }
  return 12;
}

int decimal_exponent(double value, int precision) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", precision, value);
  return value == 0 ? 0 : std::atoi(std::strchr(text, 'e') + 1);
}

std::string fixed_text(double value, int precision) {
  const int fraction = std::clamp(precision - decimal_exponent(value, precision), 0, max_fraction);
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", fraction, value);
  std::string result = text;
  if (fraction == 0) return result + ".";
  while (result.back() == '0') result.pop_back();
  return result;
}

std::string special_text(double value) { return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"; }

bool needs_exponents(const std::vector<double>& values) {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  return largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
}

// Aligns at the point, and makes all the same width.
void align(std::vector<std::string>& texts) {
  std::size_t before = 0;
  std::size_t after = 0;
  const auto point = [](const std::string& text) { return std::min(text.find('.'), text.size()); };
  for (const std::string& text : texts) {
    if (text.find('.') == std::string::npos) continue;
    before = std::max(before, point(text));
    after = std::max(after, text.size() - point(text));
  }
  std::size_t width = before + after;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) {
    if (text.find('.') != std::string::npos)
      text = pad_right(text, text.size() + (after - (text.size() - point(text))));
    text = pad_left(text, width);
  }
}

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

std::string bytes_text(std::string_view bytes) {
  std::string result = "b'";
  for (const char c : bytes) {
    if (c == '\'' || c == '\\') result += '\\';
    result += printable(std::string_view(&c, 1));
  }
  return result + "'";
}

std::string hex_text(const std::byte* element, std::size_t size) {
  static constexpr const char* digits = "0123456789abcdef";
  std::string result = "0x";
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned>(element[i]);
    result += {digits[byte >> 4], digits[byte & 15]};
  }
  return result;
}

std::string complex_text(const DataType& type, const std::byte* element) {
  const TypeId part = type.id() == TypeId::complex64 ? TypeId::float32 : TypeId::float64;
  const double real = load_real(part, element);
  const double imaginary = load_real(part, element + type.item_size() / 2);
  std::string second = real_texts({imaginary}, part)[0];
  if (second[0] != '-') second = "+" + second;
  return real_texts({real}, part)[0] + second + "j";
}

std::string one_text(const DataType& type, const std::byte* element);

std::string struct_text(const DataType& type, const std::byte* element) {
  std::string result = "(";
  bool first = true;
  for (const StructField& field : type.fields()) {
    if (field.name.empty()) continue;  // padding
    if (!first) result += ", ";
    first = false;
    const std::uint64_t count = element_count(field.shape);
    if (!field.shape.empty()) result += "[";
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i) result += ", ";
      result += one_text(field.type, element + field.offset + i * field.type.item_size());
    }
    if (!field.shape.empty()) result += "]";
  }
  return result + ")";
}

std::string one_text(const DataType& type, const std::byte* element) {
  switch (type.id()) {
    case TypeId::boolean: return element[0] == std::byte{0} ? "False" : "True";
    case TypeId::complex64:
    case TypeId::complex128: return complex_text(type, element);
    case TypeId::raw: return hex_text(element, type.item_size());
    case TypeId::fixed_bytes: {
      std::string_view bytes(reinterpret_cast<const char*>(element), type.item_size());
      return bytes_text(bytes.substr(0, bytes.find_last_not_of('\0') + 1));
    }
    case TypeId::string: return quoted(*reinterpret_cast<const std::string*>(element));
    case TypeId::bytes: return bytes_text(*reinterpret_cast<const std::string*>(element));
    case TypeId::object: return printable(*reinterpret_cast<const std::string*>(element));
    case TypeId::datetime64:
      return quoted(datetime_text(load<std::int64_t>(element), type.unit(), type.unit_scale()));
    case TypeId::timedelta64: {
      const auto count = load<std::int64_t>(element);
      return count == std::numeric_limits<std::int64_t>::min() ? "'NaT'" : std::to_string(count);
    }
    case TypeId::structured: return struct_text(type, element);
    case TypeId::optional:
      return element[0] == std::byte{0} ? "None" : "[" + one_text(type.fields()[1].type, element + 1) + "]";
    default: break;
  }
  if (type.is_float()) return real_texts({load_real(type.id(), element)}, type.id())[0];
  const Json json = element_to_json(type, element);
  return json.is_string() ? quoted(json.as_string()) : json.dump();
}

// Days since 1970-01-01 to a date of the proleptic Gregorian calendar (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
void civil_from_days(std::int64_t days, std::int64_t& year, unsigned& month, unsigned& day) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted_month = (5 * day_of_year + 2) / 153;
  day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  year = static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

std::string date_text(std::int64_t days) {
  std::int64_t year = 0;
  unsigned month = 0;
  unsigned day = 0;
  civil_from_days(days, year, month, day);
  char text[64];
  std::snprintf(text, sizeof text, "%04lld-%02u-%02u", static_cast<long long>(year), month, day);
  return text;
}

struct TimeUnit {
  std::int64_t per_day;  // counts of the unit in a day
  int decimals;          // of a second; -2 hours, -1 minutes
};
const std::map<std::string, TimeUnit, std::less<>>& time_units() {
  static const std::map<std::string, TimeUnit, std::less<>> units = {{"h", {24, -2}},
                                                                     {"m", {1440, -1}},
                                                                     {"s", {86400, 0}},
                                                                     {"ms", {86'400'000, 3}},
                                                                     {"us", {86'400'000'000, 6}},
                                                                     {"ns", {86'400'000'000'000, 9}},
                                                                     {"ps", {86'400'000'000'000'000, 12}}};
  return units;
}

std::string clock_text(std::int64_t in_day, const TimeUnit& unit) {
  std::int64_t per_second = 1;
  for (int i = 0; i < unit.decimals; ++i) per_second *= 10;
  const std::int64_t seconds = unit.decimals >= 0 ? in_day / per_second : in_day * (86400 / unit.per_day);
  char text[64];
  if (unit.decimals == -2) std::snprintf(text, sizeof text, "T%02d", static_cast<int>(seconds / 3600));
  else if (unit.decimals == -1)
    std::snprintf(text, sizeof text, "T%02d:%02d", static_cast<int>(seconds / 3600),
                  static_cast<int>(seconds / 60 % 60));
  else
    std::snprintf(text, sizeof text, "T%02d:%02d:%02d", static_cast<int>(seconds / 3600),
                  static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
  std::string result = text;
  if (unit.decimals > 0) {
    const std::string digits = std::to_string(in_day % per_second);
    result += '.' + std::string(static_cast<std::size_t>(unit.decimals) - digits.size(), '0') + digits;
  }
  return result;
}

}  // namespace

std::string datetime_text(std::int64_t count, const std::string& unit, std::uint32_t scale) {
  if (count == std::numeric_limits<std::int64_t>::min()) return "NaT";
  std::int64_t units = 0;
  std::string plain =
      std::to_string(count) + " x " + std::to_string(scale) + " " + unit;  // beyond what we can say better
  if (__builtin_mul_overflow(count, static_cast<std::int64_t>(scale), &units)) return plain;
  if (const auto found = time_units().find(unit); found != time_units().end()) {
    const std::int64_t day = floor_divide(units, found->second.per_day);
    return date_text(day) + clock_text(units - day * found->second.per_day, found->second);
  }
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 400;
  if (units > far || units < -far) return plain;
  if (unit == "D") return date_text(units);
  if (unit == "W") return date_text(units * 7);
  char text[64];
  if (unit == "M") {
    const std::int64_t year = floor_divide(units, 12);
    std::snprintf(text, sizeof text, "%04lld-%02d", 1970 + static_cast<long long>(year),
                  static_cast<int>(units - year * 12 + 1));
    return text;
  }
  if (unit == "Y") {
    std::snprintf(text, sizeof text, "%04lld", 1970 + static_cast<long long>(units));
    return text;
  }
  return unit == "generic" ? std::to_string(count) : plain;
}

std::vector<std::string> real_texts(const std::vector<double>& values, TypeId type) {
  std::vector<std::string> texts;
  const bool exponents = needs_exponents(values);
  int precision = 0;
  if (exponents) {
    for (const double value : values) {
      if (std::isfinite(value))
        precision = std::max(precision, std::min(max_fraction, shortest_precision(value, type)));
    }
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      texts.push_back(special_text(value));
    } else if (exponents) {
      char text[64];
      std::snprintf(text, sizeof text, "%#.*e", precision, value);
      texts.emplace_back(text);
    } else {
      texts.push_back(fixed_text(value, shortest_precision(value, type)));
    }
  }
  align(texts);
  return texts;
}

std::vector<std::string> element_texts(const ArrayView& dense) {
  const DataType& type = dense.type;
  const auto count = static_cast<std::size_t>(dense.size());
  if (type.is_float()) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = load_real(type.id(), dense.data + i * type.item_size());
    return real_texts(values, type.id());
  }
  std::vector<std::string> texts(count);
  std::size_t width = 0;
  for (std::size_t i = 0; i < count; ++i) {
    texts[i] = one_text(type, dense.data + i * type.item_size());
    width = std::max(width, display_width(texts[i]));
  }
  if (type.is_integer() || type.is_complex() || type.id() == TypeId::boolean ||
      type.id() == TypeId::timedelta64) {
    for (std::string& text : texts) text = pad_left(std::move(text), width);
  }
  return texts;
}

}  // namespace zarrive::cli
