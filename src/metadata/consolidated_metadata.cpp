// Consolidated metadata: all documents below a group in one. Not in the specifications; as zarr-python reads and writes it.
#include <algorithm>
#include <tuple>

#include "metadata/reading.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {

namespace {

using namespace metadata;

using Nodes = std::map<std::string, NodeDocuments, std::less<>>;

// The path of an entry. A path that leaves the group is the document's fault.
std::string path_of(std::string_view path, std::string_view entry) {
  try {
    return normalize_path(path);
  } catch (const Error& error) {
    throw Error(ErrorCode::invalid_metadata,
                "consolidated metadata, entry " + quoted(entry) + ": " + error.message());
  }
}

[[noreturn]] void fail_twice(std::string_view entry) {
  throw Error(ErrorCode::invalid_metadata,
              "consolidated metadata has the entry " + quoted(entry) + " twice, in different spellings");
}

Json without(const Json& document, std::string_view member) {
  if (!document.find(member)) return document;
  JsonObject copy = document.as_object();
  copy.erase(member);
  return copy;
}

// Format 2 documents of v3 consolidated metadata hold their attributes within.
NodeDocuments v2_node_of(const Json& document) {
  const Json* attributes = document.find("attributes");
  return {.type = document.find("shape") ? NodeType::array : NodeType::group,
          .document = without(document, "attributes"),
          .attributes = attributes ? *attributes : Json()};
}

NodeDocuments node_of(const Json& document, const std::string& entry) {
  const JsonObject& members = members_of(document, entry);
  const Json& version = required(members, "zarr_format", entry, "3");
  if (version.to_uint64() == std::uint64_t{2}) return v2_node_of(document);
  if (version.to_uint64() != std::uint64_t{3}) fail(entry + ".zarr_format", version, "3");
  const Json& type = required(members, "node_type", entry, "\"array\" or \"group\"");
  if (!type.is_string() || (type.as_string() != "array" && type.as_string() != "group"))
    fail(entry + ".node_type", type, "\"array\" or \"group\"");
  return {.type = type.as_string() == "array" ? NodeType::array : NodeType::group, .document = document};
}

// Adds the nodes of one member "consolidated_metadata", which stands in the group at `prefix`. Entries of the outer group win.
void collect(const Json& member, const std::string& prefix, Nodes& nodes) {
  constexpr std::string_view name = "consolidated_metadata";
  const JsonObject& members = members_of(member, "member \"consolidated_metadata\"");
  const Json& kind = required(members, "kind", name, "\"inline\"");
  if (!kind.is_string() || kind.as_string() != "inline")
    fail("consolidated_metadata.kind", kind, "\"inline\"");
  if (const Json* must = members.find("must_understand"); must && !must->is_bool())
    fail("consolidated_metadata.must_understand", *must, "false");
  const Json& entries = required(members, "metadata", name, "an object of documents by path");
  if (!entries.is_object()) fail("consolidated_metadata.metadata", entries, "an object of documents by path");

  std::vector<std::pair<std::string, Json>> nested;
  for (const auto& [key, document] : entries.as_object()) {
    const std::string path = path_of(key, key);
    if (path.empty()) continue;  // the group itself, whose document is around this
    NodeDocuments node = node_of(document, "consolidated_metadata.metadata[" + quoted(key) + "]");
    std::string full = join_key(prefix, path);
    if (const Json* inner = node.type == NodeType::group ? node.document.find(name) : nullptr) {
      if (!inner->is_null()) nested.emplace_back(full, *inner);
      node.document = without(node.document, name);
    }
    if (!nodes.emplace(std::move(full), std::move(node)).second && prefix.empty()) fail_twice(key);
  }
  for (const auto& [path, inner] : nested) collect(inner, path, nodes);
}

// zarr-python gives each nested group an empty one.
Json with_empty_consolidated(const Json& group) {
  JsonObject copy;
  const Json empty = JsonObject{{"kind", "inline"}, {"must_understand", false}, {"metadata", JsonObject{}}};
  for (const auto& [name, value] : group.as_object()) {
    if (name == "node_type") copy.set("consolidated_metadata", empty);
    copy.set(name, value);
  }
  copy.set("consolidated_metadata", empty);
  return copy;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

ConsolidatedMetadata ConsolidatedMetadata::from_v2(const Json& zmetadata) {
  const JsonObject& members = members_of(zmetadata, ".zmetadata");
  const Json& version = required(members, "zarr_consolidated_format", ".zmetadata", "1");
  if (version.to_uint64() != std::uint64_t{1}) fail("zarr_consolidated_format", version, "1");
  const Json& entries = required(members, "metadata", ".zmetadata", "an object of documents by key");
  if (!entries.is_object()) fail("metadata", entries, "an object of documents by key");

  struct Documents {
    const Json* zarray = nullptr;
    const Json* zgroup = nullptr;
    const Json* zattrs = nullptr;
  };
  std::map<std::string, Documents> found;
  for (const auto& [key, document] : entries.as_object()) {
    const std::size_t slash = key.find_last_of('/');
    const std::size_t name_at = slash == std::string::npos ? 0 : slash + 1;
    const std::string_view name = std::string_view(key).substr(name_at);
    if (name != ".zarray" && name != ".zgroup" && name != ".zattrs")
      continue;  // other documents are no node's
    if (!document.is_object()) fail("metadata[" + quoted(key) + "]", document, "an object");
    Documents& node = found[path_of(std::string_view(key).substr(0, name_at), key)];
    const Json*& place = name == ".zarray" ? node.zarray : name == ".zgroup" ? node.zgroup : node.zattrs;
    if (place) fail_twice(key);
    place = &document;
  }

  ConsolidatedMetadata consolidated;
  consolidated.format = ZarrFormat::v2;
  for (const auto& [path, documents] : found) {
    if (!documents.zarray && !documents.zgroup) continue;  // attributes without a node
    NodeDocuments node;
    node.type = documents.zarray ? NodeType::array : NodeType::group;
    node.document =
        documents.zarray ? *documents.zarray : without(*documents.zgroup, "consolidated_metadata");
    if (documents.zattrs) node.attributes = *documents.zattrs;
    consolidated.nodes.emplace_hint(consolidated.nodes.end(), path, std::move(node));
  }
  return consolidated;
}

ConsolidatedMetadata ConsolidatedMetadata::from_v3(const Json& member) {
  ConsolidatedMetadata consolidated;
  consolidated.format = ZarrFormat::v3;
  if (!member.is_null()) collect(member, "", consolidated.nodes);
  return consolidated;
}

Json ConsolidatedMetadata::to_v2() const {
  if (format != ZarrFormat::v2)
    throw Error(ErrorCode::invalid_argument, "metadata of Zarr v3 has no .zmetadata document");
  JsonObject entries;
  for (const auto& [path, node] : nodes) {
    entries.set(join_key(path, node.type == NodeType::array ? ".zarray" : ".zgroup"), node.document);
    if (!node.attributes.is_null()) entries.set(join_key(path, ".zattrs"), node.attributes);
  }
  return JsonObject{{"zarr_consolidated_format", 1}, {"metadata", std::move(entries)}};
}

Json ConsolidatedMetadata::to_v3() const {
  if (format != ZarrFormat::v3)
    throw Error(ErrorCode::invalid_argument, "metadata of Zarr v2 is consolidated in .zmetadata");
  using Entry = std::tuple<std::ptrdiff_t, std::string, Nodes::const_iterator>;
  std::vector<Entry> sorted;  // zarr-python folds the case of all letters, not only of the ASCII ones
  for (auto node = nodes.begin(); node != nodes.end(); ++node)
    sorted.emplace_back(std::count(node->first.begin(), node->first.end(), '/'), lower(node->first), node);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  JsonObject entries;
  for (const Entry& entry : sorted) {
    const auto& [path, node] = *std::get<2>(entry);
    Json document = node.document;
    if (!node.attributes.is_null()) document.as_object().set("attributes", node.attributes);  // format 2
    entries.set(path, node.type == NodeType::group ? with_empty_consolidated(document) : document);
  }
  return JsonObject{{"kind", "inline"}, {"must_understand", false}, {"metadata", std::move(entries)}};
}

}  // namespace zarrive
