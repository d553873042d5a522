// Chunks of a source in device memory that are encoded there, on the fakes of the driver and of nvCOMP: what is stored decodes to the same as
// what the host writes, and everything that the device does not encode goes as it went before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fakes/fake_nvcomp.hpp"
#include "gpu/device.hpp"
#include "gpu/fake_driver.hpp"
#include "gpu/transfer.hpp"
#include "support/shell.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/memory_store.hpp"

namespace zarrive::gpu {
namespace {

class DeviceWrites : public testing::Balanced {
 protected:
  void SetUp() override {
    Balanced::SetUp();
    fake_nvcomp::reset_counts();
  }
  void TearDown() override {
    EXPECT_EQ(fake_nvcomp::counts().bad_calls, 0);
    before_.streams = fake_cuda::counts().streams;  // ours are kept for the next write
    Balanced::TearDown();
  }
};

CodecSpec spec(const char* name, const char* configuration = "{}") {
  CodecSpec codec;
  codec.name = name;
  codec.configuration = Json::parse(configuration).as_object();
  return codec;
}

struct Kind {
  std::string name;
  CreateOptions options;
};

// 18 of the 36 chunks do not reach past the edge.
Kind kind(std::string name, CreateOptions options) {
  options.shape = {23, 17, 30};
  options.chunks = {8, 5, 10};
  return {std::move(name), std::move(options)};
}

std::vector<Kind> encoded_kinds() {
  return {
      kind("zstd", {.data_type = "int32", .codecs = {codecs::zstd(3)}, .fill_value = Json(-7)}),
      kind("zstd and crc32c",
           {.data_type = "float64", .codecs = {codecs::bytes(), codecs::zstd(), codecs::crc32c()}}),
      kind("lz4", {.data_type = "uint16", .format = ZarrFormat::v2, .compressor = spec("lz4")}),
      kind("lz4 and crc32c", {.data_type = "uint8",
                              .codecs = {codecs::bytes(), spec("numcodecs.lz4"), codecs::crc32c()},
                              .fill_value = Json(3)}),
      kind("v2 zstd", {.data_type = "complex64", .format = ZarrFormat::v2, .compressor = spec("zstd")}),
  };
}

std::vector<Kind> other_kinds() {
  std::vector<Kind> kinds = {
      kind("shards", {.data_type = "int32", .codecs = {codecs::zstd(1)}}),
      kind("checksum of zstd", {.data_type = "int32", .codecs = {codecs::zstd(1, true)}}),
      kind("big-endian", {.data_type = "int32", .codecs = {codecs::bytes(ByteOrder::big), codecs::zstd(1)}}),
      kind("bool", {.data_type = "bool", .codecs = {codecs::zstd(1)}}),
      kind("transposed", {.data_type = "int32",
                          .codecs = {codecs::transpose({2, 0, 1}), codecs::bytes(), codecs::zstd(1)}}),
      kind("blosc", {.data_type = "int32", .codecs = {codecs::blosc()}}),
      kind("twice", {.data_type = "int32", .codecs = {codecs::bytes(), codecs::zstd(1), codecs::gzip(1)}}),
      kind("raw", {.data_type = "int32", .codecs = {codecs::bytes()}}),
  };
  kinds[0].options.shards = {16, 10, 20};
  return kinds;
}

// Numbers in runs, with some boxes of nothing but fill.
NDArray values_for(const Array& array, const Shape& shape) {
  NDArray values = NDArray::allocate(array.data_type(), shape);
  const std::size_t item = array.data_type().item_size();
  for (std::size_t i = 0; i < values.view().nbytes(); ++i)
    values.view().data[i] =
        std::byte(array.data_type().name() == "bool" ? i / 9 % 2 : i / item / 17 % 83 + 1);
  if (shape == Shape{23, 17, 30}) {
    fill(values.view().box(Index{8, 5, 10}, Shape{8, 5, 10}), array.metadata().fill_value);
    fill(values.view().box(Index{16, 0, 0}, Shape{7, 5, 10}), array.metadata().fill_value);
  }
  return values;
}

enum class Layout { dense, reversed, spaced };

// The same elements on the device: in C order, in Fortran order, or with gaps and one dimension downwards.
struct OnDevice {
  NDArray memory;
  ArrayView view;
};
OnDevice on_device(const NDArray& values, Layout layout) {
  const Device& device = Device::get(0);
  const auto item = static_cast<std::int64_t>(values.type().item_size());
  const Shape& shape = values.shape();
  OnDevice made;
  if (layout == Layout::dense) {
    made.memory = NDArray::allocate(values.type(), shape, cuda(0));
    made.view = made.memory.view();
  } else if (layout == Layout::reversed) {
    std::vector<std::size_t> order;
    Shape reversed;
    for (std::size_t d = shape.size(); d-- > 0;) {
      order.push_back(d);
      reversed.push_back(shape[d]);
    }
    made.memory = NDArray::allocate(values.type(), reversed, cuda(0));
    made.view = made.memory.view().transposed(order);
  } else {
    Shape larger = shape;
    larger.back() *= 2;
    made.memory = NDArray::allocate(values.type(), larger, cuda(0));
    made.view = made.memory.view();
    made.view.shape = shape;
    made.view.strides.back() = 2 * item;
    made.view.data += static_cast<std::int64_t>(shape[0] - 1) * made.view.strides[0];
    made.view.strides[0] *= -1;
  }
  BorrowedStream stream(device);
  copy_to_device(device, made.view, values.view(), stream.handle());
  stream.synchronize();
  return made;
}

// Writes the same from the host and from the device; both arrays are then alike. Gives how many chunks nvCOMP encoded.
long write_both(const Kind& kind, const Selection& selection, Layout layout, WriteOptions options = {}) {
  SCOPED_TRACE(kind.name + " " + selection.to_string());
  Array host = create_array(std::make_shared<MemoryStore>(), "a", kind.options);
  Array array = create_array(std::make_shared<MemoryStore>(), "a", kind.options);
  const NDArray old = NDArray::allocate(array.data_type(), array.shape());
  std::memset(old.view().data, 1, old.view().nbytes());
  for (Array* each : {&host, &array}) each->write({}, old.view());
  const NDArray values = values_for(array, array.result_shape(selection));
  const OnDevice source = on_device(values, layout);
  fake_nvcomp::reset_counts();
  array.write(selection, source.view, options);
  const long encoded = fake_nvcomp::counts().chunks;
  EXPECT_EQ(fake_nvcomp::counts().bad_calls, 0);
  options.stream = nullptr;
  host.write(selection, values.view(), options);
  const NDArray expected = host.read(), found = array.read();
  EXPECT_EQ(std::memcmp(found.view().data, expected.view().data, expected.view().nbytes()), 0);
  auto keys = array.store()->list("a"), host_keys = host.store()->list("a");
  std::sort(keys.begin(), keys.end());
  std::sort(host_keys.begin(), host_keys.end());
  EXPECT_EQ(keys, host_keys);
  return encoded;
}

TEST_F(DeviceWrites, EqualToTheHosts) {
  for (const Kind& kind : encoded_kinds())
    for (const Layout layout : {Layout::dense, Layout::reversed, Layout::spaced}) {
      EXPECT_EQ(write_both(kind, {}, layout), 18 + 1) << "whole chunks, and one of fill";
      EXPECT_EQ(write_both(kind, "8:16, 5:10, 10:20", layout), 1 + 1);
      EXPECT_EQ(write_both(kind, "0:8, 2:17, :", layout), 2 * 3 + 1) << "the others are written in part";
      EXPECT_EQ(write_both(kind, "7:16, 0:15, :", layout), 3 * 3 + 1);
      EXPECT_EQ(write_both(kind, "3, 4:9, ::-2", layout), 0);
      EXPECT_EQ(write_both(kind, "::-1", layout), 0) << "chunks are turned around";
      EXPECT_EQ(write_both(kind, oindex({{3, 1, 20}, slice(2, 9), {29, 0}}), layout), 0);
    }
}

TEST_F(DeviceWrites, WhatTheDeviceDoesNotEncodeGoesByTheHost) {
  for (const Kind& kind : other_kinds()) EXPECT_EQ(write_both(kind, {}, Layout::dense), 0);
  const Kind zstd = encoded_kinds()[0];
  EXPECT_EQ(write_both(zstd, {}, Layout::reversed, {.device_encode = DeviceEncode::never}), 0);
  EXPECT_EQ(write_both(zstd, {}, Layout::dense, {.max_device_bytes = 0}), 0);
  EXPECT_EQ(write_both(zstd, {}, Layout::dense, {.max_device_bytes = 4096}), 0);

  Array array = create_array(std::make_shared<MemoryStore>(), "a", zstd.options);
  const NDArray values = NDArray::allocate(DataType(TypeId::float64), array.shape());
  for (double& value : values.span<double>()) value = 5;
  array.write({}, on_device(values, Layout::dense).view, {.convert = true});
  EXPECT_EQ(fake_nvcomp::counts().chunks, 0);
  const auto found = array.read<std::int32_t>();
  for (const std::int32_t value : found.span()) ASSERT_EQ(value, 5);
}

// Many batches, and launches, in one piece of memory.
TEST_F(DeviceWrites, BoundedMemoryIsReused) {
  for (const Kind& kind : encoded_kinds())
    for (const Layout layout : {Layout::dense, Layout::reversed}) {
      const std::uint64_t budget =
          (std::uint64_t{16} << 10) * make_metadata(kind.options).data_type.item_size();
      EXPECT_EQ(write_both(kind, {}, layout, {.max_device_bytes = budget}), 18 + 1);
      EXPECT_GT(fake_nvcomp::counts().launches, 1);
      EXPECT_EQ(write_both(kind, {}, layout, {.max_bytes_in_flight = 4096}), 18 + 1);
    }
}

TEST_F(DeviceWrites, ChunksOfEverySize) {
  Kind kind = encoded_kinds()[0];
  kind.options.chunks = {};
  kind.options.chunk_grid = ChunkGrid::rectilinear(
      {{{{3, 1}, {8, 1}, {3, 1}, {9, 1}}, false}, {{{10, 1}, {7, 1}}, false}, {{{30, 1}}, false}});
  for (const Layout layout : {Layout::dense, Layout::reversed})
    EXPECT_EQ(write_both(kind, {}, layout), 8 + 6) << "of 8 chunks, 6 are of a size of their own";
}

TEST_F(DeviceWrites, OnlyWhatIsEncodedCrosses) {
  for (const Kind& each : encoded_kinds()) {
    SCOPED_TRACE(each.name);
    Kind kind = each;
    kind.options.shape = {24, 10, 20};
    kind.options.chunks = {4, 10, 20};
    Array array = create_array(std::make_shared<MemoryStore>(), "a", kind.options);
    const NDArray values = values_for(array, array.shape());
    for (const Layout layout : {Layout::dense, Layout::reversed}) {
      const OnDevice source = on_device(values, layout);
      fake_nvcomp::reset_counts();
      fake_cuda::reset_counts();
      array.write({}, source.view, {.write_empty_chunks = true});
      EXPECT_EQ(fake_nvcomp::counts().chunks, 6);
      std::size_t stored = 0;
      for (const Index& chunk :
           {Index{0, 0, 0}, Index{1, 0, 0}, Index{2, 0, 0}, Index{3, 0, 0}, Index{4, 0, 0}, Index{5, 0, 0}})
        stored += static_cast<std::size_t>(*array.store()->size(array.chunk_key(chunk)));
      // What the host adds has not crossed; a size and a status of each chunk have, and with kernels one more status.
      const std::size_t added =
          (kind.name.find("lz4") == 0 ? 4u : 0u) + (kind.name.find("crc32c") != std::string::npos ? 4u : 0u);
      const std::size_t answers = 6 * 12;
      const std::size_t crossed = fake_cuda::counts().bytes_to_host;
      if (layout == Layout::dense) EXPECT_EQ(crossed, stored - 6 * added + answers);
      else EXPECT_LE(crossed, stored - 6 * added + answers + 256);
      EXPECT_LT(crossed, values.view().nbytes() / 2);
    }
  }
}

TEST_F(DeviceWrites, ChunksOfFillAreLeftOut) {
  for (const Kind& kind : encoded_kinds()) {
    SCOPED_TRACE(kind.name);
    Array array = create_array(std::make_shared<MemoryStore>(), "a", kind.options);
    const NDArray values = values_for(array, array.shape());
    const OnDevice source = on_device(values, Layout::reversed);
    array.write({}, source.view, {.write_empty_chunks = true});
    const std::string whole = array.chunk_key(Index{1, 1, 1}), edge = array.chunk_key(Index{2, 0, 0});
    EXPECT_TRUE(array.store()->get(whole));
    EXPECT_TRUE(array.store()->get(edge));
    array.write({}, source.view);
    EXPECT_FALSE(array.store()->get(whole)) << "also when it was there";
    EXPECT_FALSE(array.store()->get(edge));
    EXPECT_TRUE(array.store()->get(array.chunk_key(Index{0, 0, 0})));
  }
}

TEST_F(DeviceWrites, FailuresOfNvcompNameTheChunk) {
  for (const Kind& kind : encoded_kinds()) {
    SCOPED_TRACE(kind.name);
    Array array = create_array(std::make_shared<MemoryStore>(), "a", kind.options);
    const NDArray values = values_for(array, array.shape());
    const OnDevice source = on_device(values, Layout::dense);
    for (const int status : {19, fake_nvcomp::no_status}) {
      fake_nvcomp::fail_chunk(1, status);
      try {
        array.write({}, source.view);
        FAIL();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
        EXPECT_EQ(error.place().key, array.chunk_key(Index{0, 0, 1})) << error.what();
        EXPECT_NE(error.message().find("nvCOMP cannot encode the chunk"), std::string::npos) << error.what();
      }
      EXPECT_FALSE(array.store()->get(array.chunk_key(Index{0, 0, 1})));
    }
    fake_nvcomp::fail_chunk(18, 19);  // that of fill
    EXPECT_THROW(array.write({}, source.view), Error);
    array.write({}, source.view);
    EXPECT_TRUE(array.store()->get(array.chunk_key(Index{0, 0, 1})));
  }
}

// Every call that a write makes, failing once: an error, nothing left over, and the next try works.
TEST_F(DeviceWrites, FaultsAreErrorsAndLeakNothing) {
  const Kind kind = encoded_kinds()[0];
  Array array = create_array(std::make_shared<MemoryStore>(), "a", kind.options);
  const NDArray values = values_for(array, array.shape());
  const OnDevice source = on_device(values, Layout::reversed);
  const auto write = [&] { array.write({}, source.view, {.max_device_bytes = 32 << 10}); };
  write();
  const fake_cuda::Counts quiet = fake_cuda::counts();
  const auto nothing_left = [&] {
    EXPECT_EQ(fake_cuda::counts().allocations, quiet.allocations);
    EXPECT_EQ(fake_cuda::counts().events, quiet.events);
  };
  for (const char* function :
       {"cuMemAlloc_v2", "cuCtxPushCurrent_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
        "cuLaunchKernel", "cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuStreamSynchronize",
        "nvcompBatchedZstdCompressGetRequiredAlignments", "nvcompBatchedZstdCompressAsync"}) {
    for (const int skip : {0, 1}) {
      SCOPED_TRACE(std::string(function) + " after " + std::to_string(skip));
      if (skip == 1 && std::string(function).find("Alignments") != std::string::npos) continue;
      fake_cuda::fail(function, 999, skip);
      EXPECT_THROW(write(), Error);
      nothing_left();
    }
    write();
  }
  // No memory, or sizes that nvCOMP does not take: the host does it.
  constexpr int out_of_memory = 2;
  for (const auto& [function, result] : {std::pair{"cuMemAlloc_v2", out_of_memory},
                                         {"nvcompBatchedZstdCompressGetTempSizeAsync", 10},
                                         {"nvcompBatchedZstdCompressGetMaxOutputChunkSize", 10}}) {
    SCOPED_TRACE(function);
    fill(values.view(), array.metadata().fill_value);
    array.write({}, values.view());
    ASSERT_FALSE(array.store()->get(array.chunk_key(Index{0, 0, 0})));
    fake_cuda::fail(function, result, 0);
    write();
    nothing_left();
    EXPECT_TRUE(array.store()->get(array.chunk_key(Index{0, 0, 0})));
  }
}

// The elements are those after what was put into the caller's stream.
TEST_F(DeviceWrites, InTheOrderOfTheCallersStream) {
  const Device& device = Device::get(0);
  for (const Kind& kind : encoded_kinds()) {
    SCOPED_TRACE(kind.name);
    Array array = create_array(std::make_shared<MemoryStore>(), "a", kind.options);
    NDArray values = NDArray::allocate(array.data_type(), array.shape(), pinned());
    const NDArray some = values_for(array, array.shape());
    std::memcpy(values.view().data, some.view().data, some.view().nbytes());
    Stream stream(device);
    const NDArray source = NDArray::allocate(array.data_type(), array.shape(), cuda(0));
    copy_to_device(device, source.view(), values.view(), stream.handle());
    array.write({}, source.view(), {.stream = stream.handle()});
    EXPECT_EQ(fake_nvcomp::counts().chunks, 18 + 1);
    fake_nvcomp::reset_counts();
    EXPECT_EQ(std::memcmp(array.read().view().data, some.view().data, some.view().nbytes()), 0);
  }
}

// Run again by the test below, in processes that lack something.
TEST_F(DeviceWrites, InThisProcess) {
  const Kind kind = encoded_kinds()[0];
  const bool no_nvcomp = std::getenv("TEST_NVCOMP"), no_kernels = std::getenv("TEST_KERNELS");
  EXPECT_EQ(write_both(kind, "8:9", Layout::dense), 0) << "part of a chunk";
  EXPECT_EQ(write_both(kind, {}, Layout::reversed), no_nvcomp || no_kernels ? 0 : 19);
  EXPECT_EQ(write_both(kind, "8:16, 5:10, 10:20", Layout::dense), no_nvcomp ? 0 : 2)
      << "a source that is one chunk, in one piece";
}

TEST_F(DeviceWrites, WithoutNvcompOrKernelsTheHostTakesOver) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const char* setting : {"TEST_NVCOMP=none", "TEST_KERNELS=/nowhere"}) {
    const zarrive::testing::ShellOutcome outcome = zarrive::testing::shell(
        program, std::string(setting) + " \"$ZARRIVE\" --gtest_filter=DeviceWrites.InThisProcess");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_NE(outcome.out.find("[  PASSED  ] 1 test"), std::string::npos) << outcome.out;
  }
}

}  // namespace
}  // namespace zarrive::gpu
