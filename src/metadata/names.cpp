// Node paths and names, and the text of documents.
#include "metadata/reading.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {

namespace {

[[noreturn]] void fail_name(std::string_view name, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "the node name " + quoted(name) + " " + why);
}

}  // namespace

std::string document_text(const Json& document, ZarrFormat format) {
  if (format == ZarrFormat::v2) return document.dump({.indent = 4, .sort_keys = true, .ensure_ascii = true});
  return document.dump({.indent = 2, .ensure_ascii = true});
}

std::string normalize_path(std::string_view path) {
  std::string normal;
  normal.reserve(path.size());
  while (!path.empty()) {
    const std::size_t end = path.find_first_of("/\\");
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
    if (segment.empty()) continue;
    if (segment == "." || segment == "..")
      throw Error(ErrorCode::invalid_argument,
                  "a node path must not have the segment \"" + std::string(segment) + "\"");
    if (segment.find('\0') != std::string_view::npos)
      throw Error(ErrorCode::invalid_argument,
                  "a node path must not have a NUL character, found one in " + quoted(segment));
    if (!normal.empty()) normal += '/';
    normal += segment;
  }
  return normal;
}

void check_node_name(std::string_view name, ZarrFormat format) {
  if (name.empty()) fail_name(name, "is empty");
  if (name.find_first_of("/\\") != std::string_view::npos)
    fail_name(name, "has a \"/\" or \"\\\", which separates names");
  if (name.find('\0') != std::string_view::npos) fail_name(name, "has a NUL character");
  if (format == ZarrFormat::v2) {
    if (name == "." || name == "..") fail_name(name, "is a relative path");
    if (name == ".zarray" || name == ".zgroup" || name == ".zattrs" || name == ".zmetadata")
      fail_name(name, "is that of a document");
    return;
  }
  if (name.find_first_not_of('.') == std::string_view::npos) fail_name(name, "has only periods");
  if (name.starts_with("__")) fail_name(name, "starts with \"__\", which is reserved");
  if (name == "zarr.json") fail_name(name, "is that of a document");
}

std::string join_key(std::string_view path, std::string_view key) {
  std::string joined;
  joined.reserve(path.size() + 1 + key.size());
  joined += path;
  if (!path.empty()) joined += '/';
  joined += key;
  return joined;
}

}  // namespace zarrive
