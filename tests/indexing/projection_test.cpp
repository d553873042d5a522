#include "indexing/projection.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

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
    for (const DimensionProjection& piece : project(d, cut)) {
      EXPECT_NE(piece.chunk, last_chunk);  // one piece a chunk
      last_chunk = piece.chunk;
      for (std::uint64_t k = 0; k < piece.count; ++k) {
        const std::int64_t in_chunk =
            static_cast<std::int64_t>(piece.chunk_start) + static_cast<std::int64_t>(k) * piece.step;
        ASSERT_GE(in_chunk, 0);
        ASSERT_LT(static_cast<std::uint64_t>(in_chunk), edges[piece.chunk]);
        position_of[piece.output_start + k] =
            cut.chunk_start(piece.chunk) + static_cast<std::uint64_t>(in_chunk);
      }
    }
    ASSERT_EQ(position_of.size(), d.count);
    for (const auto& [place, position] : position_of)
      ASSERT_EQ(position, d.start + place * static_cast<std::uint64_t>(d.step)) << "place " << place;
  }
}

TEST(Projection, ProductInOrderOfTheResult) {
  const DimensionCut cut = cut_at({2, 2, 2});
  std::vector<std::vector<DimensionProjection>> dimensions = {project({0, 1, 6, false}, cut),
                                                              project({5, -1, 6, false}, cut)};
  const GridProjection grid(dimensions);
  EXPECT_EQ(grid.size(), 9u);
  std::vector<const DimensionProjection*> piece;
  grid.at(1, piece);
  EXPECT_EQ(piece[0]->chunk, 0u);
  EXPECT_EQ(piece[1]->chunk, 1u);
  grid.at(3, piece);
  EXPECT_EQ(piece[0]->chunk, 1u);
  EXPECT_EQ(piece[1]->chunk, 2u);
  EXPECT_EQ(piece[1]->chunk_start, 1u);
  EXPECT_EQ(piece[1]->step, -1);
}

TEST(Projection, ZeroDimensionsAreOneChunk) {
  const GridProjection grid({});
  EXPECT_EQ(grid.size(), 1u);
  std::vector<const DimensionProjection*> piece(3);
  grid.at(0, piece);
  EXPECT_TRUE(piece.empty());
}

TEST(Projection, TooManyChunksIsAnError) {
  std::vector<DimensionProjection> many(1 << 16);
  EXPECT_ANY_THROW(GridProjection(std::vector<std::vector<DimensionProjection>>(4, many)));
}

}  // namespace
}  // namespace zarrive
