// Json::dump: the layouts of Python's json.dumps, byte for byte.
#include <algorithm>

#include "zarrive/error.hpp"
#include "zarrive/json.hpp"

namespace zarrive {
namespace {

// One code point of valid UTF-8 at `at`, which is moved past it; Error when the bytes are not UTF-8.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const std::uint32_t first = byte(at);
  const unsigned length = first < 0x80                    ? 1
                          : first >= 0xc2 && first < 0xe0 ? 2
                          : (first & 0xf0) == 0xe0        ? 3
                          : first >= 0xf0 && first < 0xf5 ? 4
                                                          : 0;
  std::uint32_t point = length == 1   ? first
                        : length == 2 ? first & 0x1f
                        : length == 3 ? first & 0x0f
                                      : first & 0x07;
  bool valid = length != 0;
  for (unsigned i = 1; i < length; ++i) {
    valid = valid && (byte(at + i) & 0xc0) == 0x80;
    point = (point << 6) | (byte(at + i) & 0x3f);
  }
  if (length == 3) valid = valid && point >= 0x800 && (point < 0xd800 || point > 0xdfff);
  if (length == 4) valid = valid && point >= 0x10000 && point <= 0x10ffff;
  if (!valid)
    throw Error(ErrorCode::invalid_argument,
                "a string to be written as JSON is not UTF-8 at byte " + std::to_string(at));
  at += length;
  return point;
}

class Writer {
 public:
  explicit Writer(const JsonDumpOptions& options) : options_(options) {}
  std::string take() { return std::move(out_); }

  void value(const Json& json) {
    switch (json.type()) {
      case Json::Type::null: out_ += "null"; break;
      case Json::Type::boolean: out_ += json.as_bool() ? "true" : "false"; break;
      case Json::Type::number: out_ += json.number_text(); break;
      case Json::Type::string: string(json.as_string()); break;
      case Json::Type::array: array(json.as_array()); break;
      case Json::Type::object: object(json.as_object()); break;
    }
  }

 private:
  void array(const JsonArray& items) {
    if (items.empty()) return void(out_ += "[]");
    out_ += '[';
    ++depth_;
    bool first = true;
    for (const Json& item : items) {
      separate(first);
      value(item);
    }
    close(']');
  }

  void object(const JsonObject& members) {
    if (members.empty()) return void(out_ += "{}");
    out_ += '{';
    ++depth_;
    bool first = true;
    const auto write = [&](const JsonObject::Member& m) {
      separate(first);
      string(m.first);
      out_ += options_.spaces ? ": " : ":";
      value(m.second);
    };
    if (options_.sort_keys) {
      std::vector<const JsonObject::Member*> sorted;
      for (const auto& m : members) sorted.push_back(&m);
      // Byte order of UTF-8 is code point order, which is Python's.
      std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->first < b->first; });
      for (const auto* m : sorted) write(*m);
    } else {
      for (const auto& m : members) write(m);
    }
    close('}');
  }

  void separate(bool& first) {
    if (!first) out_ += options_.indent < 0 && options_.spaces ? ", " : ",";
    first = false;
    line();
  }

  void close(char bracket) {
    --depth_;
    line();
    out_ += bracket;
  }

  void line() {
    if (options_.indent < 0) return;
    out_ += '\n';
    out_.append(depth_ * static_cast<std::size_t>(options_.indent), ' ');
  }

  void string(std::string_view text) {
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t start = at;
      const std::uint32_t point = next_code_point(text, at);
      switch (point) {
        case '"': out_ += "\\\""; break;
        case '\\': out_ += "\\\\"; break;
        case '\n': out_ += "\\n"; break;
        case '\r': out_ += "\\r"; break;
        case '\t': out_ += "\\t"; break;
        case '\f': out_ += "\\f"; break;
        case '\b': out_ += "\\b"; break;
        default:
          if (point < 0x20 || (options_.ensure_ascii && point >= 0x7f)) {
            if (point > 0xffff) escape(0xd800 + ((point - 0x10000) >> 10));
            escape(point > 0xffff ? 0xdc00 + ((point - 0x10000) & 0x3ff) : point);
          } else {
            out_.append(text.substr(start, at - start));
          }
      }
    }
    out_ += '"';
  }

  void escape(std::uint32_t unit) {
    constexpr char hex[] = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out_ += hex[(unit >> shift) & 0xf];
  }

  const JsonDumpOptions& options_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string Json::dump(const JsonDumpOptions& options) const {
  Writer writer(options);
  writer.value(*this);
  return writer.take();
}

}  // namespace zarrive
