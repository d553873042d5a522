// Array documents of Zarr v2: .zarray and .zattrs.
#include "metadata/dimension_names.hpp"
#include "metadata/object_codec.hpp"
#include "metadata/reading.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {

namespace {

using namespace metadata;

constexpr std::string_view document_name = ".zarray";

CodecSpec codec_of(const Json& value, const std::string& member) {
  constexpr std::string_view expected = "an object with the \"id\" of a codec";
  if (!value.is_object()) fail(member, value, expected);
  const Json* id = value.find("id");
  if (!id || !id->is_string() || id->as_string().empty()) fail(member, value, expected);
  CodecSpec codec{.name = id->as_string(), .configuration = value.as_object()};
  codec.configuration.erase("id");
  return codec;
}

std::vector<CodecSpec> filters_of(const Json& value, const Warn& warn) {
  std::vector<CodecSpec> filters;
  if (value.is_null()) return filters;
  if (!value.is_array()) fail("filters", value, "null or a list of codecs");
  if (value.as_array().empty()) warn("member \"filters\" is an empty list, which is taken as null");
  for (const Json& item : value.as_array())
    filters.push_back(codec_of(item, "filters[" + std::to_string(filters.size()) + "]"));
  return filters;
}

// Chunk edges of 0 occur where the array has no elements.
Shape chunks_of(const Json& value, const Shape& shape, const Warn& warn) {
  Shape chunks = extents_of(value, "chunks", 0);
  if (chunks.size() != shape.size())
    fail("chunks", value, std::to_string(shape.size()) + " entries, one for each dimension of \"shape\"");
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i] != 0) continue;
    if (shape[i] != 0) fail("chunks", value, "integers from 1 to 2^63 - 1 (0 only where \"shape\" is 0)");
    warn("member \"chunks\" has an edge of 0 for dimension " + std::to_string(i) + ", which is taken as 1");
    chunks[i] = 1;
  }
  return chunks;
}

char separator_of(const JsonObject& members, const MetadataOptions& options, const Warn& warn) {
  const char absent = options.missing_separator_is_slash ? '/' : '.';
  const Json* value = members.find("dimension_separator");
  if (!value) return absent;
  if (value->is_null()) {
    warn("member \"dimension_separator\" is null, which is taken as absent");
    return absent;
  }
  if (!value->is_string() || (value->as_string() != "." && value->as_string() != "/"))
    fail("dimension_separator", *value, "\".\" or \"/\"");
  return value->as_string()[0];
}

Json v2_json(const CodecSpec& codec) {
  JsonObject object{{"id", codec.name}};
  for (const auto& [name, value] : codec.configuration) object.set(name, value);
  return object;
}

Json list_of(const Shape& shape) {
  JsonArray list;
  for (std::uint64_t extent : shape) list.emplace_back(extent);
  return list;
}

}  // namespace

ArrayMetadata ArrayMetadata::from_v2(const Json& zarray, const Json& zattrs, const MetadataOptions& options) {
  const Warn warn = warner(options);
  const JsonObject& members = members_of(zarray, document_name);
  const auto member = [&](std::string_view name, std::string_view expected) -> const Json& {
    return required(members, name, document_name, expected);
  };
  const Json& version = member("zarr_format", "2");
  if (version.to_uint64() != std::uint64_t{2}) fail("zarr_format", version, "2");

  ArrayMetadata array;
  array.format = ZarrFormat::v2;
  array.shape = extents_of(member("shape", "a list of integers"), "shape", 0);
  array.chunk_grid = ChunkGrid::regular(chunks_of(member("chunks", "a list of integers"), array.shape, warn));
  const Json& order = member("order", "\"C\" or \"F\"");
  if (!order.is_string() || (order.as_string() != "C" && order.as_string() != "F"))
    fail("order", order, "\"C\" or \"F\"");
  array.order = order.as_string()[0];
  array.filters = filters_of(member("filters", "null or a list of codecs"), warn);
  const Json& compressor = member("compressor", "null or a codec");
  if (!compressor.is_null()) array.compressor = codec_of(compressor, "compressor");
  array.data_type = DataType::from_v2(member("dtype", "a NumPy type string or a list of fields"), warn);
  if (array.data_type.id() == TypeId::object) array.data_type = object_type(array.filters, array.compressor);
  array.fill_value =
      FillValue::from_v2(member("fill_value", "a value of the data type, or null"), array.data_type, warn);
  array.chunk_key_encoding = {.kind = ChunkKeyEncoding::Kind::v2,
                              .separator = separator_of(members, options, warn)};
  array.attributes = attributes_of(zattrs.is_null() ? nullptr : &zattrs, ".zattrs", warn);
  array.dimension_names = v2_dimension_names(array.attributes, &members, array.shape.size());
  array.validate();
  return array;
}

Json ArrayMetadata::to_v2_zarray() const {
  if (format != ZarrFormat::v2)
    throw Error(ErrorCode::invalid_argument, "metadata of Zarr v3 has no .zarray document");
  validate();
  JsonArray filter_list;
  for (const CodecSpec& filter : filters) filter_list.push_back(v2_json(filter));
  return JsonObject{{"shape", list_of(shape)},
                    {"chunks", list_of(chunk_grid.chunk_shape())},
                    {"dtype", data_type.is_variable() ? Json("|O") : data_type.to_v2()},
                    {"fill_value", fill_value.to_v2()},
                    {"order", std::string(1, order)},
                    {"filters", filters.empty() ? Json() : Json(std::move(filter_list))},
                    {"dimension_separator", std::string(1, chunk_key_encoding.separator)},
                    {"compressor", compressor ? v2_json(*compressor) : Json()},
                    {"zarr_format", 2}};
}

}  // namespace zarrive
