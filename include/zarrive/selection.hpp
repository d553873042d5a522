// Selections: which elements of an array. One type for every kind, taken by every read and write:
//
//   Selection{5, slice(1, 9), ellipsis}       basic: integers (drop their dimension), slices, an ellipsis; or as text "5, 1:9, ..."
//   oindex({{3, 1, 1}, slice(1, 9), flags})   orthogonal: lists and flags along dimensions, each by itself; as text "[3, 1, 1], 1:9"
//   vindex({rows, columns})                   coordinate: one integer array a dimension, broadcast against each other
//   mask(flags_of_the_arrays_shape)           mask: the elements whose flag is set, in C order
//   blocks({1, slice(0, 2)})                  block: indices into the chunk grid
//   field("x"), any_selection.fields({"x", "y"})   of structured types: with any of the above
//
// The words and meanings are those of zarr-python (which has oindex, vindex, blocks) and NumPy.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/export.hpp"

namespace zarrive {

struct ArrayView;

struct None {};
inline constexpr None none;
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;

// Any integer type but bool, which is a flag and no position.
template <class T>
concept PositionInteger = std::integral<T> && !std::same_as<T, bool>;

// start:stop:step as in Python: negative positions count from the end, absent ones mean "from the first" and "to the last".
struct Slice {
  std::optional<std::int64_t> start = {};
  std::optional<std::int64_t> stop = {};
  std::optional<std::int64_t> step = {};
};

class SliceBound {
 public:
  SliceBound(None) {}
  template <std::integral T>
  SliceBound(T value) : value_(static_cast<std::int64_t>(value)) {}
  std::optional<std::int64_t> value() const { return value_; }

 private:
  std::optional<std::int64_t> value_;
};
inline Slice slice(SliceBound stop) { return {{}, stop.value(), {}}; }
inline Slice slice(SliceBound start, SliceBound stop, SliceBound step = none) {
  return {start.value(), stop.value(), step.value()};
}

// Positions along a dimension; negative ones count from the end. Copies share the numbers. Any shape, C order; most are 1-d.
class ZARRIVE_API IntegerArray {
 public:
  IntegerArray() : IntegerArray(std::vector<std::int64_t>{}) {}
  template <PositionInteger T>
  IntegerArray(T position) : IntegerArray(std::vector<std::int64_t>{checked(position)}, Shape{}) {}  // 0-d
  IntegerArray(std::initializer_list<std::int64_t> positions)
      : IntegerArray(std::vector<std::int64_t>(positions)) {}
  IntegerArray(std::vector<std::int64_t> positions);
  // Error(invalid_argument) unless there are as many positions as the shape has elements.
  IntegerArray(std::vector<std::int64_t> positions, Shape shape);
  template <PositionInteger T>
  IntegerArray(const std::vector<T>& positions) : IntegerArray(widened(positions)) {}
  template <PositionInteger T>
  IntegerArray(const std::vector<T>& positions, Shape shape)
      : IntegerArray(widened(positions), std::move(shape)) {}
  // Copies a host view of any strides and an integer type of 8 to 64 bits; else Error(invalid_argument).
  IntegerArray(const ArrayView& view);

  const Shape& shape() const noexcept { return shape_; }
  std::size_t size() const noexcept { return positions_->size(); }
  std::span<const std::int64_t> positions() const noexcept { return *positions_; }
  const std::shared_ptr<const std::vector<std::int64_t>>& shared() const noexcept { return positions_; }

 private:
  // Positions beyond int64 are outside every dimension, and are refused as such later.
  template <PositionInteger T>
  static std::int64_t checked(T position) {
    return std::in_range<std::int64_t>(position) ? static_cast<std::int64_t>(position)
                                                 : std::numeric_limits<std::int64_t>::max();
  }
  template <PositionInteger T>
  static std::vector<std::int64_t> widened(const std::vector<T>& positions) {
    std::vector<std::int64_t> out;
    out.reserve(positions.size());
    for (T position : positions) out.push_back(checked(position));
    return out;
  }

