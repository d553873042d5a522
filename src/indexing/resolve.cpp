// Selections meet a shape: negative positions are counted from the end, slices clipped, lists checked, coordinates broadcast.
#include <algorithm>

#include "zarrive/error.hpp"
#include "zarrive/selection.hpp"

namespace zarrive {
namespace {

constexpr auto kMaxExtent = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

using Positions = std::shared_ptr<const std::uint64_t[]>;

// The size of a step, whichever way it goes.
std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

void check_extent(std::uint64_t extent) {
  if (extent > kMaxExtent)
    throw Error(ErrorCode::resource_limit,
                "a dimension of " + std::to_string(extent) + " elements exceeds 2^63 - 1");
}

// A slice over `extent` positions, as Python's slice.indices.
ResolvedDimension resolve_slice(const Slice& slice, std::uint64_t extent) {
  const std::int64_t step = slice.step.value_or(1);
  if (step == 0) throw Error(ErrorCode::invalid_argument, "a slice step of 0 is not allowed");
  check_extent(extent);
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

[[noreturn]] void fail_outside(std::int64_t position, std::uint64_t extent, std::size_t dimension) {
  throw Error(ErrorCode::out_of_bounds, "index " + std::to_string(position) + " is outside dimension " +
                                            std::to_string(dimension) + ", which has " +
                                            std::to_string(extent) + " elements");
}

std::uint64_t resolve_position(std::int64_t position, std::uint64_t extent, std::size_t dimension) {
  const std::uint64_t distance = magnitude(position);
  if (position < 0 ? distance > extent : distance >= extent) fail_outside(position, extent, dimension);
  return position < 0 ? extent - distance : distance;
}

ResolvedDimension resolve_integer(std::int64_t position, std::uint64_t extent, std::size_t dimension) {
  return {resolve_position(position, extent, dimension), 1, 1, true, {}};
}

// Checked positions. Shares the caller's numbers when none of them counts from the end.
Positions resolve_positions(const IntegerArray& list, std::uint64_t extent, std::size_t dimension) {
  check_extent(extent);
  const std::span<const std::int64_t> given = list.positions();
  bool negative = false;
  for (const std::int64_t position : given) {
    if (static_cast<std::uint64_t>(position) >= extent) {
      resolve_position(position, extent, dimension);  // throws unless it counts from the end
      negative = true;
    }
  }
  if (!negative) {
    // An integer may be looked at as the unsigned type of its size.
    return Positions(list.shared(), reinterpret_cast<const std::uint64_t*>(given.data()));
  }
  const std::shared_ptr<std::uint64_t[]> counted(new std::uint64_t[given.size()]);
  for (std::size_t i = 0; i < given.size(); ++i)
    counted[static_cast<std::ptrdiff_t>(i)] = resolve_position(given[i], extent, dimension);
  return counted;
}

// A list that is a range becomes one: it costs nothing per position from here on.
ResolvedDimension from_positions(Positions positions, std::uint64_t count) {
  ResolvedDimension out;
  out.count = count;
  if (count == 0) return out;
  const std::uint64_t* at = positions.get();
  const std::uint64_t step = count > 1 ? at[1] - at[0] : 1;
  bool range = step != 0;
  for (std::uint64_t i = 2; range && i < count; ++i) range = at[i] - at[i - 1] == step;
  if (range) {
    out.start = at[0];
    out.step = static_cast<std::int64_t>(step);
  } else {
    out.positions = std::move(positions);
  }
  return out;
}

ResolvedDimension resolve_list(const IntegerArray& list, std::uint64_t extent, std::size_t dimension) {
  if (list.shape().size() != 1)
    throw Error(ErrorCode::invalid_argument, "the list for dimension " + std::to_string(dimension) +
                                                 " has shape " + to_string(list.shape()) +
                                                 "; orthogonal selections take 1-d lists, vindex any");
  return from_positions(resolve_positions(list, extent, dimension), list.size());
}

ResolvedDimension resolve_flags(const BooleanArray& flags, std::uint64_t extent, std::size_t dimension) {
  if (flags.shape() != Shape{extent})
    throw Error(ErrorCode::invalid_argument, "the flags for dimension " + std::to_string(dimension) +
                                                 " have shape " + to_string(flags.shape()) +
                                                 ", the dimension has " + std::to_string(extent) +
                                                 " elements; one flag is needed for each");
  return from_positions(Positions(flags.shared(), flags.positions().data()), flags.positions().size());
}

struct ResolveItem {
  std::uint64_t extent;
  std::size_t dimension;
  ResolvedDimension operator()(std::int64_t position) const {
    return resolve_integer(position, extent, dimension);
  }
  ResolvedDimension operator()(const Slice& slice) const { return resolve_slice(slice, extent); }
  ResolvedDimension operator()(Ellipsis) const { return resolve_slice({}, extent); }
  ResolvedDimension operator()(const IntegerArray& list) const {
    return resolve_list(list, extent, dimension);
  }
  ResolvedDimension operator()(const BooleanArray& flags) const {
    return resolve_flags(flags, extent, dimension);
  }
};

ResolvedSelection resolve_orthogonal(const Selection& selection, std::span<const std::uint64_t> shape) {
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
    if (std::holds_alternative<Ellipsis>(item)) take_full(shape.size() - given);
    else out.dimensions.push_back(std::visit(ResolveItem{shape[d], d}, item));
  }
  take_full(shape.size() - out.dimensions.size());
  return out;
}

// --- points ---

Shape broadcast(const std::vector<SelectionItem>& arrays, const Selection& selection) {
  Shape shape;
  for (const SelectionItem& item : arrays) {
    const Shape& own = std::get<IntegerArray>(item).shape();
    if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
    for (std::size_t d = 0; d < own.size(); ++d) {
      std::uint64_t& extent = shape[shape.size() - own.size() + d];
      if (extent == 1) {
        extent = own[d];
      } else if (own[d] != 1 && own[d] != extent) {
        std::string shapes;
        for (const SelectionItem& each : arrays)
          shapes += (shapes.empty() ? "" : ", ") + to_string(std::get<IntegerArray>(each).shape());
        throw Error(ErrorCode::invalid_argument, "the coordinates of '" + selection.to_string() +
                                                     "' have shapes " + shapes +
                                                     ", which do not broadcast to one");
      }
    }
  }
  return shape;
}

// `values` of shape `own` repeated to `shape`, in C order.
Positions expand(const Positions& values, const Shape& own, const Shape& shape, std::uint64_t count) {
  if (own == shape) return values;
  const std::shared_ptr<std::uint64_t[]> out(new std::uint64_t[static_cast<std::size_t>(count)]);
  // How far one step along each dimension goes in `values`: 0 where it repeats.
  std::vector<std::uint64_t> steps(shape.size(), 0);
  std::uint64_t step = 1;
  for (std::size_t d = own.size(); d-- > 0; step *= own[d])
    if (own[d] != 1) steps[shape.size() - own.size() + d] = step;
  Index at(shape.size(), 0);
  std::uint64_t from = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    out[static_cast<std::ptrdiff_t>(i)] = values[static_cast<std::ptrdiff_t>(from)];
    for (std::size_t d = shape.size(); d-- > 0;) {
      from += steps[d];
      if (++at[d] < shape[d]) break;
      from -= steps[d] * shape[d];
      at[d] = 0;
    }
  }
  return out;
}

ResolvedSelection resolve_coordinates(const Selection& selection, std::span<const std::uint64_t> shape) {
  const std::vector<SelectionItem>& arrays = selection.items();
  if (arrays.size() != shape.size())
    throw Error(ErrorCode::invalid_argument,
                "a coordinate selection needs one array of positions a dimension; '" + selection.to_string() +
                    "' has " + std::to_string(arrays.size()) + ", the array has " +
                    std::to_string(shape.size()) + " dimensions");
  ResolvedSelection out;
  ResolvedPoints& points = out.points.emplace();
  points.shape = broadcast(arrays, selection);
  points.count = element_count(points.shape);
  byte_count(points.shape, sizeof(std::uint64_t));  // broadcasting can ask for more than there is memory
  for (std::size_t d = 0; d < arrays.size(); ++d) {
    const auto& list = std::get<IntegerArray>(arrays[d]);
    points.coordinates.push_back(
        expand(resolve_positions(list, shape[d], d), list.shape(), points.shape, points.count));
  }
  return out;
}

ResolvedSelection resolve_mask(const Selection& selection, std::span<const std::uint64_t> shape) {
  const auto& flags = std::get<BooleanArray>(selection.items().at(0));
  if (!std::equal(shape.begin(), shape.end(), flags.shape().begin(), flags.shape().end()))
    throw Error(ErrorCode::invalid_argument, "the mask has shape " + to_string(flags.shape()) +
                                                 ", the array " + to_string(shape) +
                                                 "; they must be the same");
  const std::span<const std::uint64_t> set = flags.positions();
  ResolvedSelection out;
  ResolvedPoints& points = out.points.emplace();
  points.shape = {set.size()};
  points.count = set.size();
  if (shape.size() == 1) {
    points.coordinates.emplace_back(flags.shared(), set.data());
    return out;
  }
  std::vector<std::shared_ptr<std::uint64_t[]>> columns;
  for (std::size_t d = 0; d < shape.size(); ++d) columns.emplace_back(new std::uint64_t[set.size()]);
  for (std::size_t i = 0; i < set.size(); ++i) {
    std::uint64_t rest = set[i];
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
      columns[d][static_cast<std::ptrdiff_t>(i)] = rest % shape[d];
  }
  points.coordinates.assign(columns.begin(), columns.end());
  return out;
}

}  // namespace

