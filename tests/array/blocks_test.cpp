// Chunk-aligned iteration: every kind of selection, read-ahead and its bounds, errors where they belong, leaving early.
#include "zarrive/blocks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

#include "support/errors.hpp"
#include "support/random_array.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

using namespace testing_support;

Array ramp_array(std::shared_ptr<Store> store, Shape shape, Shape chunks) {
  CreateOptions options;
  options.shape = std::move(shape);
  options.chunks = std::move(chunks);
  options.data_type = "int32";
  options.codecs = std::vector<CodecSpec>{};
  Array array = create_array(std::move(store), "a", options);
  std::vector<std::int32_t> values(static_cast<std::size_t>(array.size()));
  std::iota(values.begin(), values.end(), 0);
  array.write("...", values);
  return array;
}

TEST(Blocks, InOrderWithTheirPlaces) {
  const Array array = ramp_array(std::make_shared<MemoryStore>(), {5, 4}, {2, 3});
  const BlockRange range = array.blocks("1:, ::-1");
  EXPECT_EQ(range.size(), 6u);
  std::vector<Index> chunks;
  std::vector<std::string> selections, places;
  for (auto& block : range) {
    chunks.push_back(block.chunk);
    selections.push_back(block.selection.to_string());
    places.push_back(block.place.to_string());
    EXPECT_EQ(block.as<std::int32_t>().to_vector(), array.read<std::int32_t>(block.selection).to_vector());
  }
  EXPECT_EQ(chunks, (std::vector<Index>{{0, 1}, {0, 0}, {1, 1}, {1, 0}, {2, 1}, {2, 0}}));
  EXPECT_EQ(selections[1], "1:2, 2::-1");
  EXPECT_EQ(places, (std::vector<std::string>{"0:1, 0:1", "0:1, 1:4", "1:3, 0:1", "1:3, 1:4", "3:4, 0:1",
                                              "3:4, 1:4"}));
  // Dropped dimensions stay dropped; nothing selected is no block.
  for (auto& block : array.blocks("3")) EXPECT_EQ(block.data.shape().size(), 1u);
  for (auto& block : array.blocks("2:2")) ADD_FAILURE() << block.selection.to_string();
}

