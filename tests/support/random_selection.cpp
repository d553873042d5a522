#include "support/random_selection.hpp"

#include <algorithm>

namespace zarrive::testing_support {
namespace {

std::int64_t random_position(Random& random, std::uint64_t length) {
  return static_cast<std::int64_t>(pick(random, 2 * length)) - static_cast<std::int64_t>(length);
}

Slice random_slice(Random& random, std::uint64_t length) {
  static constexpr std::int64_t kSteps[] = {1, 1, 1, 2, 3, -1, -2, 7};
  const auto bound = [&]() -> std::optional<std::int64_t> {
    if (pick(random, 3) == 0) return std::nullopt;
    return static_cast<std::int64_t>(pick(random, 2 * length + 3)) - static_cast<std::int64_t>(length) - 1;
  };
  return {bound(), bound(), kSteps[pick(random, 8)]};
}

std::vector<std::int64_t> random_list(Random& random, std::uint64_t length, std::uint64_t count) {
  std::vector<std::int64_t> list;
  for (; length > 0 && count > 0; --count) list.push_back(random_position(random, length));
  if (pick(random, 3) == 0) std::sort(list.begin(), list.end());
  return list;
}

std::vector<bool> random_flags(Random& random, std::uint64_t count) {
  const std::uint64_t density = 1 + pick(random, 4);
  std::vector<bool> flags(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = pick(random, 4) < density;
  return flags;
}

// An ellipsis somewhere, in place of what it stands for; or the last entries left out.
void abbreviate(Random& random, std::vector<SelectionItem>& items) {
  const std::uint64_t way = pick(random, 4);
  if (way == 0) {
    const std::size_t at = pick(random, items.size() + 1);
    if (at < items.size() && pick(random, 2)) items[at] = Ellipsis{};
    else items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), Ellipsis{});
  } else if (way == 1 && !items.empty()) {
    items.pop_back();
  }
}

Selection random_oindex(Random& random, const Shape& shape) {
  std::vector<SelectionItem> items;
  for (const std::uint64_t length : shape) {
    const std::uint64_t way = pick(random, 6);
    if (way == 0 && length > 0) items.emplace_back(random_position(random, length));
    else if (way <= 1) items.emplace_back(random_slice(random, length));
    else if (way == 2) items.emplace_back(BooleanArray(random_flags(random, length)));
    else items.emplace_back(IntegerArray(random_list(random, length, pick(random, length + 4))));
  }
  abbreviate(random, items);
  return oindex(std::move(items));
}

Selection random_vindex(Random& random, const Shape& shape) {
  Shape result;
  for (std::uint64_t d = pick(random, 4); d > 0; --d)
    result.push_back(pick(random, 9) == 0 ? 0 : 1 + pick(random, 5));
  std::vector<IntegerArray> coordinates;
  for (const std::uint64_t length : shape) {
    Shape own = result;
    if (pick(random, 2))
      own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(pick(random, own.size() + 1)));
    for (std::uint64_t& extent : own)
      if (pick(random, 4) == 0) extent = 1;
    std::uint64_t count = element_count(own);
    if (length == 0) own = {0}, count = 0;
    coordinates.emplace_back(random_list(random, length, count), own);
  }
  // A dimension of length 0 has no positions, and then there must be none along the others.
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end())
    std::fill(coordinates.begin(), coordinates.end(), IntegerArray());
  return vindex(std::move(coordinates));
}

Selection random_blocks(Random& random, const Shape& shape, const ChunkGrid& grid) {
  std::vector<SelectionItem> items;
  for (const std::uint64_t chunks : grid.grid_shape(shape)) {
    if (chunks > 0 && pick(random, 2)) {
      items.emplace_back(random_position(random, chunks));
    } else {
      Slice slice = random_slice(random, chunks);
      slice.step = pick(random, 2) ? std::optional<std::int64_t>() : 1;
      items.emplace_back(slice);
    }
  }
  abbreviate(random, items);
  return blocks(std::move(items));
}

Selection random_fields(Random& random, const Selection& selection, const DataType& type) {
  std::vector<std::string> names;
  if (type.id() != TypeId::structured) return selection;
  for (const StructField& field : type.fields())
    if (!field.name.empty()) names.push_back(field.name);
  if (names.empty() || pick(random, 2)) return selection;
  std::shuffle(names.begin(), names.end(), random);
  names.resize(1 + pick(random, names.size()));
  return names.size() == 1 && pick(random, 3) ? selection.field(names[0]) : selection.fields(names);
}

}  // namespace

Selection random_basic(Random& random, const Shape& shape) {
  std::vector<SelectionItem> items;
  for (const std::uint64_t length : shape) {
    if (length > 0 && pick(random, 4) == 0) items.emplace_back(random_position(random, length));
    else items.emplace_back(random_slice(random, length));
  }
  abbreviate(random, items);
  return Selection(std::move(items));
}

Selection random_selection(Random& random, const Shape& shape, const ChunkGrid& grid, const DataType& type) {
  Selection selection;
  switch (pick(random, 8)) {
    case 0:
    case 1: selection = random_oindex(random, shape); break;
    case 2:
    case 3: selection = random_vindex(random, shape); break;
    case 4: selection = mask({random_flags(random, element_count(shape)), shape}); break;
    case 5: selection = random_blocks(random, shape, grid); break;
    default: selection = random_basic(random, shape); break;
  }
  return random_fields(random, selection, type);
}

}  // namespace zarrive::testing_support