  std::shared_ptr<const std::vector<std::int64_t>> positions_;
  Shape shape_;
};

// Flags: which positions are wanted. Kept as the positions of those that are set, so it costs what it selects.
class ZARRIVE_API BooleanArray {
 public:
  BooleanArray(const std::vector<bool>& flags);
  // Error(invalid_argument) unless there are as many flags as the shape has elements.
  BooleanArray(const std::vector<bool>& flags, Shape shape);
  // A host view of any strides and type bool; else Error(invalid_argument).
  BooleanArray(const ArrayView& view);

  const Shape& shape() const noexcept { return shape_; }
  // Positions (in C order of the shape) whose flag is set, ascending.
  std::span<const std::uint64_t> positions() const noexcept { return *positions_; }
  const std::shared_ptr<const std::vector<std::uint64_t>>& shared() const noexcept { return positions_; }

 private:
  std::shared_ptr<const std::vector<std::uint64_t>> positions_;
  Shape shape_;
};

// One entry: an integer (drops the dimension), a slice, an ellipsis (as many full slices as are missing), or a list of positions or flags.
using SelectionItem = std::variant<std::int64_t, Slice, Ellipsis, IntegerArray, BooleanArray>;

enum class SelectionKind : std::uint8_t { basic, orthogonal, coordinate, mask, block };

class ZARRIVE_API Selection {
 public:
  Selection() = default;  // everything
  // "0:10, ..., ::-2", as between NumPy's brackets; "[3, 1, 1]" is a list of positions along one dimension (then as oindex).
  // Error(invalid_argument) shows where the text goes wrong.
  Selection(std::string_view text);
  Selection(const char* text) : Selection(std::string_view(text)) {}
  Selection(const std::string& text) : Selection(std::string_view(text)) {}
  // Basic; orthogonal when there is a list among the items.
  Selection(std::vector<SelectionItem> items);

  // Items of the basic kinds: Selection{slice(1, 3), ellipsis, 5}. Lists need oindex or vindex, which mean different things.
  struct Item {
    SelectionItem item;
    template <std::integral T>
    Item(T value) : item(static_cast<std::int64_t>(value)) {}
    Item(Slice value) : item(value) {}
    Item(Ellipsis value) : item(value) {}
  };
  Selection(std::initializer_list<Item> items);

  // The box [start, start + extent).
  static Selection box(std::span<const std::uint64_t> start, std::span<const std::uint64_t> extent);

  // The same elements, but of a structured type only this field: elements have the field's type, and a field that is a subarray adds
  // its dimensions at the end of the result.
  Selection field(std::string name) const;
  // Several fields: elements have the structured type of these, in this order. One name gives a structured type of one field.
  Selection fields(std::vector<std::string> names) const;

  SelectionKind kind() const noexcept { return kind_; }
  // Basic and orthogonal: an entry a dimension at most. Coordinate: an IntegerArray a dimension. Mask: one BooleanArray. Block: basic
  // entries over the chunk grid.
  const std::vector<SelectionItem>& items() const noexcept { return items_; }
  const std::vector<std::string>& field_names() const noexcept { return fields_; }  // empty: whole elements
  bool is_single_field() const noexcept { return single_field_; }                   // made by field()
  std::string to_string() const;  // for messages; long lists are abbreviated

