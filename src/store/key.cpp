#include "store/key.hpp"

#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "zarrive/store.hpp"

namespace zarrive {
namespace store {

std::string key_fault(std::string_view key) {
  if (key.empty()) return "it is empty";
  if (key.find('\0') != std::string_view::npos) return "it contains a NUL character";
  std::size_t start = 0;
  while (true) {
    const std::size_t end = std::min(key.find('/', start), key.size());
    const std::string_view part = key.substr(start, end - start);
    if (part.empty()) {
      return start == 0            ? "it starts with '/'"
             : start == key.size() ? "it ends with '/'"
                                   : "it has an empty part ('//')";
    }
    if (part == "." || part == "..") return "it has a part '" + std::string(part) + "'";
    if (end == key.size()) break;
    start = end + 1;
  }
  if (!is_utf8(key)) return "it is not UTF-8";
  return {};
}

std::string quoted(std::string_view key) {
  constexpr std::size_t kLongest = 200;
  static constexpr char kHex[] = "0123456789abcdef";
  const bool plain_utf8 = is_utf8(key);
  auto escape = [&](std::string_view part, std::string& out) {
    for (const char ch : part) {
      const auto c = static_cast<unsigned char>(ch);
      if (c < 0x20 || c == 0x7f || (c >= 0x80 && !plain_utf8)) {
        out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
      } else {
        out += ch;
      }
    }
  };
  std::string out = "'";
  if (key.size() <= kLongest) {
    escape(key, out);
  } else {
    // Cut at character boundaries: continuation bytes are 10xxxxxx.
    auto boundary = [&](std::size_t at) {
      while (at > 0 && (static_cast<unsigned char>(key[at]) & 0xc0) == 0x80) --at;
      return at;
    };
    escape(key.substr(0, boundary(kLongest / 2)), out);
    out += "...";
    escape(key.substr(boundary(key.size() - kLongest / 4)), out);
    out += "' (" + std::to_string(key.size()) + " bytes)";
    return out;
  }
  return out + "'";
}

std::string with_slash(std::string_view prefix) {
  return prefix.empty() ? std::string() : std::string(prefix) + "/";
}

bool is_metadata_key(std::string_view key) {
  static constexpr std::array<std::string_view, 5> kDocuments = {"zarr.json", ".zarray", ".zgroup", ".zattrs",
                                                                 ".zmetadata"};
  const std::size_t slash = key.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  return std::find(kDocuments.begin(), kDocuments.end(), name) != kDocuments.end();
}

}  // namespace store

void check_key(std::string_view key) {
  const std::string fault = store::key_fault(key);
  if (!fault.empty())
    throw Error(ErrorCode::invalid_argument,
                store::quoted(key) + " is not a valid key: " + fault +
                    "; keys are UTF-8 parts joined by '/', none of them empty, '.' or '..'");
}

ByteRange::Resolved ByteRange::resolve(std::uint64_t size) const {
  switch (kind) {
    case Kind::whole: return {0, size};
    case Kind::suffix: {
      const std::uint64_t n = std::min(length, size);
      return {size - n, n};
    }
    case Kind::range:
    case Kind::from: break;
  }
  if (offset > size)
    throw Error(ErrorCode::out_of_bounds, "a byte range starts at " + std::to_string(offset) +
                                              ", past the end of a value of " + std::to_string(size) +
                                              " bytes");
  const std::uint64_t rest = size - offset;
  return {offset, kind == Kind::from ? rest : std::min(length, rest)};
}

}  // namespace zarrive
