// What the readers of all metadata documents share: messages, lenient cases, lists of lengths and extension objects.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/shown.hpp"
#include "zarrive/checked.hpp"
#include "zarrive/error.hpp"
#include "zarrive/json.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive::metadata {

using Warn = std::function<void(const std::string&)>;

// A function for the lenient cases: under `strict` it throws Error(invalid_metadata) with the sentence, else it hands the sentence on.
// Refers to `options`, which must outlive it.
Warn warner(const MetadataOptions& options);

// Throws Error(invalid_metadata): member "<member>": found <found>, expected <expected>.
[[noreturn]] void fail(std::string_view member, const Json& found, std::string_view expected);
[[noreturn]] void fail_missing(std::string_view document, std::string_view member, std::string_view expected);

// The members of a document that must be an object; `document` is its name for messages, e.g. ".zarray".
const JsonObject& members_of(const Json& value, std::string_view document);
const Json& required(const JsonObject& members, std::string_view name, std::string_view document,
                     std::string_view expected);
const std::string& text_of(const Json& value, std::string_view member, std::string_view expected);

// One length. Integers only: 3.0 is none.
std::uint64_t extent_of(const Json& value, std::string_view member, std::uint64_t minimum);
// A list of lengths, each from `minimum` to max_extent, at most max_dimensions of them.
Shape extents_of(const Json& value, std::string_view member, std::uint64_t minimum);

// User attributes: absent and (leniently) null are none.
JsonObject attributes_of(const Json* value, std::string_view member, const Warn& warn);

// An extension object of v3: "name", or {"name", "configuration"?, "must_understand"?}.
struct Extension {
  std::string name = {};
  JsonObject configuration = {};
  bool must_understand = true;
  JsonObject others = {};  // members that the specification does not know
};
// `optional`: whether must_understand may be false at this extension point.
Extension extension_of(const Json& value, std::string_view member, bool optional, const Warn& warn);

// Warns of members other than those known.
void warn_unknown(const JsonObject& members, std::initializer_list<std::string_view> known,
                  std::string_view member, const Warn& warn);

// Checks what array and group documents of v3 have in common: an object, not of a draft before 3.0, zarr_format 3, the node type.
const JsonObject& v3_members_of(const Json& document, std::string_view node_type);
// Members of a v3 document beyond those known: kept when they say that they may be ignored, else an error.
JsonObject extra_members_of(const JsonObject& members, std::initializer_list<std::string_view> known);

}  // namespace zarrive::metadata
