// Slabs: they follow each other in order, cover the selection once, keep within their size and fall between chunks.
#include "cli/slabs.hpp"

#include <gtest/gtest.h>

#include <random>

namespace zarrive::cli {
namespace {

// The positions that a selection picks, in the order of its elements, as flat indices of the array.
std::vector<std::uint64_t> positions(const ResolvedSelection& selection, const Shape& shape,
                                     const std::vector<std::size_t>& order) {
  std::vector<std::uint64_t> result;
  const std::size_t n = shape.size();
  std::vector<std::uint64_t> at(n, 0);
  if (selection.empty()) return result;
  while (true) {
    std::uint64_t flat = 0;
    for (std::size_t d = 0; d < n; ++d) {
      const auto& dimension = selection.dimensions[d];
      flat = flat * shape[d] + dimension.position(at[d]);
    }
    result.push_back(flat);
    std::size_t k = n;
    while (k > 0 && ++at[order[k - 1]] == selection.dimensions[order[k - 1]].count) at[order[--k]] = 0;
    if (k == 0) return result;
  }
}

TEST(Slabs, CoverEverySelectionInOrder) {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = below(4);
    Shape shape;
    Shape chunks;
    std::vector<std::size_t> order;
    std::vector<SelectionItem> items;
    for (std::size_t d = 0; d < n; ++d) {
      shape.push_back(1 + below(9));
      chunks.push_back(1 + below(5));
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(below(d + 1)), d);
      if (below(4) == 0) {
        items.emplace_back(static_cast<std::int64_t>(below(shape[d])));
      } else if (below(3) == 0) {
        std::vector<std::int64_t> list;
        for (std::uint64_t i = below(12); i > 0; --i)
          list.push_back(static_cast<std::int64_t>(below(shape[d])));
        items.emplace_back(IntegerArray(std::move(list)));
      } else {
        const std::int64_t step = static_cast<std::int64_t>(below(7)) - 3;
        items.emplace_back(Slice{{}, {}, step == 0 ? 1 : step});
      }
    }
    const ResolvedSelection whole = resolve(Selection(items), shape);
    const std::uint64_t max_bytes = 8 * (1 + below(40));
    std::vector<std::uint64_t> seen;
    for_each_slab(whole, ChunkGrid::regular(chunks), 8, max_bytes, order, [&](const Slab& slab) {
      EXPECT_LE(element_count(slab.extent) * 8, std::max<std::uint64_t>(8, max_bytes));
      const ResolvedSelection part = resolve(slab.selection, shape);
      EXPECT_EQ(part.result_shape(), slab.extent);
      for (const std::uint64_t position : positions(part, shape, order)) seen.push_back(position);
    });
    EXPECT_EQ(seen, positions(whole, shape, order)) << "round " << round;
  }
}

std::vector<std::uint64_t> lengths(const char* selection, std::uint64_t max_bytes) {
  std::vector<std::uint64_t> result;
  const Shape shape{100, 10};
  for_each_slab(resolve(selection, shape), ChunkGrid::regular({7, 5}), 1, max_bytes, {},
                [&](const Slab& slab) { result.push_back(slab.extent[0]); });
  return result;
}

TEST(Slabs, FallBetweenChunksWhereTheSizeAllowsIt) {
  EXPECT_EQ(lengths("0:20", 90), (std::vector<std::uint64_t>{7, 7, 6}));
  EXPECT_EQ(lengths("3:20", 150), (std::vector<std::uint64_t>{11, 6}));
  EXPECT_EQ(lengths("::-1", 400), (std::vector<std::uint64_t>{37, 35, 28}));
  EXPECT_EQ(lengths("0:6", 30),
            (std::vector<std::uint64_t>{3, 3}));  // within one chunk there is nothing to fall between
}

TEST(Slabs, EmptySelectionsHaveNone) { EXPECT_TRUE(lengths("5:5", 100).empty()); }

TEST(Slabs, ToSelectionRoundTrips) {
  for (const char* text : {"0:5", "::-1", "5::-2", "9:2:-3", "3:3", "4"}) {
    ResolvedSelection resolved = resolve(text, Shape{10});
    const ResolvedSelection again = resolve(to_selection(resolved), Shape{10});
    EXPECT_EQ(again.dimensions[0].count, resolved.dimensions[0].count) << text;
    if (resolved.dimensions[0].count > 0) {
      EXPECT_EQ(again.dimensions[0].start, resolved.dimensions[0].start) << text;
    }
    if (resolved.dimensions[0].count > 1) {
      EXPECT_EQ(again.dimensions[0].step, resolved.dimensions[0].step) << text;
    }
  }
}

}  // namespace
}  // namespace zarrive::cli
