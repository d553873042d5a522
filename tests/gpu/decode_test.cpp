// Batches on the fake driver: what is decoded, in which order, and what happens when something fails.
#include "gpu/decode.hpp"

#include <gtest/gtest.h>
#include <lz4.h>

#include <string_view>

#include "codec/blosc_device.hpp"
#include "codec/checksum.hpp"
#include "codec/device_operations.hpp"
#include "gpu/fake_driver.hpp"
#include "gpu/random_chunks.hpp"

namespace zarrive::gpu {
namespace {

using testing::peek;

const std::uint8_t* u8(const std::byte* data) { return reinterpret_cast<const std::uint8_t*>(data); }
std::uint8_t* u8(std::byte* data) { return reinterpret_cast<std::uint8_t*>(data); }

class DecodeBatches : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::reset_counts();
    before_ = fake_cuda::counts();
  }
  void TearDown() override {
    const fake_cuda::Counts after = fake_cuda::counts();
    EXPECT_EQ(after.allocations, before_.allocations);
    EXPECT_EQ(after.streams, before_.streams);
    EXPECT_EQ(after.events, before_.events);
    EXPECT_EQ(after.bad_calls, 0);
    EXPECT_EQ(after.contexts_pushed, 0);
  }

  // Bytes on the device.
  Buffer on_device(const Bytes& bytes) {
    Buffer buffer = Buffer::allocate(std::max<std::size_t>(bytes.size(), 1), cuda(device_.ordinal()));
    copy_to_device(device_, buffer.mutable_data(), reinterpret_cast<const std::byte*>(bytes.data()),
                   bytes.size(), nullptr);
    const ContextScope scope(device_);
    device_.driver().stream_synchronize(nullptr);
    return buffer;
  }
  Buffer room(std::size_t size) {
    return Buffer::allocate(std::max<std::size_t>(size, 1), cuda(device_.ordinal()));
  }
  static Bytes bytes_of(const Buffer& buffer, std::size_t size) {
    const std::vector<std::byte> bytes = peek(buffer.data(), size);
    return Bytes(u8(bytes.data()), u8(bytes.data()) + size);
  }

  // One chunk of four int32 elements 1, 2, 3, 4 to memory of 16 bytes.
  ChunkWork four_numbers(const Buffer& source, Buffer& target) const {
    ChunkWork work;
    work.source = source.data();
    work.layout = {16, 1, 1, kernels::Shuffle::none};
    work.item_size = 4;
    work.axes = {{4, 4, 4}};
    work.target = {target.mutable_data(), 16, 0};
    return work;
  }

  Device& device_ = Device::get(1);
  fake_cuda::Counts before_ = {};
};

Bytes numbers(std::initializer_list<std::int32_t> values) {
  Bytes bytes(4 * values.size());
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

TEST_F(DecodeBatches, BloscChunksInFourLaunches) {
  const Cases cases(60, "batches of Blosc chunks");
  Stream stream(device_);
  DecodeBatch batch(device_);
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    struct Chunk {
      testing::BloscCase blosc;
      Buffer encoded, scratch, target;
    };
    std::vector<Chunk> chunks(1 + pick(random, 12));
    fake_cuda::reset_counts();
    for (std::size_t k = 0; k < chunks.size(); ++k) {
      Chunk& chunk = chunks[k];
      do chunk.blosc = testing::random_blosc(random);
      while (std::string_view(chunk.blosc.compressor)[0] == 'z');
      const std::span<const std::byte> host(reinterpret_cast<const std::byte*>(chunk.blosc.encoded.data()),
                                            chunk.blosc.encoded.size());
      chunk.encoded = on_device(chunk.blosc.encoded);
      const BloscFrame frame = BloscFrame::parse(host, host.size());
      chunk.target = room(chunk.blosc.data.size());
      const bool in_place = decodes_in_place(frame.header()) && !frame.header().stored;
      if (!in_place) chunk.scratch = room(static_cast<std::size_t>(device_scratch_size(frame.header())));
      const BloscOnDevice plan = plan_blosc(frame, host, chunk.encoded.data(),
                                            (in_place ? chunk.target : chunk.scratch).mutable_data());
      for (const DeviceStream& part : plan.streams) batch.add_stream(part.kernel_stream(), k);
      if (in_place) continue;
      ChunkWork work;
      work.source = plan.decoded;
      work.layout = plan.layout;
      work.item_size = chunk.blosc.data.size() % chunk.blosc.width == 0 ? chunk.blosc.width : 1;
      const auto item = static_cast<std::int64_t>(work.item_size);
      work.axes = {{chunk.blosc.data.size() / work.item_size, item, item}};
      work.target = {chunk.target.mutable_data(), chunk.blosc.data.size(), 0};
      batch.add_chunk(work, k);
    }
    const fake_cuda::Counts before = fake_cuda::counts();
    const std::size_t tables = batch.table_bytes();
    batch.launch(stream.handle());
    EXPECT_LE(fake_cuda::counts().kernels - before.kernels, 2);
    EXPECT_EQ(fake_cuda::counts().bytes_to_device - before.bytes_to_device, tables);
    EXPECT_FALSE(fake_cuda::counts().bytes_on_device != 0);
    batch.wait();
    EXPECT_TRUE(batch.done());
    ASSERT_TRUE(batch.failures().empty());
    for (const Chunk& chunk : chunks)
      ASSERT_EQ(bytes_of(chunk.target, chunk.blosc.data.size()), chunk.blosc.data) << chunk.blosc.text();
    batch.clear();
    EXPECT_TRUE(batch.empty());
  }
}

