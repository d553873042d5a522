#include "support/dense_array.hpp"

#include <algorithm>
#include <stdexcept>

namespace zarrive::testing_support {
namespace {

std::uint64_t wrapped(std::int64_t position, std::uint64_t length) {
  const std::int64_t at = position < 0 ? position + static_cast<std::int64_t>(length) : position;
  if (at < 0 || static_cast<std::uint64_t>(at) >= length) throw std::out_of_range("position");
  return static_cast<std::uint64_t>(at);
}

// Replaces an ellipsis, and what is missing at the end, by full slices.
std::vector<SelectionItem> completed(const std::vector<SelectionItem>& items, std::size_t ndim) {
  std::vector<SelectionItem> out;
  bool found = false;
  const auto missing = [&](std::size_t given) {
    for (std::size_t i = given; i < ndim; ++i) out.emplace_back(Slice{});
  };
  for (const SelectionItem& item : items) {
    if (std::holds_alternative<Ellipsis>(item)) {
      missing(items.size() - 1);
      found = true;
    } else {
      out.push_back(item);
    }
  }
  if (!found) missing(items.size());
  return out;
}

std::uint64_t flat(const Shape& shape, const std::vector<std::uint64_t>& at) {
  std::uint64_t out = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) out = out * shape[d] + at[d];
  return out;
}

// Calls visit(index) for each index of a shape, in C order.
template <class Visit>
void each_index(const Shape& shape, const Visit& visit) {
  const std::uint64_t count = element_count(shape);
  for (std::uint64_t i = 0; i < count; ++i) {
    Index at(shape.size());
    std::uint64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
    visit(at);
  }
}

}  // namespace

std::vector<std::uint64_t> python_slice(const Slice& slice, std::uint64_t length) {
  const auto n = static_cast<std::int64_t>(length);
  const std::int64_t step = slice.step.value_or(1);
  const std::int64_t low = step < 0 ? -1 : 0;
  const std::int64_t high = step < 0 ? n - 1 : n;
  const auto bound = [&](std::optional<std::int64_t> value, std::int64_t otherwise) {
    if (!value) return otherwise;
    return std::clamp(*value < 0 ? *value + n : *value, low, high);
  };
  std::vector<std::uint64_t> out;
  const std::int64_t stop = bound(slice.stop, step < 0 ? low : high);
  for (std::int64_t i = bound(slice.start, step < 0 ? high : low); step < 0 ? i > stop : i < stop; i += step)
    out.push_back(static_cast<std::uint64_t>(i));
  return out;
}

DenseArray::DenseArray(DataType type, Shape shape, ChunkGrid grid, std::string fill)
    : type_(std::move(type)), shape_(std::move(shape)), grid_(std::move(grid)), fill_(std::move(fill)) {
  elements_.assign(static_cast<std::size_t>(element_count(shape_)), fill_);
}

DenseArray::Places DenseArray::orthogonal(const Selection& selection) const {
  const std::vector<SelectionItem> items = completed(selection.items(), shape_.size());
  Places out;
  Shape full;
  std::vector<std::vector<std::uint64_t>> along;
  for (std::size_t d = 0; d < items.size(); ++d) {
    std::vector<std::uint64_t> positions;
    if (const auto* one = std::get_if<std::int64_t>(&items[d])) {
      positions = {wrapped(*one, shape_[d])};
    } else if (const auto* slice = std::get_if<Slice>(&items[d])) {
      positions = python_slice(*slice, shape_[d]);
    } else if (const auto* list = std::get_if<IntegerArray>(&items[d])) {
      for (const std::int64_t position : list->positions()) positions.push_back(wrapped(position, shape_[d]));
    } else {
      const auto set = std::get<BooleanArray>(items[d]).positions();
      positions.assign(set.begin(), set.end());
    }
    full.push_back(positions.size());
    if (!std::holds_alternative<std::int64_t>(items[d])) out.shape.push_back(positions.size());
    along.push_back(std::move(positions));
  }
  each_index(full, [&](const Index& at) {
    Index position(at.size());
    for (std::size_t d = 0; d < at.size(); ++d) position[d] = along[d][at[d]];
    out.elements.push_back(flat(shape_, position));
  });
  return out;
}

DenseArray::Places DenseArray::coordinates(const Selection& selection) const {
  Places out;
  std::vector<IntegerArray> arrays;
  for (const SelectionItem& item : selection.items()) arrays.push_back(std::get<IntegerArray>(item));
  std::size_t ndim = 0;
  for (const IntegerArray& array : arrays) ndim = std::max(ndim, array.shape().size());
  // NumPy: lengths are compared from the last dimension on; 1 gives way to anything.
  for (std::size_t k = ndim; k > 0; --k) {  // k-th from the end
    std::uint64_t length = 1;
    for (const IntegerArray& array : arrays) {
      if (array.shape().size() < k) continue;
      const std::uint64_t own = array.shape()[array.shape().size() - k];
      if (own != 1) length = own;
    }
    out.shape.push_back(length);
  }
  each_index(out.shape, [&](const Index& at) {
    Index position;
    for (std::size_t d = 0; d < arrays.size(); ++d) {
      const Shape& own = arrays[d].shape();
      std::uint64_t i = 0;
      for (std::size_t k = 0; k < own.size(); ++k)
        i = i * own[k] + (own[k] == 1 ? 0 : at[at.size() - own.size() + k]);
      position.push_back(wrapped(arrays[d].positions()[static_cast<std::size_t>(i)], shape_[d]));
    }
    out.elements.push_back(flat(shape_, position));
  });
  return out;
}

