// Parts of whole chunks: equal to decoding the chunk and taking the part, and no more is decoded than the part needs.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <random>

#include "base/sanitizers.hpp"
#include "codec/byte_codec_suite.hpp"
#include "support/peak_memory.hpp"
#include "zarrive/codec_chain.hpp"
#include "zarrive/codecs.hpp"

namespace zarrive {
namespace {

using testing::Bytes;
using testing::error_of;
using testing::mixed_bytes;
using testing_support::peak_memory;

using Random = std::mt19937_64;

// A part and the shape of its output.
struct Wanted {
  ChunkPart part;
  Shape output;
};

// Ranges up and down, lists in any order, or points.
Wanted random_part(Random& random, const Shape& shape) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  auto lists = std::make_shared<std::vector<std::vector<std::uint64_t>>>();
  lists->reserve(shape.size());
  const auto list = [&](std::uint64_t count, std::uint64_t extent) {
    std::vector<std::uint64_t>& positions = lists->emplace_back(count);
    for (std::uint64_t& position : positions) position = below(extent);
    if (below(2) == 0) std::sort(positions.begin(), positions.end());
    return positions.data();
  };
  std::vector<PartDimension> dimensions(shape.size());
  if (below(4) == 0) {
    const std::uint64_t count = 1 + below(50);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      dimensions[d].count = count;
      dimensions[d].positions = list(count, shape[d]);
    }
    return {ChunkPart::points(std::move(dimensions), nullptr, count, lists), {count}};
  }
  Shape output;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    PartDimension& dimension = dimensions[d];
    if (below(3) == 0) {
      dimension.count = 1 + below(40);
      dimension.positions = list(dimension.count, shape[d]);
    } else {
      const std::uint64_t step = 1 + below(3);
      dimension.start = below(shape[d]);
      dimension.count = 1 + below((shape[d] - dimension.start + step - 1) / step);
      dimension.step = static_cast<std::int64_t>(step);
      if (below(4) == 0) {
        dimension.start += (dimension.count - 1) * step;
        dimension.step = -dimension.step;
      }
    }
    output.push_back(dimension.count);
  }
  return {ChunkPart(std::move(dimensions), lists), std::move(output)};
}

std::vector<std::vector<CodecSpec>> chains() {
  std::vector<std::vector<CodecSpec>> result;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const CodecSpec bytes = codecs::bytes(order);
    result.push_back({bytes, codecs::zstd(1)});
    result.push_back({bytes, codecs::zstd(1, true)});
    result.push_back({bytes, codecs::zstd(1), codecs::crc32c()});
    result.push_back({bytes, codecs::zstd(1), codecs::gzip(1)});
    result.push_back({codecs::transpose({2, 0, 1}), bytes, codecs::zstd(1)});
    result.push_back({bytes, codecs::blosc("zstd", 1, "bitshuffle", 2)});
    result.push_back({bytes, codecs::gzip(1)});
  }
  return result;
}

class ChainParts : public ::testing::TestWithParam<Shape> {};

TEST_P(ChainParts, EqualWhatTheWholeChunkHas) {
  const Shape& shape = GetParam();
  const DataType type = data_type_of<std::uint16_t>();
  Bytes decoded = mixed_bytes(byte_count(shape, 2));
  const ArrayView chunk(decoded.data(), type, shape);
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (const auto& specs : chains()) {
    const auto chain = CodecChain::create(specs, type, FillValue::zero(type)).bind(shape);
    const Buffer encoded = chain->encode(chunk, {});
    for (int round = 0; round < 12; ++round) {
      const Wanted wanted = random_part(random, shape);
      Bytes found(byte_count(wanted.output, 2), std::byte{0xA5}), expected = found;
      gather(chunk, wanted.part, ArrayView(expected.data(), type, wanted.output));
      chain->decode_part(encoded, wanted.part, ArrayView(found.data(), type, wanted.output), {});
      ASSERT_TRUE(found == expected) << specs.back().name << " of " << specs.size() << ", round " << round;
    }
  }
}

// One window; several; of one row each; with a first dimension of one element; smaller than a block of zstd.
INSTANTIATE_TEST_SUITE_P(Shapes, ChainParts,
                         ::testing::Values(Shape{64, 64, 64}, Shape{40, 200, 150}, Shape{3, 700, 700},
                                           Shape{1, 900, 1000}, Shape{20, 30, 40}),
                         [](const auto& info) { return "Shape" + std::to_string(info.index); });

// The rows [begin, end) of a chunk, all of them.
ChunkPart rows(const Shape& shape, std::uint64_t begin, std::uint64_t end) {
  ChunkPart all = ChunkPart::all_of(shape);
  std::vector<PartDimension> dimensions = all.dimensions();
  dimensions[0].start = begin;
  dimensions[0].count = end - begin;
  return ChunkPart(std::move(dimensions));
}

