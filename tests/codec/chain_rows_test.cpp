// Chunks decoded into places that are not in one piece: equal to decoding whole and copying, whatever the way there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "codec/byte_codec_suite.hpp"
#include "zarrive/codec_chain.hpp"
#include "zarrive/codecs.hpp"

namespace zarrive {
namespace {

using testing::Bytes;
using testing::error_of;
using testing::mixed_bytes;

// Memory with a view of a chunk's shape in it; the rest must stay as it was.
struct Place {
  Bytes memory;
  ArrayView view;
};

Place place_in(const DataType& type, const Shape& outer, const Index& start, const Shape& shape,
               std::vector<std::size_t> order = {}) {
  Place place;
  Shape turned = outer;
  for (std::size_t i = 0; i < order.size(); ++i) turned[order[i]] = outer[i];
  place.memory.assign(byte_count(outer, type.item_size()), std::byte{0xA5});
  ArrayView whole(place.memory.data(), type, order.empty() ? outer : turned);
  if (!order.empty()) whole = whole.transposed(order);
  place.view = whole.box(start, shape);
  return place;
}

ArrayView reversed(ArrayView view, std::size_t dimension) {
  view.data += static_cast<std::int64_t>(view.shape[dimension] - 1) * view.strides[dimension];
  view.strides[dimension] = -view.strides[dimension];
  return view;
}

std::uint64_t untouched(const Bytes& memory) {
  return static_cast<std::uint64_t>(std::count(memory.begin(), memory.end(), std::byte{0xA5}));
}

std::vector<std::vector<CodecSpec>> chains(std::size_t item_size) {
  std::vector<std::vector<CodecSpec>> result;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const CodecSpec bytes = codecs::bytes(order);
    result.push_back({bytes});
    result.push_back({bytes, codecs::crc32c()});
    for (const char* compressor : {"lz4", "zstd", "blosclz"})
      for (const char* shuffle : {"noshuffle", "shuffle", "bitshuffle"})
        result.push_back({bytes, codecs::blosc(compressor, 3, shuffle, item_size)});
    result.push_back({bytes, codecs::blosc("lz4", 0, "shuffle", item_size)});
    result.push_back({bytes, codecs::blosc("lz4", 5, "shuffle", 3)});  // elements that runs cut in two
    result.push_back({bytes, codecs::zstd(1)});
    result.push_back({bytes, codecs::gzip(1)});
    result.push_back({bytes, codecs::blosc("lz4", 5, "shuffle", item_size), codecs::crc32c()});
    result.push_back({bytes, codecs::crc32c(), codecs::zstd(1)});
    result.push_back({codecs::transpose({2, 0, 1}), bytes, codecs::blosc("lz4", 5, "bitshuffle", item_size)});
  }
  return result;
}

template <class T>
void check_places(const Shape& shape) {
  const DataType type = data_type_of<T>();
  Bytes decoded = mixed_bytes(byte_count(shape, sizeof(T)));
  const ArrayView source(decoded.data(), type, shape);
  const Shape outer{shape[0] + 2, shape[1] + 3, shape[2] + 5};
  for (const auto& specs : chains(sizeof(T))) {
    const auto chain = CodecChain::create(specs, type, FillValue::zero(type)).bind(shape);
    const Buffer encoded = chain->encode(source, {});
    const auto check = [&](Place place, const ArrayView& view, const char* what) {
      chain->decode(encoded, view, {});
      Bytes found(decoded.size());
      copy(view, ArrayView(found.data(), type, shape));
      EXPECT_TRUE(found == decoded) << what << ", " << specs.back().name;
      fill(view, Bytes(sizeof(T), std::byte{0xA5}));
      EXPECT_EQ(untouched(place.memory), place.memory.size()) << what << ", " << specs.back().name;
    };
    Place dense = place_in(type, shape, {0, 0, 0}, shape);
    check(dense, ArrayView(dense.memory.data(), type, shape), "dense");
    const auto at = [&](Place place, auto&& turn, const char* what) {
      // The memory moves with the vector, so the view stays right.
      const ArrayView view = turn(place.view);
      check(std::move(place), view, what);
    };
    const auto same = [](const ArrayView& view) { return view; };
    at(place_in(type, outer, {1, 2, 3}, shape), same, "rows");
    at(place_in(type, {shape[0], shape[1] + 1, shape[2]}, {0, 0, 0}, shape), same, "planes");
    at(
        place_in(type, outer, {1, 2, 3}, shape), [](const ArrayView& v) { return reversed(v, 0); },
        "planes backwards");
    at(
        place_in(type, outer, {1, 2, 3}, shape), [](const ArrayView& v) { return reversed(v, 1); },
        "rows backwards");
    at(
        place_in(type, outer, {1, 2, 3}, shape), [](const ArrayView& v) { return reversed(v, 2); },
        "elements backwards");
    at(place_in(type, outer, {1, 2, 3}, shape, {2, 1, 0}), same, "transposed");
    at(place_in(type, outer, {1, 2, 3}, shape, {1, 0, 2}), same, "planes and rows changed");
  }
}

TEST(ChainRows, PlacesOfSmallChunks) {
  check_places<std::uint16_t>({3, 4, 50});
  check_places<float>({2, 7, 33});
  check_places<std::uint8_t>({5, 3, 64});
  check_places<double>({1, 9, 16});
}
TEST(ChainRows, PlacesOfChunksOfSeveralBlocks) {
  check_places<std::uint16_t>({20, 60, 100});
  check_places<double>({17, 31, 130});
}
// Streamed by zstd (1 MiB and more).
TEST(ChainRows, PlacesOfLargeChunks) { check_places<float>({10, 211, 150}); }

// Rows long enough and a place large enough to be written past the cache.
TEST(ChainRows, HugePlaces) {
  const Shape shape{8, 64, 512};
  const DataType type = data_type_of<std::uint16_t>();
  const NDArray place = NDArray::allocate(type, {8, 2048, 4096});
  Bytes decoded = mixed_bytes(byte_count(shape, 2));
  for (const auto& specs : chains(2)) {
    const auto chain = CodecChain::create(specs, type, FillValue::zero(type)).bind(shape);
    const Buffer encoded = chain->encode(ArrayView(decoded.data(), type, shape), {});
    for (const std::uint64_t x : {0, 32, 1001}) {
      const ArrayView view = place.view().box(Index{0, 100, x}, shape);
      chain->decode(encoded, view, {});
      Bytes found(decoded.size());
      copy(view, ArrayView(found.data(), type, shape));
      ASSERT_TRUE(found == decoded) << specs.back().name << " at " << x;
    }
  }
}

TEST(ChainRows, AnotherSizeIsCorrupt) {
  const DataType type = data_type_of<std::uint16_t>();
  const Shape shape{12, 400, 160}, other{12, 400, 161};
  Bytes decoded = mixed_bytes(byte_count(other, 2));
  for (const auto& specs : chains(2)) {
    const CodecChain chain = CodecChain::create(specs, type, FillValue::zero(type));
    for (const auto& shapes : {std::pair{shape, other}, {other, shape}}) {
      const Shape &stored = shapes.first, &wanted = shapes.second;
      const Buffer encoded = chain.bind(stored)->encode(ArrayView(decoded.data(), type, stored), {});
      Place place = place_in(type, {12, 401, 200}, {0, 0, 0}, wanted);
      EXPECT_EQ(error_of([&] { chain.bind(wanted)->decode(encoded, place.view, {}); }),
                ErrorCode::corrupt_chunk)
          << specs.back().name;
    }
  }
}

TEST(ChainRows, DamagedValuesAreCorruptOrDecode) {
  const DataType type = data_type_of<std::uint16_t>();
  const Shape shape{12, 400, 160};
  Bytes decoded = mixed_bytes(byte_count(shape, 2));
  std::mt19937 random(3);
  for (const auto& specs : chains(2)) {
    const auto chain = CodecChain::create(specs, type, FillValue::zero(type)).bind(shape);
    const Buffer good = chain->encode(ArrayView(decoded.data(), type, shape), {});
    Place place = place_in(type, {12, 401, 200}, {0, 0, 0}, shape);
    for (int round = 0; round < 12; ++round) {
      Bytes bad(good.host_span().begin(), good.host_span().end());
      if (round % 3 == 0) bad.resize(random() % bad.size());
      else
        bad[round < 8 ? random() % 64 : random() % bad.size()] ^= static_cast<std::byte>(1 + random() % 255);
      const auto code = error_of([&] { chain->decode(Buffer::borrow(bad), place.view, {}); });
      EXPECT_TRUE(!code || code == ErrorCode::corrupt_chunk || code == ErrorCode::resource_limit)
          << specs.back().name << " " << static_cast<int>(*code);
    }
  }
}

// --- ByteSink ---

TEST(ByteSink, RunsAndTheirEnd) {
  Bytes memory(100, std::byte{0xA5});
  const ArrayView view(memory.data(), DataType::parse("uint8"), {2, 3, 4}, {40, 10, 1});
  EXPECT_EQ(ByteSink::run_size(view), 4U);
  ByteSink sink(view);
  EXPECT_EQ(sink.size(), 24U);
  EXPECT_FALSE(sink.streams());
  EXPECT_EQ(sink.run().data(), memory.data());
  sink.advance(3);
  EXPECT_EQ(sink.run().size(), 1U);
  sink.write(Bytes(3, std::byte{1}));
  EXPECT_EQ(sink.run().data(), memory.data() + 12);
  EXPECT_EQ(sink.remaining(), 18U);
  EXPECT_EQ(error_of([&] { sink.close(); }), ErrorCode::corrupt_chunk);
  EXPECT_EQ(error_of([&] { sink.write(Bytes(19)); }), ErrorCode::corrupt_chunk);
  sink.write(Bytes(18, std::byte{2}));
  EXPECT_TRUE(sink.run().empty());
  sink.close();
  EXPECT_EQ(untouched(memory), 100U - 24 + 3);
}

TEST(ByteSink, AWindowThatSlides) {
  Bytes window(10);
  std::string taken;
  const auto take = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    EXPECT_EQ(bytes.data(), window.data());
    taken += std::to_string(offset) + "+" + std::to_string(bytes.size()) + ":" +
             std::to_string(std::to_integer<int>(bytes.front())) + " ";
  };
  {
    ByteSink sink(window, 25, 25, take);
    EXPECT_EQ(sink.run().size(), 10U);
    sink.advance(4);
    EXPECT_EQ(sink.run().data(), window.data() + 4);
    sink.write(Bytes(8, std::byte{1}));
    EXPECT_EQ(taken, "0+10:0 ");
    EXPECT_EQ(error_of([&] { sink.close(); }), ErrorCode::corrupt_chunk);
    EXPECT_EQ(error_of([&] { sink.write(Bytes(14)); }), ErrorCode::corrupt_chunk);
    sink.write(Bytes(13, std::byte{2}));
    EXPECT_TRUE(sink.done());
    EXPECT_TRUE(sink.run().empty() || sink.remaining() == 0);
    sink.close();
    EXPECT_EQ(taken, "0+10:0 10+10:1 20+5:2 ");
  }
  taken.clear();
  ByteSink start(window, 25, 12, take);  // the rest may come or not
  start.write(Bytes(11, std::byte{3}));
  EXPECT_FALSE(start.done());
  start.write(Bytes(3, std::byte{4}));
  EXPECT_TRUE(start.done());
  start.close();
  EXPECT_EQ(taken, "0+10:3 10+4:3 ");
}