// Putting the blocks together gives what one read gives.
TEST(Blocks, TogetherAreTheSelection) {
  const std::uint64_t seed = std::random_device{}();
  for (std::uint64_t i = 0; i < 400; ++i) {
    Random random(seed + i);
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    const DataType type = DataType::parse(type_names()[pick(random, type_names().size())]);
    ZarrFormat format = pick(random, 2) ? ZarrFormat::v3 : ZarrFormat::v2;
    if (!expressible(type, format)) format = format == ZarrFormat::v2 ? ZarrFormat::v3 : ZarrFormat::v2;
    Array array = create_array(std::make_shared<MemoryStore>(), "a", random_array(random, type, format));
    NDArray all = NDArray::allocate(type, array.shape());
    for (std::uint64_t k = 0; k < all.size(); ++k) {
      const std::string element = random_element(random, type);
      std::byte* const at = all.view().data + k * type.item_size();
      if (type.is_variable()) *reinterpret_cast<std::string*>(at) = element;
      else std::memcpy(at, element.data(), element.size());
    }
    array.write("...", all.view());
    const Selection selection =
        random_selection(random, array.shape(), array.metadata().chunk_grid, array.data_type());
    SCOPED_TRACE(selection.to_string());
    if (selection.is_single_field() && selection.kind() == SelectionKind::coordinate)
      continue;  // tested below
    const NDArray expected = array.read(selection);
    CreateOptions options;
    options.shape = expected.shape();
    options.data_type = expected.type();
    options.chunks = Shape(expected.shape().size(), 4);
    options.format = expressible(expected.type(), ZarrFormat::v3) ? ZarrFormat::v3 : ZarrFormat::v2;
    Array result = create_array(std::make_shared<MemoryStore>(), "r", options);
    BlockOptions block_options;
    block_options.read_ahead = pick(random, 4);
    if (pick(random, 4) == 0) block_options.max_bytes_ahead = pick(random, 300);
    std::set<Index> chunks;
    std::uint64_t count = 0;
    const BlockRange range = array.blocks(selection, block_options);
    for (auto& block : range) {
      EXPECT_TRUE(chunks.insert(block.chunk).second);
      EXPECT_EQ(block.data.shape(), array.result_shape(block.selection));
      result.write(block.place, block.data.view());
      ++count;
    }
    EXPECT_EQ(count, range.size());
    const NDArray together = result.read();
    for (std::uint64_t k = 0; k < expected.size(); ++k) {
      const std::byte* const a = together.view().data + k * expected.type().item_size();
      const std::byte* const b = expected.view().data + k * expected.type().item_size();
      if (expected.type().is_variable())
        ASSERT_EQ(*reinterpret_cast<const std::string*>(a), *reinterpret_cast<const std::string*>(b));
      else ASSERT_EQ(std::memcmp(a, b, expected.type().item_size()), 0) << "element " << k;
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Blocks, OfSubarraysAtPoints) {
  CreateOptions options;
  options.shape = {4};
  options.chunks = {2};
  options.data_type = R"([["v", "<i4", [2]]])";
  options.format = ZarrFormat::v2;
  const Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  for (auto& block : array.blocks(vindex({{3, 0, 2}}).field("v"))) EXPECT_EQ(block.data.shape().back(), 2u);
  EXPECT_ERROR(array.blocks(vindex({IntegerArray({0, 1}, {2, 1})}).field("v")), ErrorCode::unsupported,
               "flatten the coordinates");
}

// Counts reads that run, and may fail or hold one key.
class WatchedStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;
  StoreCapabilities capabilities() const override {
    StoreCapabilities all = StoreWrapper::capabilities();
    all.waits = waits;
    return all;
  }
  bool waits = false;
  std::string broken;
  std::atomic<std::uint64_t> started{0}, running{0};
  std::chrono::milliseconds delay{0};

 protected:
  GetResult do_get_one(const GetRequest& request) override {
    if (request.key.find("/c/") == std::string::npos) return StoreWrapper::do_get_one(request);
    ++started;
    ++running;
    std::this_thread::sleep_for(delay);
    --running;
    if (request.key == broken) throw Error(ErrorCode::unavailable, "the disk is gone");
    return StoreWrapper::do_get_one(request);
  }
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override {
    Store::do_get(batch, sink, options);
  }
};

TEST(Blocks, ReadAheadIsBounded) {
  for (const bool waits : {false, true}) {
    auto store = std::make_shared<WatchedStore>(std::make_shared<MemoryStore>());
    const Array array = ramp_array(store, {40}, {2});
    store->waits = waits;
    const auto started_after = [&](const BlockOptions& options, int steps) {
      store->started = 0;
      const BlockRange range = array.blocks("...", options);
      auto iterator = range.begin();
      for (; steps > 1; --steps) ++iterator;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      return store->started.load();
    };
    BlockOptions options;
    options.read_ahead = 3;
    EXPECT_EQ(started_after(options, 1), 4u);
    EXPECT_EQ(started_after(options, 5), 8u);
    options.read_ahead = 0;
    EXPECT_EQ(started_after(options, 1), 1u);
    options.read_ahead = 10;
    options.max_bytes_ahead = 17;  // two blocks of 8 bytes
    EXPECT_EQ(started_after(options, 1), 3u);
    EXPECT_EQ(started_after(options, 3), 5u);
    options.max_bytes_ahead = 0;
    EXPECT_EQ(started_after(options, 2), 2u);
  }
}

TEST(Blocks, AFailureComesWhereItsBlockIs) {
  auto store = std::make_shared<WatchedStore>(std::make_shared<MemoryStore>());
  const Array array = ramp_array(store, {20}, {2});
  store->broken = "a/c/4";
  for (const std::size_t read_ahead : {0u, 1u, 8u}) {
    BlockOptions options;
    options.read_ahead = read_ahead;
    int seen = 0;
    const BlockRange range = array.blocks("...", options);
    auto iterator = range.begin();
    try {
      for (; iterator != range.end(); ++iterator) {
        EXPECT_EQ(iterator->as<std::int32_t>()[0], 2 * seen);
        ++seen;
      }
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      EXPECT_EQ(error.place().key, "a/c/4");
    }
    EXPECT_EQ(seen, 4);
    EXPECT_EQ(iterator, range.end());
  }
  store->broken = "a/c/0";
  EXPECT_ERROR(array.blocks().begin(), ErrorCode::unavailable, "the disk is gone");
}

TEST(Blocks, LeavingEarlyLeavesNothingRunning) {
  for (const bool waits : {false, true}) {
    auto store = std::make_shared<WatchedStore>(std::make_shared<MemoryStore>());
    const Array array = ramp_array(store, {200}, {2});
    store->waits = waits;
    store->delay = std::chrono::milliseconds(5);
    BlockOptions options;
    options.read_ahead = 20;
    store->started = 0;
    for (auto& block : array.blocks("...", options)) {
      EXPECT_EQ(block.chunk, Index{0});
      break;
    }
    EXPECT_EQ(store->running, 0u);
    const std::uint64_t started = store->started;
    EXPECT_LE(started, 21u);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_EQ(store->started, started);
  }
}

TEST(Blocks, ManyLoopsAtOnce) {
  for (const bool waits : {false, true}) {
    auto store = std::make_shared<WatchedStore>(std::make_shared<MemoryStore>());
    const Array array = ramp_array(store, {120}, {2});
    store->waits = waits;
    store->delay = std::chrono::milliseconds(1);
    std::vector<std::thread> threads;
    std::atomic<std::uint64_t> sum{0};
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        BlockOptions options;
        options.read_ahead = 16;
        for (auto& block : array.blocks("...", options))
          for (const std::int32_t value : block.as<std::int32_t>()) sum += static_cast<std::uint64_t>(value);
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum, 8u * 119 * 120 / 2);
  }
}

TEST(Blocks, StopFromOutside) {
  const Array array = ramp_array(std::make_shared<MemoryStore>(), {20}, {2});
  std::stop_source stop;
  BlockOptions options;
  options.read.stop = stop.get_token();
  options.read_ahead = 0;
  const BlockRange range = array.blocks("...", options);
  auto iterator = range.begin();
  stop.request_stop();
  EXPECT_ERROR(++iterator, ErrorCode::cancelled, "stopped");
  EXPECT_EQ(iterator, range.end());
}

TEST(Blocks, OutliveTheirArray) {
  std::optional<BlockRange> range;
  {
    const Array array = ramp_array(std::make_shared<MemoryStore>(), {6}, {2});
    range.emplace(array.blocks());
  }
  std::int32_t next = 0;
  for (auto& block : *range)
    for (const std::int32_t value : block.as<std::int32_t>()) EXPECT_EQ(value, next++);
  EXPECT_EQ(next, 6);
}

}  // namespace
}  // namespace zarrive
