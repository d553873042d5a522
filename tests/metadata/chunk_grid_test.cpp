#include "zarrive/chunk_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zarrive/error.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ChunkGrid read(const std::string& text, std::size_t ndim) {
  return ChunkGrid::from_json(Json::parse(text), ndim);
}
ChunkGrid rectilinear(const std::string& chunk_shapes, std::size_t ndim) {
  return read(
      R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":)" + chunk_shapes + "}}",
      ndim);
}

void expect_error(ErrorCode code, const std::string& part, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error, expected " << to_string(code) << " with: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    EXPECT_THAT(error.message(), HasSubstr(part));
  }
}

TEST(ChunkGrid, DefaultIsOneChunkOfAScalar) {
  const ChunkGrid grid;
  EXPECT_TRUE(grid.is_regular());
  EXPECT_EQ(grid.ndim(), 0u);
  EXPECT_EQ(element_count(grid.grid_shape({})), 1u);
  EXPECT_TRUE(grid.chunk_shape(std::span<const std::uint64_t>{}).empty());
}

TEST(ChunkGrid, RegularCoversWithCeiling) {
  const ChunkGrid grid = ChunkGrid::regular({3, 4});
  const Shape shape{10, 8};
  EXPECT_THAT(grid.grid_shape(shape), ElementsAre(4, 2));
  EXPECT_THAT(grid.grid_shape(Shape{0, 1}), ElementsAre(0, 1));
  EXPECT_EQ(grid.chunk_at(0, 9), 3u);
  EXPECT_EQ(grid.chunk_start(0, 3), 9u);
  EXPECT_EQ(grid.chunk_edge(0, 3), 3u);  // full, also past the end
  EXPECT_THAT(grid.chunk_shape(Index{3, 1}), ElementsAre(3, 4));
  EXPECT_THAT(grid.chunk_origin(Index{3, 1}), ElementsAre(9, 4));
}

TEST(ChunkGrid, RegularLargest) {
  const ChunkGrid grid = ChunkGrid::regular({1, max_extent});
  EXPECT_THAT(grid.grid_shape(Shape{max_extent, max_extent}), ElementsAre(max_extent, 1));
  EXPECT_EQ(grid.chunk_start(1, 2), 2 * max_extent);
  expect_error(ErrorCode::out_of_bounds, "dimension 1", [&] { grid.chunk_start(1, 3); });
}

TEST(ChunkGrid, RegularRefusesEdges) {
  expect_error(ErrorCode::invalid_metadata, "chunk edge of 0", [] { ChunkGrid::regular({3, 0}); });
  expect_error(ErrorCode::invalid_metadata, "dimension 0", [] { ChunkGrid::regular({max_extent + 1}); });
}

TEST(ChunkGrid, RectilinearExamplesOfTheSpecification) {
  const struct {
    const char* chunk_shapes;
    std::vector<std::uint64_t> edges;  // of the chunks that hold elements of a dimension of 6
  } cases[] = {{"[4]", {4, 4}},       {"[[[4,2]]]", {4, 4}},    {"[[[1,3],3]]", {1, 1, 1, 3}},
               {"[[4,4,4]]", {4, 4}}, {"[[1,2,3]]", {1, 2, 3}}, {"[6]", {6}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.chunk_shapes);
    const ChunkGrid grid = rectilinear(c.chunk_shapes, 1);
    EXPECT_FALSE(grid.is_regular());
    ASSERT_THAT(grid.grid_shape(Shape{6}), ElementsAre(c.edges.size()));
    std::uint64_t start = 0;
    for (std::size_t i = 0; i < c.edges.size(); ++i) {
      EXPECT_EQ(grid.chunk_edge(0, i), c.edges[i]);
      EXPECT_EQ(grid.chunk_start(0, i), start);
      for (std::uint64_t p = start; p < start + c.edges[i] && p < 6; ++p)
        EXPECT_EQ(grid.chunk_at(0, p), i) << p;
      start += c.edges[i];
    }
    EXPECT_EQ(ChunkGrid::from_json(grid.to_json(), 1), grid);
  }
}