TEST(ByteSink, JoinsWhatLiesTogether) {
  const DataType type = DataType::parse("uint16");
  Bytes memory(1000);
  EXPECT_EQ(ByteSink::run_size(ArrayView(memory.data(), type, {2, 3, 4}, {48, 8, 2})), 24U);
  EXPECT_EQ(ByteSink::run_size(ArrayView(memory.data(), type, {2, 3, 4}, {24, 8, 2})), 48U);
  EXPECT_EQ(ByteSink::run_size(ArrayView(memory.data(), type, {2, 1, 4}, {8, 99, 2})), 16U);
  EXPECT_EQ(ByteSink::run_size(ArrayView(memory.data(), type, {4, 4}, {2, 8})), 2U);
  EXPECT_EQ(ByteSink::run_size(ArrayView(memory.data(), type, Shape{}, Strides{})), 2U);
}

TEST(ByteSink, FinishesEveryElementOnce) {
  const DataType type = DataType::parse("uint8");
  for (const Shape& shape : {Shape{100, 50, 70}, Shape{1, 300, 300}, Shape{1, 1, 200}, Shape{700, 3, 1}}) {
    Bytes memory(byte_count(Shape{shape[0], shape[1], shape[2] + 9}, 1));
    const ArrayView view =
        ArrayView(memory.data(), type, {shape[0], shape[1], shape[2] + 9}).box(Index{0, 0, 4}, shape);
    std::size_t calls = 0;
    ByteSink sink(view, [&](const ArrayView& part) {
      ++calls;
      std::vector<std::uint64_t> index(3, 0);
      for (index[0] = 0; index[0] < part.shape[0]; ++index[0])
        for (index[1] = 0; index[1] < part.shape[1]; ++index[1])
          for (index[2] = 0; index[2] < part.shape[2]; ++index[2]) {
            std::byte& at = part.data[static_cast<std::int64_t>(index[0]) * part.strides[0] +
                                      static_cast<std::int64_t>(index[1]) * part.strides[1] +
                                      static_cast<std::int64_t>(index[2]) * part.strides[2]];
            EXPECT_EQ(at, std::byte{1});
            at = std::byte{2};
          }
    });
    for (std::uint64_t left = sink.size(); left != 0;) {
      const std::uint64_t now = std::min<std::uint64_t>(left, 999);
      sink.write(Bytes(now, std::byte{1}));
      left -= now;
    }
    sink.close();
    EXPECT_EQ(static_cast<std::uint64_t>(std::count(memory.begin(), memory.end(), std::byte{2})),
              sink.size());
    EXPECT_GE(calls, 1U);
  }
}

}  // namespace
}  // namespace zarrive
