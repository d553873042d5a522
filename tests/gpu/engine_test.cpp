// Streams that the driver's decompression engine takes, on the fake driver: arrays read through it, and what happens when it cannot.
#include "gpu/engine.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codec/device_values.hpp"
#include "gpu/decode.hpp"
#include "gpu/fake_driver.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/memory_store.hpp"

namespace zarrive::gpu {
namespace {

using testing::peek;

constexpr int kDeflate = 1, kSnappy = 2, kLz4 = 4, kAll = 7;
constexpr int kLong = 4 << 20;

class Engines : public testing::Balanced {
 protected:
  void SetUp() override {
    fake_cuda::set_decompression(kAll, kLong);
    Balanced::SetUp();
  }
  void TearDown() override {
    fake_cuda::set_decompression(0, 0);
    before_.streams = fake_cuda::counts().streams;  // kept for the next read
    Balanced::TearDown();
  }
};

std::vector<std::byte> bytes_of(const NDArray& array) {
  const ArrayView& view = array.view();
  if (!view.space.host_accessible()) return peek(view.data, view.nbytes());
  return {view.data, view.data + view.nbytes()};
}

CodecSpec v2(const char* id) {
  CodecSpec codec;
  codec.name = id;
  return codec;
}

struct Kind {
  const char* name;
  CreateOptions options;
  int format;  // of the engine
};

std::vector<Kind> kinds() {
  std::vector<Kind> all = {
      {"lz4", {.data_type = "int32", .format = ZarrFormat::v2, .compressor = v2("lz4")}, kLz4},
      {"zlib", {.data_type = "int32", .format = ZarrFormat::v2, .compressor = v2("zlib")}, kDeflate},
      {"blosc lz4", {.data_type = "int32", .codecs = {codecs::blosc("lz4", 5, "shuffle")}}, kLz4},
      {"blosc lz4hc and crc32c",
       {.data_type = "int32", .codecs = {codecs::blosc("lz4hc", 5, "bitshuffle"), codecs::crc32c()}},
       kLz4},
      {"blosc zlib", {.data_type = "int32", .codecs = {codecs::blosc("zlib", 5, "shuffle")}}, kDeflate},
      {"blosc lz4 in shards", {.data_type = "int32", .codecs = {codecs::blosc("lz4", 5, "shuffle")}}, kLz4}};
  for (Kind& kind : all) {
    kind.options.shape = {50, 70};
    kind.options.chunks = {16, 32};
  }
  all.back().options.shards = {32, 64};
  return all;
}

Array make(const CreateOptions& options) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  std::vector<std::int32_t> values(50 * 70);
  std::mt19937 random(3);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int32_t>(i / 9 % 50 + (random() % 20 == 0 ? random() % 1000 : 0));
  array.write({}, values);
  return array;
}

// Reads it on the device; equal to the host's.
ReadReport read_equal(const Array& array, const Selection& selection,
                      DeviceDecode decode = DeviceDecode::always) {
  ReadReport report;
  const NDArray found =
      array.read(selection, {.prototype = cuda(1), .device_decode = decode, .device_report = &report});
  EXPECT_EQ(bytes_of(found), bytes_of(array.read(selection))) << report.to_string();
  return report;
}

TEST_F(Engines, ArraysReadEqualToTheHost) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Array array = make(kind.options);
    for (const char* selection : {"...", "3:40:2, ::-1", "17"}) {
      SCOPED_TRACE(selection);
      for (const DeviceDecode decode : {DeviceDecode::always, DeviceDecode::automatic}) {
        fake_cuda::reset_counts();
        const ReadReport report = read_equal(array, selection, decode);
        if (std::string(selection) == "...") {  // the host may read parts of a Blosc value by ranges
          EXPECT_EQ(report.device_decoded, report.total());
          EXPECT_EQ(fake_cuda::counts().engine_streams > 0, decode == DeviceDecode::always);
          EXPECT_EQ(report.engine_decoded, decode == DeviceDecode::always ? report.total() : 0);
          EXPECT_EQ(report.to_string().find(" bytes: 0 direct, 0 as stored, 14000 decoded on the device "
                                            "(14000 with its engine), 0 on") != std::string::npos,
                    decode == DeviceDecode::always)
              << report.to_string();
        }
        EXPECT_LE(fake_cuda::counts().engine_calls, 2) << "a wave has one";
      }
      fake_cuda::reset_counts();
      EXPECT_EQ(read_equal(array, selection, DeviceDecode::never).device_decoded, 0u);
      EXPECT_EQ(fake_cuda::counts().engine_streams, 0);
    }
    fake_cuda::reset_counts();
    fake_cuda::set_decompression(kAll & ~kind.format, kLong);
    read_equal(array, "...");
    EXPECT_EQ(fake_cuda::counts().engine_streams, 0) << "a format that it has not";
    fake_cuda::set_decompression(kAll, kLong);
  }
}

