#include "cli/describe.hpp"

#include <atomic>
#include <functional>
#include <vector>

#include "cli/text.hpp"
#include "zarrive/error.hpp"
#include "zarrive/executor.hpp"

namespace zarrive::cli {

std::string codec_text(const CodecSpec& codec) {
  std::string result = printable(codec.name);
  if (codec.configuration.empty()) return result;
  result += "(";
  bool first = true;
  for (const auto& [name, value] : codec.configuration) {
    if (!first) result += ", ";
    first = false;
    result +=
        printable(name) + "=" + (value.is_string() ? printable(value.as_string()) : printable(value.dump()));
  }
  return result + ")";
}

std::string codecs_text(const ArrayMetadata& metadata) {
  std::vector<CodecSpec> all = metadata.format == ZarrFormat::v3 ? metadata.codecs : metadata.filters;
  if (metadata.compressor) all.push_back(*metadata.compressor);
  std::string result;
  for (const CodecSpec& codec : all) result += (result.empty() ? "" : ", ") + codec_text(codec);
  return result.empty() ? "none" : result;
}

std::string chunks_text(const ChunkGrid& grid) {
  if (grid.is_regular()) return shape_text(grid.chunk_shape());
  std::string result = "(";
  for (const ChunkGrid::Dimension& dimension : grid.dimensions()) {
    if (result.size() > 1) result += ", ";
    std::string edges;
    for (std::size_t i = 0; i < dimension.runs.size(); ++i) {
      if (i) edges += ", ";
      if (i == 4) {
        edges += "...";
        break;
      }
      edges += std::to_string(dimension.runs[i].edge);
      if (dimension.runs[i].count > 1) edges += " x " + std::to_string(dimension.runs[i].count);
    }
    result += dimension.repeat ? edges : "[" + edges + "]";
  }
  return result + (grid.ndim() == 1 ? ",)" : ")");
}

namespace {

Json codecs_json(const std::vector<CodecSpec>& codecs) {
  JsonArray array;
  for (const CodecSpec& codec : codecs) {
    JsonObject object;
    object.set("name", codec.name);
    if (!codec.configuration.empty()) object.set("configuration", codec.configuration);
    if (!codec.must_understand) object.set("must_understand", false);
    array.emplace_back(std::move(object));
  }
  return array;
}

// What v3 would call it; null when v3 has no words for it.
template <class Say>
Json in_v3_words(const Say& say) {
  try {
    return say();
  } catch (const Error&) {
    return nullptr;
  }
}

Json names_json(const std::vector<std::optional<std::string>>& names) {
  if (names.empty()) return nullptr;
  JsonArray array;
  for (const auto& name : names) array.push_back(name ? Json(*name) : Json());
  return array;
}

void add_v2_members(JsonObject& object, const ArrayMetadata& metadata) {
  object.set("data_type", in_v3_words([&] { return metadata.data_type.to_v3(); }));
  object.set("chunk_grid", metadata.chunk_grid.to_json());
  object.set("codecs",
             in_v3_words([&] { return codecs_json(convert_format(metadata, ZarrFormat::v3).codecs); }));
  object.set("fill_value", metadata.fill_value.is_undefined() ? Json() : in_v3_words([&] {
               return metadata.fill_value.to_v3();
             }));
}

void add_v3_members(JsonObject& object, const ArrayMetadata& metadata) {
  const Json document = metadata.to_v3();
  for (const char* name : {"data_type", "chunk_grid", "codecs", "fill_value"})
    object.set(name, *document.find(name));
}

}  // namespace

Json array_json(const ArrayMetadata& metadata) {
  JsonObject object;
  object.set("zarr_format", static_cast<int>(metadata.format));
  object.set("node_type", "array");
  JsonArray shape;
  for (const std::uint64_t extent : metadata.shape) shape.emplace_back(extent);
  object.set("shape", std::move(shape));
  if (metadata.format == ZarrFormat::v2) add_v2_members(object, metadata);
  else add_v3_members(object, metadata);
  object.set("dimension_names", names_json(metadata.dimension_names));
  object.set("attributes", metadata.attributes);
  if (metadata.format == ZarrFormat::v2) object.set("v2", metadata.to_v2_zarray());
  return object;
}

Json group_json(const GroupMetadata& metadata) {
  JsonObject object;
  object.set("zarr_format", static_cast<int>(metadata.format));
  object.set("node_type", "group");
  object.set("attributes", metadata.attributes);
  if (metadata.format == ZarrFormat::v2) object.set("v2", JsonObject{{"zarr_format", 2}});
  return object;
}

namespace {

void walk_keys(Store& store, const std::string& prefix,
               const std::function<void(const std::string&)>& visit) {
  const DirectoryListing listing = store.list_dir(prefix);
  for (const std::string& key : listing.keys) visit(key);
  for (const std::string& below : listing.prefixes) walk_keys(store, below, visit);
}

}  // namespace

void for_each_chunk_key(const Array& array,
                        const std::function<void(const std::string&, const Index&)>& visit) {
  const std::string root = array.path().empty() ? "" : array.path() + "/";
  const Shape grid = array.grid_shape();
  walk_keys(*array.store(), array.path(), [&](const std::string& key) {
    const auto index =
        array.metadata().chunk_key_encoding.parse(std::string_view(key).substr(root.size()), array.ndim());
    if (!index) return;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      if ((*index)[d] >= grid[d]) return;  // left over from a larger shape
    }
    visit(key, *index);
  });
}

std::optional<StoredChunks> stored_chunks(Session& session, const Array& array, bool sizes) {
  const StoreCapabilities capabilities = array.store()->capabilities();
  if (!capabilities.listable) return std::nullopt;
  StoredChunks stored;
  std::atomic<std::uint64_t> bytes = 0;
  std::vector<std::string> keys;
  const bool ask = sizes || !capabilities.waits;
  const auto add_sizes = [&] {
    Executor::global().parallel_for(keys.size(),
                                    [&](std::size_t i) { bytes += array.store()->size(keys[i]).value_or(0); },
                                    {.max_concurrency = session.jobs, .stop = session.stop()});
    keys.clear();
  };
  for_each_chunk_key(array, [&](const std::string& key, const Index&) {
    ++stored.count;
    if (!ask) return;
    keys.push_back(key);
    if (keys.size() == 4096) add_sizes();
  });
  add_sizes();
  if (ask) stored.bytes = bytes.load();
  return stored;
}

}  // namespace zarrive::cli
