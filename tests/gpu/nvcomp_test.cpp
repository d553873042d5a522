// Batches of chunks, on a fake of nvCOMP.
#include "gpu/nvcomp.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "base/sanitizers.hpp"
#include "fakes/fake_nvcomp.hpp"
#include "gpu/fake_driver.hpp"
#include "support/errors.hpp"
#include "support/paths.hpp"
#include "support/shell.hpp"
#include "zarrive/gpu.hpp"

namespace zarrive::gpu {
namespace {

using testing::counting;
using testing::info_line;
using testing::peek;
using zarrive::testing::code_of;
using Bytes = std::vector<std::byte>;
using Direction = NvcompCoder::Direction;

constexpr std::size_t plenty = std::size_t{1} << 30;
constexpr NvcompFormat all_formats[] = {NvcompFormat::lz4, NvcompFormat::snappy, NvcompFormat::deflate,
                                        NvcompFormat::gzip, NvcompFormat::zstd};

Bytes deflated(const Bytes& from, int window) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes to(deflateBound(&stream, from.size()) + 32);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from.data()));
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = static_cast<uInt>(to.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  to.resize(stream.total_out);
  deflateEnd(&stream);
  return to;
}

// Literals only, and one copy of the last byte at the end.
Bytes snappy_of(const Bytes& from) {
  Bytes to;
  const auto put = [&](std::size_t value) { to.push_back(static_cast<std::byte>(value & 255)); };
  for (std::size_t rest = from.size();; rest >>= 7) {
    put((rest & 127) | (rest > 127 ? 128 : 0));
    if (rest <= 127) break;
  }
  std::size_t literals = from.size(), repeated = 0;
  while (repeated < 64 && repeated + 1 < from.size() && from[literals - 1] == from[literals - 2])
    --literals, ++repeated;
  for (std::size_t at = 0; at < literals;) {
    const std::size_t n = std::min<std::size_t>(literals - at, 1000);
    put(61 << 2);  // the length follows in two bytes
    put(n - 1);
    put((n - 1) >> 8);
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
              from.begin() + static_cast<std::ptrdiff_t>(at + n));
    at += n;
  }
  if (repeated) {
    put(((repeated - 1) << 2) | 2);
    put(1);
    put(0);
  }
  return to;
}

Bytes encoded(NvcompFormat format, const Bytes& from) {
  switch (format) {
    case NvcompFormat::lz4: {
      Bytes to(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(from.size()))));
      to.resize(static_cast<std::size_t>(
          LZ4_compress_default(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                               static_cast<int>(from.size()), static_cast<int>(to.size()))));
      return to;
    }
    case NvcompFormat::snappy: return snappy_of(from);
    case NvcompFormat::deflate: return deflated(from, -15);
    case NvcompFormat::gzip: return deflated(from, 31);
    case NvcompFormat::zstd: {
      Bytes to(ZSTD_compressBound(from.size()));
      to.resize(ZSTD_compress(to.data(), to.size(), from.data(), from.size(), 3));
      return to;
    }
  }
  return {};
}

// Chunks on the device: what goes in, and places for what comes out, at odd addresses and with bytes between them that nobody may touch.
class Batch {
 public:
  Batch(const std::vector<Bytes>& in, const std::vector<std::size_t>& rooms, int device = 0) : rooms_(rooms) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      from_.push_back(size += 1 + i % 3);
      size += in[i].size();
    }
    in_ = Buffer::allocate(size, cuda(device));
    for (std::size_t i = 0; i < in.size(); ++i)
      fake_cuda::poke(address(in_.data() + from_[i]), in[i].data(), in[i].size());
    size = 0;
    for (const std::size_t room : rooms) {
      to_.push_back(size += 5);
      size += room;
    }
    out_ = Buffer::allocate(size + 5, cuda(device));
    const Bytes guard(size + 5, std::byte{0x77});
    fake_cuda::poke(address(out_.data()), guard.data(), guard.size());
    for (std::size_t i = 0; i < in.size(); ++i)
      chunks.push_back({in_.data() + from_[i], in[i].size(), out_.mutable_data() + to_[i], rooms[i]});
  }

  Bytes out(std::size_t i, std::size_t size) const { return peek(out_.data() + to_[i], size); }
  bool guards_are_whole() const {
    const Bytes all = peek(out_.data(), out_.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i <= to_.size(); ++i) {
      const std::size_t end = i < to_.size() ? to_[i] : all.size();
      for (; at < end; ++at)
        if (all[at] != std::byte{0x77}) return false;
      if (i < to_.size()) at += rooms_[i];
    }
    return true;
  }

  std::vector<NvcompChunk> chunks;

 private:
  static unsigned long long address(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); }
  std::vector<std::size_t> rooms_, from_, to_;
  Buffer in_, out_;
};

