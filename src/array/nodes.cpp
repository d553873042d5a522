#include "array/nodes.hpp"

#include "array/transfer.hpp"

namespace zarrive {
namespace {

Context metadata_context(const std::string& key, const std::string& path) {
  Context context;
  context.prototype = host();
  context.key = key;
  context.node = path;
  return context;
}

}  // namespace

FoundDocuments find_documents(Store& store, const std::string& path, std::optional<ZarrFormat> format,
                              bool consolidated) {
  FoundDocuments found;
  struct Wanted {
    const char* name;
    std::optional<Json> document = {};
  };
  std::vector<Wanted> wanted;
  if (format != ZarrFormat::v2) wanted.push_back({"zarr.json"});
  if (format != ZarrFormat::v3) {
    for (const char* name : {".zarray", ".zgroup", ".zattrs"}) wanted.push_back({name});
    if (consolidated) wanted.push_back({".zmetadata"});
  }
  std::vector<Context> contexts;
  contexts.reserve(wanted.size());
  std::vector<GetRequest> requests;
  for (const Wanted& item : wanted) {
    GetRequest request;
    request.key = join_key(path, item.name);
    contexts.push_back(metadata_context(request.key, path));
    request.context = &contexts.back();
    requests.push_back(std::move(request));
  }
  store.get(requests, [&](std::size_t i, GetResult&& result) {
    with_place({store.name(), path, requests[i].key}, [&] {
      if (result.status == GetStatus::error) result.rethrow();
      if (result.status == GetStatus::found) wanted[i].document = Json::parse(result.value().text());
    });
  });
  for (Wanted& item : wanted) {
    const std::string_view name = item.name;
    if (name == "zarr.json") found.zarr_json = std::move(item.document);
    if (name == ".zarray") found.zarray = std::move(item.document);
    if (name == ".zgroup") found.zgroup = std::move(item.document);
    if (name == ".zattrs" && item.document) found.zattrs = std::move(*item.document);
    if (name == ".zmetadata") found.zmetadata = std::move(item.document);
  }
  return found;
}

NodeType node_type(const Json& zarr_json) {
  const Json* type = zarr_json.find("node_type");
  if (!type || !type->is_string())
    throw Error(ErrorCode::invalid_metadata,
                "zarr.json needs the member \"node_type\", \"array\" or \"group\"");
  if (type->as_string() == "array") return NodeType::array;
  if (type->as_string() == "group") return NodeType::group;
  throw Error(ErrorCode::invalid_metadata,
              "node_type is \"" + type->as_string() + "\"; it is \"array\" or \"group\"");
}

void write_document(Store& store, const std::string& path, const std::string& name, const Json& document,
                    ZarrFormat format) {
  const std::string key = join_key(path, name);
  const Context context = metadata_context(key, path);
  store.set(key, Buffer::from_string(document_text(document, format)), &context);
}

void write_documents(Store& store, const std::string& path,
                     const std::vector<std::pair<std::string, Json>>& documents, ZarrFormat format) {
  with_place({store.name(), path, {}}, [&] {
    bool has_attributes = false;
    for (const auto& [name, document] : documents) {
      if (name != ".zattrs") continue;
      has_attributes = true;
      write_document(store, path, name, document, format);
    }
    if (format == ZarrFormat::v2 && !has_attributes) store.erase(join_key(path, ".zattrs"));
    for (const auto& [name, document] : documents)
      if (name != ".zattrs") write_document(store, path, name, document, format);
  });
}

void create_parents(Store& store, const std::string& path, ZarrFormat format) {
  for (std::size_t end = path.rfind('/'); !path.empty();
       end = end == 0 || end == std::string::npos ? std::string::npos : path.rfind('/', end - 1)) {
    const std::string parent = end == std::string::npos ? std::string() : path.substr(0, end);
    const FoundDocuments found = find_documents(store, parent, format, false);
    const bool is_array = found.zarray || (found.zarr_json && node_type(*found.zarr_json) == NodeType::array);
    if (is_array)
      throw Error(ErrorCode::invalid_argument,
                  "cannot create '" + path + "': '" + parent + "' is an array, and arrays have no children",
                  {store.name(), path, {}});
    if (found.any()) return;  // and so everything above it
    GroupMetadata group;
    group.format = format;
    for (const auto& [name, document] : group.to_documents())
      store.set_if_absent(join_key(parent, name), Buffer::from_string(document_text(document, format)));
    if (end == std::string::npos) return;
  }
}

void make_room(Store& store, const std::string& path, bool overwrite) {
  if (overwrite) {
    store.erase_prefix(path);
    return;
  }
  const FoundDocuments found = find_documents(store, path, std::nullopt, false);
  if (!found.any()) return;
  const bool is_array = found.zarray || (found.zarr_json && node_type(*found.zarr_json) == NodeType::array);
  throw Error(ErrorCode::already_exists,
              std::string("there is ") + (is_array ? "an array" : "a group") +
                  " already; set overwrite to replace it",
              {store.name(), path, {}});
}

void fail_not_found(const Store& store, const std::string& path, std::optional<ZarrFormat> format) {
  std::string looked = format == ZarrFormat::v2   ? ".zarray and .zgroup"
                       : format == ZarrFormat::v3 ? "zarr.json"
                                                  : "zarr.json, .zarray and .zgroup";
  throw Error(ErrorCode::not_found, "no Zarr array or group here (looked for " + looked + ")",
              {store.name(), path, {}});
}

}  // namespace zarrive
