// Orthogonal, coordinate, mask and block selections, and fields: how they are written, and what they resolve to.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <random>

#include "support/errors.hpp"
#include "zarrive/memory.hpp"
#include "zarrive/selection.hpp"

namespace zarrive {
namespace {

using testing::code_of;

std::vector<std::uint64_t> positions(const ResolvedDimension& d) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < d.count; ++i) out.push_back(d.position(i));
  return out;
}

using Positions = std::vector<std::uint64_t>;

Positions column(const ResolvedSelection& r, std::size_t d) {
  const std::uint64_t* at = r.points->coordinates.at(d).get();
  return Positions(at, at + r.points->count);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

TEST(OrthogonalSelection, TakesWhatPeopleWrite) {
  const std::vector<std::int64_t> wide{3, 1, 1};
  const std::vector<int> narrow{3, 1, 1};
  const std::vector<std::uint16_t> unsigned_ones{3, 1, 1};
  const std::vector<bool> flags{true, false, true, true};
  const Shape shape{4, 4, 4, 9};
  const Selection all[] = {
      oindex({wide, flags, 2, slice(2, 9)}),
      oindex({narrow, flags, 2, slice(2, 9)}),
      oindex({unsigned_ones, flags, 2, slice(2, 9)}),
      oindex({{3, 1, 1}, flags, 2, slice(2, 9)}),
      oindex({{3, 1, 1}, flags, 2, slice(2, 9), ellipsis}),
      oindex({IntegerArray(wide), BooleanArray(flags), 2, slice(2, 9)}),
      oindex(std::vector<SelectionItem>{IntegerArray(wide), BooleanArray(flags), 2, Slice{2, 9, {}}}),
      Selection("[3, 1, 1], [0, 2, 3], 2, 2:9")};
  for (const Selection& s : all) {
    EXPECT_EQ(s.kind(), SelectionKind::orthogonal);
    const ResolvedSelection r = resolve(s, shape);
    EXPECT_EQ(r.result_shape(), (Shape{3, 3, 7}));
    EXPECT_EQ(r.full_shape(), (Shape{3, 3, 1, 7}));
    EXPECT_EQ(positions(r.dimensions[0]), (Positions{3, 1, 1}));
    EXPECT_EQ(positions(r.dimensions[1]), (Positions{0, 2, 3}));
    EXPECT_TRUE(r.dimensions[2].dropped);
    EXPECT_FALSE(r.empty());
  }
  // Without lists it is a basic selection.
  EXPECT_EQ(oindex({1, slice(2, 3)}).kind(), SelectionKind::basic);
}

TEST(OrthogonalSelection, TextOfLists) {
  const Selection s(" [3,1 , 1,], -1, ::2,[] ");
  EXPECT_EQ(s.kind(), SelectionKind::orthogonal);
  EXPECT_EQ(s.to_string(), "[3, 1, 1], -1, ::2, []");
  for (const char* text :
       {"[", "[1", "[1,", "[1 2]", "[a]", "[1:2]", "[[1]]", "[1]]", "[,]", "[1,,2]", "[...]"})
    EXPECT_EQ(code_of([&] { Selection{std::string_view(text)}; }), ErrorCode::invalid_argument) << text;
  std::vector<std::int64_t> many(1000);
  std::iota(many.begin(), many.end(), 0);
  EXPECT_EQ(oindex({many}).to_string(), "[0, 1, 2, 3, 4, 5, 6, 7, ... 1000 in all]");
  EXPECT_EQ(oindex({std::vector<bool>{true, false}}).to_string(), "flags(1 set of [2])");
}

TEST(OrthogonalSelection, NegativePositionsCountFromTheEnd) {
  const ResolvedSelection r = resolve(oindex({{-1, 0, -4}}), Shape{4});
  EXPECT_EQ(positions(r.dimensions[0]), (Positions{3, 0, 0}));
}

TEST(OrthogonalSelection, ListsThatAreRangesBecomeRanges) {
  const auto range = [](std::initializer_list<std::int64_t> list) {
    return resolve(oindex({list}), Shape{100}).dimensions[0];
  };
  EXPECT_FALSE(range({3, 5, 7}).is_list());
  EXPECT_EQ(range({3, 5, 7}).step, 2);
  EXPECT_EQ(range({9, 6, 3, 0}).step, -3);
  EXPECT_EQ(positions(range({9, 6, 3, 0})), (Positions{9, 6, 3, 0}));
  EXPECT_FALSE(range({42}).is_list());
  EXPECT_EQ(range({42}).step, 1);
  EXPECT_FALSE(range({}).is_list());
  EXPECT_EQ(range({}).count, 0u);
  EXPECT_TRUE(range({3, 3}).is_list());
  EXPECT_TRUE(range({3, 4, 6}).is_list());
  EXPECT_FALSE(resolve(oindex({std::vector<bool>{false, true, true}}), Shape{3}).dimensions[0].is_list());
}

TEST(OrthogonalSelection, ListsAreSharedNotCopied) {
  const IntegerArray list(std::vector<std::int64_t>{5, 2, 7});
  const ResolvedSelection r = resolve(oindex({list}), Shape{10});
  EXPECT_EQ(static_cast<const void*>(r.dimensions[0].positions.get()),
            static_cast<const void*>(list.positions().data()));
  const ResolvedDimension part = r.dimensions[0].part(1, 2);
  EXPECT_EQ(positions(part), (Positions{2, 7}));
  EXPECT_EQ(part.positions.get(), r.dimensions[0].positions.get() + 1);
}

TEST(OrthogonalSelection, PartsOfRanges) {
  const ResolvedDimension down = resolve("9::-3", Shape{10}).dimensions[0];
  EXPECT_EQ(positions(down.part(1, 2)), (Positions{6, 3}));
  EXPECT_EQ(down.part(4, 0).count, 0u);
}

TEST(OrthogonalSelection, RefusesWhatMeansNothing) {
  EXPECT_EQ(code_of([] { resolve(oindex({{0, 4}}), Shape{4}); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([] { resolve(oindex({{0, -5}}), Shape{4}); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([] { resolve(oindex({{0}}), Shape{0}); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([] { resolve(oindex({{std::numeric_limits<std::int64_t>::min()}}), Shape{4}); }),
            ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([] { resolve(oindex({std::vector<std::uint64_t>{~std::uint64_t{0}}}), Shape{4}); }),
            ErrorCode::out_of_bounds);
  EXPECT_NE(message_of([] {
              resolve(oindex({0, {7}}), Shape{4, 5});
            }).find("index 7 is outside dimension 1, which has 5 elements"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              resolve(oindex({std::vector<bool>(3)}), Shape{4});
            }).find("have shape [3], the dimension has 4 elements"),
            std::string::npos);
  EXPECT_EQ(code_of([] {
              resolve(oindex({IntegerArray({1, 2, 3, 4}, {2, 2})}), Shape{9});
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { resolve(oindex({{1}, {1}}), Shape{9}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] {
              resolve(oindex({ellipsis, {1}, ellipsis}), Shape{9});
            }),
            ErrorCode::invalid_argument);
}

TEST(CoordinateSelection, PointsInAnyOrder) {
  const std::vector<int> rows{3, 0, -1, 3};
  const std::vector<std::int64_t> columns{1, 2, 0, 1};
  for (const Selection& s : {vindex({rows, columns}), vindex({{3, 0, -1, 3}, {1, 2, 0, 1}})}) {
    EXPECT_EQ(s.kind(), SelectionKind::coordinate);
    const ResolvedSelection r = resolve(s, Shape{5, 3});
    EXPECT_EQ(r.result_shape(), Shape{4});
    EXPECT_EQ(column(r, 0), (Positions{3, 0, 4, 3}));
    EXPECT_EQ(column(r, 1), (Positions{1, 2, 0, 1}));
  }
  EXPECT_EQ(vindex({rows, columns}).to_string(), "vindex([3, 0, -1, 3], [1, 2, 0, 1])");
}

TEST(CoordinateSelection, BroadcastsAsNumPy) {
  const IntegerArray rows({0, 1, 2}, {3, 1});
  const ResolvedSelection r = resolve(vindex({rows, {4, 5}}), Shape{9, 9});
  EXPECT_EQ(r.result_shape(), (Shape{3, 2}));
  EXPECT_EQ(column(r, 0), (Positions{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(column(r, 1), (Positions{4, 5, 4, 5, 4, 5}));
  const ResolvedSelection single = resolve(vindex({{1, 2, 3}, 7}), Shape{9, 9});
  EXPECT_EQ(single.result_shape(), Shape{3});
  EXPECT_EQ(column(single, 1), (Positions{7, 7, 7}));
  const ResolvedSelection point = resolve(vindex({3, 4}), Shape{9, 9});
  EXPECT_EQ(point.result_shape(), Shape{});
  EXPECT_EQ(point.points->count, 1u);
  const ResolvedSelection nothing = resolve(vindex({IntegerArray(), 3}), Shape{9, 9});
  EXPECT_EQ(nothing.result_shape(), Shape{0});
  EXPECT_TRUE(nothing.empty());
  // the middle one repeats along the outer and the inner dimension
  const ResolvedSelection three = resolve(
      vindex({IntegerArray({0, 1}, {2, 1, 1}), IntegerArray({2, 3}, {2, 1}), {4, 5}}), Shape{9, 9, 9});
  EXPECT_EQ(three.result_shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(column(three, 0), (Positions{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(column(three, 1), (Positions{2, 2, 3, 3, 2, 2, 3, 3}));
  EXPECT_EQ(column(three, 2), (Positions{4, 5, 4, 5, 4, 5, 4, 5}));
}

TEST(CoordinateSelection, OfAZeroDimensionalArray) {
  const ResolvedSelection r = resolve(vindex(std::vector<IntegerArray>{}), Shape{});
  EXPECT_EQ(r.result_shape(), Shape{});
  EXPECT_FALSE(r.empty());
}

TEST(CoordinateSelection, RefusesWhatMeansNothing) {
  EXPECT_EQ(code_of([] { resolve(vindex({{1, 2}}), Shape{9, 9}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { resolve(vindex({{1, 2}, {1, 2, 3}}), Shape{9, 9}); }), ErrorCode::invalid_argument);
  EXPECT_NE(message_of([] {
              resolve(vindex({{1, 2}, {1, 2, 3}}), Shape{9, 9});
            }).find("[2], [3]"),
            std::string::npos);
  EXPECT_EQ(code_of([] { resolve(vindex({{1, 2}, {1, 9}}), Shape{9, 9}); }), ErrorCode::out_of_bounds);
  // 10^6 positions against 10^6 and 10^6: more than there is memory for is an error, not an attempt
  const std::vector<std::int64_t> many(1000000, 0);
  const std::size_t n = many.size();
  EXPECT_EQ(code_of([&] {
              resolve(vindex({IntegerArray(many, {n, 1, 1, 1}), IntegerArray(many, {n, 1, 1}),
                              IntegerArray(many, {n, 1}), many}),
                      Shape{9, 9, 9, 9});
            }),
            ErrorCode::resource_limit);
}

TEST(MaskSelection, TrueElementsInCOrder) {
  const std::vector<bool> flags{false, true, false, true, true, false};
  const std::array<bool, 6> plain{false, true, false, true, true, false};
  const ArrayView view = ArrayView::of(plain.data(), {2, 3});
  for (const Selection& s : {mask({flags, {2, 3}}), mask(view)}) {
    EXPECT_EQ(s.kind(), SelectionKind::mask);
    EXPECT_EQ(s.to_string(), "mask(flags(3 set of [2, 3]))");
    const ResolvedSelection r = resolve(s, Shape{2, 3});
    EXPECT_EQ(r.result_shape(), Shape{3});
    EXPECT_EQ(column(r, 0), (Positions{0, 1, 1}));
    EXPECT_EQ(column(r, 1), (Positions{1, 0, 1}));
  }
  const std::vector<std::size_t> order{1, 0};
  const ResolvedSelection turned = resolve(mask(view.transposed(order)), Shape{3, 2});
  EXPECT_EQ(column(turned, 0), (Positions{0, 1, 1}));
  EXPECT_EQ(column(turned, 1), (Positions{1, 0, 1}));
  EXPECT_EQ(resolve(mask({std::vector<bool>{true}, Shape{}}), Shape{}).result_shape(), Shape{1});
  EXPECT_EQ(resolve(mask({std::vector<bool>{false}, Shape{}}), Shape{}).result_shape(), Shape{0});
  EXPECT_EQ(resolve(mask({std::vector<bool>{}, {0, 3}}), Shape{0, 3}).result_shape(), Shape{0});
}

TEST(MaskSelection, LongStretchesOfNothing) {
  std::mt19937_64 random(3);
  const auto flags = std::make_unique<bool[]>(1000);
  std::vector<std::uint64_t> expected;
  for (int i = 0; i < 20; ++i) flags[random() % 1000] = true;
  for (std::uint64_t i = 0; i < 1000; ++i)
    if (flags[i]) expected.push_back(i);
  const BooleanArray array(ArrayView::of(flags.get(), {1000}));
  EXPECT_EQ(Positions(array.positions().begin(), array.positions().end()), expected);
}

TEST(MaskSelection, RefusesAnotherShape) {
  EXPECT_NE(message_of([] {
              resolve(mask({std::vector<bool>(6), {2, 3}}), Shape{3, 2});
            }).find("the mask has shape [2, 3], the array [3, 2]"),
            std::string::npos);
  EXPECT_EQ(code_of([] { resolve(mask(std::vector<bool>(6)), Shape{3, 2}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { mask({std::vector<bool>(6), {2, 2}}); }), ErrorCode::invalid_argument);
  const std::array<int, 2> numbers{0, 1};
  EXPECT_EQ(code_of([&] { mask(ArrayView::of(numbers.data(), {2})); }), ErrorCode::invalid_argument);
}

TEST(BlockSelection, IsOverTheGrid) {
  const Selection s = blocks({1, slice(0, 2), ellipsis});
  EXPECT_EQ(s.kind(), SelectionKind::block);
  EXPECT_EQ(s.to_string(), "blocks(1, 0:2, ...)");
  EXPECT_EQ(blocks({0, 2}).items().size(), 2u);  // not a string_view
  EXPECT_EQ(code_of([&] { resolve(s, Shape{9, 9}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] {
              blocks(std::vector<SelectionItem>{IntegerArray({1, 2})});
            }),
            ErrorCode::invalid_argument);
}

TEST(FieldSelection, WithAnyKind) {
  EXPECT_EQ(field("x").to_string(), "..., field \"x\"");
  EXPECT_TRUE(field("x").is_single_field());
  EXPECT_EQ(Selection("0:2").fields({"x", "y"}).to_string(), "0:2, fields \"x\", \"y\"");
  EXPECT_FALSE(fields({"x"}).is_single_field());
  EXPECT_EQ(vindex({{1}, {2}}).field("x").kind(), SelectionKind::coordinate);
  EXPECT_EQ(code_of([] { fields({}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { field("x").field("y"); }), ErrorCode::invalid_argument);
}

TEST(IntegerArray, OfViewsOfAnyIntegerType) {
  const std::array<std::uint8_t, 6> bytes{1, 2, 3, 4, 5, 255};
  const std::vector<std::size_t> order{1, 0};
  const IntegerArray a(ArrayView::of(bytes.data(), {2, 3}).transposed(order));
  EXPECT_EQ(a.shape(), (Shape{3, 2}));
  EXPECT_EQ(std::vector<std::int64_t>(a.positions().begin(), a.positions().end()),
            (std::vector<std::int64_t>{1, 4, 2, 5, 3, 255}));
  const std::array<std::int16_t, 2> shorts{-1, 7};
  EXPECT_EQ(IntegerArray(ArrayView::of(shorts.data(), {2})).positions()[0], -1);
  const std::array<std::uint64_t, 1> large{~std::uint64_t{0}};
  EXPECT_EQ(IntegerArray(ArrayView::of(large.data(), {1})).positions()[0],
            std::numeric_limits<std::int64_t>::max());
  const std::array<float, 2> floats{1, 2};
  EXPECT_EQ(code_of([&] { IntegerArray(ArrayView::of(floats.data(), {2})); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { IntegerArray({1, 2, 3}, {2, 2}); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace zarrive
