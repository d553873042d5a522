// Other shapes for arrays that are there: what stays, what goes, what it costs.
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

#include "support/errors.hpp"
#include "support/fault_store.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

CreateOptions options_of(Shape shape, Shape chunks) {
  CreateOptions options;
  options.shape = std::move(shape);
  options.chunks = std::move(chunks);
  options.data_type = "int32";
  options.fill_value = -1;
  return options;
}

std::vector<std::int32_t> ramp(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

std::vector<std::int32_t> values(const Array& array, const Selection& selection = {}) {
  return array.read<std::int32_t>(selection).to_vector();
}

using Values = std::vector<std::int32_t>;

TEST(Resize, GrowsWithFill) {
  auto store = std::make_shared<MemoryStore>();
  Array array = create_array(store, "a", options_of({3, 2}, {2, 2}));
  array.write("...", ramp(6));
  array.resize({4, 3});
  EXPECT_EQ(array.shape(), (Shape{4, 3}));
  EXPECT_EQ(values(array), (Values{1, 2, -1, 3, 4, -1, 5, 6, -1, -1, -1, -1}));
  EXPECT_EQ(values(open_array(store, "a")), values(array));
}

TEST(Resize, ShrunkAndGrownAgainShowsFill) {
  for (const ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
    auto store = std::make_shared<MemoryStore>();
    CreateOptions options = options_of({7, 6}, {3, 4});
    options.format = format;
    Array array = create_array(store, "a", options);
    array.write("...", ramp(42));
    EXPECT_EQ(array.stored_chunk_count(), 6u);
    array.resize({4, 3});
    EXPECT_EQ(store->list("a").size(), 2u + 1);  // two chunks and the document
    EXPECT_EQ(values(array), (Values{1, 2, 3, 7, 8, 9, 13, 14, 15, 19, 20, 21}));
    array.resize({7, 6});
    const Values all = values(array);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 6; ++j)
        EXPECT_EQ(all[i * 6 + j], i < 4 && j < 3 ? static_cast<int>(i * 6 + j + 1) : -1) << i << ", " << j;
  }
}

TEST(Resize, ChunksThatBecomeFillGo) {
  auto store = std::make_shared<MemoryStore>();
  Array array = create_array(store, "a", options_of({8}, {4}));
  array.write("6:", Values{5, 6});
  EXPECT_EQ(array.stored_chunk_count(), 1u);
  array.resize({5});
  EXPECT_EQ(array.stored_chunk_count(), 0u);
  array.resize({8});
  array.write("6:", Values{5, 6});
  array.resize({5}, {.write_empty_chunks = true});
  EXPECT_EQ(array.stored_chunk_count(), 1u);
  EXPECT_EQ(values(array), (Values{-1, -1, -1, -1, -1}));
}

TEST(Resize, OnlyWhatIsTouchedIsRead) {
  auto store = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(store, "a", options_of({8, 8}, {2, 2}));
  array.write("...", ramp(64));
  store->reset();
  array.resize({8, 6});  // at a boundary of chunks: nothing to read
  EXPECT_EQ(store->counts().get_requests, 0u);
  EXPECT_EQ(array.stored_chunk_count(), 12u);
  store->reset();
  array.resize({8, 5});  // four chunks reach outside
  EXPECT_EQ(store->counts().get_requests, 4u);
  EXPECT_EQ(store->counts().get_batches, 1u);
  store->reset();
  array.resize({9, 9});
  EXPECT_EQ(store->counts().get_requests, 0u);
}

TEST(Resize, OneDimensionGrowsWhileAnotherShrinks) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options_of({4, 4}, {3, 3}));
  array.write("...", ramp(16));
  array.resize({2, 6});
  EXPECT_EQ(values(array), (Values{1, 2, 3, 4, -1, -1, 5, 6, 7, 8, -1, -1}));
  array.resize({4, 4});
  EXPECT_EQ(values(array), (Values{1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1, -1, -1, -1, -1, -1}));
}

