#include "cli/text.hpp"

#include <charconv>
#include <cstdio>

#include "cli/session.hpp"

namespace zarrive::cli {

namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
  if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
  return length;
}

bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7f;
  if (sequence.size() == 2) return first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0;  // C1
  // Line and paragraph separators, and the marks that turn the direction of text around.
  return sequence == "\u2028" || sequence == "\u2029" || (sequence >= "\u202a" && sequence <= "\u202e") ||
         (sequence >= "\u2066" && sequence <= "\u2069");
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, length ? length : 1);
    if (length && !is_control(sequence)) {
      result += sequence;
    } else if (sequence == "\n") {
      result += "\\n";
    } else {
      for (const char c : sequence) {
        char hex[8];
        std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        result += hex;
      }
    }
    text.remove_prefix(sequence.size());
  }
  return result;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string result = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) result += ", ";
    result += std::to_string(shape[i]);
  }
  return result + (shape.size() == 1 ? ",)" : ")");
}

std::string counted(std::uint64_t number, std::string_view one) {
  return grouped(number) + " " + std::string(one) + (number == 1 ? "" : "s");
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0u) != 0x80;
  return width;
}

std::string pad_left(std::string text, std::size_t width) {
  const std::size_t own = display_width(text);
  return own < width ? std::string(width - own, ' ') + text : text;
}

std::string info_line(const std::string& what, const std::string& value) {
  return pad_right(what, 12) + value + '\n';
}

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t own = display_width(text);
  if (own < width) text.append(width - own, ' ');
  return text;
}

Shape parse_shape(const std::string& text, const char* option) {
  std::string_view rest = text;
  const auto trim = [](std::string_view& s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  };
  trim(rest);
  if (rest.size() >= 2 &&
      ((rest.front() == '[' && rest.back() == ']') || (rest.front() == '(' && rest.back() == ')'))) {
    rest = rest.substr(1, rest.size() - 2);
    trim(rest);
  }
  Shape shape;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view word = rest.substr(0, comma);
    trim(word);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) {
      throw UsageError(std::string(option) + " takes lengths such as 10,20,30; found \"" + printable(text) +
                       "\"");
    }
    shape.push_back(number);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    trim(rest);
  }
  return shape;
}

}  // namespace zarrive::cli
