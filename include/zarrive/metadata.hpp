// Array and group metadata of Zarr v2 and v3 over one model in memory.
//
// Reading is lenient where data in the wild needs it (each case goes to `warn`, or is an error when `strict`); writing is strict.
// Sources: Zarr v2 specification; Zarr v3.1 core; zarr-python's consolidated metadata.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrive/chunk_grid.hpp"
#include "zarrive/chunk_key_encoding.hpp"
#include "zarrive/data_type.hpp"
#include "zarrive/export.hpp"
#include "zarrive/fill_value.hpp"
#include "zarrive/json.hpp"

namespace zarrive {

// More dimensions than this are refused (resource_limit): NumPy stops at 64 too, and hostile documents stop here.
inline constexpr std::size_t max_dimensions = 64;
// Lengths of dimensions and chunk edges end here, so that every position also fits a signed integer.
inline constexpr std::uint64_t max_extent = 0x7fff'ffff'ffff'ffff;

// A codec as the metadata names it. v3: name and configuration; v2: `name` is the id, `configuration` the other members.
struct CodecSpec {
  std::string name = {};
  JsonObject configuration = {};
  bool must_understand = true;
  bool operator==(const CodecSpec&) const = default;
};

// As it stands in v3 metadata: {"name": ..., "configuration": ...}.
ZARRIVE_API Json to_json(const CodecSpec& codec);

struct MetadataOptions {
  bool strict = false;                                // lenient cases are errors
  std::function<void(const std::string&)> warn = {};  // gets a sentence for each lenient case
  bool missing_separator_is_slash = false;  // v2 without dimension_separator: "/" (old NestedDirectoryStore)
};

enum class NodeType : std::uint8_t { array, group };

struct ZARRIVE_API ArrayMetadata {
  ZarrFormat format = ZarrFormat::v3;
  Shape shape = {};
  DataType data_type = {};
  ChunkGrid chunk_grid = {};
  ChunkKeyEncoding chunk_key_encoding = {};
  FillValue fill_value = {};
  std::vector<CodecSpec> codecs = {};  // v3: the chain. v2: empty, see below
  // v2: element order of the chunk bytes, filters in list order, then the compressor
  char order = 'C';
  std::vector<CodecSpec> filters = {};
  std::optional<CodecSpec> compressor = {};

  JsonObject attributes = {};
  // One entry a dimension, or none at all. v2: from the attribute _ARRAY_DIMENSIONS (or NCZarr's), which stays in attributes.
  std::vector<std::optional<std::string>> dimension_names = {};
  JsonObject extra_members = {};  // v3: unknown members that may be ignored; written back

  // From the documents. v2: .zarray, and .zattrs or null. Error(invalid_metadata) says which member, what was found and what is allowed.
  static ArrayMetadata from_v2(const Json& zarray, const Json& zattrs, const MetadataOptions& options = {});
  static ArrayMetadata from_v3(const Json& document, const MetadataOptions& options = {});

  // The documents to store, strict (validate() first). Dimension names of v2 go into the attribute _ARRAY_DIMENSIONS unless the attributes
  // name the same already; all must be named there. v2 {".zarray", ".zattrs"} (the latter only with attributes), v3 {"zarr.json"}.
  std::vector<std::pair<std::string, Json>> to_documents() const;
  Json to_v2_zarray() const;
  Json to_v3() const;

  // Checks the model itself (ranks, grid, fill value type); called by the readers and before writing. Codecs are checked when the chain is built.
  void validate() const;

  std::uint64_t chunk_count() const;  // number of chunks of the grid; Error(resource_limit) above 2^64
};

// One node's documents as they stand in consolidated metadata.
struct NodeDocuments {
  NodeType type = NodeType::group;
  Json document = {};    // .zarray, .zgroup or zarr.json
  Json attributes = {};  // v2: .zattrs, or null
};

// All nodes below a group by their path relative to it. Documents are kept as JSON and parsed when a node is opened.
struct ZARRIVE_API ConsolidatedMetadata {
  ZarrFormat format = ZarrFormat::v3;
  std::map<std::string, NodeDocuments, std::less<>> nodes = {};

  // v2: the document .zmetadata (also holds the group's own entries, at path ""). v3: the member "consolidated_metadata" (null: no nodes).
  // The consolidated_metadata of nested groups is taken out of their documents; nodes that only it names are kept under their full path.
  static ConsolidatedMetadata from_v2(const Json& zmetadata);
  static ConsolidatedMetadata from_v3(const Json& member);
  Json to_v2() const;
  Json to_v3() const;  // sorted as zarr-python writes it: by depth, then name
};

struct ZARRIVE_API GroupMetadata {
  ZarrFormat format = ZarrFormat::v3;
  JsonObject attributes = {};
  JsonObject extra_members = {};
  std::optional<ConsolidatedMetadata> consolidated = {};  // v3 only here; v2 has it in .zmetadata

  static GroupMetadata from_v2(const Json& zgroup, const Json& zattrs, const MetadataOptions& options = {});
  static GroupMetadata from_v3(const Json& document, const MetadataOptions& options = {});
  std::vector<std::pair<std::string, Json>> to_documents() const;
  Json to_v3() const;
};

// The text of a metadata document as it is stored: 2-space indent for v3, 4-space with sorted keys for v2 (as zarr-python).
ZARRIVE_API std::string document_text(const Json& document, ZarrFormat format);

// Node paths. Normalises "\\" and repeated "/", strips the outer ones; refuses "." and "..": Error(invalid_argument).
ZARRIVE_API std::string normalize_path(std::string_view path);
// v3 rules for one node name (non-empty, no "/", not only periods, not starting with "__", not "zarr.json"). Error(invalid_argument).
ZARRIVE_API void check_node_name(std::string_view name, ZarrFormat format);
// "a/b" + "zarr.json" -> "a/b/zarr.json"; "" + x -> x.
ZARRIVE_API std::string join_key(std::string_view path, std::string_view key);

}  // namespace zarrive