ResolvedDimension ResolvedDimension::part(std::uint64_t first, std::uint64_t length) const {
  ResolvedDimension out = *this;
  out.count = length;
  if (positions) out.positions = Positions(positions, positions.get() + first);
  else out.start = length > 0 ? position(first) : 0;
  return out;
}

Shape ResolvedSelection::result_shape() const {
  Shape shape;
  if (points) shape = points->shape;
  for (const ResolvedDimension& d : dimensions)
    if (!d.dropped) shape.push_back(d.count);
  shape.insert(shape.end(), subarray.begin(), subarray.end());
  return shape;
}

Shape ResolvedSelection::full_shape() const {
  if (points) return points->shape;
  Shape shape;
  for (const ResolvedDimension& d : dimensions) shape.push_back(d.count);
  return shape;
}

bool ResolvedSelection::empty() const {
  if (points && points->count == 0) return true;
  if (std::find(subarray.begin(), subarray.end(), 0u) != subarray.end()) return true;
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [](const ResolvedDimension& d) { return d.count == 0; });
}

ResolvedSelection resolve(const Selection& selection, std::span<const std::uint64_t> shape) {
  switch (selection.kind()) {
    case SelectionKind::basic:
    case SelectionKind::orthogonal: return resolve_orthogonal(selection, shape);
    case SelectionKind::coordinate: return resolve_coordinates(selection, shape);
    case SelectionKind::mask: return resolve_mask(selection, shape);
    case SelectionKind::block: break;
  }
  throw Error(ErrorCode::invalid_argument,
              "the block selection '" + selection.to_string() + "' needs the chunk grid of an array");
}

}  // namespace zarrive
