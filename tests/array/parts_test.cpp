// Lists of chunk parts: what comes out, what the store is asked, and what is refused. That they equal reads and writes of selections is
// tested by the model test.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "array/chunk_list.hpp"
#include "support/errors.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

using testing_support::list_of;
using testing_support::list_view;
using Values = std::vector<std::int32_t>;

struct Counted {
  std::shared_ptr<CountingStore> store = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array;

  explicit Counted(const CreateOptions& options) : array(create_array(store, "a", options)) {}
  void fill() {
    Values values(static_cast<std::size_t>(array.size()));
    std::iota(values.begin(), values.end(), 0);
    array.write("...", values);
    store->reset();
  }
};

CreateOptions plain(Shape shape, Shape chunks, const char* type = "int32") {
  CreateOptions options;
  options.shape = std::move(shape);
  options.chunks = std::move(chunks);
  options.data_type = type;
  return options;
}

PartDimension range(std::uint64_t start, std::uint64_t count, std::uint64_t place, std::int64_t step = 1) {
  PartDimension d;
  d.start = start;
  d.count = count;
  d.step = step;
  d.output_start = place;
  return d;
}

PartDimension list(const std::vector<std::uint64_t>& positions) {
  PartDimension d;
  d.positions = positions.data();
  d.count = positions.size();
  return d;
}

ChunkAccess access(Index chunk, std::vector<PartDimension> dimensions) {
  ChunkAccess out;
  out.chunk = std::move(chunk);
  out.part = ChunkPart(std::move(dimensions));
  return out;
}

TEST(Parts, GoWhereTheListSays) {
  Counted c(plain({6}, {4}));
  c.fill();
  Values out(8, -1);
  // Positions 3 and 1 of chunk 0, then 1 of chunk 1, and one place is nobody's.
  const std::vector<ChunkAccess> parts{access({1}, {range(1, 1, 5)}), access({0}, {range(3, 2, 1, -2)})};
  EXPECT_EQ(c.array.read_parts(parts, ArrayView::of(out.data(), {8})), (std::vector<bool>{true, true}));
  EXPECT_EQ(out, (Values{-1, 3, 1, -1, -1, 5, -1, -1}));
  EXPECT_EQ(c.store->counts().get_batches, 1u);
  EXPECT_EQ(c.store->counts().get_requests, 2u);

  const Values in{0, 30, 10, 0, 0, 50, 0, 0};
  c.array.write_parts(parts, ArrayView::of(in.data(), {8}));
  EXPECT_EQ(c.array.read<std::int32_t>().to_vector(), (Values{0, 10, 2, 30, 4, 50}));
  EXPECT_EQ(c.array.read_parts({}, ArrayView::of(out.data(), {8})), std::vector<bool>());
}

TEST(Parts, AskTheStoreAsSelectionsDo) {
  CreateOptions sharded = plain({64, 64}, {8, 8});
  sharded.shards = {32, 32};
  for (const CreateOptions& options : {plain({64, 64}, {16, 16}), sharded}) {
    Counted c(options);
    c.fill();
    for (const char* selection : {"8:16, 8:16", "24:40, 3", "...", "[1, 60, 33], 5:9"}) {
      SCOPED_TRACE(selection);
      const Array first = open_array(c.store, "a");
      c.store->reset();
      const Values expected = first.read<std::int32_t>(selection).to_vector();
      const StoreCounts wanted = c.store->counts();
      const Array second = open_array(c.store, "a");
      const NDArray result = NDArray::allocate(second.data_type(), second.result_shape(selection));
      const std::vector<ChunkAccess> parts = list_of(second, selection);
      c.store->reset();
      second.read_parts(parts, list_view(second, selection, result.view()));
      const StoreCounts counts = c.store->counts();
      const auto values = result.span<std::int32_t>();
      EXPECT_EQ(Values(values.begin(), values.end()), expected);
      EXPECT_EQ(counts.get_batches, wanted.get_batches);
      EXPECT_EQ(counts.get_requests, wanted.get_requests);
      EXPECT_EQ(counts.ranges, wanted.ranges);
      EXPECT_EQ(counts.bytes_read, wanted.bytes_read);
    }
    // A write of whole chunks reads nothing.
    Array array = open_array(c.store, "a");
    const Values ones(64 * 64, 1);
    const std::vector<ChunkAccess> parts = list_of(array, "...");
    c.store->reset();
    array.write_parts(parts, ArrayView::of(ones.data(), {64, 64}));
    EXPECT_EQ(c.store->counts().get_requests, 0u);
    EXPECT_EQ(c.store->counts().set_batches, 1u);
    EXPECT_EQ(c.store->counts().set_requests, parts.size());
    EXPECT_EQ(array.read<std::int32_t>().to_vector(), ones);
  }
}

