#include "zarrive/dlpack.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numeric>

#include "support/errors.hpp"

namespace zarrive {
namespace {

using testing::code_of;

NDArray counted(const Shape& shape) {
  const NDArray array = NDArray::allocate(DataType(TypeId::int32), shape);
  auto elements = array.span<std::int32_t>();
  std::iota(elements.begin(), elements.end(), 0);
  return array;
}

TEST(Dlpack, ExportDescribesTheArray) {
  const NDArray array = counted({3, 4});
  dlpack::ManagedTensor* tensor = dlpack::to_dlpack(array);
  const auto& t = tensor->dl_tensor;
  EXPECT_EQ(t.data, array.view().data);
  EXPECT_EQ(t.device.device_type, 1);
  EXPECT_EQ(t.ndim, 2);
  EXPECT_EQ(t.dtype.code, 0);
  EXPECT_EQ(t.dtype.bits, 32);
  EXPECT_EQ(t.dtype.lanes, 1);
  EXPECT_EQ(t.shape[1], 4);
  EXPECT_EQ(t.strides[0], 4);
  EXPECT_EQ(t.strides[1], 1);
  EXPECT_EQ(t.byte_offset, 0u);
  tensor->deleter(tensor);
}

TEST(Dlpack, RoundTripSharesTheMemory) {
  dlpack::ManagedTensor* tensor = nullptr;
  const std::byte* where = nullptr;
  {
    const NDArray array = counted({3, 4});
    where = array.view().data;
    tensor = dlpack::to_dlpack(array);
  }
  const NDArray back = dlpack::from_dlpack(tensor);  // keeps the memory alive; ASan watches
  EXPECT_EQ(back.view().data, where);
  EXPECT_EQ(back.shape(), (Shape{3, 4}));
  EXPECT_EQ(back.span<std::int32_t>()[11], 11);
  EXPECT_EQ(back.buffer().size(), 48u);
}

TEST(Dlpack, StridesOfEverySign) {
  const NDArray array = counted({3, 4});
  const ArrayView backwards(array.view().data + 44, array.type(), {4, 3}, {-4, -16});
  const NDArray back = dlpack::from_dlpack(dlpack::to_dlpack(make_ndarray(array.buffer(), backwards)));
  EXPECT_EQ(back.view().strides, (Strides{-4, -16}));
  EXPECT_EQ(back.buffer().data(), array.view().data);
  EXPECT_EQ(back.buffer().size(), 48u);
  const NDArray dense = NDArray::allocate(array.type(), {4, 3});
  copy(back.view(), dense.view());
  EXPECT_EQ(dense.span<std::int32_t>()[0], 11);
  EXPECT_EQ(dense.span<std::int32_t>()[11], 0);
}

TEST(Dlpack, EveryTypeWithACode) {
  for (TypeId id : {TypeId::boolean, TypeId::int8, TypeId::int16, TypeId::int32, TypeId::int64, TypeId::uint8,
                    TypeId::uint16, TypeId::uint32, TypeId::uint64, TypeId::float16, TypeId::float32,
                    TypeId::float64, TypeId::bfloat16, TypeId::complex64, TypeId::complex128}) {
    const NDArray array = NDArray::allocate(DataType(id), {2});
    EXPECT_EQ(dlpack::from_dlpack(dlpack::to_dlpack(array)).type(), DataType(id));
  }
  EXPECT_EQ(code_of([] { dlpack::to_dlpack(NDArray::allocate(DataType(TypeId::string), {2})); }),
            ErrorCode::unsupported_data_type);
  EXPECT_EQ(code_of([] { dlpack::to_dlpack(NDArray::allocate(DataType::raw(4), {2})); }),
            ErrorCode::unsupported_data_type);
}

TEST(Dlpack, ExportOfOtherSpacesAndOddStrides) {
  const NDArray array = counted({4});
  EXPECT_EQ(code_of([&] {
              dlpack::to_dlpack(
                  make_ndarray(array.buffer(), ArrayView(array.view().data, array.type(), {2}, Strides{6})));
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              dlpack::to_dlpack(make_ndarray(
                  {}, ArrayView(nullptr, array.type(), {0, static_cast<std::uint64_t>(-1)}, Strides{4, 4})));
            }),
            ErrorCode::invalid_argument);
  dlpack::ManagedTensor* device = dlpack::to_dlpack(
      make_ndarray(array.buffer(), ArrayView(array.view().data, array.type(), {4}, cuda(3).space)));
  EXPECT_EQ(device->dl_tensor.device.device_type, 2);
  EXPECT_EQ(device->dl_tensor.device.device_id, 3);
  EXPECT_EQ(dlpack::from_dlpack(device).view().space.name(), "cuda:3");
  dlpack::ManagedTensor* odd = dlpack::to_dlpack(array);
  odd->dl_tensor.device = {2, -1};
  EXPECT_EQ(code_of([&] { dlpack::from_dlpack(odd); }), ErrorCode::invalid_argument);
  odd->dl_tensor.device = {10, 0};  // ROCm
  EXPECT_EQ(code_of([&] { dlpack::from_dlpack(odd); }), ErrorCode::unsupported);
  odd->deleter(odd);  // refused, so still ours
  const NDArray pin = NDArray::allocate(array.type(), {4}, pinned());
  EXPECT_EQ(dlpack::from_dlpack(dlpack::to_dlpack(pin)).view().space.name(), "pinned");
}

// A tensor that counts its deletions.
struct Foreign {
  std::int32_t data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::int64_t shape[3] = {3, 4, 1};
  std::int64_t strides[3] = {4, 1, 1};
  int deleted = 0;
  dlpack::ManagedTensor tensor;
  Foreign() {
    tensor = {{data, {1, 0}, 2, {0, 32, 1}, shape, strides, 0}, this, [](dlpack::ManagedTensor* t) {
                ++static_cast<Foreign*>(t->manager_ctx)->deleted;
              }};
  }
};

TEST(Dlpack, ImportRunsTheDeleterOnce) {
  Foreign foreign;
  {
    const NDArray array = dlpack::from_dlpack(&foreign.tensor);
    const NDArray copy = array;
    EXPECT_EQ(copy.span<std::int32_t>()[7], 7);
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
  Foreign immortal;
  immortal.tensor.deleter = nullptr;
  dlpack::from_dlpack(&immortal.tensor);
}

TEST(Dlpack, ImportTakesOffsetsAndNullStrides) {
  Foreign foreign;
  foreign.tensor.dl_tensor.byte_offset = 8;
  foreign.tensor.dl_tensor.strides = nullptr;
  foreign.shape[0] = 2;
  EXPECT_EQ(dlpack::from_dlpack(&foreign.tensor).span<std::int32_t>()[0], 2);
  Foreign scalar;
  scalar.tensor.dl_tensor.ndim = 0;
  scalar.tensor.dl_tensor.shape = nullptr;
  scalar.tensor.dl_tensor.strides = nullptr;
  EXPECT_EQ(dlpack::from_dlpack(&scalar.tensor).span<std::int32_t>().size(), 1u);
  Foreign empty;
  empty.shape[0] = 0;
  empty.strides[1] = std::numeric_limits<std::int64_t>::max();
  empty.tensor.dl_tensor.data = nullptr;
  EXPECT_EQ(dlpack::from_dlpack(&empty.tensor).size(), 0u);
}

TEST(Dlpack, HostileTensorsAreRefusedAndLeftToTheCaller) {
  constexpr auto max = std::numeric_limits<std::int64_t>::max(),
                 min = std::numeric_limits<std::int64_t>::min();
  const std::pair<const char*, std::function<void(Foreign&)>> cases[] = {
      {"negative ndim", [](Foreign& f) { f.tensor.dl_tensor.ndim = -1; }},
      {"huge ndim", [](Foreign& f) { f.tensor.dl_tensor.ndim = 1 << 30; }},
      {"null shape", [](Foreign& f) { f.tensor.dl_tensor.shape = nullptr; }},
      {"negative extent", [](Foreign& f) { f.shape[1] = -4; }},
      {"most negative extent", [](Foreign& f) { f.shape[1] = min; }},
      {"null data", [](Foreign& f) { f.tensor.dl_tensor.data = nullptr; }},
      {"offset past the end of addresses",
       [](Foreign& f) { f.tensor.dl_tensor.byte_offset = static_cast<std::uint64_t>(-1); }},
      {"size past the end of addresses",
       [](Foreign& f) { f.tensor.dl_tensor.byte_offset = ~reinterpret_cast<std::uintptr_t>(f.data) - 4; }},
      {"stride too large", [](Foreign& f) { f.strides[0] = max; }},
      {"stride too small", [](Foreign& f) { f.strides[0] = min; }},
      {"reach too large",
       [](Foreign& f) {
         f.strides[0] = max / 8;
         f.shape[0] = 1000;
         f.shape[1] = 1;
       }},
      {"reach below zero", [](Foreign& f) { f.strides[0] = -(std::int64_t{1} << 58); }},
      {"sum of reaches",
       [](Foreign& f) {
         f.strides[0] = f.strides[1] = std::int64_t{1} << 60;
         f.shape[0] = f.shape[1] = 2;
       }},
  };
  for (const auto& [name, damage] : cases) {
    Foreign foreign;
    damage(foreign);
    EXPECT_EQ(code_of([&] { dlpack::from_dlpack(&foreign.tensor); }), ErrorCode::invalid_argument) << name;
    EXPECT_EQ(foreign.deleted, 0) << name;
  }
  EXPECT_EQ(code_of([] { dlpack::from_dlpack(nullptr); }), ErrorCode::invalid_argument);
  Foreign huge;
  huge.shape[0] = huge.shape[1] = max;
  EXPECT_EQ(code_of([&] { dlpack::from_dlpack(&huge.tensor); }), ErrorCode::resource_limit);
  for (dlpack::DataType type : {dlpack::DataType{0, 32, 2}, {9, 32, 1}, {0, 7, 1}, {2, 128, 1}, {0, 32, 0}}) {
    Foreign odd;
    odd.tensor.dl_tensor.dtype = type;
    EXPECT_EQ(code_of([&] { dlpack::from_dlpack(&odd.tensor); }), ErrorCode::unsupported_data_type);
  }
}

}  // namespace
}  // namespace zarrive