TEST_F(Engines, KernelsAreLaunchedForWhatIsLeft) {
  const Array array =
      make(kinds()[0].options);  // of LZ4 streams only: the elements are put together, and no stream is left
  fake_cuda::reset_counts();
  read_equal(array, "...");
  EXPECT_EQ(fake_cuda::counts().kernels, 1);
  fake_cuda::set_decompression(kDeflate, kLong);
  fake_cuda::reset_counts();
  read_equal(array, "...");
  EXPECT_EQ(fake_cuda::counts().kernels, 2);
}

TEST_F(Engines, LongStreamsGoElsewhere) {
  const int chunk = 16 * 32 * 4;
  for (const Kind& kind : kinds()) {
    if (std::strncmp(kind.name, "blosc", 5) == 0) continue;  // their blocks are shorter
    SCOPED_TRACE(kind.name);
    const Array array = make(kind.options);
    fake_cuda::set_decompression(kAll, chunk);
    fake_cuda::reset_counts();
    read_equal(array, "...");
    EXPECT_EQ(fake_cuda::counts().engine_streams, 12);
    fake_cuda::set_decompression(kAll, chunk - 1);
    fake_cuda::reset_counts();
    const ReadReport report = read_equal(array, "...");
    EXPECT_EQ(report.device_decoded, report.total()) << "by a kernel, or nvCOMP";
    EXPECT_EQ(fake_cuda::counts().engine_streams, 0);
  }
}

TEST_F(Engines, TheEnvironmentSwitchesItOff) {
  const Array array = make(kinds()[2].options);
  const Device& device = Device::get(1);
  EXPECT_EQ(find_engine(device).formats, static_cast<unsigned>(kAll));
  EXPECT_EQ(find_engine(device).longest, static_cast<std::uint64_t>(kLong));
  ASSERT_EQ(::setenv("ZARRIVE_GPU_ENGINE", "off", 1), 0);
  read_equal(array, "...");
  EXPECT_EQ(find_engine(device).formats, 0u);
  ::unsetenv("ZARRIVE_GPU_ENGINE");
  EXPECT_EQ(fake_cuda::counts().engine_streams, 0);
}

TEST_F(Engines, WithoutAnswersThereIsNone) {
  const Device& device = Device::get(0);
  for (const int skip : {0, 1}) {
    fake_cuda::fail("cuDeviceGetAttribute", 1, skip);
    EXPECT_EQ(find_engine(device).formats, 0u);
  }
  fake_cuda::set_decompression(kAll, 0);
  EXPECT_FALSE(find_engine(device).takes(EngineFormat::lz4, 1, 1));
  fake_cuda::set_decompression(kSnappy | kLz4, 100);
  const Engine engine = find_engine(device);
  EXPECT_TRUE(engine.takes(EngineFormat::lz4, 100, 100));
  EXPECT_FALSE(engine.takes(EngineFormat::lz4, 101, 100));
  EXPECT_FALSE(engine.takes(EngineFormat::lz4, 100, 101));
  EXPECT_FALSE(engine.takes(EngineFormat::lz4, 0, 100));
  EXPECT_FALSE(engine.takes(EngineFormat::lz4, 100, 0));
  EXPECT_FALSE(engine.takes(EngineFormat::deflate, 100, 100));
}

