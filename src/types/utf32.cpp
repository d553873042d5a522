#include "types/utf32.hpp"

namespace zarrive::types {
namespace {

bool is_scalar(std::uint32_t point) { return point < 0xd800 || (point > 0xdfff && point <= 0x10ffff); }

// The code point at `at`, which is moved past it; nullopt when the bytes are not UTF-8.
std::optional<std::uint32_t> next(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return text[at++];
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at <= static_cast<std::size_t>(more)) return std::nullopt;
  std::uint32_t point = lead & (0x3f >> more);
  for (int i = 1; i <= more; ++i) {
    const unsigned char c = byte(at + static_cast<std::size_t>(i));
    if ((c & 0xc0) != 0x80) return std::nullopt;
    point = point << 6 | (c & 0x3f);
  }
  static constexpr std::uint32_t kLowest[] = {0, 0x80, 0x800, 0x10000};
  if (point < kLowest[more] || !is_scalar(point)) return std::nullopt;
  at += static_cast<std::size_t>(more) + 1;
  return point;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> utf32_of(std::string_view text) {
  std::vector<std::uint32_t> points;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<std::uint32_t> point = next(text, at);
    if (!point) return std::nullopt;
    points.push_back(*point);
  }
  return points;
}

bool append_utf8(std::string& text, std::uint32_t point) {
  if (!is_scalar(point)) return false;
  if (point < 0x80) {
    text += static_cast<char>(point);
    return true;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLead[more] | point >> (6 * more));
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | (point >> (6 * i) & 0x3f));
  return true;
}

}  // namespace zarrive::types
