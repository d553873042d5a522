// Array documents of Zarr v3: zarr.json.
#include "metadata/reading.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {

namespace {

using namespace metadata;

constexpr std::string_view document_name = "zarr.json";
// must_understand of a data type; the rest of it is DataType's business.
void check_data_type(const Json& value) {
  const Json* must_understand = value.find("must_understand");
  if (!must_understand) return;
  if (!must_understand->is_bool() || !must_understand->as_bool())
    fail("data_type.must_understand", *must_understand, "true: a data type must always be understood");
}

CodecSpec codec_of(const Json& value, const std::string& member, const Warn& warn) {
  Extension extension = extension_of(value, member, true, warn);
  warn_unknown(extension.others, {}, member, warn);
  if (extension.name == "endian") {
    warn("member \"" + member + "\": \"endian\" is the draft name of the codec \"bytes\"");
    extension.name = "bytes";
  }
  return {.name = std::move(extension.name),
          .configuration = std::move(extension.configuration),
          .must_understand = extension.must_understand};
}

std::vector<CodecSpec> codecs_of(const JsonObject& members, const DataType& type, const Warn& warn) {
  constexpr std::string_view expected = "a list of at least one codec";
  const Json* value = members.find("codecs");
  if (!value) {
    if (type.is_variable()) fail_missing(document_name, "codecs", expected);
    warn("member \"codecs\" is missing, which is taken as the codec \"bytes\", little-endian");
    return {{.name = "bytes", .configuration = {{"endian", "little"}}}};
  }
  if (!value->is_array() || value->as_array().empty()) fail("codecs", *value, expected);
  std::vector<CodecSpec> codecs;
  for (const Json& item : value->as_array())
    codecs.push_back(codec_of(item, "codecs[" + std::to_string(codecs.size()) + "]", warn));
  return codecs;
}

std::vector<std::optional<std::string>> dimension_names_of(const Json* value, std::size_t ndim,
                                                           const Warn& warn) {
  std::vector<std::optional<std::string>> names;
  if (!value) return names;
  if (value->is_null()) {
    warn("member \"dimension_names\" is null, which is taken as absent");
    return names;
  }
  const std::string expected =
      "a list of " + std::to_string(ndim) + " names or nulls, one for each dimension of \"shape\"";
  if (!value->is_array() || value->as_array().size() != ndim) fail("dimension_names", *value, expected);
  for (const Json& name : value->as_array()) {
    if (!name.is_null() && !name.is_string()) fail("dimension_names", *value, expected);
    names.push_back(name.is_null() ? std::nullopt : std::optional(name.as_string()));
  }
  return names;
}

// None are standardised: a list of those that may be ignored is kept, all others are refused.
void read_storage_transformers(const Json* value, JsonObject& extra_members, const Warn& warn) {
  if (!value) return;
  if (value->is_null()) {
    warn("member \"storage_transformers\" is null, which is taken as absent");
    return;
  }
  if (!value->is_array()) fail("storage_transformers", *value, "a list");
  if (value->as_array().empty()) return;
  for (std::size_t i = 0; i < value->as_array().size(); ++i) {
    const Extension extension =
        extension_of(value->as_array()[i], "storage_transformers[" + std::to_string(i) + "]", true, warn);
    if (extension.must_understand)
      throw Error(ErrorCode::unsupported, "member \"storage_transformers\": found " + quoted(extension.name) +
                                              ", but no storage transformer is supported");
  }
  extra_members.set("storage_transformers", *value);
}

}  // namespace

// zarr-python leaves out an empty configuration, except of the codecs for variable lengths.
Json to_json(const CodecSpec& codec) {
  JsonObject object{{"name", codec.name}};
  if (!codec.configuration.empty() || codec.name == "vlen-utf8" || codec.name == "vlen-bytes" ||
      codec.name.starts_with("numcodecs."))
    object.set("configuration", codec.configuration);
  if (!codec.must_understand) object.set("must_understand", false);
  return object;
}

ArrayMetadata ArrayMetadata::from_v3(const Json& document, const MetadataOptions& options) {
  const Warn warn = warner(options);
  const JsonObject& members = v3_members_of(document, "array");
  const auto member = [&](std::string_view name, std::string_view expected) -> const Json& {
    return required(members, name, document_name, expected);
  };
  ArrayMetadata array;
  array.format = ZarrFormat::v3;
  array.extra_members = extra_members_of(
      members, {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
                "fill_value", "codecs", "attributes", "dimension_names", "storage_transformers"});
  array.shape = extents_of(member("shape", "a list of integers"), "shape", 0);
  const Json& data_type = member("data_type", "the name of a data type");
  check_data_type(data_type);
  array.data_type = DataType::from_v3(data_type, warn);
  array.chunk_grid = ChunkGrid::from_json(member("chunk_grid", "a chunk grid"), array.shape.size(), warn);
  array.chunk_key_encoding =
      ChunkKeyEncoding::from_json(member("chunk_key_encoding", "a chunk key encoding"), warn);
  array.fill_value =
      FillValue::from_v3(member("fill_value", "a value of the data type"), array.data_type, warn);
  array.codecs = codecs_of(members, array.data_type, warn);
  array.attributes = attributes_of(members.find("attributes"), "attributes", warn);
  array.dimension_names = dimension_names_of(members.find("dimension_names"), array.shape.size(), warn);
  read_storage_transformers(members.find("storage_transformers"), array.extra_members, warn);
  array.validate();
  return array;
}

// Members in the order of zarr-python.
Json ArrayMetadata::to_v3() const {
  if (format != ZarrFormat::v3)
    throw Error(ErrorCode::invalid_argument, "metadata of Zarr v2 has no zarr.json document");
  validate();
  JsonArray extents;
  for (std::uint64_t extent : shape) extents.emplace_back(extent);
  JsonArray codec_list;
  for (const CodecSpec& codec : codecs) codec_list.push_back(to_json(codec));
  JsonObject document{{"shape", std::move(extents)},
                      {"data_type", data_type.to_v3()},
                      {"chunk_grid", chunk_grid.to_json()},
                      {"chunk_key_encoding", chunk_key_encoding.to_json()},
                      {"fill_value", fill_value.to_v3()},
                      {"codecs", std::move(codec_list)},
                      {"attributes", attributes}};
  if (!dimension_names.empty()) {
    JsonArray names;
    for (const auto& name : dimension_names) names.push_back(name ? Json(*name) : Json());
    document.set("dimension_names", std::move(names));
  }
  document.set("zarr_format", 3);
  document.set("node_type", "array");
  document.set("storage_transformers", JsonArray{});
  for (const auto& [name, value] : extra_members) document.set(name, value);
  return document;
}

}  // namespace zarrive