DenseArray::Places DenseArray::blocks(const Selection& selection) const {
  Shape counts;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    std::uint64_t chunks = 0;
    for (std::uint64_t covered = 0; covered < shape_[d]; ++chunks) covered += grid_.chunk_edge(d, chunks);
    counts.push_back(chunks);
  }
  const std::vector<SelectionItem> items = completed(selection.items(), shape_.size());
  std::vector<SelectionItem> lists;
  for (std::size_t d = 0; d < items.size(); ++d) {
    std::vector<std::uint64_t> chunks;
    if (const auto* one = std::get_if<std::int64_t>(&items[d])) chunks = {wrapped(*one, counts[d])};
    else chunks = python_slice(std::get<Slice>(items[d]), counts[d]);
    std::vector<std::int64_t> positions;
    for (const std::uint64_t chunk : chunks) {
      std::uint64_t at = 0;
      for (std::uint64_t c = 0; c < chunk; ++c) at += grid_.chunk_edge(d, c);
      for (std::uint64_t i = 0; i < grid_.chunk_edge(d, chunk) && at < shape_[d]; ++i)
        positions.push_back(static_cast<std::int64_t>(at++));
    }
    lists.emplace_back(IntegerArray(std::move(positions)));
  }
  return orthogonal(Selection(lists));
}

DenseArray::Places DenseArray::places(const Selection& selection) const {
  switch (selection.kind()) {
    case SelectionKind::coordinate: return coordinates(selection);
    case SelectionKind::block: return blocks(selection);
    case SelectionKind::mask: {
      const auto set = std::get<BooleanArray>(selection.items()[0]).positions();
      return {{set.size()}, {set.begin(), set.end()}};
    }
    default: return orthogonal(selection);
  }
}

DenseArray::Fields DenseArray::fields(const Selection& selection) const {
  Fields out;
  out.type = type_;
  if (selection.field_names().empty()) {
    out.parts = {{{0, std::string::npos}}};
    return out;
  }
  std::vector<StructField> chosen;
  for (const std::string& name : selection.field_names())
    for (const StructField& field : type_.fields())
      if (field.name == name) chosen.push_back(field);
  if (selection.is_single_field()) {
    out.type = chosen[0].type;
    out.subarray = chosen[0].shape;
    for (std::uint64_t i = 0; i < element_count(out.subarray); ++i)
      out.parts.push_back({{chosen[0].offset + i * out.type.item_size(), out.type.item_size()}});
    return out;
  }
  auto& parts = out.parts.emplace_back();
  for (StructField& field : chosen) {
    parts.emplace_back(field.offset, field.size());
    field.offset = 0;
  }
  out.type = DataType::structured(chosen);
  return out;
}

DenseArray::Result DenseArray::read(const Selection& selection) const {
  const Places found = places(selection);
  const Fields chosen = fields(selection);
  Result result{found.shape, chosen.type, {}};
  result.shape.insert(result.shape.end(), chosen.subarray.begin(), chosen.subarray.end());
  for (const std::uint64_t place : found.elements)
    for (const auto& parts : chosen.parts) {
      std::string& value = result.elements.emplace_back();
      for (const auto& [offset, size] : parts) value += elements_[place].substr(offset, size);
    }
  return result;
}

void DenseArray::write(const Selection& selection, const Elements& values) {
  const Fields chosen = fields(selection);
  std::size_t next = 0;
  for (const std::uint64_t place : places(selection).elements)
    for (const auto& parts : chosen.parts) {
      const std::string& value = values.at(next++);
      std::size_t from = 0;
      for (const auto& [offset, size] : parts) {
        if (size == std::string::npos) elements_[place] = value;
        else elements_[place].replace(offset, size, value, from, size);
        from += size;
      }
    }
}

void DenseArray::resize(const Shape& shape, const ChunkGrid& grid) {
  Elements resized;
  each_index(shape, [&](const Index& at) {
    bool inside = true;
    for (std::size_t d = 0; d < at.size(); ++d) inside = inside && at[d] < shape_[d];
    resized.push_back(inside ? elements_[flat(shape_, at)] : fill_);
  });
  elements_ = std::move(resized);
  shape_ = shape;
  grid_ = grid;
}

}  // namespace zarrive::testing_support
