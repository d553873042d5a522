// copy, fill and all_equal against naive loops over random layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "support/errors.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

using testing::code_of;

// Calls f(position) for each position in C order.
template <class F>
void each(const Shape& shape, const F& f) {
  Shape at(shape.size(), 0);
  for (std::uint64_t left = element_count(shape); left > 0; --left) {
    f(at);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
  }
}

std::byte* address(const ArrayView& view, const Shape& at) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < at.size(); ++i) offset += static_cast<std::int64_t>(at[i]) * view.strides[i];
  return view.data + offset;
}

// A view of random layout with memory of its own: dimensions in any order, some reversed, some padded, some (if allowed) of stride 0.
struct Layout {
  std::vector<std::byte> memory;
  ArrayView view;
};

Layout random_layout(std::mt19937& random, const DataType& type, const Shape& shape, bool zero_strides) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  Strides strides(shape.size());
  auto step = static_cast<std::int64_t>(type.item_size() + (random() % 4 == 0 ? random() % 5 : 0));
  std::int64_t first = 0;
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::size_t i = order[k];
    if (zero_strides && random() % 6 == 0) {
      strides[i] = 0;
      continue;
    }
    strides[i] = step;
    step *= static_cast<std::int64_t>(std::max<std::uint64_t>(shape[i], 1));
    if (random() % 4 == 0) step += static_cast<std::int64_t>(random() % 9);
    if (random() % 4 == 0 && shape[i] > 0) {
      first += static_cast<std::int64_t>(shape[i] - 1) * strides[i];
      strides[i] = -strides[i];
    }
  }
  Layout layout;
  layout.memory.resize(static_cast<std::size_t>(step) + 64);
  for (std::byte& b : layout.memory) b = static_cast<std::byte>(random());
  layout.view = ArrayView(layout.memory.data() + 16 + first, type, shape, strides);
  return layout;
}

Shape random_shape(std::mt19937& random) {
  Shape shape(random() % 5);
  for (auto& n : shape) n = random() % 12 == 0 ? 0 : random() % 4 == 0 ? 1 : 1 + random() % 9;
  if (shape.size() == 2 && random() % 3 == 0)
    shape = {1 + random() % 80, 1 + random() % 80};  // larger than a tile
  return shape;
}

constexpr std::size_t sizes[] = {1, 2, 3, 4, 5, 8, 12, 16, 24};

TEST(Copy, AgreesWithTheElementLoop) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const DataType type = DataType::raw(sizes[random() % std::size(sizes)]);
    const Shape shape = random_shape(random);
    const Layout source = random_layout(random, type, shape, true);
    Layout destination = random_layout(random, type, shape, false);
    std::vector<std::byte> expected = destination.memory;
    const ArrayView model(expected.data() + (destination.view.data - destination.memory.data()), type, shape,
                          destination.view.strides);
    each(shape, [&](const Shape& at) {
      std::memcpy(address(model, at), address(source.view, at), type.item_size());
    });
    copy(source.view, destination.view);
    ASSERT_EQ(destination.memory, expected) << "seed " << seed << " shape " << to_string(shape);
  }
}

TEST(Fill, AgreesWithTheElementLoop) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const DataType type = DataType::raw(sizes[random() % std::size(sizes)]);
    const Shape shape = random_shape(random);
    Layout destination = random_layout(random, type, shape, true);
    std::vector<std::byte> element(type.item_size(), static_cast<std::byte>(random()));
    if (random() % 3)
      for (auto& b : element) b = static_cast<std::byte>(random());
    std::vector<std::byte> expected = destination.memory;
    const ArrayView model(expected.data() + (destination.view.data - destination.memory.data()), type, shape,
                          destination.view.strides);
    each(shape, [&](const Shape& at) { std::memcpy(address(model, at), element.data(), type.item_size()); });
    fill(destination.view, element);
    ASSERT_EQ(destination.memory, expected) << "seed " << seed << " shape " << to_string(shape);
    ASSERT_TRUE(all_equal(destination.view, element)) << "seed " << seed;
    if (element_count(shape) == 0) continue;
    Shape at(shape.size());
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = random() % shape[i];
    address(destination.view, at)[random() % type.item_size()] ^= std::byte{0x10};
    ASSERT_FALSE(all_equal(destination.view, element)) << "seed " << seed;
  }
}

TEST(Fill, LongRows) {
  for (std::size_t item : sizes) {
    const DataType type = DataType::raw(item);
    std::vector<std::byte> element(item);
    for (std::size_t i = 0; i < item; ++i) element[i] = static_cast<std::byte>(i * 7 + 1);
    const NDArray array = NDArray::allocate(type, {10007});
    fill(array.view(), element);
    EXPECT_TRUE(all_equal(array.view(), element));
    for (std::size_t i = 0; i < 10007; ++i)
      ASSERT_EQ(std::memcmp(array.view().data + i * item, element.data(), item), 0);
  }
}

TEST(AllEqual, ComparesBits) {
  std::vector<double> data(5, 0.0);
  const ArrayView view = ArrayView::of(data.data(), {5});
  const double zero = 0.0, minus_zero = -0.0;
  EXPECT_TRUE(all_equal(view, std::as_bytes(std::span(&zero, 1))));
  EXPECT_FALSE(all_equal(view, std::as_bytes(std::span(&minus_zero, 1))));
}

TEST(Copy, Strings) {
  const DataType string(TypeId::string);
  const NDArray source = NDArray::allocate(string, {3, 4}), destination = NDArray::allocate(string, {4, 3});
  for (std::size_t i = 0; i < 12; ++i)
    source.span<std::string>()[i] = std::string(i * 5, static_cast<char>('a' + i));
  const std::vector<std::size_t> order{1, 0};
  copy(source.view(), destination.view().transposed(order));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_EQ(destination.span<std::string>()[j * 3 + i], source.span<std::string>()[i * 4 + j]);
  const std::string word(100, 'w');
  fill(destination.view().box(Shape{1, 0}, Shape{2, 3}), word);
  EXPECT_TRUE(all_equal(destination.view().box(Shape{1, 0}, Shape{2, 3}), word));
  EXPECT_FALSE(all_equal(destination.view(), word));
  const ArrayView nothing = destination.view().box(Shape{0, 0}, Shape{0, 3});
  EXPECT_TRUE(all_equal(nothing, word));
  fill(nothing, word);
  copy(nothing, nothing);
  EXPECT_EQ(destination.span<std::string>()[0], "");
}

TEST(Copy, WhatDoesNotFitIsRefused) {
  const DataType i32(TypeId::int32), string(TypeId::string);
  const NDArray a = NDArray::allocate(i32, {3}), b = NDArray::allocate(i32, {4}),
                s = NDArray::allocate(string, {3});
  const NDArray f = NDArray::allocate(DataType(TypeId::float32), {3});
  const ArrayView device(a.view().data, i32, {3}, cuda().space);
  const std::vector<std::byte> element(4);
  EXPECT_EQ(code_of([&] { copy(a.view(), b.view()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { copy(a.view(), f.view()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { copy(a.view(), device); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { copy(device, a.view()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { fill(device, element); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { all_equal(device, element); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { fill(a.view(), std::span(element).first(3)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { fill(s.view(), element); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { fill(a.view(), "text"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { all_equal(a.view(), "text"); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace zarrive