TEST(ChunkGrid, RectilinearAgainstExpansion) {
  const ChunkGrid grid = rectilinear("[[[2,3],5,[1,4],7],3]", 2);
  const std::vector<std::uint64_t> edges{2, 2, 2, 5, 1, 1, 1, 1, 7};
  std::uint64_t position = 0;
  for (std::size_t chunk = 0; chunk < edges.size(); ++chunk) {
    EXPECT_EQ(grid.chunk_start(0, chunk), position);
    EXPECT_EQ(grid.chunk_edge(0, chunk), edges[chunk]);
    for (std::uint64_t i = 0; i < edges[chunk]; ++i) EXPECT_EQ(grid.chunk_at(0, position + i), chunk);
    position += edges[chunk];
  }
  EXPECT_THAT(grid.grid_shape(Shape{22, 7}), ElementsAre(9, 3));
  EXPECT_THAT(grid.grid_shape(Shape{6, 6}), ElementsAre(3, 2));
  EXPECT_THAT(grid.grid_shape(Shape{0, 0}), ElementsAre(0, 0));
  EXPECT_THAT(grid.chunk_shape(Index{3, 9}), ElementsAre(5, 3));
  EXPECT_THAT(grid.chunk_origin(Index{3, 9}), ElementsAre(6, 27));
  expect_error(ErrorCode::out_of_bounds, "position 22", [&] { grid.chunk_at(0, 22); });
  expect_error(ErrorCode::out_of_bounds, "chunk 9", [&] { grid.chunk_start(0, 9); });
  expect_error(ErrorCode::out_of_bounds, "chunk 9", [&] { grid.chunk_edge(0, 9); });
  expect_error(ErrorCode::invalid_metadata, "sum up to 22", [&] { grid.check(Shape{23, 1}); });
  expect_error(ErrorCode::invalid_metadata, "2", [&] { grid.check(Shape{23}); });
}

TEST(ChunkGrid, RectilinearHugeCountsAreNotExpanded) {
  const ChunkGrid grid = rectilinear("[[[1,4611686018427387904],[3,1000000000000]]]", 1);
  const std::uint64_t half = std::uint64_t{1} << 62;
  EXPECT_EQ(grid.chunk_at(0, half - 1), half - 1);
  EXPECT_EQ(grid.chunk_at(0, half + 5), half + 1);
  EXPECT_EQ(grid.chunk_start(0, half + 2), half + 6);
  EXPECT_EQ(grid.chunk_edge(0, half - 1), 1u);
  EXPECT_EQ(grid.chunk_edge(0, half), 3u);
}

TEST(ChunkGrid, RectilinearWritesRuns) {
  EXPECT_EQ(
      rectilinear("[[2,2,2,3,[3,2],1],5]", 2).to_json().dump(),
      R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[2, 3], [3, 3], 1], 5]}})");
  EXPECT_EQ(rectilinear("[[2,2]]", 1), rectilinear("[[[2,2]]]", 1));
  EXPECT_FALSE(rectilinear("[[2]]", 1) == rectilinear("[2]", 1));
  EXPECT_FALSE(rectilinear("[2]", 1) == ChunkGrid::regular({2}));
  EXPECT_EQ(ChunkGrid::regular({2, 3}).to_json().dump(),
            R"({"name": "regular", "configuration": {"chunk_shape": [2, 3]}})");
  EXPECT_EQ(rectilinear("[]", 0).ndim(), 0u);
}

TEST(ChunkGrid, RectilinearFromDimensions) {
  const ChunkGrid grid =
      ChunkGrid::rectilinear({{.runs = {{.edge = 4}}, .repeat = true}, {.runs = {{2, 1}, {2, 3}, {1, 1}}}});
  EXPECT_EQ(grid.dimensions()[1].runs.size(), 2u);
  EXPECT_THAT(grid.grid_shape(Shape{9, 9}), ElementsAre(3, 5));
  expect_error(ErrorCode::invalid_metadata, "run of 0", [] { ChunkGrid::rectilinear({{.runs = {{2, 0}}}}); });
  expect_error(ErrorCode::invalid_metadata, "edge of 0", [] {
    ChunkGrid::rectilinear({{.runs = {{0, 1}}}});
  });
  expect_error(ErrorCode::invalid_metadata, "no chunk edges", [] { ChunkGrid::rectilinear({{}}); });
  expect_error(ErrorCode::invalid_metadata, "single", [] {
    ChunkGrid::rectilinear({{.runs = {{2, 1}, {3, 1}}, .repeat = true}});
  });
  expect_error(ErrorCode::invalid_metadata, "single", [] {
    ChunkGrid::rectilinear({{.runs = {{2, 2}}, .repeat = true}});
  });
}

