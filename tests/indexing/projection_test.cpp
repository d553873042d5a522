#include "indexing/projection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "indexing/sort_by_key.hpp"
#include "zarrive/selection.hpp"

namespace zarrive {
namespace {

// A dimension cut at the given chunk edges.
DimensionCut cut_at(const std::vector<std::uint64_t>& edges) {
  auto starts = std::make_shared<std::vector<std::uint64_t>>(1, 0);
  for (std::uint64_t edge : edges) starts->push_back(starts->back() + edge);
  DimensionCut cut;
  cut.chunk_at = [starts](std::uint64_t position) {
    return static_cast<std::uint64_t>(std::upper_bound(starts->begin(), starts->end(), position) -
                                      starts->begin() - 1);
  };
  cut.chunk_start = [starts](std::uint64_t chunk) { return starts->at(chunk); };
  cut.chunk_edge = [starts](std::uint64_t chunk) { return starts->at(chunk + 1) - starts->at(chunk); };
  return cut;
}

PartDimension range(std::uint64_t start, std::int64_t step, std::uint64_t count) {
  PartDimension part;
  part.start = start;
  part.step = step;
  part.count = count;
  return part;
}

// Every selected position comes out exactly once, from the right chunk, at the right place of the result.
TEST(Projection, EveryPositionOnce) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::uint64_t> edges;
    std::uint64_t length = 0;
    for (std::uint64_t n = 1 + random() % 6; n > 0; --n) length += edges.emplace_back(1 + random() % 5);
    const DimensionCut cut = cut_at(edges);
    Slice s{static_cast<std::int64_t>(random() % (2 * length)) - static_cast<std::int64_t>(length),
            std::nullopt, static_cast<std::int64_t>(random() % 9) - 4};
    if (s.step == 0) s.step = 2;
    const ResolvedDimension d =
        resolve(Selection(std::vector<SelectionItem>{s}), Shape{length}).dimensions[0];
    std::map<std::uint64_t, std::uint64_t> position_of;  // of each place in the result
    std::uint64_t last_chunk = ~std::uint64_t{0};
    for (const DimensionPiece& piece : project_range(range(d.start, d.step, d.count), cut)) {
      EXPECT_NE(piece.chunk, last_chunk);  // one piece a chunk
      last_chunk = piece.chunk;
      for (std::uint64_t k = 0; k < piece.part.count; ++k) {
        const std::uint64_t in_chunk = piece.part.position(k);
        ASSERT_LT(in_chunk, edges[piece.chunk]);
        position_of[piece.part.place(k)] = cut.chunk_start(piece.chunk) + in_chunk;
      }
    }
    ASSERT_EQ(position_of.size(), d.count);
    for (const auto& [place, position] : position_of)
      ASSERT_EQ(position, d.start + place * static_cast<std::uint64_t>(d.step)) << "place " << place;
  }
}

TEST(Projection, ProductInOrderOfTheOutput) {
  const DimensionCut cut = cut_at({2, 2, 2});
  const GridProjection grid(ChunkPart({range(0, 1, 6), range(5, -1, 6)}), {cut, cut});
  EXPECT_EQ(grid.size(), 9u);
  Index chunk;
  ChunkPart part;
  grid.at(1, chunk, part);
  EXPECT_EQ(chunk, (Index{0, 1}));
  grid.at(3, chunk, part);
  EXPECT_EQ(chunk, (Index{1, 2}));
  EXPECT_EQ(part.dimensions()[1].start, 1u);
  EXPECT_EQ(part.dimensions()[1].step, -1);
  EXPECT_EQ(part.bounds(), (Box{{0, 0}, {2, 2}}));
  EXPECT_EQ(part.output_bounds(), (Box{{2, 0}, {2, 2}}));
  EXPECT_TRUE(part.covers(Shape{2, 2}));
  EXPECT_FALSE(part.is_whole(Shape{2, 2}));
}

TEST(Projection, ZeroDimensionsAreOneChunk) {
  const GridProjection grid(ChunkPart(), {});
  EXPECT_EQ(grid.size(), 1u);
  Index chunk(3);
  ChunkPart part;
  grid.at(0, chunk, part);
  EXPECT_TRUE(chunk.empty());
  EXPECT_EQ(part.size(), 1u);
  EXPECT_TRUE(part.is_whole(Shape{}));
}

TEST(Projection, TooManyChunksIsAnError) {
  const std::vector<std::uint64_t> edges(1 << 16, 1);
  const DimensionCut cut = cut_at(edges);
  const PartDimension all = range(0, 1, edges.size());
  EXPECT_ANY_THROW(GridProjection(ChunkPart({all, all, all, all}), {cut, cut, cut, cut}));
}

// --- lists and points ---

