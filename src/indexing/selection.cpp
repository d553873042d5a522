#include "zarrive/selection.hpp"

#include <algorithm>
#include <cstring>

#include "indexing/selection_text.hpp"
#include "zarrive/error.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

constexpr auto kMaxExtent = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

void check_size(std::size_t size, const Shape& shape, const char* what) {
  if (element_count(shape) != size)
    throw Error(ErrorCode::invalid_argument, std::to_string(size) + ' ' + what + " do not fill the shape " +
                                                 to_string(shape) + " (" +
                                                 std::to_string(element_count(shape)) + " elements)");
}

void check_host(const ArrayView& view, const char* what) {
  if (!view.space.host_accessible())
    throw Error(ErrorCode::invalid_argument, std::string(what) + " in " + view.space.name() +
                                                 " cannot be read from the host; copy them to host memory");
}

// The view's elements in C order, in dense memory.
NDArray dense_copy(const ArrayView& view) {
  NDArray dense = NDArray::allocate(view.type, view.shape);
  copy(view, dense.view());
  return dense;
}

template <class T>
std::vector<std::int64_t> widen(const ArrayView& dense) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(dense.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, dense.data + i * sizeof(T), sizeof(T));
    out[i] = std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value)
                                                : std::numeric_limits<std::int64_t>::max();
  }
  return out;
}

std::vector<std::int64_t> positions_of(const ArrayView& view) {
  check_host(view, "positions");
  const NDArray dense = dense_copy(view);
  switch (view.type.id()) {
    case TypeId::int8: return widen<std::int8_t>(dense.view());
    case TypeId::int16: return widen<std::int16_t>(dense.view());
    case TypeId::int32: return widen<std::int32_t>(dense.view());
    case TypeId::int64: return widen<std::int64_t>(dense.view());
    case TypeId::uint8: return widen<std::uint8_t>(dense.view());
    case TypeId::uint16: return widen<std::uint16_t>(dense.view());
    case TypeId::uint32: return widen<std::uint32_t>(dense.view());
    case TypeId::uint64: return widen<std::uint64_t>(dense.view());
    default:
      throw Error(ErrorCode::invalid_argument,
                  "positions of type " + view.type.name() + "; an integer type of 8 to 64 bits was expected");
  }
}

std::vector<std::uint64_t> set_flags(const ArrayView& view) {
  check_host(view, "flags");
  if (view.type.id() != TypeId::boolean)
    throw Error(ErrorCode::invalid_argument, "flags of type " + view.type.name() + "; bool was expected");
  const NDArray copied = view.is_contiguous() ? NDArray() : dense_copy(view);
  const std::byte* flags = view.is_contiguous() ? view.data : copied.view().data;
  const std::uint64_t count = view.size();
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < count;) {
    std::uint64_t eight = 1;
    if (count - i >= 8) std::memcpy(&eight, flags + i, 8);
    if (eight == 0) {  // most masks have long stretches of nothing
      i += 8;
      continue;
    }
    for (const std::uint64_t end = std::min(count, i + 8); i < end; ++i)
      if (flags[i] != std::byte{0}) out.push_back(i);
  }
  return out;
}

std::vector<std::uint64_t> set_flags(const std::vector<bool>& flags) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) out.push_back(i);
  return out;
}

}  // namespace

// --- lists ---

IntegerArray::IntegerArray(std::vector<std::int64_t> positions)
    : positions_(std::make_shared<const std::vector<std::int64_t>>(std::move(positions))),
      shape_{positions_->size()} {}

IntegerArray::IntegerArray(std::vector<std::int64_t> positions, Shape shape)
    : positions_(std::make_shared<const std::vector<std::int64_t>>(std::move(positions))),
      shape_(std::move(shape)) {
  check_size(positions_->size(), shape_, "positions");
}

IntegerArray::IntegerArray(const ArrayView& view) : IntegerArray(positions_of(view), view.shape) {}

BooleanArray::BooleanArray(const std::vector<bool>& flags) : BooleanArray(flags, Shape{flags.size()}) {}

BooleanArray::BooleanArray(const std::vector<bool>& flags, Shape shape)
    : positions_(std::make_shared<const std::vector<std::uint64_t>>(set_flags(flags))),
      shape_(std::move(shape)) {
  check_size(flags.size(), shape_, "flags");
}

