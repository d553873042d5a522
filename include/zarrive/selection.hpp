// Selections: which elements of an array, in the words of NumPy basic indexing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/export.hpp"

namespace zarrive {

struct None {};
inline constexpr None none;
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;

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

// One entry: an integer (drops the dimension), a slice, or an ellipsis (as many full slices as are missing).
using SelectionItem = std::variant<std::int64_t, Slice, Ellipsis>;

class ZARRIVE_API Selection {
 public:
  Selection() = default;  // everything
  // "0:10, ..., ::-2", as between NumPy's brackets. Error(invalid_argument) shows where the text goes wrong.
  Selection(std::string_view text);
  Selection(const char* text) : Selection(std::string_view(text)) {}
  Selection(const std::string& text) : Selection(std::string_view(text)) {}
  Selection(std::vector<SelectionItem> items) : items_(std::move(items)) {}

  // Items of any of the kinds above: Selection{slice(1, 3), ellipsis, 5}.
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

  const std::vector<SelectionItem>& items() const noexcept { return items_; }
  std::string to_string() const;

 private:
  std::vector<SelectionItem> items_;
};

// A selection for a given shape: along each array dimension the positions start, start + step, ... (count of them).
struct ResolvedDimension {
  std::uint64_t start = 0;
  std::int64_t step = 1;  // not zero; negative walks down
  std::uint64_t count = 0;
  bool dropped = false;  // an integer: the dimension is not in the result
};
struct ZARRIVE_API ResolvedSelection {
  std::vector<ResolvedDimension> dimensions = {};
  Shape result_shape() const;  // without dropped dimensions
  Shape full_shape() const;    // with them, as extent 1
  bool empty() const;          // selects nothing
};

// Error(out_of_bounds) for an integer outside, Error(invalid_argument) for too many entries, two ellipses or step 0; slices are clipped.
ZARRIVE_API ResolvedSelection resolve(const Selection& selection, std::span<const std::uint64_t> shape);

}  // namespace zarrive