TEST(Resize, ToNothingAndBack) {
  auto store = std::make_shared<MemoryStore>();
  Array array = create_array(store, "a", options_of({4, 4}, {3, 3}));
  array.write("...", ramp(16));
  array.resize({0, 4});
  EXPECT_EQ(array.stored_chunk_count(), 0u);
  EXPECT_EQ(store->list("a").size(), 1u);
  array.resize({1, 2});
  EXPECT_EQ(values(array), (Values{-1, -1}));
  Array zero_d = create_array(store, "z", options_of({}, {}));
  zero_d.write("...", Values{3});
  zero_d.resize({});
  EXPECT_EQ(values(zero_d), Values{3});
}

TEST(Resize, OfVeryManyChunksCostsWhatIsThere) {
  auto store = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(store, "a", options_of({4000000, 4000000}, {10, 12}));  // 1.3e11 chunks
  array.write("5, 7", Values{1});
  array.write("3999999, 3999999", Values{2});
  array.write("25, 3999999", Values{3});
  const auto begin = std::chrono::steady_clock::now();
  store->reset();
  array.resize({26, 3999999});
  EXPECT_LE(store->counts().get_requests, 3u);
  EXPECT_EQ(array.stored_chunk_count(), 1u);
  array.resize({4000000, 4000000});
  EXPECT_EQ(values(array, "5, 7"), Values{1});
  EXPECT_EQ(values(array, vindex({{3999999, 25}, {3999999, 3999999}})), (Values{-1, -1}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(Resize, RectilinearGridsGrowByAChunk) {
  auto store = std::make_shared<MemoryStore>();
  CreateOptions options = options_of({6, 5}, {});
  options.chunk_grid = ChunkGrid::rectilinear({{{{2, 1}, {4, 1}}, false}, {{{3, 1}}, true}});
  Array array = create_array(store, "a", options);
  array.write("...", ramp(30));
  array.resize({9, 7});
  EXPECT_EQ(array.grid_shape(), (Shape{3, 3}));
  EXPECT_EQ(array.metadata().chunk_grid.chunk_edge(0, 2), 3u);
  EXPECT_EQ(values(array, "8"), Values(7, -1));
  array.write("8", ramp(7));
  EXPECT_EQ(values(open_array(store, "a"), "8"), ramp(7));
  array.resize({1, 2});
  EXPECT_EQ(array.stored_chunk_count(), 1u);
  array.resize({9, 7});  // within the chunks that were there
  EXPECT_EQ(array.grid_shape(), (Shape{3, 3}));
  EXPECT_EQ(values(array, "0"), (Values{1, 2, -1, -1, -1, -1, -1}));
  EXPECT_EQ(values(array, "8"), Values(7, -1));
}

TEST(Resize, RefusesWhatCannotBe) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options_of({4, 4}, {3, 3}));
  EXPECT_ERROR(array.resize({4}), ErrorCode::invalid_argument, "has 1 dimensions, the array 2");
  EXPECT_ERROR(array.resize({4, std::uint64_t{1} << 63}), ErrorCode::resource_limit, "above 2^63 - 1");
  EXPECT_EQ(array.shape(), (Shape{4, 4}));
}

TEST(Resize, OfChunksThatDoNotDecodeIsAnErrorAndKeepsTheShape) {
  auto store = std::make_shared<MemoryStore>();
  Array array = create_array(store, "a", options_of({4}, {4}));
  array.write("...", ramp(4));
  store->set("a/c/0", Buffer::from_string("nonsense"));
  EXPECT_ERROR(array.resize({3}), ErrorCode::corrupt_chunk, "a/c/0");
  EXPECT_EQ(array.shape(), Shape{4});
  EXPECT_EQ(open_array(store, "a").shape(), Shape{4});
}

TEST(Append, AlongAnyAxis) {
  auto store = std::make_shared<MemoryStore>();
  Array array = create_array(store, "a", options_of({2, 3}, {2, 2}));
  array.write("...", ramp(6));
  EXPECT_EQ(array.append(Values{7, 8, 9}), (Shape{3, 3}));
  EXPECT_EQ(array.append(Values{10, 20, 30}, 1), (Shape{3, 4}));
  EXPECT_EQ(array.append(Values{1, 1, 1}, -1), (Shape{3, 5}));
  EXPECT_EQ(array.append(array.read<std::int32_t>("0:1"), -2), (Shape{4, 5}));
  EXPECT_EQ(values(open_array(store, "a")),
            (Values{1, 2, 3, 10, 1, 4, 5, 6, 20, 1, 7, 8, 9, 30, 1, 1, 2, 3, 10, 1}));
  EXPECT_EQ(array.append(Values{}, 0), (Shape{4, 5}));
}

TEST(Append, ManySteps) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options_of({0, 2}, {3, 2}));
  for (int i = 0; i < 10; ++i) array.append(Values{i, -i});
  EXPECT_EQ(array.shape(), (Shape{10, 2}));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(values(array, Selection{i}), (Values{i, -i}));
}