BooleanArray::BooleanArray(const ArrayView& view)
    : positions_(std::make_shared<const std::vector<std::uint64_t>>(set_flags(view))), shape_(view.shape) {}

// --- the kinds ---

Selection::Selection(std::string_view text) : Selection(parse_selection(text)) {}

Selection::Selection(std::vector<SelectionItem> items) : items_(std::move(items)) {
  for (const SelectionItem& item : items_)
    if (std::holds_alternative<IntegerArray>(item) || std::holds_alternative<BooleanArray>(item))
      kind_ = SelectionKind::orthogonal;
}

Selection::Selection(std::initializer_list<Item> items) {
  for (const Item& item : items) items_.push_back(item.item);
}

Selection Selection::box(std::span<const std::uint64_t> start, std::span<const std::uint64_t> extent) {
  if (start.size() != extent.size())
    throw Error(ErrorCode::invalid_argument, "a box needs as many extents (" + std::to_string(extent.size()) +
                                                 ") as starts (" + std::to_string(start.size()) + ")");
  std::vector<SelectionItem> items;
  for (std::size_t d = 0; d < start.size(); ++d) {
    const std::uint64_t stop = add(start[d], extent[d], "the end of a box");
    if (stop > kMaxExtent)
      throw Error(ErrorCode::out_of_bounds,
                  "a box that ends at " + std::to_string(stop) + " exceeds 2^63 - 1");
    items.push_back(
        Slice{static_cast<std::int64_t>(start[d]), static_cast<std::int64_t>(stop), std::nullopt});
  }
  return Selection(std::move(items));
}

Selection Selection::field(std::string name) const {
  Selection out = fields({std::move(name)});
  out.single_field_ = true;
  return out;
}

Selection Selection::fields(std::vector<std::string> names) const {
  if (names.empty())
    throw Error(ErrorCode::invalid_argument, "a selection of fields needs the name of one at least");
  if (!fields_.empty())
    throw Error(ErrorCode::invalid_argument,
                "the selection '" + to_string() + "' has chosen its fields already");
  Selection out = *this;
  out.fields_ = std::move(names);
  return out;
}

std::string Selection::to_string() const {
  std::string text = selection_text(items_);
  switch (kind_) {
    case SelectionKind::basic:
    case SelectionKind::orthogonal:
      if (text.empty()) text = "...";
      break;
    case SelectionKind::coordinate: text = "vindex(" + text + ')'; break;
    case SelectionKind::mask: text = "mask(" + text + ')'; break;
    case SelectionKind::block: text = "blocks(" + text + ')'; break;
  }
  if (fields_.empty()) return text;
  text += single_field_ ? ", field " : ", fields ";
  for (std::size_t i = 0; i < fields_.size(); ++i) text += (i ? ", \"" : "\"") + fields_[i] + '"';
  return text;
}

Selection oindex(std::initializer_list<OrthogonalItem> items) {
  std::vector<SelectionItem> all;
  for (const OrthogonalItem& item : items) all.push_back(item.item);
  return Selection(std::move(all));
}

Selection oindex(std::vector<SelectionItem> items) { return Selection(std::move(items)); }

Selection vindex(std::vector<IntegerArray> coordinates) {
  Selection out;
  out.kind_ = SelectionKind::coordinate;
  for (IntegerArray& positions : coordinates) out.items_.emplace_back(std::move(positions));
  return out;
}

Selection mask(BooleanArray flags) {
  Selection out;
  out.kind_ = SelectionKind::mask;
  out.items_.emplace_back(std::move(flags));
  return out;
}

Selection blocks(std::vector<SelectionItem> items) {
  Selection out(std::move(items));
  if (out.kind_ == SelectionKind::orthogonal)
    throw Error(ErrorCode::invalid_argument,
                "a block selection takes integers and slices over the chunk grid, not lists: '" +
                    out.to_string() + "'");
  out.kind_ = SelectionKind::block;
  return out;
}

Selection blocks(std::initializer_list<Selection::Item> items) {
  std::vector<SelectionItem> all;
  for (const Selection::Item& item : items) all.push_back(item.item);
  return blocks(std::move(all));
}

}  // namespace zarrive
