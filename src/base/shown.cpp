#include "base/shown.hpp"

namespace zarrive {
namespace {

constexpr std::size_t kShownLength = 60;

// Cuts at a character, not within one.
void cut(std::string& text, std::size_t length) {
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  text.resize(length);
}

void show(const Json& value, std::string& out) {
  if (out.size() > kShownLength) return;
  switch (value.type()) {
    case Json::Type::array: {
      out += '[';
      const char* separator = "";
      for (const Json& item : value.as_array()) {
        out += separator;
        separator = ", ";
        show(item, out);
        if (out.size() > kShownLength) return;
      }
      out += ']';
      return;
    }
    case Json::Type::object: {
      out += '{';
      const char* separator = "";
      for (const auto& [name, item] : value.as_object()) {
        out += separator;
        separator = ", ";
        out += quoted(name) + ": ";
        show(item, out);
        if (out.size() > kShownLength) return;
      }
      out += '}';
      return;
    }
    case Json::Type::string: out += quoted(value.as_string()); return;
    case Json::Type::number:
      out += value.number_text().substr(0, kShownLength);
      if (value.number_text().size() > kShownLength) out += "...";
      return;
    default: out += value.dump(); return;
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string part(text.substr(0, kShownLength + 1));
  if (part.size() > kShownLength) {
    cut(part, kShownLength);
    return Json(std::move(part)).dump() + "...";
  }
  return Json(std::move(part)).dump();
}

std::string shown(const Json& value) {
  std::string out;
  show(value, out);
  if (out.size() > kShownLength + 20) {
    cut(out, kShownLength + 16);
    out += "...";
  } else if (out.size() > kShownLength && (value.is_array() || value.is_object()) && out.back() != ']' &&
             out.back() != '}') {
    out += " ...";
  }
  return out;
}

std::string shown(std::string_view text) {
  std::string part(text.substr(0, kShownLength + 1));
  const bool whole = part.size() <= kShownLength;
  if (!whole) cut(part, kShownLength);
  for (char& c : part)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return whole ? part : part + "...";
}

}  // namespace zarrive
