// What a read and a write of an array ask of the store, and what they give: counts, contexts, placement, fill, errors.
#include "zarrive/array.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <thread>

#include "support/errors.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/group.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

CreateOptions raw_options(Shape shape, Shape chunks, const char* type = "int32") {
  CreateOptions options;
  options.shape = std::move(shape);
  options.chunks = std::move(chunks);
  options.data_type = type;
  options.codecs = std::vector<CodecSpec>{};
  return options;
}

std::vector<std::int32_t> ramp(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// Keeps a copy of every context that reaches it, and may give per-chunk parameters.
class RecordingStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;
  StoreCapabilities capabilities() const override {
    StoreCapabilities all = StoreWrapper::capabilities();
    all.annotates = true;
    return all;
  }
  void annotate(Context& context) override {
    JsonObject parameters;
    parameters.set("seen", *context.key);
    context.codec_parameters = Json(std::move(parameters));
  }
  std::vector<Context> gets, sets;
  void clear() { gets.clear(), sets.clear(); }

 protected:
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override {
    for (const GetRequest& request : batch) gets.push_back(request.context ? *request.context : Context{});
    StoreWrapper::do_get(batch, sink, options);
  }
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override {
    for (const SetRequest& request : batch) sets.push_back(request.context ? *request.context : Context{});
    StoreWrapper::do_set(batch, options);
  }
};

// Remembers where the values lay that it was given.
class WatchingStore final : public StoreWrapper {
 public:
  WatchingStore(std::shared_ptr<Store> base, bool keeps_values)
      : StoreWrapper(std::move(base)), keeps_values_(keeps_values) {}
  StoreCapabilities capabilities() const override {
    StoreCapabilities all = StoreWrapper::capabilities();
    all.keeps_values = keeps_values_;
    return all;
  }
  std::vector<const void*> values;

 protected:
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override {
    Store::do_set(batch, options);
  }
  void do_set_one(const std::string& key, const Buffer& value, const Context* context,
                  Durability durability) override {
    if (!key.ends_with(".json")) values.push_back(value.data());
    StoreWrapper::do_set_one(key, value, context, durability);
  }

 private:
  const bool keeps_values_;
};

TEST(Array, ChunksThatLieInMemoryAsTheyAreStoredAreNotCopied) {
  for (const bool keeps : {false, true}) {
    auto store = std::make_shared<WatchingStore>(std::make_shared<MemoryStore>(), keeps);
    const auto written_from = [&](const char* name, const CreateOptions& options, const char* selection,
                                  std::vector<std::int32_t> values) {
      Array array = create_array(store, name, options);
      store->values.clear();
      WriteOptions one;
      one.max_concurrency = 1;
      array.write(selection, values, one);
      EXPECT_EQ(array.read<std::int32_t>(selection).to_vector(), values) << name;
      std::vector<std::ptrdiff_t> offsets;  // in elements from the source's start; -1: elsewhere
      for (const void* value : store->values) {
        const auto* at = static_cast<const std::int32_t*>(value);
        offsets.push_back(at >= values.data() && at < values.data() + values.size() ? at - values.data()
                                                                                    : -1);
      }
      return offsets;
    };
    const auto raw = raw_options({8, 10}, {2, 10});
    using Offsets = std::vector<std::ptrdiff_t>;
    EXPECT_EQ(written_from("rows", raw, "0:4", ramp(40)), keeps ? (Offsets{-1, -1}) : (Offsets{0, 20}));
    // Not where the chunk is strided, written in part, swapped or encoded.
    EXPECT_EQ(written_from("boxes", raw_options({4, 10}, {4, 5}), "...", ramp(40)), (Offsets{-1, -1}));
    EXPECT_EQ(written_from("edge", raw_options({3, 10}, {2, 10}), "2:3", ramp(10)), (Offsets{-1}));
    CreateOptions big = raw;
    big.codecs = std::vector<CodecSpec>{codecs::bytes(ByteOrder::big)};
    EXPECT_EQ(written_from("big", big, "0:2", ramp(20)), (Offsets{-1}));
    CreateOptions packed = raw;
    packed.codecs = std::vector<CodecSpec>{codecs::zstd()};
    EXPECT_EQ(written_from("packed", packed, "0:2", ramp(20)), (Offsets{-1}));
    // All fill is nothing.
    EXPECT_EQ(written_from("fill", raw, "0:2", std::vector<std::int32_t>(20, 0)), (Offsets{}));
  }
}

