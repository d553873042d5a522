#include "gpu/chunk_plan.hpp"

#include <algorithm>
#include <string>

namespace zarrive::gpu {

namespace {

using kernels::OperationKind;
using kernels::Shuffle;

[[noreturn]] void invalid(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

enum class Side : std::uint8_t { source, target };

std::int64_t step_of(const Axis& axis, Side side) {
  return side == Side::source ? axis.source_step : axis.target_step;
}
std::int64_t offset_of(const Place& place, Side side) {
  return side == Side::source ? place.source : place.target;
}

bool divides(unsigned part, const Axis& axis) {
  if (!axis.places) return axis.source_step % static_cast<std::int64_t>(part) == 0;
  return std::all_of(axis.places, axis.places + axis.count,
                     [&](const Place& place) { return place.source % static_cast<std::int64_t>(part) == 0; });
}

// How far apart neighbours are written, roughly.
std::uint64_t distance(const Axis& axis) {
  std::int64_t step = axis.target_step;
  if (axis.places) step = axis.count > 1 ? axis.places[1].target - axis.places[0].target : 0;
  return step < 0 ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
}

bool joins(const Axis& outer, const Axis& inner) {
  const auto count = static_cast<std::int64_t>(inner.count);
  std::int64_t source = 0;
  std::int64_t target = 0;
  std::uint64_t both = 0;
  return !outer.places && !inner.places && count >= 0 &&
         !__builtin_mul_overflow(outer.count, inner.count, &both) &&
         !__builtin_mul_overflow(inner.source_step, count, &source) &&
         !__builtin_mul_overflow(inner.target_step, count, &target) && outer.source_step == source &&
         outer.target_step == target;
}

// Bytes of an element after the operations.
std::size_t target_item_size(const ChunkWork& work) {
  if (work.operations.empty() || work.operations.back().kind == OperationKind::swap) return work.item_size;
  return size_of(work.operations.back().to);
}

// What of an element a thread takes.
struct Parts {
  unsigned size = 1;
  bool straight = true;  // each lies within one shuffled element
};

Parts choose_parts(const ChunkWork& work) {
  const std::vector<Operation>& operations = work.operations;
  Parts parts;
  if (work.item_size == 0) invalid("elements of a chunk have 0 bytes");
  if (operations.empty()) {
    parts.size = 8;
    while (work.item_size % parts.size != 0 ||
           (work.layout.shuffle != Shuffle::none && parts.size > 1 && work.layout.width % parts.size != 0))
      parts.size /= 2;
  } else if (operations.size() == 1 && operations[0].kind == OperationKind::swap) {
    parts.size = size_of(operations[0].from);
    if (work.item_size % parts.size != 0)
      invalid("elements of " + std::to_string(work.item_size) + " bytes have no parts of " +
              std::to_string(parts.size) + " bytes to swap");
  } else {
    std::size_t size = work.item_size;
    for (const Operation& operation : operations) {
      if (size != size_of(operation.from))
        invalid("an operation on numbers of " + std::to_string(size_of(operation.from)) +
                " bytes is given elements of " + std::to_string(size));
      if (operation.kind != OperationKind::swap) size = size_of(operation.to);
    }
    parts.size = static_cast<unsigned>(work.item_size);
  }
  if (work.layout.shuffle == Shuffle::none) return parts;
  if (work.layout.width == 0 || work.layout.block_size == 0 || work.layout.size > UINT32_MAX)
    invalid("a shuffled chunk has " + std::to_string(work.layout.size) + " bytes in blocks of " +
            std::to_string(work.layout.block_size) + ", elements of " + std::to_string(work.layout.width));
  parts.straight = work.layout.width % parts.size == 0 && work.layout.block_size % work.layout.width == 0 &&
                   work.source_start % static_cast<std::int64_t>(parts.size) == 0 &&
                   std::all_of(work.axes.begin(), work.axes.end(),
                               [&](const Axis& axis) { return divides(parts.size, axis); });
  return parts;
}

// Error(out_of_bounds) unless all that the axes reach lies in `size` bytes: elements of `item_size`, the first at `start`.
void check_reach(std::span<const Axis> axes, Side side, std::int64_t start, std::size_t item_size,
                 std::uint64_t size) {
  std::int64_t low = start;
  std::int64_t high = start;
  bool overflow = false;
  for (const Axis& axis : axes) {
    std::int64_t least = 0;
    std::int64_t greatest = 0;
    if (axis.places) {
      const auto [first, last] = std::minmax_element(
          axis.places, axis.places + axis.count,
          [&](const Place& a, const Place& b) { return offset_of(a, side) < offset_of(b, side); });
      least = offset_of(*first, side);
      greatest = offset_of(*last, side);
    } else {
      overflow |=
          axis.count - 1 > INT64_MAX ||
          __builtin_mul_overflow(static_cast<std::int64_t>(axis.count - 1), step_of(axis, side), &greatest);
      if (greatest < 0) std::swap(least, greatest);
    }
    overflow |= __builtin_add_overflow(low, least, &low) || __builtin_add_overflow(high, greatest, &high);
  }
  if (overflow || low < 0 || item_size > size || static_cast<std::uint64_t>(high) > size - item_size)
    throw Error(ErrorCode::out_of_bounds,
                std::string("elements of ") + std::to_string(item_size) + " bytes are wanted outside the " +
                    std::to_string(size) +
                    (side == Side::source ? " bytes of a decoded chunk" : " bytes of the output"));
}

// The same elements: parts are the last dimension, dimensions of one element are gone (`start` gets what they add).
std::vector<Axis> simplify(std::vector<Axis> axes, std::size_t parts, unsigned part_size, Place& start) {
  std::erase_if(axes, [&](const Axis& axis) {
    if (axis.count != 1) return false;
    if (axis.places) {
      start.source += axis.places[0].source;
      start.target += axis.places[0].target;
    }
    return true;
  });
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return distance(a) > distance(b); });
  if (parts > 1) axes.push_back({parts, part_size, part_size});
  std::vector<Axis> joined;
  for (const Axis& axis : axes) {
    if (!joined.empty() && joins(joined.back(), axis)) {
      const std::uint64_t count = joined.back().count * axis.count;
      joined.back() = axis;
      joined.back().count = count;
    } else {
      joined.push_back(axis);
    }
  }
  return joined;
}

}  // namespace

