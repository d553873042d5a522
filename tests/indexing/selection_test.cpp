#include "zarrive/selection.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "support/errors.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

using testing::code_of;

// The positions that a resolved dimension stands for.
std::vector<std::int64_t> positions(const ResolvedDimension& d) {
  std::vector<std::int64_t> out;
  for (std::uint64_t i = 0; i < d.count; ++i)
    out.push_back(static_cast<std::int64_t>(d.start) + static_cast<std::int64_t>(i) * d.step);
  return out;
}

// Python's rule, literally: range(*slice(start, stop, step).indices(length)).
std::vector<std::int64_t> python_slice(const Slice& s, std::int64_t length) {
  const std::int64_t step = s.step.value_or(1);
  const std::int64_t low = step < 0 ? -1 : 0;
  const std::int64_t high = step < 0 ? length - 1 : length;
  auto bound = [&](std::optional<std::int64_t> value, std::int64_t otherwise) {
    if (!value) return otherwise;
    std::int64_t v = *value < 0 ? *value + length : *value;
    return std::clamp(v, low, high);
  };
  std::vector<std::int64_t> out;
  const std::int64_t stop = bound(s.stop, step < 0 ? low : high);
  for (std::int64_t i = bound(s.start, step < 0 ? high : low); step < 0 ? i > stop : i < stop; i += step)
    out.push_back(i);
  return out;
}

TEST(Selection, ParsesWhatNumPyBracketsTake) {
  const Selection s("0:10, ..., ::-2, 5,-3 , :, 1: , :4,");
  EXPECT_EQ(s.to_string(), "0:10, ..., ::-2, 5, -3, :, 1:, :4");
  EXPECT_EQ(Selection("").to_string(), "...");
  EXPECT_EQ(Selection("  ").items().size(), 0u);
  EXPECT_EQ((Selection{slice(1, 3), ellipsis, 5, slice(none, none, -1)}).to_string(), "1:3, ..., 5, ::-1");
  EXPECT_EQ((Selection{slice(7)}).to_string(), ":7");
}

TEST(Selection, SaysWhereTheTextGoesWrong) {
  for (const char* text : {"a", "1;2", "1,,2", "1:2:3:4", "..", "1 2", "99999999999999999999",
                           ":9223372036854775808", "- 1", "0x1", "1.5", ","}) {
    EXPECT_EQ(code_of([&] { Selection{std::string_view(text)}; }), ErrorCode::invalid_argument) << text;
  }
  try {
    Selection("0:10, x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("character 7"), std::string::npos) << error.message();
  }
}

TEST(Selection, SlicesAreThoseOfPython) {
  std::mt19937_64 random(7);
  auto maybe = [&]() -> std::optional<std::int64_t> {
    if (random() % 4 == 0) return std::nullopt;
    return static_cast<std::int64_t>(random() % 31) - 15;
  };
  for (int i = 0; i < 20000; ++i) {
    Slice s{maybe(), maybe(), maybe()};
    if (s.step == 0) s.step = 1;
    const std::uint64_t length = random() % 12;
    const ResolvedSelection r = resolve(Selection(std::vector<SelectionItem>{s}), Shape{length});
    ASSERT_EQ(positions(r.dimensions[0]), python_slice(s, static_cast<std::int64_t>(length)))
        << Selection(std::vector<SelectionItem>{s}).to_string() << " of " << length;
  }
}

TEST(Selection, ExtremeBoundsDoNotOverflow) {
  const auto low = std::numeric_limits<std::int64_t>::min();
  const auto high = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(resolve(Selection{slice(low, high)}, Shape{5}).result_shape(), Shape{5});
  EXPECT_EQ(resolve(Selection{slice(none, none, low)}, Shape{5}).result_shape(), Shape{1});
  EXPECT_EQ(resolve(Selection{slice(none, none, high)}, Shape{5}).result_shape(), Shape{1});
  EXPECT_EQ(resolve(Selection{slice(high, low, low)}, Shape{5}).result_shape(), Shape{1});
  EXPECT_EQ(resolve(Selection{slice(0, high)}, Shape{static_cast<std::uint64_t>(high)}).result_shape()[0],
            static_cast<std::uint64_t>(high));
  EXPECT_EQ(code_of([&] { resolve(Selection{low}, Shape{5}); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] { resolve(Selection{}, Shape{static_cast<std::uint64_t>(high) + 1}); }),
            ErrorCode::resource_limit);
}

TEST(Selection, IntegersDropTheirDimension) {
  const ResolvedSelection r = resolve("1, :, -1", Shape{2, 3, 4});
  EXPECT_EQ(r.result_shape(), (Shape{3}));
  EXPECT_EQ(r.full_shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(r.dimensions[2].start, 3u);
  EXPECT_TRUE(r.dimensions[0].dropped);
  EXPECT_EQ(code_of([] { resolve("2", Shape{2}); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([] { resolve("-3", Shape{2}); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([] { resolve("0", Shape{0}); }), ErrorCode::out_of_bounds);
}

TEST(Selection, EllipsisTakesTheRest) {
  EXPECT_EQ(resolve("..., 0", Shape{2, 3, 4}).result_shape(), (Shape{2, 3}));
  EXPECT_EQ(resolve("0, ...", Shape{2, 3, 4}).result_shape(), (Shape{3, 4}));
  EXPECT_EQ(resolve("0, ..., 0, 0", Shape{2, 3, 4}).result_shape(), Shape{});
  EXPECT_EQ(resolve("...", Shape{}).result_shape(), Shape{});
  EXPECT_EQ(resolve("", Shape{}).result_shape(), Shape{});
  EXPECT_EQ(resolve("1:", Shape{2, 3}).result_shape(), (Shape{1, 3}));
}

TEST(Selection, RefusesWhatMeansNothing) {
  EXPECT_EQ(code_of([] { resolve("..., ...", Shape{2, 3}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { resolve("0, 0, 0", Shape{2, 3}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { resolve("0", Shape{}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { resolve("::0", Shape{2}); }), ErrorCode::invalid_argument);
}

TEST(Selection, Boxes) {
  EXPECT_EQ(Selection::box(Index{1, 2}, Shape{3, 4}).to_string(), "1:4, 2:6");
  EXPECT_EQ(code_of([] { Selection::box(Index{1}, Shape{3, 4}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Selection::box(Index{~std::uint64_t{0}}, Shape{3}); }), ErrorCode::resource_limit);
  EXPECT_EQ(code_of([] { Selection::box(Index{std::uint64_t{1} << 63}, Shape{3}); }),
            ErrorCode::out_of_bounds);
}

TEST(Selection, EmptyWhenAnyDimensionIs) {
  EXPECT_TRUE(resolve("3:3, :", Shape{5, 5}).empty());
  EXPECT_FALSE(resolve("3, :", Shape{5, 5}).empty());
  EXPECT_TRUE(resolve(":", Shape{0}).empty());
}

}  // namespace
}  // namespace zarrive