TEST(Array, ReadingASelectionIsOneBatch) {
  auto counting = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(counting, "a", raw_options({10, 10}, {3, 4}));
  array.write("...", ramp(100));
  counting->reset();
  EXPECT_EQ(array.read<std::int32_t>("2:9, ::-2").size(), 35u);
  StoreCounts counts = counting->counts();
  EXPECT_EQ(counts.get_batches, 1u);
  EXPECT_EQ(counts.get_requests, 9u);
  counting->reset();
  EXPECT_EQ(array.read<std::int32_t>("0, 0").to_vector(), std::vector<std::int32_t>{1});
  counts = counting->counts();
  EXPECT_EQ(counts.get_batches, 1u);
  EXPECT_EQ(counts.get_requests, 1u);
  counting->reset();
  EXPECT_EQ(array.read<std::int32_t>("3:3").size(), 0u);
  EXPECT_EQ(counting->counts().get_batches, 0u);
}

TEST(Array, FullChunksAreNotReadBeforeTheyAreWritten) {
  auto counting = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(counting, "a", raw_options({10, 10}, {4, 4}));
  counting->reset();
  array.write("...", ramp(100));  // edge chunks too: everything of them that lies in the array
  StoreCounts counts = counting->counts();
  EXPECT_EQ(counts.get_requests, 0u);
  EXPECT_EQ(counts.set_batches, 1u);
  EXPECT_EQ(counts.set_requests, 9u);
  counting->reset();
  array.write("0:4, 0:6", ramp(24));  // one full chunk, one in part
  counts = counting->counts();
  EXPECT_EQ(counts.get_batches, 1u);
  EXPECT_EQ(counts.get_requests, 1u);
  EXPECT_EQ(counts.set_batches, 1u);
  EXPECT_EQ(counts.set_requests, 2u);
  counting->reset();
  array.write("3::-1, 0:4", ramp(16));  // full, though backwards
  EXPECT_EQ(counting->counts().get_requests, 0u);
}

TEST(Array, PartialWritesKeepTheRest) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", raw_options({6}, {4}));
  array.write("...", ramp(6));
  array.write("1:5:3", std::vector<std::int32_t>{-1, -2});
  EXPECT_EQ(array.read<std::int32_t>().to_vector(), (std::vector<std::int32_t>{1, -1, 3, 4, -2, 6}));
  array.write("4:1:-1", std::vector<std::int32_t>{40, 30, 20});
  EXPECT_EQ(array.read<std::int32_t>().to_vector(), (std::vector<std::int32_t>{1, -1, 20, 30, 40, 6}));
  array.write_value("::2", 7);
  EXPECT_EQ(array.read<std::int32_t>().to_vector(), (std::vector<std::int32_t>{7, -1, 7, 30, 7, 6}));
}

TEST(Array, WritesInWindowsWhenPartialChunksExceedTheBound) {
  auto counting = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(counting, "a", raw_options({8, 8}, {2, 8}));
  WriteOptions options;
  options.max_bytes_in_flight = 2 * 64;  // two chunks
  counting->reset();
  array.write(":, 0:7", ramp(56), options);
  EXPECT_EQ(counting->counts().get_batches, 2u);
  EXPECT_EQ(counting->counts().set_batches, 2u);
  EXPECT_EQ(array.read<std::int32_t>(":, 0:7").to_vector(), ramp(56));
  options.max_bytes_in_flight = 1;  // one at a time, never none
  array.write(":, 1:8", ramp(56), options);
  EXPECT_EQ(array.read<std::int32_t>(":, 1:8").to_vector(), ramp(56));
}