// --- streams of our own: values for the parser, decoded by a batch ---

std::vector<std::byte> raw(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Decoded by the engine alone; the bytes, or nothing when that is an error.
std::optional<std::vector<std::byte>> decode(DeviceContainer container, const std::vector<std::byte>& value,
                                             std::size_t size) {
  const Device& device = Device::get(1);
  const DeviceValue parsed = DeviceValue::parse(container, value, size, find_engine(device));
  EXPECT_TRUE(parsed.has_decoders());
  Stream stream(device);
  Buffer encoded = Buffer::allocate(value.size(), cuda(1));
  Buffer scratch = Buffer::allocate(static_cast<std::size_t>(parsed.scratch_size()), cuda(1));
  copy_to_device(device, encoded.mutable_data(), value.data(), value.size(), stream.handle());
  const DeviceValue::Streams streams = parsed.on_device(encoded.data(), scratch.mutable_data());
  EXPECT_EQ(streams.engine.size(), 1u);
  EXPECT_TRUE(streams.kernel.empty() && streams.nvcomp.empty());
  DecodeBatch batch(device);
  EXPECT_TRUE(batch.empty());
  for (const EngineStream& part : streams.engine) batch.add_engine_stream(part, 77);
  EXPECT_FALSE(batch.empty());
  batch.launch(stream.handle());
  batch.wait();
  const std::vector<DecodeBatch::Failure> failures = batch.failures();
  if (failures.empty()) return peek(streams.decoded, size);
  EXPECT_EQ(failures[0].owner, 77u);
  EXPECT_EQ(failures[0].status, kernels::status_corrupt);
  return std::nullopt;
}

// A Blosc value of one block that is a snappy stream. (c-blosc is seldom built with snappy.)
std::vector<std::byte> blosc_of_snappy(const std::vector<std::byte>& stream, int decoded_size) {
  const int size = 16 + 4 + 4 + static_cast<int>(stream.size());
  std::vector<std::byte> value = raw({2,
                                      1,
                                      2 << 5 | 0x10,
                                      1,
                                      decoded_size,
                                      0,
                                      0,
                                      0,
                                      decoded_size,
                                      0,
                                      0,
                                      0,
                                      size,
                                      0,
                                      0,
                                      0,
                                      20,
                                      0,
                                      0,
                                      0,
                                      static_cast<int>(stream.size()),
                                      0,
                                      0,
                                      0});
  value.insert(value.end(), stream.begin(), stream.end());
  return value;
}

TEST_F(Engines, SnappyInBlosc) {
  // "abc" and a copy of 13 bytes from 3 back, in 16.
  const std::vector<std::byte> stream = raw({16, 2 << 2, 'a', 'b', 'c', 12 << 2 | 2, 3, 0});
  const auto found = decode(DeviceContainer::blosc, blosc_of_snappy(stream, 16), 16);
  ASSERT_TRUE(found);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(found->data()), 16), "abcabcabcabcabca");
  std::vector<std::byte> damaged = stream;
  damaged[6] = std::byte{9};  // from before the start
  EXPECT_FALSE(decode(DeviceContainer::blosc, blosc_of_snappy(damaged, 16), 16));
  damaged[0] = std::byte{17};  // which the host sees
  EXPECT_FALSE(DeviceValue::parse(DeviceContainer::blosc, blosc_of_snappy(damaged, 16), 16,
                                  find_engine(Device::get(1)))
                   .has_decoders());
}

