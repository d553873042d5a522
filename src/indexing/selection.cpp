#include "zarrive/selection.hpp"

#include <charconv>
#include <limits>

#include "zarrive/error.hpp"

namespace zarrive {
namespace {

constexpr auto kMaxExtent = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// The size of a step, whichever way it goes.
std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

// The text form: entries separated by commas, spaces anywhere between tokens, one trailing comma allowed.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<SelectionItem> parse() {
    std::vector<SelectionItem> items;
    skip_spaces();
    while (at_ < text_.size()) {
      items.push_back(item());
      skip_spaces();
      if (at_ == text_.size()) break;
      if (text_[at_] != ',') fail("expected ',' or the end");
      ++at_;
      skip_spaces();
    }
    return items;
  }

 private:
  SelectionItem item() {
    if (text_.substr(at_, 3) == "...") {
      at_ += 3;
      return Ellipsis{};
    }
    std::optional<std::int64_t> parts[3];
    parts[0] = integer();
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != ':') {
      if (!parts[0]) fail("expected an integer, a slice such as 1:10:2, or '...'");
      return *parts[0];
    }
    for (int part = 1; part < 3 && at_ < text_.size() && text_[at_] == ':'; ++part) {
      ++at_;
      skip_spaces();
      parts[part] = integer();
      skip_spaces();
    }
    return Slice{parts[0], parts[1], parts[2]};
  }

  std::optional<std::int64_t> integer() {
    std::int64_t value = 0;
    auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status == std::errc::result_out_of_range) fail("the integer does not fit 64 bits");
    if (status != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::invalid_argument,
                "selection '" + std::string(text_) + "', character " + std::to_string(at_ + 1) + ": " + why);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// A slice over `extent` positions, as Python's slice.indices.
ResolvedDimension resolve_slice(const Slice& slice, std::uint64_t extent) {
  const std::int64_t step = slice.step.value_or(1);
  if (step == 0) throw Error(ErrorCode::invalid_argument, "a slice step of 0 is not allowed");
  if (extent > kMaxExtent)
    throw Error(ErrorCode::resource_limit,
                "a dimension of " + std::to_string(extent) + " elements exceeds 2^63 - 1");
  const auto length = static_cast<std::int64_t>(extent);
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? length : length - 1;
  auto clip = [&](const std::optional<std::int64_t>& bound, std::int64_t otherwise) {
    if (!bound) return otherwise;
    std::int64_t value = *bound;
    if (value < 0) value = value < -length ? low : value + length;
    return value < low ? low : value > high ? high : value;
  };
  const std::int64_t start = clip(slice.start, step > 0 ? low : high);
  const std::int64_t stop = clip(slice.stop, step > 0 ? high : low);
  ResolvedDimension out;
  out.step = step;
  if (step > 0 && start < stop)
    out.count = ceil_divide(static_cast<std::uint64_t>(stop - start), magnitude(step));
  if (step < 0 && start > stop)
    out.count = ceil_divide(static_cast<std::uint64_t>(start - stop), magnitude(step));
  if (out.count > 0) out.start = static_cast<std::uint64_t>(start);
  if (out.count <= 1) out.step = 1;  // never taken: one form for one meaning
  return out;
}

ResolvedDimension resolve_integer(std::int64_t position, std::uint64_t extent, std::size_t dimension) {
  const std::uint64_t distance = magnitude(position);
  if (position < 0 ? distance > extent : distance >= extent)
    throw Error(ErrorCode::out_of_bounds, "index " + std::to_string(position) + " is outside dimension " +
                                              std::to_string(dimension) + ", which has " +
                                              std::to_string(extent) + " elements");
  return {position < 0 ? extent - distance : distance, 1, 1, true};
}

}  // namespace

Selection::Selection(std::string_view text) : items_(Parser(text).parse()) {}

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

std::string Selection::to_string() const {
  std::string text;
  for (const SelectionItem& item : items_) {
    if (!text.empty()) text += ", ";
    if (const auto* position = std::get_if<std::int64_t>(&item)) {
      text += std::to_string(*position);
    } else if (const auto* slice = std::get_if<Slice>(&item)) {
      if (slice->start) text += std::to_string(*slice->start);
      text += ':';
      if (slice->stop) text += std::to_string(*slice->stop);
      if (slice->step) text += ':' + std::to_string(*slice->step);
    } else {
      text += "...";
    }
  }
  return text.empty() ? "..." : text;
}

Shape ResolvedSelection::result_shape() const {
  Shape shape;
  for (const ResolvedDimension& d : dimensions)
    if (!d.dropped) shape.push_back(d.count);
  return shape;
}

Shape ResolvedSelection::full_shape() const {
  Shape shape;
  for (const ResolvedDimension& d : dimensions) shape.push_back(d.count);
  return shape;
}

bool ResolvedSelection::empty() const {
  for (const ResolvedDimension& d : dimensions)
    if (d.count == 0) return true;
  return false;
}

ResolvedSelection resolve(const Selection& selection, std::span<const std::uint64_t> shape) {
  std::size_t given = 0;
  bool has_ellipsis = false;
  for (const SelectionItem& item : selection.items()) {
    if (!std::holds_alternative<Ellipsis>(item)) {
      ++given;
    } else if (has_ellipsis) {
      throw Error(ErrorCode::invalid_argument,
                  "selection '" + selection.to_string() + "' has more than one ellipsis");
    } else {
      has_ellipsis = true;
    }
  }
  if (given > shape.size())
    throw Error(ErrorCode::invalid_argument, "selection '" + selection.to_string() + "' has " +
                                                 std::to_string(given) + " entries for an array of " +
                                                 std::to_string(shape.size()) + " dimensions");
  ResolvedSelection out;
  out.dimensions.reserve(shape.size());
  auto take_full = [&](std::size_t count) {
    for (; count > 0; --count) out.dimensions.push_back(resolve_slice({}, shape[out.dimensions.size()]));
  };
  for (const SelectionItem& item : selection.items()) {
    const std::size_t d = out.dimensions.size();
    if (const auto* position = std::get_if<std::int64_t>(&item)) {
      out.dimensions.push_back(resolve_integer(*position, shape[d], d));
    } else if (const auto* slice = std::get_if<Slice>(&item)) {
      out.dimensions.push_back(resolve_slice(*slice, shape[d]));
    } else {
      take_full(shape.size() - given);
    }
  }
  take_full(shape.size() - out.dimensions.size());
  return out;
}

}  // namespace zarrive