// What a part of an array means: (positions, places) in order.
struct Pair {
  Index position;
  std::vector<std::uint64_t> place;
  auto operator<=>(const Pair&) const = default;
};

std::vector<Pair> pairs_of(const ChunkPart& part, const Index& origin) {
  std::vector<Pair> out;
  if (part.is_points()) {
    for (std::uint64_t i = 0; i < part.size(); ++i) {
      Pair& pair = out.emplace_back();
      for (std::size_t d = 0; d < part.ndim(); ++d)
        pair.position.push_back(origin[d] + part.dimensions()[d].position(i));
      pair.place = {part.point_place(i)};
    }
    return out;
  }
  Shape counts;
  for (const PartDimension& d : part.dimensions()) counts.push_back(d.count);
  for (std::uint64_t i = 0; i < element_count(counts); ++i) {
    std::uint64_t rest = i;
    Pair& pair = out.emplace_back(Pair{Index(counts.size()), std::vector<std::uint64_t>(counts.size())});
    for (std::size_t d = counts.size(); d-- > 0; rest /= counts[d]) {
      pair.position[d] = origin[d] + part.dimensions()[d].position(rest % counts[d]);
      pair.place[d] = part.dimensions()[d].place(rest % counts[d]);
    }
  }
  return out;
}

// Cuts `part`, checks that the pieces hold the same pairs, each chunk once, equal positions in the order they had.
void check_pieces(const ChunkPart& part, const std::vector<DimensionCut>& cuts,
                  const std::vector<std::vector<std::uint64_t>>& edges, int depth) {
  const GridProjection grid(part, cuts);
  std::vector<Pair> found;
  std::set<Index> chunks;
  Index chunk;
  ChunkPart piece;
  for (std::uint64_t i = 0; i < grid.size(); ++i) {
    grid.at(i, chunk, piece);
    EXPECT_TRUE(chunks.insert(chunk).second) << "a chunk came twice";
    EXPECT_FALSE(piece.empty());
    Index origin;
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      origin.push_back(cuts[d].chunk_start(chunk[d]));
      for (std::uint64_t k = 0; k < piece.dimensions()[d].count; ++k)
        ASSERT_LT(piece.dimensions()[d].position(k), edges[d][chunk[d]]);
    }
    const std::vector<Pair> pairs = pairs_of(piece, origin);
    found.insert(found.end(), pairs.begin(), pairs.end());
    if (depth > 0) {  // again, within the chunk
      std::vector<DimensionCut> inner;
      std::vector<std::vector<std::uint64_t>> inner_edges;
      for (std::size_t d = 0; d < chunk.size(); ++d) {
        inner_edges.emplace_back((edges[d][chunk[d]] + 1) / 2, 2);
        inner.push_back(cut_at(inner_edges.back()));
        inner.back().regular_edge = d % 2 ? 2 : 0;
      }
      check_pieces(piece, inner, inner_edges, depth - 1);
    }
  }
  std::vector<Pair> expected = pairs_of(part, Index(part.ndim(), 0));
  const auto by_position = [](const Pair& a, const Pair& b) { return a.position < b.position; };
  std::stable_sort(expected.begin(), expected.end(), by_position);
  std::stable_sort(found.begin(), found.end(), by_position);
  ASSERT_EQ(found, expected);
}

std::vector<std::uint64_t> random_list(std::mt19937_64& random, std::uint64_t length, std::uint64_t count) {
  std::vector<std::uint64_t> list(static_cast<std::size_t>(count));
  for (std::uint64_t& position : list) position = random() % length;
  switch (random() % 4) {
    case 0: std::sort(list.begin(), list.end()); break;
    case 1: std::sort(list.rbegin(), list.rend()); break;
    case 2:
      for (std::size_t i = 1; i < list.size(); ++i)
        if (random() % 3 && list[i - 1] + 1 < length) list[i] = list[i - 1] + 1;
      break;
    default: break;
  }
  return list;
}

TEST(Projection, ListsAndPointsBothLevels) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 3000; ++i) {
    const std::size_t ndim = random() % 4;
    const bool points = random() % 2 == 0;
    const std::uint64_t count = random() % 8 == 0 ? 300 + random() % 300 : random() % 20;
    std::vector<std::vector<std::uint64_t>> edges(ndim), lists;
    lists.reserve(ndim);
    std::vector<DimensionCut> cuts;
    std::vector<PartDimension> dimensions;
    for (std::size_t d = 0; d < ndim; ++d) {
      std::uint64_t length = 0;
      const bool regular = random() % 2 == 0;
      const std::uint64_t edge = 1 + random() % 5;
      for (std::uint64_t n = 1 + random() % 6; n > 0; --n)
        length += edges[d].emplace_back(regular ? edge : 1 + random() % 5);
      cuts.push_back(cut_at(edges[d]));
      if (regular) cuts.back().regular_edge = edge;
      if (!points && random() % 2) {
        dimensions.push_back(range(0, 1 + static_cast<std::int64_t>(random() % 2), (length + 1) / 2));
        continue;
      }
      lists.push_back(random_list(random, length, points ? count : count % 13));
      PartDimension& list = dimensions.emplace_back();
      list.positions = lists.back().data();
      list.count = lists.back().size();
    }
    const ChunkPart part = points ? ChunkPart::points(dimensions, nullptr, count, {}) : ChunkPart(dimensions);
    check_pieces(part, cuts, edges, 1);
    if (::testing::Test::HasFailure()) FAIL() << "case " << i;
  }
}