TEST(Array, ContextsSayWhatAndWhere) {
  auto store = std::make_shared<RecordingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(store, "g/a", raw_options({10, 6}, {4, 6}));
  for (const Context& context : store->gets) {  // of metadata: always host memory
    ASSERT_TRUE(context.prototype);
    EXPECT_EQ(context.prototype->space, MemorySpace{});
    EXPECT_TRUE(context.key);
  }
  for (const Context& context : store->sets) EXPECT_TRUE(context.prototype && context.key);
  store->clear();
  array.write("...", ramp(60));
  ASSERT_EQ(store->sets.size(), 3u);
  EXPECT_EQ(store->sets[1].chunk_index, (Index{1, 0}));
  EXPECT_EQ(store->sets[1].codec_parameters.find("seen")->as_string(), "g/a/c/1/0");
  store->clear();
  array.read("2:9:2, 1:4");
  ASSERT_EQ(store->gets.size(), 3u);
  const Context& context = store->gets[1];
  EXPECT_EQ(context.version, 1);
  EXPECT_EQ(context.key, "g/a/c/1/0");
  EXPECT_EQ(context.node, "g/a");
  EXPECT_EQ(context.array->shape, (Shape{10, 6}));
  EXPECT_EQ(context.chunk_index, (Index{1, 0}));
  EXPECT_EQ(context.chunk_shape, (Shape{4, 6}));
  EXPECT_EQ(context.chunk_selection, (Box{{0, 1}, {3, 3}}));
  EXPECT_EQ(context.output_selection, (Box{{1, 0}, {2, 3}}));
  EXPECT_FALSE(context.destination);
  EXPECT_EQ(context.expected_size, 96u);
  EXPECT_EQ(context.codec_parameters.find("seen")->as_string(), "g/a/c/1/0");
  store->clear();
  array.write("1:3, :", ramp(12));  // read-modify-write carries contexts both ways
  ASSERT_EQ(store->gets.size(), 1u);
  ASSERT_EQ(store->sets.size(), 1u);
  EXPECT_EQ(store->gets[0].chunk_selection, (Box{{1, 0}, {2, 6}}));
  EXPECT_EQ(store->sets[0].key, "g/a/c/0/0");
  store->clear();
  array.read_chunk(Index{2, 0});
  array.read_encoded_chunk(Index{2, 0});
  ASSERT_EQ(store->gets.size(), 2u);
  EXPECT_EQ(store->gets[1].chunk_index, (Index{2, 0}));
}

TEST(Array, WholeContiguousRawChunksMayLandInTheDestination) {
  auto store = std::make_shared<RecordingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(store, "a", raw_options({10, 6}, {4, 6}));
  array.write("...", ramp(60));
  store->clear();
  NDArray all = array.read();
  ASSERT_EQ(store->gets.size(), 3u);
  ASSERT_TRUE(store->gets[0].destination);
  EXPECT_EQ(store->gets[0].destination->data, all.view().data);
  EXPECT_EQ(store->gets[1].destination->data, all.view().data + 96);
  EXPECT_FALSE(store->gets[2].destination);  // reaches over the array's end
  EXPECT_FALSE(store->gets[0].chunk_selection);
  EXPECT_EQ(all.span<std::int32_t>()[59], 60);
}

TEST(Array, ZeroDimensions) {
  for (ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
    auto store = std::make_shared<RecordingStore>(std::make_shared<MemoryStore>());
    CreateOptions options;
    options.format = format;
    options.data_type = "float64";
    Array array = create_array(store, "", options);
    EXPECT_EQ(array.read<double>()[0], 0.0);
    array.write("", std::vector<double>{2.5});
    EXPECT_EQ(array.read<double>("...").to_vector(), std::vector<double>{2.5});
    EXPECT_EQ(array.chunk_key({}), format == ZarrFormat::v2 ? "0" : "c");
    EXPECT_EQ(store->gets.back().chunk_index, Index{});
    EXPECT_EQ(array.stored_chunk_count(), 1u);
  }
}

