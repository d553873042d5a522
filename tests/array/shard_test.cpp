// Shards: what reads and writes of their parts ask of the store, and that two states of a shard never mix.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>

#include "support/errors.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

CreateOptions sharded(Shape shape, Shape shards, Shape chunks, const char* type = "int32") {
  CreateOptions options;
  options.shape = std::move(shape);
  options.shards = std::move(shards);
  options.chunks = std::move(chunks);
  options.data_type = type;
  return options;
}

std::vector<std::int32_t> ramp(std::size_t count, std::int32_t first = 1) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

struct Counted {
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  std::shared_ptr<CountingStore> store = std::make_shared<CountingStore>(memory);
};

TEST(Shard, RequestsOfReads) {
  Counted c;
  Array array = create_array(c.store, "a", sharded({64, 64}, {32, 32}, {8, 8}));
  c.store->reset();
  array.write("...", ramp(64 * 64));
  StoreCounts counts = c.store->counts();
  EXPECT_EQ(counts.set_requests, 4u);  // a full shard is one set ...
  EXPECT_EQ(counts.get_requests, 0u);  // ... and no get

  const Array again = open_array(c.store, "a");
  EXPECT_EQ(again.inner_chunk_shape(), (Shape{8, 8}));
  c.store->reset();
  EXPECT_EQ(again.read<std::int32_t>("8:16, 8:16")(0, 0), 1 + 8 * 64 + 8);
  counts = c.store->counts();
  EXPECT_EQ(counts.get_batches, 2u);
  EXPECT_EQ(counts.get_requests, 2u);  // the index, one range
  EXPECT_EQ(counts.ranges, 2u);
  const std::uint64_t index_size = 16 * 16 + 4;
  EXPECT_LT(counts.bytes_read, index_size + 8 * 8 * 4 + 32);

  c.store->reset();
  EXPECT_EQ(again.read<std::int32_t>("16:24, 0:8")(7, 7), 1 + 23 * 64 + 7);
  counts = c.store->counts();
  EXPECT_EQ(counts.get_requests, 1u);  // the index is known
  EXPECT_EQ(counts.ranges, 1u);

  c.store->reset();
  EXPECT_EQ(again.read<std::int32_t>("32:64, 32:64")(31, 31), 64 * 64);
  counts = c.store->counts();
  EXPECT_EQ(counts.get_requests, 1u);  // a whole shard is one request
  EXPECT_EQ(counts.get_batches, 1u);

  // Parts of several shards: their indexes in one batch, their chunks in another.
  const Array third = open_array(c.store, "a");
  c.store->reset();
  EXPECT_EQ(third.read<std::int32_t>("24:40, 24:40").size(), 256u);
  counts = c.store->counts();
  EXPECT_EQ(counts.get_batches, 2u);
  EXPECT_EQ(counts.get_requests, 8u);
}

// A few inner chunks that take long to decode are shared out, where another request costs little.
TEST(Shard, WorkIsSharedOut) {
  Counted c;
  Array array = create_array(c.store, "a", sharded({128, 128, 128}, {128, 128, 128}, {64, 64, 64}));
  array.write("...", ramp(128 * 128 * 128));
  array.read("0, 0, 0");  // the index
  c.store->reset();
  EXPECT_EQ(array.read<std::int32_t>("60:68, 60:68, 0:64")(7, 7, 63), 1 + (67 * 128 + 67) * 128 + 63);
  EXPECT_EQ(c.store->counts().get_requests, 4u);  // of 1 MiB each
  EXPECT_EQ(c.store->counts().get_batches, 1u);
  Array small = create_array(c.store, "b", sharded({32, 32, 32}, {32, 32, 32}, {16, 16, 16}));
  small.write("...", ramp(32 * 32 * 32));
  small.read("0, 0, 0");
  c.store->reset();
  EXPECT_EQ(small.read<std::int32_t>("12:20, 12:20, 0:16")(7, 7, 15), 1 + (19 * 32 + 19) * 32 + 15);
  EXPECT_EQ(c.store->counts().get_requests, 1u);  // 16 KiB each
}