TEST(ChunkGrid, HostileDocuments) {
  const struct {
    const char* text;
    std::size_t ndim;
    ErrorCode code;
    const char* part;
  } cases[] = {
      {"3", 1, ErrorCode::invalid_metadata, "found 3"},
      {"null", 1, ErrorCode::invalid_metadata, "found null"},
      {"{}", 1, ErrorCode::invalid_metadata, "name"},
      {R"({"name":7})", 1, ErrorCode::invalid_metadata, "name"},
      {R"("regular")", 1, ErrorCode::invalid_metadata, "chunk_shape"},
      {R"("hexagonal")", 1, ErrorCode::unsupported, "hexagonal"},
      {R"({"name":"zarrs.regular_bounded","configuration":{"chunk_shape":[2]}})", 1, ErrorCode::unsupported,
       "regular_bounded"},
      {R"({"name":"regular","configuration":[]})", 1, ErrorCode::invalid_metadata, "configuration"},
      {R"({"name":"regular","configuration":null})", 1, ErrorCode::invalid_metadata, "configuration"},
      {R"({"name":"regular","configuration":{"chunk_shape":3}})", 1, ErrorCode::invalid_metadata, "found 3"},
      {R"({"name":"regular","configuration":{"chunk_shape":[0]}})", 1, ErrorCode::invalid_metadata,
       "found 0"},
      {R"({"name":"regular","configuration":{"chunk_shape":[-1]}})", 1, ErrorCode::invalid_metadata,
       "found -1"},
      {R"({"name":"regular","configuration":{"chunk_shape":[1.0]}})", 1, ErrorCode::invalid_metadata,
       "found 1.0"},
      {R"({"name":"regular","configuration":{"chunk_shape":["1"]}})", 1, ErrorCode::invalid_metadata,
       "found \"1\""},
      {R"({"name":"regular","configuration":{"chunk_shape":[true]}})", 1, ErrorCode::invalid_metadata,
       "found true"},
      {R"({"name":"regular","configuration":{"chunk_shape":[18446744073709551616]}})", 1,
       ErrorCode::invalid_metadata, "18446744073709551616"},
      {R"({"name":"regular","configuration":{"chunk_shape":[9223372036854775808]}})", 1,
       ErrorCode::invalid_metadata, "2^63 - 1"},
      {R"({"name":"regular","configuration":{"chunk_shape":[1,2]}})", 1, ErrorCode::invalid_metadata,
       "1 entries"},
      {R"({"name":"regular","configuration":{"chunk_shape":[1]},"must_understand":false})", 1,
       ErrorCode::invalid_metadata, "must_understand"},
      {R"({"name":"regular","configuration":{"chunk_shape":[1]},"must_understand":1})", 1,
       ErrorCode::invalid_metadata, "must_understand"},
      {R"({"name":"rectilinear","configuration":{"chunk_shapes":[1]}})", 1, ErrorCode::invalid_metadata,
       "kind"},
      {R"({"name":"rectilinear","configuration":{"kind":"file","chunk_shapes":[1]}})", 1,
       ErrorCode::invalid_metadata, "inline"},
      {R"({"name":"rectilinear","configuration":{"kind":1,"chunk_shapes":[1]}})", 1,
       ErrorCode::invalid_metadata, "inline"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline"}})", 1, ErrorCode::invalid_metadata,
       "chunk_shapes"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":5}})", 1,
       ErrorCode::invalid_metadata, "found 5"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[1,2]}})", 1,
       ErrorCode::invalid_metadata, "1 entries"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[0]}})", 1,
       ErrorCode::invalid_metadata, "found 0"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[]]}})", 1,
       ErrorCode::invalid_metadata, "found []"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[1]]]}})", 1,
       ErrorCode::invalid_metadata, "[edge, count]"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[1,2,3]]]}})", 1,
       ErrorCode::invalid_metadata, "[edge, count]"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[1,0]]]}})", 1,
       ErrorCode::invalid_metadata, "found 0"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[[1,2],2]]]}})", 1,
       ErrorCode::invalid_metadata, "found [1, 2]"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[9223372036854775807,9223372036854775807]]]}})",
       1, ErrorCode::resource_limit, "2^63"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[9223372036854775807,1]]}})",
       1, ErrorCode::resource_limit, "2^63"},
      {R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[{"a":1}]}})", 1,
       ErrorCode::invalid_metadata, "{\"a\": 1}"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    expect_error(c.code, c.part, [&] { read(c.text, c.ndim); });
  }
}

TEST(ChunkGrid, LenientCasesWarn) {
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& sentence) { warnings.push_back(sentence); };
  const auto read_warning = [&](const char* text) {
    return ChunkGrid::from_json(Json::parse(text), 1, warn);
  };
  EXPECT_EQ(read_warning(R"({"name":"rectangular","configuration":{"chunk_shape":[[1,2]]}})"),
            rectilinear("[[1,2]]", 1));
  EXPECT_EQ(read_warning(R"({"name":"regular","configuration":{"chunk_shape":[2],"x":1}})"),
            ChunkGrid::regular({2}));
  EXPECT_EQ(read_warning(R"({"name":"regular","configuration":{"chunk_shape":[2]},"y":1})"),
            ChunkGrid::regular({2}));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("rectangular"), HasSubstr("\"x\""), HasSubstr("\"y\"")));
  EXPECT_EQ(read(R"({"name":"regular","configuration":{"chunk_shape":[2],"x":1}})", 1),
            ChunkGrid::regular({2}));
}

}  // namespace
}  // namespace zarrive