// Damage behind the last byte that is needed is not met, unless a checksum of all is compared.
TEST(ChainPartsEnd, NoFurtherThanThePartGoes) {
  const DataType type = data_type_of<std::uint16_t>();
  for (const Shape& shape : {Shape{64, 64, 64}, Shape{64, 256, 100}}) {
    Bytes decoded = mixed_bytes(byte_count(shape, 2));
    for (const bool checksum : {false, true}) {
      const auto chain =
          CodecChain::create({codecs::bytes(), codecs::zstd(3, checksum)}, type, FillValue::zero(type))
              .bind(shape);
      const Buffer good = chain->encode(ArrayView(decoded.data(), type, shape), {});
      Bytes bad(good.host_span().begin(), good.host_span().end());
      bad.resize(bad.size() - bad.size() / 8);
      const auto read = [&](std::uint64_t begin, std::uint64_t end, bool verify, Bytes& found) {
        Context context;
        context.verify_checksums = verify;
        const Shape output{end - begin, shape[1], shape[2]};
        found.assign(byte_count(output, 2), std::byte{0});
        return error_of([&] {
          chain->decode_part(Buffer::borrow(bad), rows(shape, begin, end),
                             ArrayView(found.data(), type, output), context);
        });
      };
      Bytes found;
      EXPECT_EQ(read(3, 9, false, found), std::nullopt);
      const std::size_t row = decoded.size() / shape[0];
      EXPECT_TRUE(
          std::equal(found.begin(), found.end(), decoded.begin() + static_cast<std::ptrdiff_t>(3 * row)));
      EXPECT_EQ(read(3, 9, true, found), checksum ? std::optional(ErrorCode::corrupt_chunk) : std::nullopt);
      EXPECT_EQ(read(60, 64, false, found), ErrorCode::corrupt_chunk);
      EXPECT_EQ(read(59, 63, false, found), ErrorCode::corrupt_chunk);
    }
  }
}

TEST(ChainPartsEnd, DamagedValuesAreCorruptOrDecode) {
  const DataType type = data_type_of<std::uint16_t>();
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (const Shape& shape : {Shape{64, 64, 64}, Shape{64, 256, 100}}) {
    Bytes decoded = mixed_bytes(byte_count(shape, 2));
    const auto chain =
        CodecChain::create({codecs::bytes(), codecs::zstd(3)}, type, FillValue::zero(type)).bind(shape);
    const Buffer good = chain->encode(ArrayView(decoded.data(), type, shape), {});
    Bytes found(byte_count(Shape{40, shape[1], shape[2]}, 2));
    for (int round = 0; round < 40; ++round) {
      Bytes bad(good.host_span().begin(), good.host_span().end());
      if (round % 2 == 0) bad.resize(random() % 40);
      else
        bad[round < 20 ? random() % 40 : random() % bad.size()] ^= static_cast<std::byte>(1 + random() % 255);
      const auto code = error_of([&] {
        chain->decode_part(Buffer::borrow(bad), rows(shape, 0, 40),
                           ArrayView(found.data(), type, {40, shape[1], shape[2]}), {});
      });
      EXPECT_TRUE(!code || code == ErrorCode::corrupt_chunk || code == ErrorCode::resource_limit)
          << static_cast<int>(*code);
    }
  }
}

#if ZARRIVE_ASAN || ZARRIVE_TSAN
constexpr std::uint64_t kMayGrow = 200 << 20;  // the sanitizers' own memory counts too
#else
constexpr std::uint64_t kMayGrow = 24 << 20;
#endif

// One element of 300000 bytes and no dimension at all.
TEST(ChainPartsEnd, AnElementWithoutDimensions) {
  const DataType type = DataType::parse("r2400000");
  Bytes decoded = mixed_bytes(300000), found(300000);
  const auto chain =
      CodecChain::create({codecs::bytes(), codecs::zstd(1)}, type, FillValue::zero(type)).bind({});
  const Buffer encoded = chain->encode(ArrayView(decoded.data(), type, Shape{}), {});
  chain->decode_part(encoded, ChunkPart::points({}, nullptr, 1, nullptr),
                     ArrayView(found.data(), type, Shape{1}), {});
  EXPECT_TRUE(found == decoded);
}

// A few rows of a chunk of 256 MiB; the memory that it was made of is nearly all zeros, which the system has once.
TEST(ChainPartsEnd, LargeChunksAreNotHeldWhole) {
  const Shape shape{4096, 32768};
  const std::size_t size = byte_count(shape, 2);
  void* memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* values = static_cast<std::uint16_t*>(memory);
  for (const std::size_t z : {5, 1700, 4000}) values[z * shape[1] + 77] = static_cast<std::uint16_t>(z);
  const DataType type = data_type_of<std::uint16_t>();
  const auto chain =
      CodecChain::create({codecs::bytes(), codecs::zstd(1)}, type, FillValue::zero(type)).bind(shape);
  const Buffer encoded = chain->encode(ArrayView(static_cast<std::byte*>(memory), type, shape), {});
  munmap(memory, size);
  const std::vector<std::uint64_t> positions{4000, 5, 6, 1700};
  std::vector<PartDimension> dimensions(2);
  dimensions[0].count = positions.size();
  dimensions[0].positions = positions.data();
  dimensions[1].start = 77;
  dimensions[1].count = 1;
  std::vector<std::uint16_t> found(4, 1);
  const std::uint64_t before = peak_memory();
  chain->decode_part(encoded, ChunkPart(dimensions),
                     ArrayView(reinterpret_cast<std::byte*>(found.data()), type, {4, 1}), {});
  EXPECT_EQ(found, (std::vector<std::uint16_t>{4000, 5, 0, 1700}));
  EXPECT_LT(peak_memory() - before, kMayGrow);
}

}  // namespace
}  // namespace zarrive
