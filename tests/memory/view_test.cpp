#include <gtest/gtest.h>

#include <numeric>

#include "support/errors.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

using testing::code_of;

const DataType i32(TypeId::int32);

TEST(ArrayView, DenseByDefault) {
  std::vector<std::int32_t> data(24);
  const ArrayView view = ArrayView::of(data.data(), {2, 3, 4});
  EXPECT_EQ(view.strides, (Strides{48, 16, 4}));
  EXPECT_EQ(view.size(), 24u);
  EXPECT_EQ(view.nbytes(), 96u);
  EXPECT_EQ(view.ndim(), 3u);
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_EQ(view.type, i32);
  EXPECT_EQ(code_of([&] { ArrayView(nullptr, i32, {2, 3}, Strides{4}); }), ErrorCode::invalid_argument);
}

TEST(ArrayView, Contiguity) {
  const auto contiguous = [](Shape shape, Strides strides) {
    return ArrayView(nullptr, i32, std::move(shape), std::move(strides)).is_contiguous();
  };
  EXPECT_TRUE(contiguous({}, {}));
  EXPECT_TRUE(contiguous({1, 3}, {-999, 4}));
  EXPECT_TRUE(contiguous({3, 1}, {4, 77}));
  EXPECT_TRUE(contiguous({0, 3}, {7, 9}));
  EXPECT_TRUE(contiguous({3, 0}, {7, 9}));
  EXPECT_FALSE(contiguous({3}, {8}));
  EXPECT_FALSE(contiguous({3}, {-4}));
  EXPECT_FALSE(contiguous({3}, {0}));
  EXPECT_FALSE(contiguous({2, 3}, {4, 8}));
  EXPECT_FALSE(contiguous({2, std::uint64_t{1} << 63, 2}, {0, 8, 4}));
}

TEST(ArrayView, Box) {
  std::vector<std::int32_t> data(24);
  std::iota(data.begin(), data.end(), 0);
  const ArrayView view = ArrayView::of(data.data(), {4, 6});
  const ArrayView box = view.box(Shape{1, 2}, Shape{2, 3});
  EXPECT_EQ(*reinterpret_cast<std::int32_t*>(box.data), 8);
  EXPECT_EQ(box.shape, (Shape{2, 3}));
  EXPECT_EQ(box.strides, view.strides);
  EXPECT_EQ(view.box(Shape{4, 6}, Shape{0, 0}).size(), 0u);
  EXPECT_EQ(code_of([&] { view.box(Shape{4, 0}, Shape{1, 1}); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] { view.box(Shape{5, 0}, Shape{0, 1}); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] {
              view.box(Shape{1, 0}, Shape{static_cast<std::uint64_t>(-1), 1});
            }),
            ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] { view.box(Shape{1}, Shape{1}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { view.box(Shape{1, 1}, Shape{1}); }), ErrorCode::invalid_argument);
  const ArrayView scalar = ArrayView::of(data.data(), {});
  EXPECT_EQ(scalar.box(Shape{}, Shape{}).data, scalar.data);
  const ArrayView backwards(reinterpret_cast<std::byte*>(&data[23]), i32, {24}, {-4});
  EXPECT_EQ(*reinterpret_cast<std::int32_t*>(backwards.box(Shape{3}, Shape{2}).data), 20);
}

TEST(ArrayView, Transposed) {
  std::vector<std::int32_t> data(24);
  const ArrayView view = ArrayView::of(data.data(), {2, 3, 4});
  const std::vector<std::size_t> order{2, 0, 1};
  const ArrayView turned = view.transposed(order);
  EXPECT_EQ(turned.shape, (Shape{4, 2, 3}));
  EXPECT_EQ(turned.strides, (Strides{4, 48, 16}));
  for (const std::vector<std::size_t>& bad :
       {std::vector<std::size_t>{0, 1}, {0, 1, 3}, {0, 0, 1}, {0, 1, 2, 3}})
    EXPECT_EQ(code_of([&] { view.transposed(bad); }), ErrorCode::invalid_argument);
}

TEST(NDArray, AllocateAndSpan) {
  const NDArray array = NDArray::allocate(i32, {3, 4});
  EXPECT_EQ(array.size(), 12u);
  EXPECT_EQ(array.buffer().size(), 48u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.view().data) % 64, 0u);
  array.span<std::int32_t>()[11] = 5;
  EXPECT_EQ(array.span<const std::int32_t>()[11], 5);
  EXPECT_EQ(code_of([&] { array.span<float>(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(NDArray::allocate(i32, {}).span<std::int32_t>().size(), 1u);
  EXPECT_EQ(NDArray::allocate(i32, {0, 5}).span<std::int32_t>().size(), 0u);
  EXPECT_EQ(NDArray().size(), 1u);
  EXPECT_EQ(code_of([] { NDArray::allocate(i32, {std::uint64_t{1} << 62}); }), ErrorCode::resource_limit);
  EXPECT_EQ(code_of([] {
              NDArray::allocate(i32, {std::uint64_t{1} << 40, std::uint64_t{1} << 40});
            }),
            ErrorCode::resource_limit);
  EXPECT_EQ(code_of([] { NDArray::allocate(i32, {3}, cuda()); }), ErrorCode::unsupported);
}

TEST(NDArray, StringsAreConstructedAndDestroyed) {
  const DataType string(TypeId::string);
  NDArray copy;
  {
    const NDArray array = NDArray::allocate(string, {2, 2});
    auto elements = array.span<std::string>();
    EXPECT_EQ(elements[3], "");
    elements[3] = std::string(1000, 'x');  // on the heap: the leak checker sees a missing destructor
    copy = array;
  }
  EXPECT_EQ(copy.span<std::string>()[3], std::string(1000, 'x'));
  EXPECT_EQ(NDArray::allocate(string, {0}).span<std::string>().size(), 0u);
  EXPECT_EQ(NDArray::allocate(string, {2}, pinned()).view().space.name(), "pinned");
  EXPECT_EQ(code_of([&] { NDArray::allocate(string, {2}, cuda()); }), ErrorCode::unsupported);
}

TEST(NDArray, SpansAreOnlyGivenOfDenseAlignedHostArrays) {
  Buffer buffer = Buffer::allocate(64);
  std::byte* data = buffer.mutable_data();
  EXPECT_EQ(make_ndarray(buffer, ArrayView(data, i32, {4})).span<std::int32_t>().size(), 4u);
  EXPECT_EQ(
      code_of([&] { make_ndarray(buffer, ArrayView(data, i32, {4}, Strides{8})).span<std::int32_t>(); }),
      ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { make_ndarray(buffer, ArrayView(data + 1, i32, {4})).span<std::int32_t>(); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(
      code_of([&] { make_ndarray(buffer, ArrayView(data, i32, {4}, cuda().space)).span<std::int32_t>(); }),
      ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace zarrive
