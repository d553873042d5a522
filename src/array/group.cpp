#include "zarrive/group.hpp"

#include <algorithm>

#include "array/nodes.hpp"
#include "array/transfer.hpp"

namespace zarrive {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Nodes directly below a path, by listing: each sub-prefix that holds a node's document. One batch for all of them.
std::vector<NodeInfo> list_children(Store& store, const std::string& path, ZarrFormat format) {
  const DirectoryListing listing = store.list_dir(path);
  std::vector<GetRequest> requests;
  std::vector<Context> contexts;
  struct Candidate {
    std::string path;
    NodeType type;
  };
  std::vector<Candidate> candidates;
  auto look_for = [&](const std::string& child, const char* name, NodeType type) {
    GetRequest request;
    request.key = join_key(child, name);
    requests.push_back(std::move(request));
    candidates.push_back({child, type});
  };
  for (const std::string& child : listing.prefixes) {
    const std::string name = last_part(child);
    if (format == ZarrFormat::v3) {
      if (name.starts_with("__")) continue;
      look_for(child, "zarr.json", NodeType::group);
    } else {
      look_for(child, ".zarray", NodeType::array);
      look_for(child, ".zgroup", NodeType::group);
    }
  }
  contexts.resize(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    contexts[i].prototype = host();
    contexts[i].key = requests[i].key;
    contexts[i].node = candidates[i].path;
    requests[i].context = &contexts[i];
  }
  std::vector<char> found(requests.size(), 0);
  store.get(requests, [&](std::size_t i, GetResult&& result) {
    with_place({store.name(), candidates[i].path, requests[i].key}, [&] {
      if (result.status == GetStatus::error) result.rethrow();
      if (result.status != GetStatus::found) return;
      found[i] = 1;
      if (format == ZarrFormat::v3) candidates[i].type = node_type(Json::parse(result.value().text()));
    });
  });
  std::vector<NodeInfo> children;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!found[i]) continue;
    if (!children.empty() && children.back().path == candidates[i].path) continue;  // .zarray before .zgroup
    children.push_back({candidates[i].path, last_part(candidates[i].path), candidates[i].type, format});
  }
  std::sort(children.begin(), children.end(),
            [](const NodeInfo& a, const NodeInfo& b) { return a.name < b.name; });
  return children;
}

Array array_from(const std::shared_ptr<Store>& store, const std::string& path, const Json& document,
                 const Json& attributes, ZarrFormat format, const MetadataOptions& options) {
  return with_place({store->name(), path, format == ZarrFormat::v3 ? "zarr.json" : ".zarray"}, [&] {
    return Array(store, path,
                 format == ZarrFormat::v3 ? ArrayMetadata::from_v3(document, options)
                                          : ArrayMetadata::from_v2(document, attributes, options),
                 options);
  });
}

const char* kind_name(const Node& node) {
  return std::holds_alternative<Array>(node) ? "an array" : "a group";
}

template <class T>
T expect_node(Node node, const Store& store, const std::string& path) {
  if (auto* wanted = std::get_if<T>(&node)) return std::move(*wanted);
  throw Error(ErrorCode::invalid_argument,
              std::string("this is ") + kind_name(node) + ", not " +
                  (std::is_same_v<T, Array> ? "an array" : "a group"),
              {store.name(), path, {}});
}

// The consolidated metadata that belongs to a group's own documents, by the caller's wish.
std::shared_ptr<const ConsolidatedMetadata> consolidated_of(FoundDocuments& found, GroupMetadata& group,
                                                            const GroupOpenOptions& options,
                                                            const ErrorPlace& place) {
  std::shared_ptr<const ConsolidatedMetadata> consolidated;
  if (options.consolidated != Consolidated::never) {
    if (group.format == ZarrFormat::v3 && group.consolidated) {
      consolidated = std::make_shared<const ConsolidatedMetadata>(std::move(*group.consolidated));
    } else if (group.format == ZarrFormat::v2 && found.zmetadata) {
      consolidated =
          std::make_shared<const ConsolidatedMetadata>(ConsolidatedMetadata::from_v2(*found.zmetadata));
    }
  }
  group.consolidated.reset();
  if (options.consolidated == Consolidated::require && !consolidated)
    throw Error(
        ErrorCode::not_found,
        "the group has no consolidated metadata; write it with consolidate_metadata, or open without it",
        place);
  return consolidated;
}