TEST(Shard, NeighboursAreReadAsOne) {
  Counted c;
  CreateOptions options = sharded({1024}, {1024}, {16});
  options.codecs = std::vector<CodecSpec>{};
  Array array = create_array(c.store, "a", options);
  array.write("...", ramp(1024));
  array.read("0:1");  // the index
  c.store->reset();
  EXPECT_EQ(array.read<std::int32_t>("16:64")[47], 64);
  EXPECT_EQ(c.store->counts().ranges, 1u);
  EXPECT_EQ(c.store->counts().bytes_read, 48u * 4);
  c.store->reset();
  EXPECT_EQ(array.read<std::int32_t>("0:1024:128").to_vector()[7], 897);
  EXPECT_EQ(c.store->counts().ranges, 8u);  // a memory store gains nothing from gaps
  c.store->reset();
  ReadOptions joined;
  joined.coalesce_gap = 1 << 20;
  EXPECT_EQ(array.read<std::int32_t>("0:1024:128", joined).to_vector()[7], 897);
  EXPECT_EQ(c.store->counts().ranges, 1u);
  c.store->reset();
  joined.coalesce_limit = 1024;
  EXPECT_EQ(array.read<std::int32_t>("0:1024:128", joined).to_vector()[7], 897);
  EXPECT_EQ(c.store->counts().ranges, 4u);
}

TEST(Shard, PartialWritesReadWhatTheyMust) {
  Counted c;
  CreateOptions options = sharded({256}, {256}, {32});
  options.codecs = std::vector<CodecSpec>{};
  Array array = create_array(c.store, "a", options);
  array.write("0:128", ramp(128));  // nothing is there: the attempt to read the index is all
  EXPECT_EQ(c.store->counts().bytes_read, 0u);
  const std::uint64_t index_size = 8 * 16 + 4;
  EXPECT_EQ(c.memory->size("a/c/0"), 4 * 128 + index_size);  // four empty chunks take no room

  c.store->reset();
  array.write("32:64", ramp(32, 1000));  // one inner chunk, whole: the three others are kept as they are
  StoreCounts counts = c.store->counts();
  EXPECT_EQ(counts.bytes_read, index_size + 3 * 128);
  EXPECT_EQ(counts.set_requests, 1u);

  c.store->reset();
  array.write("64:66", ramp(2, 2000));
  counts = c.store->counts();
  EXPECT_EQ(counts.bytes_read, index_size + 4 * 128);
  std::vector<std::int32_t> expected = ramp(128);
  std::iota(expected.begin() + 32, expected.begin() + 64, 1000);
  expected[64] = 2000, expected[65] = 2001;
  expected.resize(256);
  EXPECT_EQ(array.read<std::int32_t>().to_vector(), expected);

  // A shard of nothing but fill is erased.
  array.write("0:96", std::vector<std::int32_t>(96, 0));
  EXPECT_TRUE(array.chunk_exists(Index{0}));
  array.write("96:128", std::vector<std::int32_t>(32, 0));
  EXPECT_FALSE(array.chunk_exists(Index{0}));

  // Unless empty chunks are asked for.
  WriteOptions all;
  all.write_empty_chunks = true;
  array.write("0:1", std::vector<std::int32_t>{0}, all);
  EXPECT_EQ(c.memory->size("a/c/0"), 128 + index_size);
  EXPECT_EQ(array.read<std::int32_t>().to_vector(), std::vector<std::int32_t>(256, 0));
}

TEST(Shard, TheLastShardMayBePartFull) {
  Counted c;
  Array array = create_array(c.store, "a", sharded({10, 11}, {8, 8}, {4, 2}));
  array.write("...", ramp(110));
  EXPECT_EQ(array.read<std::int32_t>().to_vector(), ramp(110));
  EXPECT_EQ(open_array(c.store, "a").read<std::int32_t>("9, 10").to_vector(), std::vector<std::int32_t>{110});
  EXPECT_EQ(array.read_chunk(Index{1, 1}).span<std::int32_t>()[0], 1 + 8 * 11 + 8);
}

