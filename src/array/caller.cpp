#include "array/caller.hpp"

#include <algorithm>

#include "array/pieces.hpp"
#include "array/resolve.hpp"

namespace zarrive {

Caller::Caller(const ArrayMetadata& metadata, const ArrayView& memory)
    : view_(memory), converts_(!(memory.type == metadata.data_type)) {
  // Byte orders that types remember are the array's business.
  if (!converts_) view_.type = metadata.data_type;
}

Caller::Caller(const ArrayMetadata& metadata, const Selection& selection, const ResolvedSelection& resolved,
               const ArrayView& memory)
    : Caller(metadata, memory) {
  // The dimensions of a field's subarray are within the elements.
  view_.shape.resize(memory.shape.size() - resolved.subarray.size());
  view_.strides.resize(view_.shape.size());
  view_ = with_dropped_dimensions(view_, resolved);
  if (selection.field_names().empty()) return;
  converts_ = false;
  view_.type = memory.type;
  if (selection.is_single_field()) {
    add_field(field_of(metadata.data_type, selection.field_names()[0]), memory);
  } else {
    add_fields(selection, metadata.data_type);
  }
}

Caller Caller::over(const ArrayView& block) const {
  Caller out = *this;
  const DataType type = view_.type;
  out.view_ = block;
  out.view_.type = type;
  return out;
}

// As one run of bytes where the caller's memory has the field so, else element by element of its subarray.
void Caller::add_field(const StructField& field, const ArrayView& memory) {
  const std::size_t ndim = field.shape.size();
  const std::span<const std::int64_t> strides = std::span(memory.strides).last(ndim);
  const std::size_t item_size = field.type.item_size();
  const Strides dense = c_strides(field.shape, item_size);
  const std::uint64_t count = element_count(field.shape);
  if (count > 1 && field.type == memory.type && std::equal(dense.begin(), dense.end(), strides.begin())) {
    const DataType raw = DataType::raw(field.size());
    parts_.push_back({field.offset, 0, raw, raw});
    return;
  }
  Index at(ndim, 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < ndim; ++d) offset += static_cast<std::int64_t>(at[d]) * strides[d];
    parts_.push_back(
        {field.offset + static_cast<std::size_t>(i) * item_size, offset, field.type, memory.type});
    for (std::size_t d = ndim; d-- > 0;) {
      if (++at[d] < field.shape[d]) break;
      at[d] = 0;
    }
  }
}

// Bytes from field to field; fields that follow each other on both sides move as one.
void Caller::add_fields(const Selection& selection, const DataType& type) {
  struct Run {
    std::size_t from, to, size;
  };
  std::vector<Run> runs;
  std::size_t to = 0;
  for (const std::string& name : selection.field_names()) {
    const StructField& field = field_of(type, name);
    if (!runs.empty() && runs.back().from + runs.back().size == field.offset) {
      runs.back().size += field.size();
    } else {
      runs.push_back({field.offset, to, field.size()});
    }
    to += field.size();
  }
  for (const Run& run : runs) {
    const DataType raw = DataType::raw(run.size);
    parts_.push_back({run.from, static_cast<std::int64_t>(run.to), raw, raw});
  }
}

template <class Move>
void Caller::each_part(const ArrayView& chunk, const Move& move) const {
  for (const ElementPart& element : parts_) {
    ArrayView there = chunk, here = view_;
    there.data += element.chunk_offset;
    there.type = element.chunk_type;
    here.data += element.caller_offset;
    here.type = element.caller_type;
    move(there, here);
  }
}

void Caller::gather(const ArrayView& chunk, const ChunkPart& part) const {
  if (parts_.empty()) return zarrive::gather(chunk, part, view_);
  each_part(chunk,
            [&](const ArrayView& there, const ArrayView& here) { zarrive::gather(there, part, here); });
}

void Caller::scatter(const ChunkPart& part, const ArrayView& chunk) const {
  if (parts_.empty()) return zarrive::scatter(view_, part, chunk);
  each_part(chunk,
            [&](const ArrayView& there, const ArrayView& here) { zarrive::scatter(here, part, there); });
}

void Caller::fill(const ChunkPart& part, const FillValue& value) const {
  if (same_elements()) return fill_places(part, view_, value);
  const auto fill_from = [&](const DataType& type, std::span<const std::byte> element,
                             const ArrayView& here) {
    std::vector<std::byte> converted(here.type.item_size());
    if (type == here.type) std::copy(element.begin(), element.end(), converted.begin());
    else convert_elements(type, element.data(), 0, here.type, converted.data(), 0, 1);
    fill_places(part, here, FillValue::from_bytes(here.type, converted));
  };
  if (parts_.empty()) return fill_from(value.type(), value.bytes(), view_);
  for (const ElementPart& element : parts_) {
    ArrayView here = view_;
    here.data += element.caller_offset;
    here.type = element.caller_type;
    fill_from(element.chunk_type, value.bytes().subspan(element.chunk_offset, element.chunk_type.item_size()),
              here);
  }
}

}  // namespace zarrive
