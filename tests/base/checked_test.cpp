#include "zarrive/checked.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/errors.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

using testing::code_of;

constexpr std::uint64_t max64 = std::numeric_limits<std::uint64_t>::max();

TEST(Checked, AddAndMultiply) {
  EXPECT_EQ(checked_add(max64, 0), max64);
  EXPECT_EQ(checked_add(max64, 1), std::nullopt);
  EXPECT_EQ(checked_multiply(max64, 1), max64);
  EXPECT_EQ(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(add(2, 3, "x"), 5u);
  EXPECT_EQ(multiply(2, 3, "x"), 6u);
}

TEST(Checked, ThrowingFormsNameTheThing) {
  try {
    add(max64, 1, "end of the byte range");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::resource_limit);
    EXPECT_NE(e.message().find("end of the byte range"), std::string::npos);
    EXPECT_NE(e.message().find(std::to_string(max64)), std::string::npos);
  }
  EXPECT_EQ(code_of([] { multiply(max64, 2, "x"); }), ErrorCode::resource_limit);
}

TEST(Checked, ElementCount) {
  EXPECT_EQ(element_count({}), 1u);
  EXPECT_EQ(element_count(Shape{2, 3, 4}), 24u);
  EXPECT_EQ(element_count(Shape{max64}), max64);
  EXPECT_EQ(element_count(Shape{max64, max64, 0}), 0u);
  EXPECT_EQ(code_of([] { element_count(Shape{max64, 2}); }), ErrorCode::resource_limit);
}

TEST(Checked, ByteCountFitsPtrdiff) {
  EXPECT_EQ(byte_count(Shape{2, 3}, 8), 48u);
  EXPECT_EQ(byte_count({}, 8), 8u);
  EXPECT_EQ(byte_count(Shape{0, max64}, 8), 0u);
  EXPECT_EQ(byte_count(Shape{5}, 0), 0u);
  EXPECT_EQ(byte_count(Shape{(std::uint64_t{1} << 60) - 1}, 8), (std::size_t{1} << 63) - 8);
  EXPECT_EQ(code_of([] { byte_count(Shape{std::uint64_t{1} << 60}, 8); }), ErrorCode::resource_limit);
  EXPECT_EQ(code_of([] { byte_count(Shape{max64}, 8); }), ErrorCode::resource_limit);
}

TEST(Checked, CeilDivide) {
  EXPECT_EQ(ceil_divide(0, 5), 0u);
  EXPECT_EQ(ceil_divide(10, 5), 2u);
  EXPECT_EQ(ceil_divide(11, 5), 3u);
  EXPECT_EQ(ceil_divide(max64, 2), max64 / 2 + 1);
}

TEST(Checked, CStrides) {
  EXPECT_EQ(c_strides({}, 8), Strides{});
  EXPECT_EQ(c_strides(Shape{2, 3, 4}, 8), (Strides{96, 32, 8}));
  EXPECT_EQ(c_strides(Shape{2, 0, 4}, 8), (Strides{32, 32, 8}));
  const Strides huge = c_strides(Shape{0, max64, max64}, 8);  // empty: any stride will do, none may overflow
  EXPECT_EQ(huge.size(), 3u);
  for (std::int64_t s : huge) EXPECT_GT(s, 0);
  EXPECT_EQ(code_of([] { c_strides(Shape{max64, 4}, 8); }), ErrorCode::resource_limit);
}

TEST(Checked, ShapeAsText) {
  EXPECT_EQ(to_string(Shape{2, 3, 4}), "[2, 3, 4]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

}  // namespace
}  // namespace zarrive