class NvcompTest : public testing::Balanced {
 protected:
  void SetUp() override {
    Balanced::SetUp();
    ASSERT_NE(nvcomp_status().library, nullptr) << nvcomp_status().reason;
    fake_nvcomp::reset_counts();
  }
  void TearDown() override {
    EXPECT_EQ(fake_nvcomp::counts().bad_calls, 0);
    Balanced::TearDown();
  }

  // Chunks that compress somewhat, of sizes up to `largest`; the first is the largest.
  static std::vector<Bytes> plain(std::size_t count, std::size_t largest) {
    std::minstd_rand random(static_cast<unsigned>(count * 31 + largest));
    std::vector<Bytes> all;
    for (std::size_t i = 0; i < count; ++i) {
      Bytes bytes = counting(i == 0 ? largest : 1 + random() % largest, static_cast<unsigned>(i));
      for (std::size_t k = 0; k < bytes.size(); k += 1 + random() % 50) bytes[k] = std::byte{9};
      all.push_back(std::move(bytes));
    }
    return all;
  }
  static Batch batch_of(NvcompFormat format, const std::vector<Bytes>& chunks, int device = 0) {
    std::vector<Bytes> in;
    std::vector<std::size_t> rooms;
    for (const Bytes& chunk : chunks) {
      in.push_back(encoded(format, chunk));
      rooms.push_back(chunk.size());
    }
    return Batch(in, rooms, device);
  }
  static void expect_decoded(const Batch& batch, const std::vector<Bytes>& chunks) {
    for (std::size_t i = 0; i < chunks.size(); ++i)
      EXPECT_EQ(batch.out(i, chunks[i].size()), chunks[i]) << "chunk " << i;
    EXPECT_TRUE(batch.guards_are_whole());
  }
};

TEST_F(NvcompTest, IsFound) {
  EXPECT_EQ(nvcomp_status().path, testing::fake_nvcomp_path());
  EXPECT_EQ(nvcomp_status().version, "5.3.10");
  EXPECT_EQ(nvcomp_status().reason, "");
  EXPECT_EQ(nvcomp_status().library->version, 5310);
  EXPECT_EQ(system_info().nvcomp.version, "5.3.10");
  EXPECT_EQ(nvcomp_result_text(12), "status 12 (cannot decompress)");
  EXPECT_EQ(nvcomp_result_text(4711), "status 4711");
  for (const int result : {0, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 1000, 10000})
    EXPECT_NE(nvcomp_result_text(result).find(" ("), std::string::npos);
}

TEST_F(NvcompTest, DecodesEveryFormat) {
  for (const NvcompFormat format : all_formats) {
    SCOPED_TRACE(nvcomp_format_name(format));
    for (const int ordinal : {0, 1}) {
      const Device& device = Device::get(ordinal);
      const std::vector<Bytes> chunks = plain(40, 3000);
      const Batch batch = batch_of(format, chunks, ordinal);
      Stream stream(device);
      fake_nvcomp::reset_counts();
      NvcompCoder coder(device, format, Direction::decode, plenty);
      NvcompOutcome outcome = coder.run(batch.chunks, stream.handle());
      EXPECT_NE(batch.out(0, 3000), chunks[0]) << "nobody has waited yet";
      EXPECT_FALSE(outcome.done());
      outcome.check();
      EXPECT_TRUE(outcome.done());
      expect_decoded(batch, chunks);
      const std::vector<std::size_t> sizes = outcome.sizes();
      for (std::size_t i = 0; i < chunks.size(); ++i) EXPECT_EQ(sizes[i], chunks[i].size());
      EXPECT_EQ(fake_nvcomp::counts().launches, 1);
      EXPECT_EQ(fake_nvcomp::counts().chunks, 40);
    }
  }
}