TEST(Array, ReadsIntoAnyStrides) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", raw_options({4, 6}, {3, 4}));
  array.write("...", ramp(24));
  std::vector<std::int32_t> memory(24 * 4, -1);
  // Fortran order, with gaps, first dimension reversed.
  auto* last_row = reinterpret_cast<std::byte*>(memory.data() + 3 * 2);
  const ArrayView view(last_row, DataType(TypeId::int32), {4, 6}, {-8, 32});
  array.read_into("...", view);
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 6; ++column)
      EXPECT_EQ(memory[static_cast<std::size_t>((3 - row) * 2 + column * 8)], row * 6 + column + 1);
  EXPECT_EQ(memory[1], -1);
  // and write from them
  Array copy = create_array(std::make_shared<MemoryStore>(), "a", raw_options({4, 6}, {2, 5}));
  copy.write("...", view);
  EXPECT_EQ(copy.read<std::int32_t>().to_vector(), ramp(24));
}

TEST(Array, TypedReadsNeedTheTypeOrConvert) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", raw_options({3}, {2}, "int16"));
  array.write("0:2", std::vector<std::int16_t>{3, -4});
  EXPECT_ERROR(array.read<float>(), ErrorCode::invalid_argument, "convert");
  ReadOptions convert;
  convert.convert = true;
  EXPECT_EQ(array.read<float>("...", convert).to_vector(), (std::vector<float>{3, -4, 0}));
  EXPECT_EQ(array.read<double>("::-1", convert).to_vector(), (std::vector<double>{0, -4, 3}));
  EXPECT_ERROR(array.read<std::uint8_t>("...", convert), ErrorCode::out_of_bounds, "-4");
  EXPECT_ERROR(array.read<std::string>("...", convert), ErrorCode::invalid_argument, "does not convert");
  EXPECT_ERROR(array.write("...", std::vector<double>{1, 2, 3}), ErrorCode::invalid_argument, "convert");
  WriteOptions write;
  write.convert = true;
  array.write("...", std::vector<double>{7, 8, 9}, write);
  EXPECT_EQ(array.read<std::int16_t>().to_vector(), (std::vector<std::int16_t>{7, 8, 9}));
  array.write("1", std::vector<double>{1}, write);
  EXPECT_EQ(array.read<std::int16_t>().to_vector(), (std::vector<std::int16_t>{7, 1, 9}));
  EXPECT_ERROR(array.write("1", std::vector<std::string>{"x"}, write), ErrorCode::invalid_argument,
               "does not convert");
}

TEST(Array, Containers) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", raw_options({2, 3}, {1, 3}));
  array.write("...", ramp(6));
  std::vector<std::int32_t> out;
  array.read_into("1", out);
  EXPECT_EQ(out, (std::vector<std::int32_t>{4, 5, 6}));
  std::int32_t plain[6];
  array.read_into("...", std::span<std::int32_t>(plain));
  EXPECT_EQ(plain[5], 6);
  EXPECT_ERROR(array.read_into("1", std::span<std::int32_t>(plain)), ErrorCode::invalid_argument,
               "6 elements");
  const TypedArray<std::int32_t> typed = array.read<std::int32_t>();
  EXPECT_EQ(typed(1, 0), 4);
  EXPECT_EQ(typed.shape(), (Shape{2, 3}));
  EXPECT_EQ(std::accumulate(typed.begin(), typed.end(), 0), 21);
  array.write("::-1", typed);
  EXPECT_EQ(array.read<std::int32_t>()(0, 0), 4);
  EXPECT_ERROR(array.write("0", ramp(4)), ErrorCode::invalid_argument, "4 elements");
  EXPECT_ERROR(array.read_into("0", ArrayView(nullptr, array.data_type(), {2})), ErrorCode::invalid_argument,
               "shape");
  EXPECT_ERROR(array.write("0", ArrayView(nullptr, array.data_type(), {2})), ErrorCode::invalid_argument,
               "shape");
}

TEST(Array, MissingChunksAreFill) {
  CreateOptions options = raw_options({5}, {2});
  options.fill_value = -7;
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  array.write("2:4", std::vector<std::int32_t>{1, 2});
  EXPECT_EQ(array.read<std::int32_t>().to_vector(), (std::vector<std::int32_t>{-7, -7, 1, 2, -7}));
  ReadOptions convert;
  convert.convert = true;
  EXPECT_EQ(array.read<double>("0", convert)[0], -7.0);
  EXPECT_EQ(array.read_chunk(Index{2}).span<std::int32_t>()[1], -7);
  EXPECT_FALSE(array.read_encoded_chunk(Index{0}));
  EXPECT_TRUE(array.chunk_exists(Index{1}));
  EXPECT_FALSE(array.chunk_exists(Index{0}));
  EXPECT_EQ(array.stored_chunk_count(), 1u);
}