TEST_F(DecodeBatches, NothingHappensBeforeTheStreamGetsThere) {
  Stream stream(device_);
  const Buffer source = on_device(numbers({1, 2, 3, 4}));
  Buffer target = on_device(numbers({0, 0, 0, 0}));
  DecodeBatch batch(device_);
  batch.add_chunk(four_numbers(source, target), 0);
  EXPECT_TRUE(batch.done());  // nothing was launched
  batch.launch(stream.handle());
  EXPECT_EQ(bytes_of(target, 16), numbers({0, 0, 0, 0}));
  while (!batch.done()) {
  }
  EXPECT_EQ(bytes_of(target, 16), numbers({1, 2, 3, 4}));
}

TEST_F(DecodeBatches, DeltaBetweenTwoPasses) {
  // Big-endian int16 differences, summed as such, then converted to float64 backwards.
  const Bytes stored = {0, 5, 0, 1, 0xFF, 0xFE, 0, 10};
  const Buffer source = on_device(stored);
  Buffer sums = room(8);
  Buffer target = room(32);
  Stream stream(device_);
  DecodeBatch batch(device_);
  ChunkWork first;
  first.source = source.data();
  first.layout = {8, 1, 1, kernels::Shuffle::none};
  first.item_size = 2;
  first.operations = *device_fixes(DataType(TypeId::int16), ByteOrder::big);
  first.axes = {{4, 2, 2}};
  first.target = {sums.mutable_data(), 8, 0};
  batch.add_chunk(first, 0, Pass::before_deltas);
  batch.add_delta({u8(sums.mutable_data()), 4, 2, false});
  ChunkWork last = first;
  last.source = sums.data();
  last.operations = {device_convert(kernels::NumberType::int16, kernels::NumberType::float64)};
  last.axes = {{4, 2, -8}};
  last.target = {target.mutable_data(), 32, 24};
  batch.add_chunk(last, 0);
  batch.launch(stream.handle());
  batch.wait();
  EXPECT_TRUE(batch.failures().empty());
  const double expected[] = {14, 4, 6, 5};
  EXPECT_EQ(std::memcmp(bytes_of(target, 32).data(), expected, 32), 0);
  EXPECT_EQ(fake_cuda::counts().kernels, 3);
}

