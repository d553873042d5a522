#include "metadata/reading.hpp"

#include <algorithm>

namespace zarrive::metadata {

namespace {

bool is_name(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return name.size() >= 2 && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
           return letter(c) || digit(c) || c == '-' || c == '_' || c == '.';
         });
}

bool must_understand_of(const JsonObject& members, std::string_view member) {
  const Json* value = members.find("must_understand");
  if (!value) return true;
  if (!value->is_bool()) fail(std::string(member) + ".must_understand", *value, "true or false");
  return value->as_bool();
}

}  // namespace

Warn warner(const MetadataOptions& options) {
  return [&options](const std::string& sentence) {
    if (options.strict) throw Error(ErrorCode::invalid_metadata, sentence + " (strict mode)");
    if (options.warn) options.warn(sentence);
  };
}

void fail(std::string_view member, const Json& found, std::string_view expected) {
  throw Error(ErrorCode::invalid_metadata, "member \"" + std::string(member) + "\": found " + shown(found) +
                                               ", expected " + std::string(expected));
}

void fail_missing(std::string_view document, std::string_view member, std::string_view expected) {
  throw Error(ErrorCode::invalid_metadata, "member \"" + std::string(member) + "\" is missing from " +
                                               std::string(document) + ", expected " + std::string(expected));
}

const JsonObject& members_of(const Json& value, std::string_view document) {
  if (!value.is_object())
    throw Error(ErrorCode::invalid_metadata,
                std::string(document) + ": found " + shown(value) + ", expected a JSON object");
  return value.as_object();
}

const Json& required(const JsonObject& members, std::string_view name, std::string_view document,
                     std::string_view expected) {
  const Json* value = members.find(name);
  if (!value) fail_missing(document, name, expected);
  return *value;
}

const std::string& text_of(const Json& value, std::string_view member, std::string_view expected) {
  if (!value.is_string()) fail(member, value, expected);
  return value.as_string();
}

std::uint64_t extent_of(const Json& value, std::string_view member, std::uint64_t minimum) {
  const auto extent = value.is_number() ? value.to_uint64() : std::nullopt;
  if (!extent || *extent < minimum || *extent > max_extent)
    fail(member, value, "an integer from " + std::to_string(minimum) + " to 2^63 - 1");
  return *extent;
}

Shape extents_of(const Json& value, std::string_view member, std::uint64_t minimum) {
  if (!value.is_array()) fail(member, value, "a list of integers, one a dimension");
  const JsonArray& items = value.as_array();
  if (items.size() > max_dimensions)
    throw Error(ErrorCode::resource_limit, "member \"" + std::string(member) + "\" has " +
                                               std::to_string(items.size()) + " dimensions, at most " +
                                               std::to_string(max_dimensions) + " are supported");
  Shape extents;
  extents.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    extents.push_back(extent_of(items[i], std::string(member) + "[" + std::to_string(i) + "]", minimum));
  return extents;
}

JsonObject attributes_of(const Json* value, std::string_view member, const Warn& warn) {
  if (!value) return {};
  if (value->is_null()) {
    if (warn) warn("member \"" + std::string(member) + "\" is null, which is taken as absent");
    return {};
  }
  if (!value->is_object()) fail(member, *value, "an object");
  return value->as_object();
}

Extension extension_of(const Json& value, std::string_view member, bool optional, const Warn& warn) {
  Extension extension;
  const std::string at(member);
  if (value.is_string()) {
    extension.name = value.as_string();
  } else if (value.is_object()) {
    const JsonObject& members = value.as_object();
    extension.name = text_of(required(members, "name", "\"" + at + "\"", "the name of the extension"),
                             at + ".name", "a name");
    if (const Json* configuration = members.find("configuration")) {
      if (!configuration->is_object()) fail(at + ".configuration", *configuration, "an object");
      extension.configuration = configuration->as_object();
    }
    extension.must_understand = must_understand_of(members, member);
    if (!extension.must_understand && !optional)
      throw Error(
          ErrorCode::invalid_metadata,
          "member \"" + at + "\": must_understand is false, but this member must always be understood");
    for (const auto& [name, other] : members)
      if (name != "name" && name != "configuration" && name != "must_understand")
        extension.others.set(name, other);
  } else {
    fail(member, value, "a name, or an object with \"name\" and \"configuration\"");
  }
  if (extension.name.empty() || std::any_of(extension.name.begin(), extension.name.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      }))
    throw Error(ErrorCode::invalid_metadata,
                "member \"" + at + "\": found the name " + quoted(extension.name) +
                    ", expected a name of lower-case letters, digits, \"-\", \"_\" and \".\"");
  if (warn && !is_name(extension.name) && extension.name.find("://") == std::string::npos)
    warn("member \"" + at + "\": the name " + quoted(extension.name) +
         " does not follow the rule for names (a lower-case letter, then lower-case letters, digits, \"-\", "
         "\"_\" and \".\")");
  return extension;
}

void warn_unknown(const JsonObject& members, std::initializer_list<std::string_view> known,
                  std::string_view member, const Warn& warn) {
  if (!warn) return;
  std::string names;
  std::size_t count = 0;
  for (const auto& [name, value] : members) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (++count <= 5) names += (names.empty() ? "" : ", ") + quoted(name);
  }
  if (count > 5) names += " and " + std::to_string(count - 5) + " more";
  if (count > 0)
    warn("member \"" + std::string(member) + "\" has unknown members, which are ignored: " + names);
}

const JsonObject& v3_members_of(const Json& document, std::string_view node_type) {
  const JsonObject& members = members_of(document, "zarr.json");
  const Json* format = members.find("zarr_format");
  const auto refuse_draft = [](const std::string& sign) {
    throw Error(ErrorCode::unsupported,
                "the document is of a draft of Zarr v3 from before version 3.0 (it has " + sign +
                    "), a different format that is not supported; write the data again as Zarr v3");
  };
  for (std::string_view sign : {"metadata_encoding", "chunk_memory_layout"})
    if (members.contains(sign)) refuse_draft(quoted(sign));
  if (format && format->is_string() && format->as_string().find("://") != std::string::npos)
    refuse_draft("zarr_format " + shown(*format));
  const Json& version = required(members, "zarr_format", "zarr.json", "3");
  if (version.to_uint64() != std::uint64_t{3}) fail("zarr_format", version, "3");
  const std::string expected = quoted(node_type);
  const Json& type = required(members, "node_type", "zarr.json", expected);
  if (!type.is_string() || type.as_string() != node_type) fail("node_type", type, expected);
  return members;
}

JsonObject extra_members_of(const JsonObject& members, std::initializer_list<std::string_view> known) {
  JsonObject extra;
  for (const auto& [name, value] : members) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (!value.is_object())
      throw Error(ErrorCode::invalid_metadata,
                  "unknown member " + quoted(name) + ": found " + shown(value) +
                      ", expected an object with \"must_understand\": false, or no such member");
    if (must_understand_of(value.as_object(), name))
      throw Error(ErrorCode::unsupported,
                  "unknown member " + quoted(name) +
                      " must be understood to read this node, and is not; members that may be ignored say "
                      "\"must_understand\": false");
    extra.set(name, value);
  }
  return extra;
}

}  // namespace zarrive::metadata