TEST_F(NvcompTest, TheBudgetCutsABatchIntoLaunches) {
  const Device& device = Device::get(0);
  for (const NvcompFormat format : all_formats) {
    SCOPED_TRACE(nvcomp_format_name(format));
    const std::vector<Bytes> chunks = plain(100, 2000);
    const Batch batch = batch_of(format, chunks);
    Stream stream(device);
    fake_nvcomp::reset_counts();
    constexpr std::size_t budget = 20'000;
    NvcompCoder coder(device, format, Direction::decode, budget);
    fake_nvcomp::fail_chunk(0, 12);  // in the first launch, where the largest go
    NvcompOutcome outcome = coder.run(batch.chunks, stream.handle());
    const std::vector<NvcompOutcome::Failure> failures = outcome.failures();
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].chunk, 0u) << "by its place in the batch";
    for (std::size_t i = 1; i < chunks.size(); ++i) EXPECT_EQ(batch.out(i, chunks[i].size()), chunks[i]);
    EXPECT_TRUE(batch.guards_are_whole());
    EXPECT_GT(fake_nvcomp::counts().launches, 5);
    EXPECT_EQ(fake_nvcomp::counts().chunks, 100);
    EXPECT_LE(fake_nvcomp::counts().largest_temp, budget);
    EXPECT_EQ(fake_cuda::counts().allocations, before_.allocations + 4)
        << "two of the coder's, two of the test's";
  }
}

TEST_F(NvcompTest, AChunkThatTakesMoreThanTheBudget) {
  const std::vector<Bytes> chunks = plain(5, 3000);
  const Batch batch = batch_of(NvcompFormat::zstd, chunks);
  Stream stream(Device::get(0));
  NvcompCoder coder(Device::get(0), NvcompFormat::zstd, Direction::decode, 2000);
  EXPECT_ERROR(coder.run(batch.chunks, stream.handle()), ErrorCode::resource_limit,
               "decoding zstd, chunk 0 of 3000 bytes: that takes ");
  EXPECT_EQ(fake_nvcomp::counts().launches, 0);
}

TEST_F(NvcompTest, TellsWhichChunksFailed) {
  const Device& device = Device::get(0);
  std::vector<Bytes> chunks = plain(6, 500);
  Batch batch = batch_of(NvcompFormat::lz4, chunks);
  Stream stream(device);
  NvcompCoder coder(device, NvcompFormat::lz4, Direction::decode, plenty);
  fake_nvcomp::fail_chunk(2, 12);
  NvcompOutcome one = coder.run(batch.chunks, stream.handle());
  EXPECT_ERROR(one.check(), ErrorCode::corrupt_chunk, "chunk 2 of 6 failed: status 12 (cannot decompress)");

  fake_nvcomp::fail_chunk(4, fake_nvcomp::no_status);
  batch.chunks[1].room -= 1;                        // it decodes to more
  batch.chunks[3].size = batch.chunks[5].size = 1;  // cut off
  NvcompOutcome several = coder.run(batch.chunks, stream.handle());
  const std::vector<NvcompOutcome::Failure> failures = several.failures();
  ASSERT_EQ(failures.size(), 4u);
  EXPECT_EQ(failures[0].chunk, 1u);
  EXPECT_EQ(failures[1].chunk, 3u);
  EXPECT_EQ(failures[2].chunk, 4u);
  EXPECT_EQ(failures[2].reason, "nvCOMP gave no status");
  EXPECT_EQ(failures[3].chunk, 5u);
  EXPECT_ERROR(several.check(), ErrorCode::corrupt_chunk, "; and 3 more");

  // What decodes well, but to less than was said.
  const Batch large({encoded(NvcompFormat::zstd, counting(100))}, {200});
  NvcompCoder zstd(device, NvcompFormat::zstd, Direction::decode, plenty);
  EXPECT_ERROR(zstd.run(large.chunks, stream.handle()).check(), ErrorCode::corrupt_chunk,
               "chunk 0 of 1 failed: it decoded to 100 bytes, not to 200");
}