TEST_F(DecodeBatches, FillsAndLists) {
  Stream stream(device_);
  Buffer target = on_device(Bytes(6 * 5, 0));
  const Bytes element = {1, 2, 3, 4, 5};
  DecodeBatch batch(device_);
  const Place places[] = {{400, 25}, {-3, 0}, {7, 10}};
  batch.add_fill({reinterpret_cast<const std::byte*>(element.data()), 5}, {{.count = 3, .places = places}},
                 {target.mutable_data(), 30, 0});
  batch.add_fill({reinterpret_cast<const std::byte*>(element.data()), 1}, {{2, 0, 1}},
                 {target.mutable_data(), 30, 17});
  batch.add_fill({reinterpret_cast<const std::byte*>(element.data()), 1}, {{0, 0, 1}},
                 {target.mutable_data(), 30, 17});
  // The list of a chunk that many have is uploaded once.
  const Buffer source = on_device(numbers({1, 2, 3, 4}));
  std::vector<Buffer> copies;
  for (int i = 0; i < 3; ++i) copies.push_back(on_device(numbers({0, 0, 0, 0})));
  const Place backwards[] = {{0, 12}, {12, 0}};
  std::size_t sizes[3];
  for (int i = 0; i < 3; ++i) {
    ChunkWork work = four_numbers(source, copies[static_cast<std::size_t>(i)]);
    work.axes = {{.count = 2, .places = backwards}};
    batch.add_chunk(work, 5);
    sizes[i] = batch.table_bytes();
  }
  EXPECT_LT(sizes[2] - sizes[1], sizeof(kernels::Chunk) + sizeof(kernels::Dimension) + sizeof backwards);
  batch.launch(stream.handle());
  batch.wait();
  EXPECT_TRUE(batch.failures().empty());
  Bytes expected(30, 0);
  for (const std::size_t at : {0, 10, 25})
    std::copy(element.begin(), element.end(), expected.begin() + static_cast<std::ptrdiff_t>(at));
  expected[17] = expected[18] = 1;
  EXPECT_EQ(bytes_of(target, 30), expected);
  for (const Buffer& copy : copies) EXPECT_EQ(bytes_of(copy, 16), numbers({4, 0, 0, 1}));
}

TEST_F(DecodeBatches, SaysWhatIsWrongWithWhichChunk) {
  Stream stream(device_);
  Bytes data(1000, 7);
  Bytes good(1100);
  good.resize(static_cast<std::size_t>(LZ4_compress_default(
      reinterpret_cast<const char*>(data.data()), reinterpret_cast<char*>(good.data()), 1000, 1100)));
  Bytes bad = good;
  bad[1] = 200;
  bad.resize(bad.size() - 3);
  const Buffer good_source = on_device(good);
  const Buffer bad_source = on_device(bad);
  std::vector<Buffer> targets;
  for (int i = 0; i < 3; ++i) targets.push_back(room(1000));
  DecodeBatch batch(device_);
  const auto lz4 = [&](const Buffer& source, std::size_t size, Buffer& target) {
    return kernels::Stream{u8(source.data()), u8(target.mutable_data()), static_cast<std::uint32_t>(size),
                           1000, kernels::StreamKind::lz4};
  };
  batch.add_stream(lz4(good_source, good.size(), targets[0]), 10);
  batch.add_stream(lz4(bad_source, bad.size(), targets[1]), 11);
  batch.add_stream(lz4(good_source, good.size(), targets[2]), 12);
  const Buffer numbers_source = on_device(numbers({1, 300, 3, 4}));
  Buffer bytes = room(4);
  ChunkWork work = four_numbers(numbers_source, bytes);
  work.operations = {device_cast_value(kernels::NumberType::int32, kernels::NumberType::uint8,
                                       kernels::Rounding::nearest_even, kernels::OutOfRange::error)};
  work.axes = {{4, 4, 1}};
  work.target = {bytes.mutable_data(), 4, 0};
  batch.add_chunk(work, 13);
  const Bytes text = {'1', '2', '3', '4', '5', '6', '7', '8', '9', 0x83, 0x92, 0x06, 0xE3};
  const Buffer summed = on_device(text);
  batch.add_checksum({u8(summed.data()), 9, u8(summed.data()) + 9, 0, kernels::ChecksumKind::crc32c}, 14);
  batch.add_checksum({u8(summed.data()), 9, nullptr, 0xE3069284, kernels::ChecksumKind::crc32c}, 15);
  EXPECT_TRUE(batch.failures().empty());
  EXPECT_TRUE(batch.stream_statuses().empty());
  batch.launch(stream.handle());
  batch.wait();
  ASSERT_EQ(batch.stream_statuses().size(), 3u);
  EXPECT_EQ(batch.stream_statuses()[1], kernels::status_corrupt);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
  for (const DecodeBatch::Failure& failure : batch.failures())
    found.emplace_back(failure.owner, failure.status);
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> expected = {
      {15, kernels::status_corrupt}, {11, kernels::status_corrupt}, {13, kernels::status_no_value}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(bytes_of(targets[0], 1000), data);
  EXPECT_EQ(bytes_of(targets[2], 1000), data);
}

TEST_F(DecodeBatches, FailuresLeaveNothingBehind) {
  struct Fault {
    const char* function;
    int skip;
    ErrorCode code;
  };
  Kernels::get();
  const Buffer source = on_device(numbers({1, 2, 3, 4}));
  Buffer target = room(16);
  for (const Fault& fault : {Fault{"cuMemAlloc_v2", 0, ErrorCode::resource_limit},
                             Fault{"cuMemcpyHtoDAsync_v2", 0, ErrorCode::resource_limit},
                             Fault{"cuLaunchKernel", 0, ErrorCode::resource_limit},
                             Fault{"cuMemcpyDtoHAsync_v2", 0, ErrorCode::resource_limit},
                             Fault{"cuEventRecord", 0, ErrorCode::resource_limit},
                             Fault{"cuCtxPushCurrent_v2", 0, ErrorCode::resource_limit}}) {
    SCOPED_TRACE(fault.function);
    Stream stream(device_);
    DecodeBatch batch(device_);
    batch.add_chunk(four_numbers(source, target), 0);
    fake_cuda::fail(fault.function, 2, fault.skip);
    try {
      batch.launch(stream.handle());
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), fault.code) << error.message();
      EXPECT_NE(error.message().find("cuda:1"), std::string::npos) << error.message();
    }
    EXPECT_TRUE(batch.done());
    batch.launch(stream.handle());  // it has not been launched yet
    batch.wait();
    EXPECT_EQ(bytes_of(target, 16), numbers({1, 2, 3, 4}));
    EXPECT_THROW(batch.launch(stream.handle()), Error);
  }
}