Node open_found(const std::shared_ptr<Store>& store, const std::string& path, FoundDocuments found,
                const GroupOpenOptions& options) {
  if (found.zarr_json) {
    if ((found.zarray || found.zgroup) && options.metadata.warn)
      options.metadata.warn("'" + path + "' has both zarr.json and v2 metadata; v3 is used");
    const ErrorPlace place{store->name(), path, "zarr.json"};
    if (found.zarr_json->find("metadata_encoding"))
      throw Error(
          ErrorCode::invalid_metadata,
          "this is a draft of Zarr v3 from before 3.0 (\"metadata_encoding\"), which is another format",
          place);
    if (with_place(place, [&] { return node_type(*found.zarr_json); }) == NodeType::array)
      return array_from(store, path, *found.zarr_json, {}, ZarrFormat::v3, options.metadata);
    return with_place(place, [&]() -> Node {
      GroupMetadata group = GroupMetadata::from_v3(*found.zarr_json, options.metadata);
      auto consolidated = consolidated_of(found, group, options, place);
      return Group(store, path, std::move(group), std::move(consolidated), options.metadata);
    });
  }
  if (found.zarray)
    return array_from(store, path, *found.zarray, found.zattrs, ZarrFormat::v2, options.metadata);
  return with_place({store->name(), path, ".zgroup"}, [&]() -> Node {
    GroupMetadata group = GroupMetadata::from_v2(*found.zgroup, found.zattrs, options.metadata);
    auto consolidated = consolidated_of(found, group, options, {store->name(), path, ".zmetadata"});
    return Group(store, path, std::move(group), std::move(consolidated), options.metadata);
  });
}

// A v2 hierarchy may have nothing but .zmetadata at its root.
bool only_consolidated(FoundDocuments& found, const GroupOpenOptions& options) {
  if (found.any() || !found.zmetadata || options.consolidated == Consolidated::never) return false;
  const ConsolidatedMetadata all = ConsolidatedMetadata::from_v2(*found.zmetadata);
  const auto root = all.nodes.find("");
  if (root == all.nodes.end()) return false;
  (root->second.type == NodeType::array ? found.zarray : found.zgroup) = root->second.document;
  if (found.zattrs.is_null()) found.zattrs = root->second.attributes;
  return true;
}

}  // namespace

Group::Group(std::shared_ptr<Store> store, std::string path, GroupMetadata metadata,
             std::shared_ptr<const ConsolidatedMetadata> consolidated, MetadataOptions options)
    : store_(std::move(store)),
      path_(std::move(path)),
      metadata_(std::move(metadata)),
      consolidated_(std::move(consolidated)),
      consolidated_path_(path_),
      options_(std::move(options)) {}

void Group::set_attributes(JsonObject attributes) {
  // The stored document may hold consolidated metadata, which stays.
  GroupMetadata changed = metadata_;
  changed.attributes = std::move(attributes);
  GroupMetadata stored = changed;
  if (changed.format == ZarrFormat::v3 && consolidated_ && consolidated_path_ == path_)
    stored.consolidated = *consolidated_;
  write_documents(*store_, path_, stored.to_documents(), stored.format);
  metadata_ = std::move(changed);
}

const NodeDocuments* Group::find_consolidated(std::string_view name) const {
  const std::string below = path_.substr(
      consolidated_path_.size() + (path_.size() > consolidated_path_.size() && !consolidated_path_.empty()));
  const auto found = consolidated_->nodes.find(join_key(below, name));
  return found == consolidated_->nodes.end() ? nullptr : &found->second;
}

std::vector<NodeInfo> Group::children() const {
  if (!consolidated_)
    return with_place({store_->name(), path_, {}},
                      [&] { return list_children(*store_, path_, metadata_.format); });
  const std::string below = path_.substr(
      consolidated_path_.size() + (path_.size() > consolidated_path_.size() && !consolidated_path_.empty()));
  const std::string prefix = below.empty() ? std::string() : below + '/';
  std::vector<NodeInfo> children;
  for (auto node = consolidated_->nodes.lower_bound(prefix);
       node != consolidated_->nodes.end() && node->first.starts_with(prefix); ++node) {
    const std::string rest = node->first.substr(prefix.size());
    if (rest.empty() || rest.find('/') != std::string::npos) continue;
    children.push_back({join_key(path_, rest), rest, node->second.type, metadata_.format});
  }
  std::sort(children.begin(), children.end(),
            [](const NodeInfo& a, const NodeInfo& b) { return a.name < b.name; });
  return children;
}

void Group::walk(const std::function<void(const NodeInfo&)>& visit) const {
  for (const NodeInfo& child : children()) {
    visit(child);
    if (child.type == NodeType::group) open_group(child.name).walk(visit);
  }
}

Node Group::open(std::string_view name) const {
  const std::string relative = normalize_path(name);
  const std::string path = join_key(path_, relative);
  if (relative.empty()) return *this;
  GroupOpenOptions options;
  options.metadata = options_;
  options.format = metadata_.format;
  if (!consolidated_) {
    options.consolidated = Consolidated::automatic;
    return open_node(store_, path, options);
  }
  const NodeDocuments* documents = find_consolidated(relative);
  if (!documents)
    throw Error(
        ErrorCode::not_found,
        "the consolidated metadata has no such node; if it was added later, consolidate again or open with "
        "Consolidated::never",
        {store_->name(), path, {}});
  if (documents->type == NodeType::array)
    return array_from(store_, path, documents->document, documents->attributes, metadata_.format, options_);
  return with_place({store_->name(), path, {}}, [&]() -> Node {
    GroupMetadata group = metadata_.format == ZarrFormat::v3
                              ? GroupMetadata::from_v3(documents->document, options_)
                              : GroupMetadata::from_v2(documents->document, documents->attributes, options_);
    group.consolidated.reset();
    Group child(store_, path, std::move(group), consolidated_, options_);
    child.consolidated_path_ = consolidated_path_;
    return child;
  });
}

