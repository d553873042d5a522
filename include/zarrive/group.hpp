// Groups and the hierarchy: opening nodes, walking, creating, deleting, consolidated metadata.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "zarrive/array.hpp"
#include "zarrive/export.hpp"
#include "zarrive/metadata.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

class Group;
using Node = std::variant<Array, Group>;

enum class Consolidated : std::uint8_t {
  automatic,  // used when it is there
  require,    // Error(not_found) when it is not
  never       // every node from its own documents
};

struct GroupOpenOptions {
  MetadataOptions metadata = {};
  std::optional<ZarrFormat> format = {};
  Consolidated consolidated = Consolidated::automatic;
  OpenMode mode = OpenMode::read;  // of the store, when a URL is opened
};

struct NodeInfo {
  std::string path = {};  // from the store's root
  std::string name = {};  // last part
  NodeType type = NodeType::group;
  ZarrFormat format = ZarrFormat::v3;
};

class ZARRIVE_API Group {
 public:
  Group(std::shared_ptr<Store> store, std::string path, GroupMetadata metadata,
        std::shared_ptr<const ConsolidatedMetadata> consolidated, MetadataOptions options = {});

  const GroupMetadata& metadata() const noexcept { return metadata_; }
  const std::shared_ptr<Store>& store() const noexcept { return store_; }
  const std::string& path() const noexcept { return path_; }
  ZarrFormat format() const noexcept { return metadata_.format; }
  const JsonObject& attributes() const noexcept { return metadata_.attributes; }
  void set_attributes(JsonObject attributes);
  bool is_consolidated() const noexcept { return consolidated_ != nullptr; }

  // Direct children, sorted by name. From consolidated metadata when this group has it, else by listing.
  std::vector<NodeInfo> children() const;
  // Everything below, each node before its children.
  void walk(const std::function<void(const NodeInfo&)>& visit) const;

  // A child (or deeper: "a/b"). Error(not_found), Error(invalid_argument) when it is of the other kind.
  Node open(std::string_view name) const;
  Array open_array(std::string_view name) const;
  Group open_group(std::string_view name) const;
  bool contains(std::string_view name) const;

  Array create_array(std::string_view name, CreateOptions options);  // in this group's format
  Group create_group(std::string_view name, JsonObject attributes = {}, bool overwrite = false);
  // Deletes the node and everything below it. Error(not_found).
  void erase(std::string_view name);

 private:
  const NodeDocuments* find_consolidated(std::string_view name) const;
  std::shared_ptr<Store> store_;
  std::string path_;
  GroupMetadata metadata_;
  std::shared_ptr<const ConsolidatedMetadata> consolidated_;
  std::string consolidated_path_;  // of the group that the consolidated metadata belongs to
  MetadataOptions options_;
};

// What is at a path: v3 before v2, array before group. Error(not_found) names what was looked for.
ZARRIVE_API Node open_node(std::shared_ptr<Store> store, std::string_view path = {},
                           const GroupOpenOptions& options = {});
ZARRIVE_API Node open_node(std::string_view url, std::string_view path = {},
                           const GroupOpenOptions& options = {});
ZARRIVE_API Group open_group(std::shared_ptr<Store> store, std::string_view path = {},
                             const GroupOpenOptions& options = {});
ZARRIVE_API Group open_group(std::string_view url, std::string_view path = {},
                             const GroupOpenOptions& options = {});

struct CreateGroupOptions {
  ZarrFormat format = ZarrFormat::v3;
  JsonObject attributes = {};
  bool overwrite = false;
};
ZARRIVE_API Group create_group(std::shared_ptr<Store> store, std::string_view path = {},
                               const CreateGroupOptions& options = {});
ZARRIVE_API Group create_group(std::string_view url, std::string_view path = {},
                               const CreateGroupOptions& options = {});

// Gathers the documents of all nodes below a group and writes them as consolidated metadata (v2: .zmetadata; v3: in the group's zarr.json).
ZARRIVE_API Group consolidate_metadata(std::shared_ptr<Store> store, std::string_view path = {});

}  // namespace zarrive