TEST(Array, UndefinedFillOfV2IsZerosAndAlwaysStored) {
  CreateOptions options;
  options.format = ZarrFormat::v2;
  options.shape = {4};
  options.chunks = {2};
  options.data_type = "float32";
  options.fill_value = Json(nullptr);
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  EXPECT_EQ(array.read<float>().to_vector(), std::vector<float>(4, 0.0f));
  array.write("...", std::vector<float>(4, 0.0f));
  EXPECT_EQ(array.stored_chunk_count(), 2u);
}

TEST(Array, AllFillChunksAreNotStoredByDefaultComparedByBits) {
  auto store = std::make_shared<MemoryStore>();
  CreateOptions options = raw_options({4}, {2}, "float32");
  Array array = create_array(store, "a", options);
  array.write("...", std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(array.stored_chunk_count(), 2u);
  array.write("0:2", std::vector<float>{0, 0});  // becomes fill: erased
  EXPECT_EQ(array.stored_chunk_count(), 1u);
  array.write("0:2", std::vector<float>{-0.0f, 0});  // not the same bits
  EXPECT_EQ(array.stored_chunk_count(), 2u);
  array.write("0", std::vector<float>{0});  // in part, to all fill
  EXPECT_EQ(array.stored_chunk_count(), 1u);
  WriteOptions keep;
  keep.write_empty_chunks = true;
  array.write("0:2", std::vector<float>{0, 0}, keep);
  EXPECT_EQ(array.stored_chunk_count(), 2u);
}

TEST(Array, CorruptChunksAreErrorsThatSayWhere) {
  auto store = std::make_shared<MemoryStore>("mem");
  Array array = create_array(store, "g/a", raw_options({4}, {2}));
  array.write("...", ramp(4));
  store->set("g/a/c/1", Buffer::from_string("short"));
  EXPECT_ERROR(array.read(), ErrorCode::corrupt_chunk, "mem: g/a: g/a/c/1");
  EXPECT_ERROR(array.read_chunk(Index{1}), ErrorCode::corrupt_chunk, "g/a/c/1");
  EXPECT_ERROR(array.write("3", ramp(1)), ErrorCode::corrupt_chunk, "g/a/c/1");
  EXPECT_EQ(array.read<std::int32_t>("0:2").to_vector(), ramp(2));
  store->set("g/a/c/1", Buffer());  // empty is corrupt, not missing
  EXPECT_ERROR(array.read(), ErrorCode::corrupt_chunk, "g/a/c/1");
  array.write("2:4", ramp(2));  // a full write mends it
  EXPECT_EQ(array.read<std::int32_t>("2:").to_vector(), ramp(2));
}

TEST(Array, UnknownCodecsLeaveTheArrayInspectable) {
  auto store = std::make_shared<MemoryStore>("mem");
  Array array = create_array(store, "a", raw_options({4}, {2}));
  Json document = Json::parse(store->get("a/zarr.json")->text());
  JsonObject unknown;
  unknown.set("name", "acme_wavelet");
  document.find("codecs")->as_array().push_back(Json(unknown));
  store->set("a/zarr.json", Buffer::from_string(document.dump()));
  const Array opened = open_array(store, "a");
  EXPECT_EQ(opened.shape(), Shape{4});
  EXPECT_EQ(opened.metadata().codecs.back().name, "acme_wavelet");
  EXPECT_ERROR(opened.read(), ErrorCode::unsupported_codec, "acme_wavelet");
  EXPECT_ERROR(opened.read_chunk(Index{0}), ErrorCode::unsupported_codec, "acme_wavelet");
  EXPECT_FALSE(opened.read_encoded_chunk(Index{0}));
}

TEST(Array, ChunkAccess) {
  Array array = create_array(std::make_shared<MemoryStore>(), "", raw_options({3, 3}, {2, 2}));
  std::vector<std::int32_t> values{1, 2, 3, 4};
  array.write_chunk(Index{1, 1}, ArrayView::of(values.data(), {2, 2}));
  EXPECT_EQ(array.read<std::int32_t>("2, 2")[0], 1);
  EXPECT_EQ(array.chunk_key(Index{1, 1}), "c/1/1");
  array.erase_chunk(Index{1, 1});
  EXPECT_EQ(array.read<std::int32_t>("2, 2")[0], 0);
  array.write_encoded_chunk(Index{0, 0}, Buffer::copy_of(std::as_bytes(std::span(values))));
  EXPECT_EQ(array.read<std::int32_t>("0:2, 0:2").to_vector(), values);
  EXPECT_EQ(array.read_encoded_chunk(Index{0, 0})->size(), 16u);
  EXPECT_ERROR(array.read_chunk(Index{2, 0}), ErrorCode::out_of_bounds, "[2, 2]");
  EXPECT_ERROR(array.read_chunk(Index{0}), ErrorCode::out_of_bounds, "[2, 2]");
  EXPECT_ERROR(array.write_chunk(Index{0, 0}, ArrayView::of(values.data(), {4, 1})),
               ErrorCode::invalid_argument, "[4, 1]");
}

TEST(Array, SetAttributesWritesTheMetadata) {
  for (ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
    auto store = std::make_shared<MemoryStore>();
    CreateOptions options;
    options.format = format;
    options.shape = {2};
    Array array = create_array(store, "a", options);
    JsonObject attributes;
    attributes.set("units", "K");
    array.set_attributes(attributes);
    EXPECT_EQ(open_array(store, "a").attributes().find("units")->as_string(), "K");
    array.set_attributes({});
    EXPECT_TRUE(open_array(store, "a").attributes().empty());
    EXPECT_TRUE(array.attributes().empty());
  }
}

TEST(Array, StopTokenCancels) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", raw_options({4}, {2}));
  std::stop_source source;
  source.request_stop();
  ReadOptions read;
  read.stop = source.get_token();
  EXPECT_ERROR(array.read("...", read), ErrorCode::cancelled, "");
  WriteOptions write;
  write.stop = source.get_token();
  EXPECT_ERROR(array.write("...", ramp(4), write), ErrorCode::cancelled, "");
  EXPECT_EQ(array.stored_chunk_count(), 0u);
}

