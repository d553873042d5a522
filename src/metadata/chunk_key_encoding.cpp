#include "zarrive/chunk_key_encoding.hpp"

#include <charconv>

#include "metadata/reading.hpp"

namespace zarrive {

namespace {

char separator_of(const Json& value, std::string_view member) {
  if (!value.is_string() || (value.as_string() != "." && value.as_string() != "/"))
    metadata::fail(member, value, "\".\" or \"/\"");
  return value.as_string()[0];
}

void append(std::string& key, std::uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  key.append(digits, end);
}

}  // namespace

ChunkKeyEncoding ChunkKeyEncoding::from_json(const Json& value,
                                             const std::function<void(const std::string&)>& warn) {
  constexpr std::string_view member = "chunk_key_encoding";
  metadata::Extension extension = metadata::extension_of(value, member, false, warn);
  ChunkKeyEncoding encoding;
  if (extension.name == "v2") encoding = {.kind = Kind::v2, .separator = '.'};
  else if (extension.name != "default")
    throw Error(ErrorCode::unsupported, "member \"chunk_key_encoding\": " + quoted(extension.name) +
                                            " is not supported; known are \"default\" and \"v2\"");
  if (const Json* separator = extension.configuration.find("separator")) {
    encoding.separator = separator_of(*separator, "chunk_key_encoding.configuration.separator");
  } else if (const Json* outside = extension.others.find("separator")) {
    encoding.separator = separator_of(*outside, "chunk_key_encoding.separator");
    if (warn) warn("member \"chunk_key_encoding\" has \"separator\" outside of \"configuration\"");
    extension.others.erase("separator");
  }
  metadata::warn_unknown(extension.configuration, {"separator"}, "chunk_key_encoding.configuration", warn);
  metadata::warn_unknown(extension.others, {}, member, warn);
  return encoding;
}

Json ChunkKeyEncoding::to_json() const {
  return JsonObject{{"name", kind == Kind::v2 ? "v2" : "default"},
                    {"configuration", JsonObject{{"separator", std::string(1, separator)}}}};
}

std::string ChunkKeyEncoding::key(std::span<const std::uint64_t> index) const {
  std::string key;
  key.reserve(2 + 4 * index.size());
  if (kind == Kind::default_) {
    key = "c";
    for (std::uint64_t i : index) {
      key += separator;
      append(key, i);
    }
    return key;
  }
  if (index.empty()) return "0";
  for (std::uint64_t i : index) {
    if (!key.empty()) key += separator;
    append(key, i);
  }
  return key;
}

std::optional<Index> ChunkKeyEncoding::parse(std::string_view key, std::size_t ndim) const {
  if (kind == Kind::default_) {
    if (!key.starts_with('c')) return std::nullopt;
    key.remove_prefix(1);
    if (ndim == 0) return key.empty() ? std::optional<Index>(Index{}) : std::nullopt;
    if (!key.starts_with(separator)) return std::nullopt;
    key.remove_prefix(1);
  } else if (ndim == 0) {
    return key == "0" ? std::optional<Index>(Index{}) : std::nullopt;
  }
  Index index;
  for (std::size_t i = 0; i < ndim; ++i) {
    if (i > 0) {
      if (!key.starts_with(separator)) return std::nullopt;
      key.remove_prefix(1);
    }
    if (key.empty() || (key[0] == '0' && key.size() > 1 && key[1] != separator)) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(key.data(), key.data() + key.size(), number);  // takes no sign and no space
    if (error != std::errc()) return std::nullopt;
    key.remove_prefix(static_cast<std::size_t>(end - key.data()));
    index.push_back(number);
  }
  if (!key.empty()) return std::nullopt;
  return index;
}

}  // namespace zarrive