TEST(Projection, ListsThatComeSortedStayWhereTheyAre) {
  const DimensionCut cut = cut_at({4, 4, 4});
  for (const std::vector<std::uint64_t>& list :
       {std::vector<std::uint64_t>{0, 1, 3, 4, 9, 9}, {9, 11, 8, 7, 7, 4}}) {
    PartDimension part;
    part.positions = list.data();
    part.count = list.size();
    std::shared_ptr<const void> owner;
    const std::vector<DimensionPiece> pieces = project_list(part, cut, owner);
    EXPECT_EQ(owner, nullptr);
    EXPECT_EQ(pieces[0].part.positions, list.data());
    EXPECT_EQ(pieces[0].part.outputs, nullptr);
  }
}

TEST(Projection, StretchesOfAListBecomeRanges) {
  const DimensionCut cut = cut_at({4, 4, 4});
  const std::vector<std::uint64_t> list{1, 2, 3, 6, 4, 8, 9, 10, 11};
  PartDimension part;
  part.positions = list.data();
  part.count = list.size();
  std::shared_ptr<const void> owner;
  const std::vector<DimensionPiece> pieces = project_list(part, cut, owner);
  ASSERT_EQ(pieces.size(), 3u);
  for (const DimensionPiece& piece : pieces) EXPECT_TRUE(piece.part.is_range());
  EXPECT_EQ(pieces[0].part.start, 1u);
  EXPECT_EQ(pieces[1].part.step, -2);
  EXPECT_EQ(pieces[2].part.output_start, 5u);
}

// More chunks along each dimension than a product of 64 bits holds.
TEST(Projection, PointsInAGridOfAnySize) {
  const std::uint64_t edge = 1000;
  DimensionCut cut;
  cut.chunk_at = [=](std::uint64_t position) { return position / edge; };
  cut.chunk_start = [=](std::uint64_t chunk) { return chunk * edge; };
  cut.chunk_edge = [=](std::uint64_t) { return edge; };
  std::mt19937_64 random(13);
  std::vector<std::vector<std::uint64_t>> lists(4);
  std::vector<PartDimension> dimensions;
  for (auto& list : lists) {
    for (int i = 0; i < 2000; ++i)
      list.push_back(i % 7 == 3 ? list[static_cast<std::size_t>(i) - 2] : random() >> 1);
    PartDimension& part = dimensions.emplace_back();
    part.positions = list.data();
    part.count = list.size();
  }
  const ChunkPart part = ChunkPart::points(dimensions, nullptr, 2000, {});
  const GridProjection grid(part, {cut, cut, cut, cut});
  std::vector<bool> seen(2000);
  std::set<Index> chunks;
  Index chunk;
  ChunkPart piece;
  for (std::uint64_t i = 0; i < grid.size(); ++i) {
    grid.at(i, chunk, piece);
    EXPECT_TRUE(chunks.insert(chunk).second);
    for (std::uint64_t k = 0; k < piece.size(); ++k) {
      const std::uint64_t place = piece.point_place(k);
      seen[place] = true;
      for (std::size_t d = 0; d < 4; ++d)
        ASSERT_EQ(chunk[d] * edge + piece.dimensions()[d].position(k), lists[d][place]);
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 2000);
}

TEST(SortByKey, IsStable) {
  std::mt19937_64 random(14);
  for (const std::uint64_t keys : {1u, 3u, 5000u, 4000000u}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
      std::vector<KeyedItem> items;
      for (std::size_t i = 0; i < count; ++i)
        items.push_back({random() % keys * (random() % 2 ? 1 : 0x100000001) + (std::uint64_t{7} << 61), i});
      std::vector<KeyedItem> expected = items;
      std::stable_sort(expected.begin(), expected.end(),
                       [](const auto& a, const auto& b) { return a.key < b.key; });
      sort_by_key(items);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(items[i].key, expected[i].key);
        ASSERT_EQ(items[i].item, expected[i].item);
      }
    }
  }
}

}  // namespace
}  // namespace zarrive