std::optional<ChunkPlan> plan_chunk(const ChunkWork& work) {
  if (std::any_of(work.axes.begin(), work.axes.end(), [](const Axis& axis) { return axis.count == 0; }))
    return std::nullopt;
  const Parts parts = choose_parts(work);
  const std::size_t target_item = target_item_size(work);
  check_reach(work.axes, Side::source, work.source_start, work.item_size, work.layout.size);
  check_reach(work.axes, Side::target, work.target.start, target_item, work.target.size);

  Place start{work.source_start, work.target.start};
  const std::size_t count = work.item_size / parts.size;
  ChunkPlan plan;
  plan.axes = simplify(work.axes, count, parts.size, start);
  kernels::Chunk& chunk = plan.chunk;
  chunk.source = reinterpret_cast<const std::uint8_t*>(work.source);
  chunk.target = reinterpret_cast<std::uint8_t*>(work.target.memory) + start.target;
  chunk.source_start = start.source;
  chunk.layout = work.layout;
  chunk.dimension_count = static_cast<std::uint32_t>(plan.axes.size());
  chunk.operation_count = static_cast<std::uint32_t>(work.operations.size());
  chunk.source_size = static_cast<std::uint8_t>(parts.size);
  chunk.target_size = static_cast<std::uint8_t>(count == 1 ? target_item : parts.size);
  chunk.straight = parts.straight;
  chunk.elements = 1;
  for (const Axis& axis : plan.axes)
    if (__builtin_mul_overflow(chunk.elements, axis.count, &chunk.elements))
      throw Error(ErrorCode::resource_limit, "more elements are wanted of a chunk than can be counted");
  return plan;
}

}  // namespace zarrive::gpu
