#include "array/resolve.hpp"

#include <algorithm>

#include "zarrive/error.hpp"

namespace zarrive {
namespace {

ResolvedSelection resolve_blocks(const Selection& selection, const ArrayMetadata& metadata) {
  const ChunkGrid& grid = metadata.chunk_grid;
  const Shape counts = grid.grid_shape(metadata.shape);
  ResolvedSelection out;
  try {
    out = resolve(Selection(selection.items()), counts);  // in chunks
  } catch (const Error& error) {
    throw Error(error.code(), "'" + selection.to_string() + "' over the chunk grid " + to_string(counts) +
                                  ": " + error.message());
  }
  for (std::size_t d = 0; d < counts.size(); ++d) {
    ResolvedDimension& part = out.dimensions[d];
    if (part.step != 1)
      throw Error(ErrorCode::invalid_argument, "'" + selection.to_string() +
                                                   "': slices of a block selection have step 1, found " +
                                                   std::to_string(part.step));
    part.dropped = false;
    if (part.count == 0) continue;
    const std::uint64_t last = part.start + part.count - 1;
    part.start = grid.chunk_start(d, part.start);
    // The last chunk may reach past the array's end.
    const std::uint64_t edge =
        std::min(grid.chunk_edge(d, last), metadata.shape[d] - grid.chunk_start(d, last));
    part.count = grid.chunk_start(d, last) + edge - part.start;
  }
  return out;
}

}  // namespace

const StructField& field_of(const DataType& type, const std::string& name) {
  if (type.id() != TypeId::structured)
    throw Error(ErrorCode::invalid_argument, "the selection names the field \"" + name +
                                                 "\", but elements of type " + type.name() +
                                                 " have no fields");
  std::string known;
  for (const StructField& field : type.fields()) {
    if (field.name.empty()) continue;  // padding
    if (field.name == name) return field;
    known += (known.empty() ? "\"" : ", \"") + field.name + '"';
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no field \"" + name + "\" in " + type.name() + "; its fields are " + known);
}

ResolvedSelection resolve(const Selection& selection, const ArrayMetadata& metadata) {
  ResolvedSelection out = selection.kind() == SelectionKind::block
                              ? resolve_blocks(selection, metadata)
                              : resolve(selection, std::span<const std::uint64_t>(metadata.shape));
  for (const std::string& name : selection.field_names()) {
    const StructField& field = field_of(metadata.data_type, name);
    if (selection.is_single_field()) out.subarray = field.shape;
  }
  return out;
}

DataType selected_type(const Selection& selection, const DataType& type) {
  if (selection.field_names().empty()) return type;
  if (selection.is_single_field()) return field_of(type, selection.field_names()[0]).type;
  std::vector<StructField> fields;
  for (const std::string& name : selection.field_names()) {
    fields.push_back(field_of(type, name));
    fields.back().offset = 0;
  }
  return DataType::structured(std::move(fields));
}

}  // namespace zarrive
