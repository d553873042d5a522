#include "indexing/projection.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

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

}  // namespace
}  // namespace zarrive