Array Group::open_array(std::string_view name) const {
  return expect_node<Array>(open(name), *store_, join_key(path_, normalize_path(name)));
}
Group Group::open_group(std::string_view name) const {
  return expect_node<Group>(open(name), *store_, join_key(path_, normalize_path(name)));
}

bool Group::contains(std::string_view name) const {
  const std::string relative = normalize_path(name);
  if (relative.empty()) return true;
  if (consolidated_) return find_consolidated(relative) != nullptr;
  return find_documents(*store_, join_key(path_, relative), metadata_.format, false).any();
}

Array Group::create_array(std::string_view name, CreateOptions options) {
  options.format = metadata_.format;
  return zarrive::create_array(store_, join_key(path_, normalize_path(name)), options);
}

Group Group::create_group(std::string_view name, JsonObject attributes, bool overwrite) {
  return zarrive::create_group(store_, join_key(path_, normalize_path(name)),
                               {metadata_.format, std::move(attributes), overwrite});
}

void Group::erase(std::string_view name) {
  const std::string path = join_key(path_, normalize_path(name));
  if (path == path_)
    throw Error(ErrorCode::invalid_argument, "a group cannot erase itself; erase it from its parent",
                {store_->name(), path, {}});
  if (!find_documents(*store_, path, metadata_.format, false).any())
    fail_not_found(*store_, path, metadata_.format);
  store_->erase_prefix(path);
}

// --- free functions ---

Node open_node(std::shared_ptr<Store> store, std::string_view path, const GroupOpenOptions& options) {
  const std::string at = normalize_path(path);
  FoundDocuments found =
      find_documents(*store, at, options.format, options.consolidated != Consolidated::never);
  if (!found.any() &&
      !with_place({store->name(), at, ".zmetadata"}, [&] { return only_consolidated(found, options); }))
    fail_not_found(*store, at, options.format);
  return open_found(store, at, std::move(found), options);
}

Group open_group(std::shared_ptr<Store> store, std::string_view path, const GroupOpenOptions& options) {
  Node node = open_node(store, path, options);
  return expect_node<Group>(std::move(node), *store, normalize_path(path));
}

Array open_array(std::shared_ptr<Store> store, std::string_view path, const OpenOptions& options) {
  GroupOpenOptions node_options;
  node_options.metadata = options.metadata;
  node_options.format = options.format;
  node_options.consolidated = Consolidated::never;
  Node node = open_node(store, path, node_options);
  return expect_node<Array>(std::move(node), *store, normalize_path(path));
}

Group create_group(std::shared_ptr<Store> store, std::string_view path, const CreateGroupOptions& options) {
  const std::string at = normalize_path(path);
  GroupMetadata metadata;
  metadata.format = options.format;
  metadata.attributes = options.attributes;
  with_place({store->name(), at, {}}, [&] {
    if (!at.empty()) check_node_name(std::string_view(at).substr(at.rfind('/') + 1), options.format);
    make_room(*store, at, options.overwrite);
    create_parents(*store, at, options.format);
    write_documents(*store, at, metadata.to_documents(), options.format);
  });
  return Group(std::move(store), at, std::move(metadata), nullptr);
}

Group consolidate_metadata(std::shared_ptr<Store> store, std::string_view path) {
  const std::string at = normalize_path(path);
  GroupOpenOptions options;
  options.consolidated = Consolidated::never;
  const Group group = open_group(store, at, options);
  ConsolidatedMetadata all;
  all.format = group.format();
  const bool v2 = all.format == ZarrFormat::v2;
  auto collect = [&](const std::string& node_path, NodeType type) {
    FoundDocuments found = find_documents(*store, node_path, all.format, false);
    NodeDocuments documents;
    documents.type = type;
    documents.attributes = std::move(found.zattrs);
    auto& document = v2 ? (type == NodeType::array ? found.zarray : found.zgroup) : found.zarr_json;
    if (!document) fail_not_found(*store, node_path, all.format);  // erased since it was listed
    documents.document = std::move(*document);
    if (!v2 && documents.document.is_object()) documents.document.as_object().erase("consolidated_metadata");
    all.nodes.emplace(
        node_path.size() == at.size() ? std::string() : node_path.substr(at.empty() ? 0 : at.size() + 1),
        std::move(documents));
  };
  if (v2) collect(at, NodeType::group);
  group.walk([&](const NodeInfo& node) { collect(node.path, node.type); });
  if (v2) {
    write_document(*store, at, ".zmetadata", all.to_v2(), ZarrFormat::v2);
  } else {
    GroupMetadata metadata = group.metadata();
    metadata.consolidated = all;
    write_documents(*store, at, metadata.to_documents(), ZarrFormat::v3);
  }
  options.consolidated = Consolidated::require;
  return open_group(std::move(store), at, options);
}

}  // namespace zarrive
