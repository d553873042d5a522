// What array metadata of both formats has in common.
#include <algorithm>

#include "metadata/dimension_names.hpp"
#include "metadata/object_codec.hpp"
#include "metadata/reading.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {

namespace {

[[noreturn]] void invalid(std::string message) {
  throw Error(ErrorCode::invalid_metadata, std::move(message));
}

void check_v2(const ArrayMetadata& array) {
  if (!array.chunk_grid.is_regular()) invalid("a chunk grid of Zarr v2 must be regular");
  if (array.chunk_key_encoding.kind != ChunkKeyEncoding::Kind::v2)
    invalid("the chunk key encoding of Zarr v2 must be \"v2\"");
  if (array.order != 'C' && array.order != 'F') invalid("the order must be \"C\" or \"F\"");
  if (!array.codecs.empty()) invalid("an array of Zarr v2 has filters and a compressor, no codecs");
  if (!array.extra_members.empty())
    invalid("a document of Zarr v2 has no further members, found " +
            quoted(array.extra_members.begin()->first));
  if (array.data_type.is_variable()) {
    const DataType needed = metadata::object_type(array.filters, array.compressor);
    if (!(needed == array.data_type))
      invalid("the data type is " + array.data_type.name() +
              ", but the object codec among the filters holds " + needed.name());
  }
}

void check_v3(const ArrayMetadata& array) {
  if (array.codecs.empty()) invalid("an array of Zarr v3 must have at least one codec");
  if (!array.filters.empty() || array.compressor)
    invalid("an array of Zarr v3 has codecs, no filters and no compressor");
  if (array.order != 'C')
    invalid("the order of Zarr v3 is \"C\"; other orders are made by the codec \"transpose\"");
  if (array.fill_value.is_undefined()) invalid("the fill value of Zarr v3 must not be null");
}

// Of the largest chunk.
Shape largest_chunk(const ChunkGrid& grid) {
  if (grid.is_regular()) return grid.chunk_shape();
  Shape shape;
  for (const ChunkGrid::Dimension& dimension : grid.dimensions())
    shape.push_back(
        std::max_element(dimension.runs.begin(), dimension.runs.end(), [](const auto& a, const auto& b) {
          return a.edge < b.edge;
        })->edge);
  return shape;
}

// The attributes with the dimension names in the place that xarray gives them in v2.
JsonObject v2_attributes(const ArrayMetadata& array) {
  JsonObject attributes = array.attributes;
  if (array.dimension_names.empty()) return attributes;
  if (metadata::v2_dimension_names(attributes, nullptr, array.shape.size()) == array.dimension_names)
    return attributes;
  JsonArray names;
  for (const auto& name : array.dimension_names) {
    if (!name)
      throw Error(ErrorCode::invalid_argument,
                  "dimension " + std::to_string(names.size()) +
                      " has no name; in Zarr v2 either all dimensions are named, or none");
    names.emplace_back(*name);
  }
  attributes.set("_ARRAY_DIMENSIONS", std::move(names));
  return attributes;
}

}  // namespace

void ArrayMetadata::validate() const {
  if (shape.size() > max_dimensions)
    throw Error(ErrorCode::resource_limit, "the array has " + std::to_string(shape.size()) +
                                               " dimensions, at most " + std::to_string(max_dimensions) +
                                               " are supported");
  for (std::uint64_t extent : shape)
    if (extent > max_extent) invalid("the shape " + to_string(shape) + " has a dimension of 2^63 or more");
  chunk_grid.check(shape);
  if (!dimension_names.empty() && dimension_names.size() != shape.size())
    invalid("found " + std::to_string(dimension_names.size()) + " dimension names, expected " +
            std::to_string(shape.size()) + ", one for each dimension of the shape, or none");
  if (!(fill_value.type() == data_type))
    invalid("the fill value is of type " + fill_value.type().name() + ", expected " + data_type.name());
  if (chunk_key_encoding.separator != '.' && chunk_key_encoding.separator != '/')
    invalid("the separator must be \".\" or \"/\"");
  for (const auto* specs : {&codecs, &filters})
    for (const CodecSpec& codec : *specs)
      if (codec.name.empty()) invalid("found a codec without a name");
  if (compressor && compressor->name.empty()) invalid("found a compressor without an id");
  byte_count(largest_chunk(chunk_grid), data_type.item_size());  // a chunk must fit in the address space
  format == ZarrFormat::v2 ? check_v2(*this) : check_v3(*this);
}

std::vector<std::pair<std::string, Json>> ArrayMetadata::to_documents() const {
  std::vector<std::pair<std::string, Json>> documents;
  if (format == ZarrFormat::v3) {
    documents.emplace_back("zarr.json", to_v3());
    return documents;
  }
  documents.emplace_back(".zarray", to_v2_zarray());
  if (JsonObject all = v2_attributes(*this); !all.empty()) documents.emplace_back(".zattrs", std::move(all));
  return documents;
}

std::uint64_t ArrayMetadata::chunk_count() const { return element_count(chunk_grid.grid_shape(shape)); }

}  // namespace zarrive