 private:
  friend ZARRIVE_API Selection vindex(std::vector<IntegerArray> coordinates);
  friend ZARRIVE_API Selection mask(BooleanArray flags);
  friend ZARRIVE_API Selection blocks(std::vector<SelectionItem> items);
  SelectionKind kind_ = SelectionKind::basic;
  std::vector<SelectionItem> items_;
  std::vector<std::string> fields_;
  bool single_field_ = false;
};

// An entry of oindex: what Selection::Item takes, a list of positions, or a flag for each position of the dimension.
struct OrthogonalItem {
  SelectionItem item;
  template <PositionInteger T>
  OrthogonalItem(T value) : item(static_cast<std::int64_t>(value)) {}
  OrthogonalItem(Slice value) : item(value) {}
  OrthogonalItem(Ellipsis value) : item(value) {}
  OrthogonalItem(IntegerArray positions) : item(std::move(positions)) {}
  OrthogonalItem(BooleanArray flags) : item(std::move(flags)) {}
  OrthogonalItem(std::initializer_list<std::int64_t> positions) : item(IntegerArray(positions)) {}
  template <PositionInteger T>
  OrthogonalItem(const std::vector<T>& positions) : item(IntegerArray(positions)) {}
  OrthogonalItem(const std::vector<bool>& flags) : item(BooleanArray(flags)) {}
};

// Orthogonal: each list selects along its own dimension, in its order, repeats included (writes: the last of them wins). The result has
// the length of the list there. oindex({{3, 1, 1}, slice(2, 9), flags, ellipsis}) is zarr-python's oindex[[3, 1, 1], 2:9, flags, ...].
ZARRIVE_API Selection oindex(std::initializer_list<OrthogonalItem> items);
ZARRIVE_API Selection oindex(std::vector<SelectionItem> items);

// Coordinate: the elements at (c0[i], c1[i], ...), one array of positions a dimension. Arrays of other shapes, and single integers, are
// broadcast as in NumPy; the result has the shape that comes out. Points may repeat and come in any order (writes: the last wins).
ZARRIVE_API Selection vindex(std::vector<IntegerArray> coordinates);
inline Selection vindex(std::initializer_list<IntegerArray> coordinates) {
  return vindex(std::vector<IntegerArray>(coordinates));
}

// Mask: the elements whose flag is set, as a 1-d result in C order. The flags have the array's shape: mask(view), mask({flags, shape}).
ZARRIVE_API Selection mask(BooleanArray flags);

// Block: whole chunks, by integers and slices (step 1) over the chunk grid; negative ones count from the end. No dimension is dropped.
ZARRIVE_API Selection blocks(std::vector<SelectionItem> items);
ZARRIVE_API Selection blocks(std::initializer_list<Selection::Item> items);

// Everything, of these fields.
inline Selection field(std::string name) { return Selection().field(std::move(name)); }
inline Selection fields(std::vector<std::string> names) { return Selection().fields(std::move(names)); }

// --- a selection for a given shape ---

// Along one dimension: the positions start, start + step, ... (count of them), or a list.
struct ZARRIVE_API ResolvedDimension {
  std::uint64_t start = 0;
  std::int64_t step = 1;  // not zero; negative walks down
  std::uint64_t count = 0;
  bool dropped = false;  // an integer: the dimension is not in the result
  // A list: `count` positions in any order, with repeats; start and step mean nothing then. Null for a range.
  std::shared_ptr<const std::uint64_t[]> positions = {};

  bool is_list() const noexcept { return positions != nullptr; }
  std::uint64_t position(std::uint64_t i) const noexcept {
    return positions ? positions[static_cast<std::ptrdiff_t>(i)]
                     : start + i * static_cast<std::uint64_t>(step);
  }
  // The `length` positions from number `first` on. A list is shared, not copied.
  ResolvedDimension part(std::uint64_t first, std::uint64_t length) const;
};

// Single elements: element i of the result is at (coordinates[0][i], coordinates[1][i], ...).
struct ResolvedPoints {
  Shape shape = {};         // of the result
  std::uint64_t count = 0;  // element_count(shape)
  std::vector<std::shared_ptr<const std::uint64_t[]>> coordinates =
      {};  // one a dimension, `count` numbers each
};

struct ZARRIVE_API ResolvedSelection {
  std::vector<ResolvedDimension> dimensions = {};  // one a dimension; none when there are points
  std::optional<ResolvedPoints> points = {};       // of coordinate and mask selections
  Shape subarray = {};  // further dimensions of the result, of a field that is a subarray

  Shape result_shape() const;  // without dropped dimensions
  Shape full_shape() const;    // with them, as extent 1; without the subarray
  bool empty() const;          // selects nothing
};

// Error(out_of_bounds) for a position outside; slices are clipped. Error(invalid_argument) for too many entries, two ellipses, step 0, flags of
// another length or shape, coordinates that do not broadcast, and for block selections, which need the chunk grid (Array::resolve).
// Fields are not looked at.
ZARRIVE_API ResolvedSelection resolve(const Selection& selection, std::span<const std::uint64_t> shape);

}  // namespace zarrive
