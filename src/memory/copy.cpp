#include <cstring>
#include <type_traits>

#include "memory/streaming_copy.hpp"
#include "memory/strided.hpp"

namespace zarrive {
namespace {

using detail::Loop;
using detail::Walk;

void require_host(const ArrayView& view, const char* verb) {
  if (!view.space.host_accessible())
    throw Error(ErrorCode::invalid_argument,
                std::string("cannot ") + verb + " elements in " + view.space.name() + " from the host");
}

// Calls f with the item size as a constant where there is a fast loop for it, else with 0.
template <class F>
auto with_item_size(std::size_t item_size, const F& f) {
  switch (item_size) {
    case 1: return f(std::integral_constant<std::size_t, 1>());
    case 2: return f(std::integral_constant<std::size_t, 2>());
    case 4: return f(std::integral_constant<std::size_t, 4>());
    case 8: return f(std::integral_constant<std::size_t, 8>());
    case 16: return f(std::integral_constant<std::size_t, 16>());
    default: return f(std::integral_constant<std::size_t, 0>());
  }
}

// A walk over two views with its innermost loop, and a second one to tile with, taken out.
struct CopyPlan {
  Walk<2> walk;
  Loop<2> row;     // innermost: smallest step of the destination
  Loop<2> column;  // of count 1 unless the source runs fastest along another dimension
};

CopyPlan plan_copy(const ArrayView& source, const ArrayView& destination) {
  CopyPlan plan;
  plan.walk = detail::plan_walk<2>({&source, &destination});
  auto& loops = plan.walk.loops;
  if (loops.empty()) return plan;
  plan.row = loops.back();
  loops.pop_back();
  const auto distance = [](const Loop<2>& loop) { return std::abs(loop.steps[0]); };
  const auto nearest = std::min_element(
      loops.begin(), loops.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (nearest != loops.end() && distance(*nearest) < distance(plan.row)) {
    plan.column = *nearest;
    loops.erase(nearest);
  }
  return plan;
}

template <std::size_t Size>
void copy_row(const std::byte* source, std::byte* destination, const Loop<2>& row, std::uint64_t count,
              std::size_t item_size) {
  const std::size_t size = Size ? Size : item_size;
  if (row.steps[0] == static_cast<std::int64_t>(size) && row.steps[1] == static_cast<std::int64_t>(size)) {
    detail::copy_large(destination, source, count * size);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(destination, source, size);
    if (i + 1 == count) break;  // no pointer outside the memory
    source += row.steps[0];
    destination += row.steps[1];
  }
}

// A transposition, in tiles of 32 x 32 so that the cache lines of both sides are used whole.
template <std::size_t Size>
void copy_tiles(const std::byte* source, std::byte* destination, const Loop<2>& row, const Loop<2>& column,
                std::size_t item_size) {
  constexpr std::uint64_t edge = 32;
  for (std::uint64_t j = 0; j < column.count; j += edge)
    for (std::uint64_t i = 0; i < row.count; i += edge)
      for (std::uint64_t jj = j; jj < std::min(j + edge, column.count); ++jj) {
        const auto a = static_cast<std::int64_t>(i), b = static_cast<std::int64_t>(jj);
        copy_row<Size>(source + a * row.steps[0] + b * column.steps[0],
                       destination + a * row.steps[1] + b * column.steps[1], row,
                       std::min(edge, row.count - i), item_size);
      }
}

void copy_strings(const ArrayView& source, const ArrayView& destination) {
  const Walk<2> walk = detail::plan_walk<2>({&source, &destination});
  if (walk.empty) return;
  detail::for_each_position<2>(walk.data, walk.loops, [](const auto& p) {
    *reinterpret_cast<std::string*>(p[1]) = *reinterpret_cast<const std::string*>(p[0]);
    return true;
  });
}

Walk<1> plan_one(const ArrayView& view) {
  Walk<1> walk = detail::plan_walk<1>({&view});
  std::erase_if(walk.loops,
                [](const Loop<1>& loop) { return loop.steps[0] == 0; });  // the same element again and again
  return walk;
}

Loop<1> take_innermost(Walk<1>& walk, std::size_t item_size) {
  if (walk.loops.empty()) return {1, {static_cast<std::int64_t>(item_size)}};
  const Loop<1> row = walk.loops.back();
  walk.loops.pop_back();
  return row;
}

void check_element(const ArrayView& view, std::span<const std::byte> element, const char* verb) {
  require_host(view, verb);
  if (view.type.is_variable())
    throw Error(ErrorCode::invalid_argument,
                "elements of type " + view.type.name() + " are strings; a string was expected, not bytes");
  if (element.size() != view.type.item_size())
    throw Error(ErrorCode::invalid_argument, "an element of type " + view.type.name() + " has " +
                                                 std::to_string(view.type.item_size()) + " bytes; " +
                                                 std::to_string(element.size()) + " were given");
}

void check_string(const ArrayView& view, const char* verb) {
  require_host(view, verb);
  if (!view.type.is_variable())
    throw Error(ErrorCode::invalid_argument, "elements of type " + view.type.name() +
                                                 " are no strings; the bytes of an element were expected");
}

// The element repeated to at least 4 KiB, to fill long rows with memcpy.
std::vector<std::byte> repeated(std::span<const std::byte> element, std::uint64_t most) {
  const std::uint64_t times = std::clamp<std::uint64_t>(4096 / element.size(), 1, most);
  std::vector<std::byte> pattern(times * element.size());
  for (std::size_t i = 0; i < pattern.size(); i += element.size())
    std::memcpy(pattern.data() + i, element.data(), element.size());
  return pattern;
}

}  // namespace

void copy(const ArrayView& source, const ArrayView& destination) {
  require_host(source, "copy");
  require_host(destination, "copy");
  if (!(source.type == destination.type))
    throw Error(ErrorCode::invalid_argument, "cannot copy elements of type " + source.type.name() + " to " +
                                                 destination.type.name() + " without conversion");
  if (source.shape != destination.shape)
    throw Error(ErrorCode::invalid_argument, "cannot copy an array of shape " + to_string(source.shape) +
                                                 " to one of shape " + to_string(destination.shape));
  if (source.type.is_variable()) return copy_strings(source, destination);
  const std::size_t item_size = source.type.item_size();
  const CopyPlan plan = plan_copy(source, destination);
  if (plan.walk.empty || item_size == 0) return;
  with_item_size(item_size, [&](auto size) {
    constexpr std::size_t Size = decltype(size)::value;
    Loop<2> row = plan.row;
    if (row.count == 1)
      row.steps = {static_cast<std::int64_t>(item_size), static_cast<std::int64_t>(item_size)};
    detail::for_each_position<2>(plan.walk.data, plan.walk.loops, [&](const auto& p) {
      if (plan.column.count == 1) copy_row<Size>(p[0], p[1], row, row.count, item_size);
      else copy_tiles<Size>(p[0], p[1], row, plan.column, item_size);
      return true;
    });
  });
}

void fill(const ArrayView& destination, std::span<const std::byte> element) {
  check_element(destination, element, "fill");
  Walk<1> walk = plan_one(destination);
  const std::size_t item_size = element.size();
  if (walk.empty || item_size == 0) return;
  const Loop<1> row = take_innermost(walk, item_size);
  if (row.steps[0] == static_cast<std::int64_t>(item_size)) {
    const std::size_t length = row.count * item_size;
    const bool uniform =
        std::all_of(element.begin(), element.end(), [&](std::byte b) { return b == element[0]; });
    const std::vector<std::byte> pattern = uniform ? std::vector<std::byte>() : repeated(element, row.count);
    detail::for_each_position<1>(walk.data, walk.loops, [&](const auto& p) {
      if (uniform) std::memset(p[0], std::to_integer<int>(element[0]), length);
      for (std::size_t done = 0; !uniform && done < length; done += pattern.size())
        std::memcpy(p[0] + done, pattern.data(), std::min(pattern.size(), length - done));
      return true;
    });
    return;
  }
  with_item_size(item_size, [&](auto size) {
    constexpr std::size_t Size = decltype(size)::value;
    detail::for_each_position<1>(walk.data, walk.loops, [&](const auto& p) {
      for (std::uint64_t i = 0; i < row.count; ++i)
        std::memcpy(p[0] + static_cast<std::int64_t>(i) * row.steps[0], element.data(),
                    Size ? Size : item_size);
      return true;
    });
  });
}

void fill(const ArrayView& destination, const std::string& element) {
  check_string(destination, "fill");
  const Walk<1> walk = plan_one(destination);
  if (walk.empty) return;
  detail::for_each_position<1>(walk.data, walk.loops, [&](const auto& p) {
    *reinterpret_cast<std::string*>(p[0]) = element;
    return true;
  });
}

bool all_equal(const ArrayView& view, std::span<const std::byte> element) {
  check_element(view, element, "compare");
  Walk<1> walk = plan_one(view);
  const std::size_t item_size = element.size();
  if (walk.empty || item_size == 0) return true;
  const Loop<1> row = take_innermost(walk, item_size);
  if (row.steps[0] == static_cast<std::int64_t>(item_size)) {
    // The first element is the one, and each equals the next: one memcmp of the row with itself, shifted.
    return detail::for_each_position<1>(walk.data, walk.loops, [&](const auto& p) {
      return std::memcmp(p[0], element.data(), item_size) == 0 &&
             std::memcmp(p[0], p[0] + item_size, (row.count - 1) * item_size) == 0;
    });
  }
  return with_item_size(item_size, [&](auto size) {
    constexpr std::size_t Size = decltype(size)::value;
    return detail::for_each_position<1>(walk.data, walk.loops, [&](const auto& p) {
      for (std::uint64_t i = 0; i < row.count; ++i)
        if (std::memcmp(p[0] + static_cast<std::int64_t>(i) * row.steps[0], element.data(),
                        Size ? Size : item_size) != 0)
          return false;
      return true;
    });
  });
}

bool all_equal(const ArrayView& view, const std::string& element) {
  check_string(view, "compare");
  const Walk<1> walk = plan_one(view);
  if (walk.empty) return true;
  return detail::for_each_position<1>(walk.data, walk.loops, [&](const auto& p) {
    return *reinterpret_cast<const std::string*>(p[0]) == element;
  });
}

void fill(const ArrayView& destination, const FillValue& value) {
  if (destination.type.is_variable()) {
    fill(destination, value.string());
  } else {
    fill(destination, value.bytes());
  }
}

bool all_equal(const ArrayView& view, const FillValue& value) {
  return view.type.is_variable() ? all_equal(view, value.string()) : all_equal(view, value.bytes());
}

}  // namespace zarrive