TEST(Parts, TellWhichChunksAreMissing) {
  CreateOptions sharded = plain({24}, {2});
  sharded.shards = {8};
  for (CreateOptions options : {plain({24}, {8}), sharded}) {
    options.fill_value = Json(7);
    Counted c(options);
    c.array.write("8:10",
                  Values{1, 2});  // an inner chunk that is missing in a stored shard is not a missing chunk
    Values out(24, -1);
    const std::vector<ChunkAccess> parts{access({2}, {range(0, 8, 16)}), access({1}, {range(0, 8, 8)}),
                                         access({0}, {range(3, 0, 0)}), access({0}, {range(1, 2, 0)}),
                                         access({1}, {range(4, 2, 2)})};
    EXPECT_EQ(c.array.read_parts(parts, ArrayView::of(out.data(), {24})),
              (std::vector<bool>{false, true, true, false, true}));
    EXPECT_EQ(out, (Values{7, 7, 7, 7, -1, -1, -1, -1, 1, 2, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}));
  }
}

TEST(Parts, AChunkThatComesAgainIsWrittenInOrder) {
  CreateOptions sharded = plain({8}, {2});
  sharded.shards = {8};
  for (const CreateOptions& options : {plain({8}, {8}), sharded}) {
    Counted c(options);
    const Values in{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    std::vector<ChunkAccess> parts{access({0}, {range(0, 8, 0)}), access({0}, {range(2, 3, 8)}),
                                   access({0}, {range(4, 1, 11)})};
    c.array.write_parts(parts, ArrayView::of(in.data(), {12}));
    EXPECT_EQ(c.array.read<std::int32_t>().to_vector(), (Values{1, 2, 9, 10, 12, 6, 7, 8}));
    EXPECT_EQ(c.array.read_parts(parts, ArrayView::of(Values(12).data(), {12})),
              (std::vector<bool>{true, true, true}));
  }
}

TEST(Parts, Points) {
  Counted c(plain({4, 6}, {4, 3}));
  c.fill();
  const std::vector<std::uint64_t> rows{3, 0, 3}, columns{2, 0, 1}, places{5, 0, 1};
  ChunkAccess points;
  points.chunk = {0, 1};
  points.part = ChunkPart::points({list(rows), list(columns)}, places.data(), 3, nullptr);
  Values out(6, -1);
  c.array.read_parts({&points, 1}, ArrayView::of(out.data(), {2, 3}));
  EXPECT_EQ(out, (Values{3, 22, -1, -1, -1, 23}));
  const Values in{100, 101, 0, 0, 0, 105};
  c.array.write_parts({&points, 1}, ArrayView::of(in.data(), {6}));
  EXPECT_EQ(c.array.read<std::int32_t>("[0, 3], 3:").to_vector(), (Values{100, 4, 5, 21, 101, 105}));
}

TEST(Parts, ConvertWhenThatIsAsked) {
  Counted c(plain({6}, {4}));
  c.fill();
  std::vector<double> out(6, 0.5);
  const std::vector<ChunkAccess> parts = list_of(c.array, "...");
  const ArrayView view = ArrayView::of(out.data(), {6});
  EXPECT_ERROR(c.array.read_parts(parts, view), ErrorCode::invalid_argument, "set ReadOptions::convert");
  ReadOptions reading;
  reading.convert = true;
  c.array.read_parts(parts, view, reading);
  EXPECT_EQ(out, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  for (double& value : out) value *= 2;
  EXPECT_ERROR(c.array.write_parts(parts, view), ErrorCode::invalid_argument, "set WriteOptions::convert");
  WriteOptions writing;
  writing.convert = true;
  c.array.write_parts(parts, view, writing);
  EXPECT_EQ(c.array.read<std::int32_t>().to_vector(), (Values{0, 2, 4, 6, 8, 10}));
}

// A caller whose list is about another state of the array than the metadata, or that has keys of its own.
TEST(Parts, ChunksTheCallerKnowsBetter) {
  Counted c(plain({4}, {4}));
  Array wider = c.array;
  wider.resize({10});
  ASSERT_EQ(c.array.shape(), (Shape{4}));
  Values values{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<ChunkAccess> parts{access({1}, {range(0, 4, 0)}), access({}, {range(0, 2, 4)})};
  EXPECT_ERROR(c.array.write_parts(parts, ArrayView::of(values.data(), {8})), ErrorCode::out_of_bounds,
               "entry 0 of the list: chunk [1] is outside the chunk grid [1]");
  parts[0].key = wider.chunk_key(Index{1});
  parts[1].key = wider.chunk_key(Index{2});
  parts[0].chunk_shape = parts[1].chunk_shape = Shape{4};
  parts[1].covers = true;  // what is behind the end may go
  c.store->reset();
  c.array.write_parts(parts, ArrayView::of(values.data(), {8}));
  EXPECT_EQ(c.store->counts().get_requests, 0u);
  EXPECT_EQ(wider.read<std::int32_t>().to_vector(), (Values{0, 0, 0, 0, 1, 2, 3, 4, 5, 6}));
  Values out(8);
  EXPECT_EQ(c.array.read_parts(parts, ArrayView::of(out.data(), {8})), (std::vector<bool>{true, true}));
  EXPECT_EQ(out, (Values{1, 2, 3, 4, 5, 6, 0, 0}));
  // Keys alone: the grid still says which shape.
  parts = {access({0}, {range(0, 4, 0)})};
  parts[0].key = "elsewhere";
  c.array.write_parts(parts, ArrayView::of(values.data(), {4}));
  EXPECT_TRUE(c.store->exists("elsewhere"));
}

TEST(Parts, Refused) {
  Counted c(plain({6, 6}, {4, 4}));
  c.store->reset();
  Values memory(36);
  const ArrayView view = ArrayView::of(memory.data(), {6, 6});
  const auto refused = [&](ChunkAccess part, ErrorCode code, const char* text) {
    EXPECT_ERROR(c.array.read_parts({&part, 1}, view), code, text);
    EXPECT_ERROR(c.array.write_parts({&part, 1}, view), code, text);
  };
  const auto outside = ErrorCode::out_of_bounds;
  const auto invalid = ErrorCode::invalid_argument;
  refused(access({2, 0}, {range(0, 1, 0), range(0, 1, 0)}), outside,
          "chunk [2, 0] is outside the chunk grid [2, 2]");
  refused(access({0}, {range(0, 1, 0), range(0, 1, 0)}), outside, "chunk [0] is outside");
  refused(access({0, 0}, {range(0, 1, 0)}), invalid, "the part has 1 dimensions, the array 2");
  refused(access({0, 0}, {range(0, 5, 0), range(0, 1, 0)}), outside, "5 positions from 0 on in steps of 1");
  refused(access({0, 0}, {range(4, 1, 0), range(0, 1, 0)}), outside, "dimension 0");
  refused(access({0, 0}, {range(0, 1, 0), range(1, 3, 0, -1)}), outside, "dimension 1");
  refused(access({0, 0}, {range(0, 2, 0), range(0, 2, 0, 0)}), invalid, "step 0");
  refused(access({0, 0}, {range(0, 1, 0), range(0, ~std::uint64_t{0}, 0, 4)}), outside, "dimension 1");
  refused(access({0, 0}, {range(0, 1, 0), range(0, 2, 0, std::numeric_limits<std::int64_t>::min())}), outside,
          "dimension 1");
  // The last chunk has two rows in the array.
  refused(access({1, 0}, {range(0, 3, 0), range(0, 1, 0)}), outside, "the 2 elements that a chunk of 4 has");
  refused(access({0, 0}, {range(0, 4, 3), range(0, 1, 0)}), outside, "places up to 7 are outside the");
  refused(access({0, 0}, {range(0, 1, 0), range(0, 2, ~std::uint64_t{0})}), outside, "places up to 2^64");
  const std::vector<std::uint64_t> far{0, 4}, near{0, 3}, places{0, 36};
  refused(access({0, 0}, {list(far), range(0, 1, 0)}), outside, "positions 0 to 4");
  PartDimension before = list(near);
  before.origin = 1;
  refused(access({0, 0}, {before, range(0, 1, 0)}), outside, "counted from 1");
  PartDimension placed = list(near);
  placed.outputs = places.data();
  refused(access({0, 0}, {placed, range(0, 1, 0)}), outside, "places up to 37");
  ChunkAccess points;
  points.chunk = {0, 0};
  points.part = ChunkPart::points({list(near), list(near)}, places.data(), 2, nullptr);
  refused(points, outside, "places up to 37");
  points.part = ChunkPart::points({list(near), list(near)}, nullptr, 2, nullptr, 35);
  refused(points, outside, "places up to 37");
  points.part = ChunkPart::points({list(near), range(0, 2, 0)}, nullptr, 2, nullptr);
  refused(points, invalid, "a list of as many positions");
  ChunkAccess shaped = access({0, 0}, {range(0, 1, 0), range(0, 1, 0)});
  shaped.chunk_shape = Shape{4};
  refused(shaped, invalid, "a chunk of shape [4] is none of an array of shape [6, 6]");
  shaped.chunk_shape = Shape{4, 0};
  refused(shaped, invalid, "a chunk of shape [4, 0]");
  const ChunkAccess fine = access({0, 0}, {range(0, 1, 0), range(0, 1, 0)});
  EXPECT_ERROR(c.array.read_parts({&fine, 1}, ArrayView::of(memory.data(), {36})), invalid,
               "parts need a dimension for each of the array's 2");
  EXPECT_EQ(c.store->counts().get_requests, 0u);
}

TEST(Parts, Strings) {
  Counted c(plain({6}, {4}, "string"));
  const NDArray values = NDArray::allocate(c.array.data_type(), {6});
  const auto in = values.span<std::string>();
  for (std::size_t i = 0; i < 6; ++i) in[i] = std::string(i, 'x');
  c.array.write_parts(list_of(c.array, "..."), values.view());
  const NDArray result = NDArray::allocate(c.array.data_type(), {6});
  std::vector<ChunkAccess> parts = list_of(c.array, "::-1");
  EXPECT_EQ(c.array.read_parts(parts, result.view()), (std::vector<bool>{true, true}));
  EXPECT_EQ(result.span<std::string>()[0], "xxxxx");
  EXPECT_EQ(result.span<std::string>()[5], "");
  parts.push_back(parts[0]);
  EXPECT_ERROR(c.array.read_parts(parts, result.view()), ErrorCode::invalid_argument,
               "element 0 of the destination (in C order) is a place twice");
}

TEST(Parts, AnArrayOnAnotherStoreSharesTheChain) {
  CreateOptions sharded = plain({64}, {4});
  sharded.shards = {32};
  Counted c(sharded);
  c.fill();
  const auto other = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array moved = c.array.with_store(other, "b/c");
  EXPECT_EQ(moved.store(), other);
  EXPECT_EQ(moved.path(), "b/c");
  EXPECT_EQ(&moved.metadata(), &c.array.metadata());
  EXPECT_EQ(&moved.codec_chain(), &c.array.codec_chain());
  Values values(64);
  std::iota(values.begin(), values.end(), 1000);
  EXPECT_EQ(c.array.read<std::int32_t>("5")[0], 5);  // its index is kept now, and means nothing elsewhere
  moved.write("...", values);
  EXPECT_TRUE(other->exists("b/c/c/1"));
  Array same_keys = c.array.with_store(std::make_shared<PrefixStore>(other, "b"), "c");
  EXPECT_EQ(same_keys.read<std::int32_t>("5")[0], 1005);
  EXPECT_EQ(moved.read<std::int32_t>("5")[0], 1005);
  EXPECT_EQ(c.array.read<std::int32_t>("5")[0], 5);
}

}  // namespace
}  // namespace zarrive