TEST(Shard, OrderOfTheInnerChunks) {
  const auto offsets = [](ShardOrder order) {
    auto store = std::make_shared<MemoryStore>();
    CreateOptions options = sharded({4, 4}, {4, 4}, {1, 1});
    options.codecs = std::vector<CodecSpec>{};
    Array array = create_array(store, "a", options);
    WriteOptions write;
    write.shard_order = order;
    array.write("...", ramp(16), write);
    const Buffer shard = *store->get("a/c/0/0");
    std::vector<std::uint64_t> at(16);
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(&at[i], shard.data() + 64 + 16 * i, 8);
    EXPECT_EQ(array.read<std::int32_t>().to_vector(), ramp(16));
    return at;
  };
  std::vector<std::uint64_t> c_order(16);
  for (std::size_t i = 0; i < 16; ++i) c_order[i] = 4 * i;
  EXPECT_EQ(offsets(ShardOrder::c_order), c_order);
  EXPECT_EQ(offsets(ShardOrder::morton),
            (std::vector<std::uint64_t>{0, 8, 32, 40, 4, 12, 36, 44, 16, 24, 48, 56, 20, 28, 52, 60}));
  EXPECT_EQ(offsets(ShardOrder::f_order),
            (std::vector<std::uint64_t>{0, 16, 32, 48, 4, 20, 36, 52, 8, 24, 40, 56, 12, 28, 44, 60}));
}

// Does something once after a number of answers.
class MeddlingStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;
  std::function<void()> meddle;
  int after = 1;
  bool always = false;

 protected:
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override {
    StoreWrapper::do_get(batch, sink, options);
    if ((always || --after == 0) && meddle) meddle();
  }
};

TEST(Shard, TwoStatesOfAShardAreNeverMixed) {
  auto memory = std::make_shared<MemoryStore>();
  Array writer = create_array(memory, "a", sharded({64}, {64}, {8}));
  writer.write("...", ramp(64));
  auto store = std::make_shared<MeddlingStore>(memory);
  const Array array = open_array(store, "a");
  // Between the index and the data the shard is written anew.
  store->meddle = [&] { writer.write("...", ramp(64, 100)); };
  store->after = 1;
  EXPECT_EQ(array.read<std::int32_t>("8:24").to_vector(), ramp(16, 108));
  // A kept index of an older state is noticed.
  writer.write("...", std::vector<std::int32_t>(64, 7));
  EXPECT_EQ(array.read<std::int32_t>("8:24").to_vector(), std::vector<std::int32_t>(16, 7));
  // Also where it says that there is nothing to read.
  writer.write("0:8", std::vector<std::int32_t>(8, 0));
  EXPECT_EQ(array.read<std::int32_t>("0:8").to_vector(), std::vector<std::int32_t>(8, 0));
  writer.write("0:8", ramp(8));
  EXPECT_EQ(array.read<std::int32_t>("0:8").to_vector(), ramp(8));
  // The shard goes away between index and data: it is all fill then.
  const Array other = open_array(store, "a");
  store->meddle = [&] { memory->erase("a/c/0"); };
  store->after = 1;
  EXPECT_EQ(other.read<std::int32_t>("8:24").to_vector(), std::vector<std::int32_t>(16, 0));
  // A shard that never comes to rest is an error.
  std::int32_t first = 0;
  store->always = true;
  store->meddle = [&] { writer.write("...", ramp(64, first += 64)); };
  store->meddle();
  const Array restless = Array(store, "a", writer.metadata());
  EXPECT_ERROR(restless.read("8:24"), ErrorCode::unavailable, "was changed");
}

// Sees the contexts that reach the inner chunks.
struct Seen {
  std::mutex mutex;
  std::vector<Index> chunks;
  std::vector<std::optional<Box>> selections;
  bool has_shard = true;
};
Seen& seen() {
  static Seen all;
  return all;
}
struct WitnessCodec final : BytesToBytesCodec {
  Buffer encode(std::span<const std::byte> decoded, const Context& context) const override {
    note(context);
    return Buffer::copy_of(decoded);
  }
  void decode(std::span<const std::byte> encoded, ByteOutput& decoded,
              const Context& context) const override {
    note(context);
    decoded.assign(encoded);
  }
  static void note(const Context& context) {
    const std::lock_guard lock(seen().mutex);
    seen().chunks.push_back(*context.chunk_index);
    seen().selections.push_back(context.chunk_selection);
    seen().has_shard = seen().has_shard && context.shard && context.shard->chunk_index == Index{1, 0} &&
                       context.key == "a/c/1/0" && context.array && context.chunk_shape == Shape{2, 2} &&
                       context.codec_parameters.is_null();
  }
};