TEST_F(NvcompTest, WhatIsRefusedBeforeAnythingIsDone) {
  const Device& device = Device::get(0);
  Stream stream(device);
  auto* const somewhere = reinterpret_cast<std::byte*>(std::uintptr_t{0x1000});
  const auto run = [&](NvcompFormat format, Direction direction, NvcompChunk chunk) {
    NvcompCoder coder(device, format, direction, plenty);
    return code_of([&] { coder.run(std::span(&chunk, 1), stream.handle()); });
  };
  for (const NvcompFormat format : all_formats) {
    const std::size_t limit = NvcompCoder(device, format, Direction::decode, plenty).largest_chunk();
    EXPECT_EQ(run(format, Direction::decode, {somewhere, 10, somewhere, limit + 1}), ErrorCode::unsupported);
  }
  EXPECT_EQ(run(NvcompFormat::lz4, Direction::encode, {somewhere, (1 << 24) + 1, somewhere, plenty}),
            ErrorCode::unsupported);
  EXPECT_EQ(run(NvcompFormat::lz4, Direction::decode, {somewhere, 0, somewhere, 10}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(run(NvcompFormat::lz4, Direction::encode, {somewhere, 100, somewhere, 100}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(run(NvcompFormat::zstd, Direction::encode, {somewhere, 0, somewhere, 100}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { NvcompCoder(device, NvcompFormat::gzip, Direction::encode, plenty); }),
            ErrorCode::unsupported);
  EXPECT_EQ(
      code_of([&] { NvcompCoder(device, NvcompFormat::lz4, Direction::decode, plenty).encoded_bound(5); }),
      ErrorCode::invalid_argument);
  EXPECT_EQ(fake_nvcomp::counts().launches, 0);
}

TEST_F(NvcompTest, NothingToDecode) {
  const Device& device = Device::get(0);
  Stream stream(device);
  NvcompCoder coder(device, NvcompFormat::gzip, Direction::decode, 0);
  NvcompOutcome none = coder.run({}, stream.handle());
  none.check();
  EXPECT_TRUE(none.sizes().empty());
  const NvcompChunk empty[2] = {};
  NvcompOutcome two = coder.run(empty, stream.handle());
  two.check();
  EXPECT_EQ(two.sizes(), (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(fake_nvcomp::counts().launches, 0);
}

TEST_F(NvcompTest, ACoderIsUsedAgain) {
  const Device& device = Device::get(0);
  Stream first(device), second(device);
  NvcompCoder coder(device, NvcompFormat::deflate, Direction::decode, plenty);
  const std::vector<Bytes> large = plain(30, 4000), small = plain(10, 500), larger = plain(60, 6000);
  const Batch a = batch_of(NvcompFormat::deflate, large), b = batch_of(NvcompFormat::deflate, small),
              c = batch_of(NvcompFormat::deflate, larger);
  NvcompOutcome one = coder.run(a.chunks, first.handle());
  NvcompOutcome two = coder.run(b.chunks, second.handle());
  two.check();  // the other stream came first, for both use the coder's memory
  EXPECT_TRUE(one.done());
  expect_decoded(a, large);
  expect_decoded(b, small);
  NvcompCoder moved = std::move(coder);
  coder = NvcompCoder(device, NvcompFormat::lz4, Direction::decode, plenty);
  moved.run(c.chunks, first.handle());  // dropped, which waits for it
  expect_decoded(c, larger);
}

TEST_F(NvcompTest, EncodesLz4AndZstd) {
  const Device& device = Device::get(0);
  for (const NvcompFormat format : {NvcompFormat::lz4, NvcompFormat::zstd})
    for (const std::size_t budget : {plenty, std::size_t{60'000}}) {
      SCOPED_TRACE(nvcomp_format_name(format));
      const std::vector<Bytes> chunks = plain(25, 5000);
      Stream stream(device);
      NvcompCoder encoder(device, format, Direction::encode, budget);
      const std::size_t bound = encoder.encoded_bound(5000);
      const Batch batch(chunks, std::vector<std::size_t>(chunks.size(), bound));
      fake_nvcomp::reset_counts();
      NvcompOutcome outcome = encoder.run(batch.chunks, stream.handle());
      outcome.check();
      EXPECT_EQ(fake_nvcomp::counts().launches > 1, budget != plenty);
      EXPECT_TRUE(batch.guards_are_whole());

      const std::vector<std::size_t> sizes = outcome.sizes();
      std::vector<Bytes> in;
      std::vector<std::size_t> rooms;
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        EXPECT_GT(sizes[i], 0u);
        EXPECT_LE(sizes[i], bound);
        in.push_back(batch.out(i, sizes[i]));
        rooms.push_back(chunks[i].size());
      }
      const Batch back(in, rooms);
      NvcompCoder decoder(device, format, Direction::decode, plenty);
      decoder.run(back.chunks, stream.handle()).check();
      expect_decoded(back, chunks);

      fake_nvcomp::fail_chunk(0, 19);
      EXPECT_ERROR(encoder.run(batch.chunks, stream.handle()).check(), ErrorCode::unavailable,
                   "failed: status 19 (cannot compress)");
    }
}

// Every call that can fail, failing: an error, nothing left over, and the next try works.
TEST_F(NvcompTest, FailuresAreErrorsAndLeakNothing) {
  const Device& device = Device::get(0);
  const std::vector<Bytes> chunks = plain(8, 1000);
  const Batch batch = batch_of(NvcompFormat::gzip, chunks);
  Stream stream(device);
  const auto decode = [&] {
    NvcompCoder coder(device, NvcompFormat::gzip, Direction::decode, plenty);
    coder.run(batch.chunks, stream.handle()).check();
  };
  const std::vector<Bytes> to_encode = plain(3, 100);
  const Batch encoding(to_encode, std::vector<std::size_t>(3, 1000));
  const auto encode = [&] {
    NvcompCoder coder(device, NvcompFormat::zstd, Direction::encode, plenty);
    coder.run(encoding.chunks, stream.handle()).check();
  };
  decode();
  encode();
  const fake_cuda::Counts before = fake_cuda::counts();
  const auto expect = [&](const auto& use, const char* function, int result, int skip, ErrorCode code) {
    SCOPED_TRACE(function);
    fake_cuda::fail(function, result, skip);
    EXPECT_EQ(code_of(use), code);
    EXPECT_EQ(fake_cuda::counts().allocations, before.allocations);
    EXPECT_EQ(fake_cuda::counts().events, before.events);
    use();
  };
  expect(decode, "nvcompBatchedGzipDecompressGetRequiredAlignments", 10, 0, ErrorCode::unavailable);
  expect(decode, "nvcompBatchedGzipDecompressGetTempSizeAsync", 18, 0, ErrorCode::unsupported);
  expect(decode, "nvcompBatchedGzipDecompressAsync", 1000, 0, ErrorCode::unavailable);
  expect(encode, "nvcompBatchedZstdCompressGetRequiredAlignments", 10, 0, ErrorCode::unavailable);
  expect(encode, "nvcompBatchedZstdCompressGetMaxOutputChunkSize", 18, 0, ErrorCode::unsupported);
  expect(encode, "nvcompBatchedZstdCompressGetTempSizeAsync", 18, 0, ErrorCode::unsupported);
  expect(encode, "nvcompBatchedZstdCompressAsync", 1000, 0, ErrorCode::unavailable);
  for (const int skip : {0, 1}) {
    expect(decode, "cuMemAlloc_v2", cuda_out_of_memory, skip, ErrorCode::resource_limit);
    expect(decode, "cuEventCreate", 999, skip, ErrorCode::unavailable);
    expect(decode, "cuEventRecord", 999, skip, ErrorCode::unavailable);
    expect(decode, "cuMemcpyDtoDAsync_v2", 999, 9 * skip, ErrorCode::unavailable);
  }
  expect(decode, "cuStreamWaitEvent", 999, 0, ErrorCode::unavailable);
  expect(decode, "cuMemcpyHtoDAsync_v2", 999, 0, ErrorCode::unavailable);
  expect(decode, "cuMemcpyDtoHAsync_v2", 999, 0, ErrorCode::unavailable);
  expect(decode, "cuEventSynchronize", 999, 0, ErrorCode::unavailable);
  expect_decoded(batch, chunks);
}

// The same tests once more, in a process of its own with nvCOMP 6.0.
TEST(NvcompSix, PassesTheSameTests) {
  if (std::getenv("FAKE_NVCOMP_VERSION")) GTEST_SKIP() << "this is that process";
  const zarrive::testing::ShellOutcome outcome = zarrive::testing::shell(
      std::filesystem::read_symlink("/proc/self/exe").string(),
      "FAKE_NVCOMP_VERSION=6000 \"$ZARRIVE\" --gtest_brief=1 --gtest_filter='NvcompTest.*-*IsFound*'");
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_NE(outcome.out.find("PASSED"), std::string::npos) << outcome.out;
}

TEST_F(NvcompTest, AForkedChildDecodesNothing) {
  if (ZARRIVE_TSAN) GTEST_SKIP() << "TSan lets no thread start in a forked child";
  const Device& device = Device::get(0);
  const std::vector<Bytes> chunks = plain(3, 100);
  const Batch batch = batch_of(NvcompFormat::lz4, chunks);
  Stream stream(device);
  auto coder = std::make_unique<NvcompCoder>(device, NvcompFormat::lz4, Direction::decode, plenty);
  auto outcome = std::make_unique<NvcompOutcome>(coder->run(batch.chunks, stream.handle()));
  EXPECT_TRUE(testing::in_child([&] {
    const bool all = !nvcomp_status().library && testing::refused([&] { outcome->check(); }) &&
                     testing::refused([&] { coder->run(batch.chunks, stream.handle()); });
    outcome.reset();
    coder.reset();
    return all && fake_cuda::counts().bad_calls == 0;
  }));
  outcome->check();
  expect_decoded(batch, chunks);
}

class NvcompReasons : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!*testing::program_path()) GTEST_SKIP() << "the command is not built";
  }
};

TEST_F(NvcompReasons, AllIsWell) {
  EXPECT_EQ(info_line("", "nvcomp"), std::string("nvcomp      5.3.10, ") + testing::fake_nvcomp_path());
  EXPECT_EQ(info_line("FAKE_NVCOMP_VERSION=6000", "nvcomp").find("nvcomp      6.0.0, "), 0u);
  const std::string json = testing::info("", "--json");
  EXPECT_NE(json.find("\"nvcomp\": {\n    \"usable\": true"), std::string::npos) << json;
}

TEST_F(NvcompReasons, NoneThatCanBeUsed) {
  const auto expect = [](const std::string& settings, const std::string& reason) {
    const std::string line = info_line(settings, "nvcomp");
    EXPECT_EQ(line.find("nvcomp      none: "), 0u) << line;
    EXPECT_NE(line.find(reason), std::string::npos) << line;
  };
  expect("ZARRIVE_LIBCUDA=none", "it needs the CUDA driver");
  expect("ZARRIVE_LIBNVCOMP=none", "switched off by ZARRIVE_LIBNVCOMP=none");
  expect("ZARRIVE_LIBNVCOMP=/nowhere/libnvcomp.so.5", "/nowhere/libnvcomp.so.5: cannot open");
  expect("ZARRIVE_LIBNVCOMP=libz.so.1", "libz.so.1 has no function nvcompGetProperties");
  expect("FAKE_NVCOMP_VERSION=4200", "is of version 4.2.0; 5.0.0 or newer is needed");
  expect("FAKE_nvcompGetProperties=10000", "status 10000 (internal error)");
}

TEST_F(NvcompReasons, IsFoundInAPythonEnvironment) {
  const std::string unset = "ZARRIVE_LIBNVCOMP= CONDA_PREFIX= VIRTUAL_ENV=";
  const std::string none = info_line(unset + "/nowhere", "nvcomp");
  if (none.find("none: ") == std::string::npos) GTEST_SKIP() << "the system has it: " << none;
  EXPECT_EQ(none.find("nvcomp      none: libnvcomp.so.6: cannot open"), 0u) << none;
  const zarrive::testing::TempDir folder;
  const std::filesystem::path wheel = folder.path() / "lib/python3.12/site-packages/nvidia/libnvcomp/lib64";
  std::filesystem::create_directories(wheel);
  std::filesystem::create_symlink(testing::fake_nvcomp_path(), wheel / "libnvcomp.so.5");
  EXPECT_EQ(info_line(unset + folder.path().string(), "nvcomp"),
            "nvcomp      5.3.10, " + (wheel / "libnvcomp.so.5").string());
  std::filesystem::create_symlink(testing::fake_nvcomp_path(), folder.path() / "lib/libnvcomp.so.6");
  EXPECT_EQ(info_line("ZARRIVE_LIBNVCOMP= VIRTUAL_ENV= CONDA_PREFIX=" + folder.path().string(), "nvcomp"),
            "nvcomp      5.3.10, " + (folder.path() / "lib/libnvcomp.so.6").string());
}

}  // namespace
}  // namespace zarrive::gpu
