// The documents of nodes in a store: reading what is at a path, writing, and the groups above.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "zarrive/metadata.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

// What stands at a path, each document parsed, in one batch to the store. Their contexts ask for host memory.
struct FoundDocuments {
  std::optional<Json> zarr_json = {};  // v3
  std::optional<Json> zarray = {};     // v2
  std::optional<Json> zgroup = {};
  Json zattrs = {};  // null when absent
  std::optional<Json> zmetadata = {};

  bool any() const { return zarr_json || zarray || zgroup; }
};
// `format`: look for this one only. `consolidated`: also for .zmetadata.
FoundDocuments find_documents(Store& store, const std::string& path, std::optional<ZarrFormat> format,
                              bool consolidated);

// The type that a v3 document states. Error(invalid_metadata).
NodeType node_type(const Json& zarr_json);

// Writes one document below a path.
void write_document(Store& store, const std::string& path, const std::string& name, const Json& document,
                    ZarrFormat format);
// Writes a node's documents, the node's own document last. v2 attributes that became empty are erased.
void write_documents(Store& store, const std::string& path,
                     const std::vector<std::pair<std::string, Json>>& documents, ZarrFormat format);

// Makes every group above `path` that is not there yet. Error(invalid_argument) when something above is an array.
void create_parents(Store& store, const std::string& path, ZarrFormat format);

// Before creating at a path: erases what is there when `overwrite`, else Error(already_exists).
void make_room(Store& store, const std::string& path, bool overwrite);

// Error(not_found) that says what was looked for.
[[noreturn]] void fail_not_found(const Store& store, const std::string& path,
                                 std::optional<ZarrFormat> format);

}  // namespace zarrive