TEST(Shard, ContextsReachTheInnerChunks) {
  register_codec<WitnessCodec>("test.witness");
  auto store = std::make_shared<MemoryStore>();
  CreateOptions options = sharded({8, 4}, {4, 4}, {2, 2});
  options.codecs = std::vector<CodecSpec>{CodecSpec{"test.witness"}};
  Array array = create_array(store, "a", options);
  array.write("4:8", ramp(16));
  std::sort(seen().chunks.begin(), seen().chunks.end());
  EXPECT_EQ(seen().chunks, (std::vector<Index>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  seen().chunks.clear(), seen().selections.clear();
  EXPECT_EQ(array.read<std::int32_t>("7, 1:2").to_vector(), std::vector<std::int32_t>{14});
  EXPECT_EQ(seen().chunks, (std::vector<Index>{{1, 0}}));
  EXPECT_EQ(seen().selections.at(0), (Box{{1, 1}, {1, 1}}));
  EXPECT_TRUE(seen().has_shard);
}

TEST(Shard, AsAStoreOfItsChunks) {
  Counted c;
  Array array = create_array(c.store, "a", sharded({8, 8}, {4, 8}, {2, 4}));
  array.write("0:4", ramp(32));
  const auto shard = array.open_shard(Index{0, 0});
  EXPECT_EQ(shard->list(), (std::vector<std::string>{"c/0/0", "c/0/1", "c/1/0", "c/1/1", "zarr.json"}));
  EXPECT_FALSE(shard->capabilities().writable);
  EXPECT_FALSE(shard->exists("c/2/0"));
  EXPECT_FALSE(shard->exists("x"));
  EXPECT_EQ(*shard->size("zarr.json"), shard->get("zarr.json")->size());
  EXPECT_EQ(shard->get("zarr.json", ByteRange::range(0, 1))->text(), "{");
  const Array inner = open_array(shard);
  EXPECT_EQ(inner.shape(), (Shape{4, 8}));
  c.store->reset();
  EXPECT_EQ(inner.read<std::int32_t>("2, 4").to_vector(), std::vector<std::int32_t>{21});
  EXPECT_EQ(c.store->counts().get_requests, 1u);
  EXPECT_EQ(inner.read<std::int32_t>().to_vector(), ramp(32));
  EXPECT_EQ(shard->get("c/0/1", ByteRange::suffix(3))->size(), 3u);
  // Once the shard is another its old index is of no use.
  array.write("0, 0", std::vector<std::int32_t>{5});
  EXPECT_ERROR(inner.read("0, 0"), ErrorCode::unavailable, "open it again");
  // A shard that is not stored.
  const Array absent = open_array(array.open_shard(Index{1, 0}));
  EXPECT_EQ(absent.read<std::int32_t>().to_vector(), std::vector<std::int32_t>(32, 0));
  CreateOptions plain;
  plain.shape = {4};
  plain.chunks = {2};
  EXPECT_ERROR(create_array(c.store, "b", plain).open_shard(Index{0}), ErrorCode::invalid_argument,
               "no shard");
}

TEST(Shard, OptionsThatDoNotFit) {
  auto store = std::make_shared<MemoryStore>();
  CreateOptions options = sharded({8}, {4}, {3});
  EXPECT_ERROR(create_array(store, "a", options), ErrorCode::invalid_metadata, "do not divide");
  options.chunks = {};
  EXPECT_ERROR(create_array(store, "a", options), ErrorCode::invalid_argument, "shards need `chunks`");
  options = sharded({8}, {4}, {2});
  options.format = ZarrFormat::v2;
  EXPECT_ERROR(create_array(store, "a", options), ErrorCode::invalid_argument, "v2 arrays have no shards");
  options = {};
  options.shape = {8};
  options.chunks = {4};
  options.codecs = std::vector<CodecSpec>{codecs::sharding({2}, {}, {codecs::bytes(), codecs::zstd()})};
  EXPECT_ERROR(create_array(store, "a", options), ErrorCode::invalid_metadata, "index_codecs");
}

}  // namespace
}  // namespace zarrive