TEST_F(Engines, SizesThatAreNotTheStatedOnesAreErrors) {
  const std::vector<std::byte> data = testing::counting(300);
  std::vector<std::byte> lz4(4 + 400);
  const int packed = LZ4_compress_default(reinterpret_cast<const char*>(data.data()),
                                          reinterpret_cast<char*>(lz4.data() + 4), 300, 400);
  ASSERT_GT(packed, 0);
  lz4.resize(4 + static_cast<std::size_t>(packed));
  std::vector<std::byte> zlib(400);
  uLongf zlib_size = 400;
  ASSERT_EQ(::compress(reinterpret_cast<Bytef*>(zlib.data()), &zlib_size,
                       reinterpret_cast<const Bytef*>(data.data()), 300),
            Z_OK);
  zlib.resize(zlib_size);
  for (const std::size_t size : {299, 300, 301}) {
    SCOPED_TRACE(size);
    lz4[0] = static_cast<std::byte>(size & 255);
    lz4[1] = static_cast<std::byte>(size >> 8);
    const auto from_lz4 = decode(DeviceContainer::lz4, lz4, size);
    const auto from_zlib = decode(DeviceContainer::zlib, zlib, size);
    EXPECT_EQ(from_lz4.has_value(), size == 300);
    EXPECT_EQ(from_zlib.has_value(), size == 300);
    if (size == 300) {
      EXPECT_EQ(*from_lz4, data);
      EXPECT_EQ(*from_zlib, data);
    }
  }
}

TEST_F(Engines, DamageNamesTheChunk) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Array array = make(kind.options);
    const std::string key = array.chunk_key(Index{1, 0});
    const Buffer good = *array.store()->get(key);
    std::size_t seen = 0;
    for (std::size_t at = 24; at < std::min<std::size_t>(good.size() - 8, 200); at += 3) {
      Buffer bad = Buffer::copy_of(good.host_span());
      bad.mutable_data()[at] ^= std::byte{0xFF};
      array.store()->set(key, bad);
      try {
        array.read({}, {.prototype = cuda(0), .device_decode = DeviceDecode::always});
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::corrupt_chunk) << error.what();
        EXPECT_EQ(error.place().key, key) << error.what();
        seen += error.message().find("decoded on cuda:0") != std::string::npos;
      }
    }
    if (std::string(kind.name).find("crc32c") == std::string::npos) {  // the host sees that first
      EXPECT_GT(seen, 0u);
    }
    array.store()->set(key, good);
    read_equal(array, "...");
  }
}

TEST_F(Engines, FailuresAreErrorsAndLeakNothing) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Array array = make(kind.options);
    const auto read = [&] {
      array.read({}, {.prototype = cuda(0), .device_decode = DeviceDecode::always, .max_device_bytes = 1});
      Stream stream(Device::get(0));
      array.read({},
                 {.prototype = cuda(0), .stream = stream.handle(), .device_decode = DeviceDecode::always});
      stream.synchronize();
    };
    read();
    for (const char* function : {"cuMemBatchDecompressAsync", "cuMemAlloc_v2", "cuCtxPushCurrent_v2",
                                 "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventSynchronize"}) {
      SCOPED_TRACE(function);
      fake_cuda::fail(function, 999, 0);
      EXPECT_THROW(read(), Error);
      EXPECT_EQ(fake_cuda::counts().allocations, before_.allocations);
    }
    fake_cuda::fail("cuMemBatchDecompressAsync", 2, 0);
    try {
      read();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::resource_limit);
      EXPECT_NE(error.message().find("streams on cuda:0"), std::string::npos) << error.message();
    }
    read();
  }
}

// What the driver says about one stream is in the message.
TEST_F(Engines, RefusedStreamsAreNamed) {
  const Device& device = Device::get(0);
  Stream stream(device);
  Buffer memory = Buffer::allocate(64, cuda(0));
  CudaDecompression streams[2];
  for (CudaDecompression& one : streams)
    one = {.encoded = 8,
           .decoded = 16,
           .written = reinterpret_cast<std::uint32_t*>(memory.mutable_data()),
           .from = memory.data() + 8,
           .to = memory.mutable_data() + 16,
           .algorithm = kLz4};
  decompress(device, {}, stream.handle());
  streams[1].algorithm = 8;
  try {
    decompress(device, streams, stream.handle());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("2 streams on cuda:0, of them number 1 (8 bytes, decoded 16)"),
              std::string::npos)
        << error.message();
  }
  EXPECT_EQ(fake_cuda::counts().bad_calls, 1);
  fake_cuda::reset_counts();
}

}  // namespace
}  // namespace zarrive::gpu