TEST(Append, ConvertsWhenAsked) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options_of({1}, {3}));
  const std::vector<double> doubles{2, 3};
  EXPECT_ERROR(array.append(doubles), ErrorCode::invalid_argument, "convert");
  EXPECT_EQ(array.shape(), Shape{1});
  array.append(doubles, 0, {.convert = true});
  EXPECT_EQ(values(array), (Values{-1, 2, 3}));
}

TEST(Append, ToRectilinearGrids) {
  CreateOptions options = options_of({3, 2}, {});
  options.chunk_grid = ChunkGrid::rectilinear({{{{2, 1}, {1, 1}}, false}, {{{2, 1}}, true}});
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  array.write("...", ramp(6));
  array.append(Values{7, 8, 9, 10});
  EXPECT_EQ(array.shape(), (Shape{5, 2}));
  EXPECT_EQ(array.grid_shape(), (Shape{3, 1}));
  EXPECT_EQ(values(array), ramp(10));
}

TEST(Append, RefusesWhatDoesNotFit) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options_of({2, 3}, {2, 2}));
  EXPECT_ERROR(array.append(Values{1, 2}), ErrorCode::invalid_argument,
               "cannot append 2 elements along axis 0");
  EXPECT_ERROR(array.append(Values{1, 2, 3}, 2), ErrorCode::invalid_argument, "axis 2 of an array of 2");
  EXPECT_ERROR(array.append(Values{1, 2, 3}, -3), ErrorCode::invalid_argument, "axis -3");
  const Values some(4);
  EXPECT_ERROR(array.append(ArrayView::of(some.data(), {2, 2})), ErrorCode::invalid_argument,
               "all other lengths must be the same");
  Array zero_d = create_array(std::make_shared<MemoryStore>(), "a", options_of({}, {}));
  EXPECT_ERROR(zero_d.append(Values{1}), ErrorCode::invalid_argument, "axis 0 of an array of 0");
  Array empty = create_array(std::make_shared<MemoryStore>(), "a", options_of({2, 0}, {2, 2}));
  EXPECT_ERROR(empty.append(Values{1}), ErrorCode::invalid_argument, "one step has 0");
}

// Fails the metadata document, once.
class FailingDocument final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;
  bool fail = false;

 protected:
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override {
    for (const SetRequest& request : batch)
      if (fail && request.key.ends_with("zarr.json")) throw Error(ErrorCode::unavailable, "no room");
    StoreWrapper::do_set(batch, options);
  }
  void do_set_one(const std::string& key, const Buffer& value, const Context* context,
                  Durability durability) override {
    if (fail && key.ends_with("zarr.json")) throw Error(ErrorCode::unavailable, "no room");
    StoreWrapper::do_set_one(key, value, context, durability);
  }
};

TEST(Append, ThatFailsLeavesTheArrayAsItWas) {
  auto store = std::make_shared<FailingDocument>(std::make_shared<MemoryStore>());
  Array array = create_array(store, "a", options_of({3}, {2}));
  array.write("...", ramp(3));
  store->fail = true;
  EXPECT_ERROR(array.append(ramp(4)), ErrorCode::unavailable, "no room");
  store->fail = false;
  EXPECT_EQ(array.shape(), Shape{3});
  EXPECT_EQ(values(open_array(store, "a")), ramp(3));
  array.resize({7});  // nothing of the failed append shows
  EXPECT_EQ(values(array), (Values{1, 2, 3, -1, -1, -1, -1}));
}

}  // namespace
}  // namespace zarrive