TEST_F(DecodeBatches, WhatCannotBeIsRefused) {
  DecodeBatch batch(device_);
  EXPECT_THROW(batch.add_delta({nullptr, 4, 3, false}), Error);
  EXPECT_THROW(batch.add_delta({nullptr, 4, 4, true}), Error);
  batch.add_delta({nullptr, 0, 4, false});
  EXPECT_TRUE(batch.empty());
  batch.launch(nullptr);  // nothing to do
  EXPECT_EQ(fake_cuda::counts().kernels, 0);
}

// A destructor in the middle of things waits for the device, so that its tables are not given to others.
TEST_F(DecodeBatches, LiveUntilTheDeviceIsPastThem) {
  Stream stream(device_);
  const Buffer source = on_device(numbers({1, 2, 3, 4}));
  Buffer target = room(16);
  {
    DecodeBatch batch(device_);
    batch.add_chunk(four_numbers(source, target), 0);
    batch.launch(stream.handle());
  }
  EXPECT_EQ(bytes_of(target, 16), numbers({1, 2, 3, 4}));
}

// The fake driver itself: a kernel that writes past a block is found out.
TEST(FakeDriver, FindsWhatWritesPastABlock) {
  fake_cuda::reset_counts();
  Device& device = Device::get(0);
  Stream stream(device);
  {
    Buffer buffer = Buffer::allocate(10, cuda(0));
    const kernels::Delta wrong{u8(buffer.mutable_data()), 11, 1, false};
    Buffer tables = Buffer::allocate(sizeof wrong, cuda(0));
    copy_to_device(device, tables.mutable_data(), reinterpret_cast<const std::byte*>(&wrong), sizeof wrong,
                   stream.handle());
    Kernels::get().launch(device,
                          kernels::SumDeltas{reinterpret_cast<const kernels::Delta*>(tables.data()), 1},
                          stream.handle());
    stream.synchronize();
  }
  EXPECT_EQ(fake_cuda::counts().bad_calls, 1);
  fake_cuda::reset_counts();
}

}  // namespace
}  // namespace zarrive::gpu