TEST(Array, DeviceMemoryNeedsADriver) {
  ::setenv("ZARRIVE_LIBCUDA", "none", 1);  // so here, whatever this machine has
  Array array = create_array(std::make_shared<MemoryStore>(), "a", raw_options({4}, {2}));
  ArrayView view(nullptr, array.data_type(), {4});
  view.space = MemorySpace{MemoryKind::cuda, 0};
  EXPECT_ERROR(array.read_into("...", view), ErrorCode::unsupported, "cuda:0");
  EXPECT_ERROR(array.write("...", view), ErrorCode::unsupported, "cuda:0");
  ReadOptions options;
  options.prototype = cuda(0);
  EXPECT_ERROR(array.read("...", options), ErrorCode::unsupported, "cuda:0");
}

TEST(Array, ConcurrentWritesToPartsOfOneChunkLoseNothing) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", raw_options({64}, {64}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&array, t] {
      for (int i = t; i < 64; i += 4) {
        Array mine = array;
        mine.write(Selection{i}, std::vector<std::int32_t>{i + 1});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(array.read<std::int32_t>().to_vector(), ramp(64));
}

TEST(Array, HugeSparseArraysCostWhatIsTouched) {
  CreateOptions options = raw_options({std::uint64_t{1} << 40, std::uint64_t{1} << 20}, {16, 16});
  auto counting = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(counting, "a", options);
  array.write("1000000000000, 77", std::vector<std::int32_t>{5});
  counting->reset();
  EXPECT_EQ(array.read<std::int32_t>("1000000000000, 76:79").to_vector(),
            (std::vector<std::int32_t>{0, 5, 0}));
  EXPECT_EQ(counting->counts().get_requests, 1u);
}

}  // namespace
}  // namespace zarrive
