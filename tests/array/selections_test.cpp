// Every kind of selection through an array: what comes out, what the store is asked, what it costs.
#include <gtest/gtest.h>

#include <chrono>
#include <complex>
#include <numeric>
#include <random>
#include <string>

#include "support/errors.hpp"
#include "support/peak_memory.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

using testing_support::peak_memory;
using Values = std::vector<std::int32_t>;

struct Ramp {
  std::shared_ptr<CountingStore> store = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array;

  Ramp(Shape shape, Shape chunks)
      : array(create_array(store, "a", options(std::move(shape), std::move(chunks)))) {
    Values values(static_cast<std::size_t>(array.size()));
    std::iota(values.begin(), values.end(), 0);
    array.write("...", values);
    store->reset();
  }
  static CreateOptions options(Shape shape, Shape chunks) {
    CreateOptions options;
    options.shape = std::move(shape);
    options.chunks = std::move(chunks);
    options.data_type = "int32";
    return options;
  }
  Values read(const Selection& selection) const { return array.read<std::int32_t>(selection).to_vector(); }
};

TEST(Selections, Orthogonal) {
  Ramp ramp({6, 10}, {4, 3});
  EXPECT_EQ(ramp.array.result_shape(oindex({{5, 0, 5}, {9, 1}})), (Shape{3, 2}));
  EXPECT_EQ(ramp.read(oindex({{5, 0, 5}, {9, 1}})), (Values{59, 51, 9, 1, 59, 51}));
  EXPECT_EQ(ramp.store->counts().get_batches, 1u);
  EXPECT_EQ(ramp.store->counts().get_requests, 4u);  // each chunk once
  EXPECT_EQ(ramp.read("[5, 0], 3"), (Values{53, 3}));
  const std::vector<bool> flags{false, true, false, false, true, false};
  EXPECT_EQ(ramp.read(oindex({flags, slice(8, none)})), (Values{18, 19, 48, 49}));
  ramp.array.write(oindex({{1, 1, 4}, {0, 9, 0}}), Values{1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(ramp.read("[1, 4], [0, 9]"), (Values{6, 5, 9, 8}));  // the last of equal ones stays
}

TEST(Selections, Coordinates) {
  Ramp ramp({6, 10}, {4, 3});
  EXPECT_EQ(ramp.read(vindex({{5, 0, -1, 0}, {9, 0, 9, 0}})), (Values{59, 0, 59, 0}));
  EXPECT_EQ(ramp.store->counts().get_requests, 2u);
  const Selection cross = vindex({IntegerArray({0, 5}, {2, 1}), {1, 2, 3}});
  EXPECT_EQ(ramp.array.result_shape(cross), (Shape{2, 3}));
  EXPECT_EQ(ramp.read(cross), (Values{1, 2, 3, 51, 52, 53}));
  EXPECT_EQ(ramp.read(vindex({2, 7})), Values{27});
  ramp.array.write(vindex({{2, 3, 2}, {7, 7, 7}}), Values{-1, -2, -3});
  EXPECT_EQ(ramp.read("2:4, 7"), (Values{-3, -2}));
  EXPECT_ERROR(ramp.read(vindex({{6}, {0}})), ErrorCode::out_of_bounds, "a: index 6 is outside dimension 0");
  // into memory of two dimensions that is not dense
  Values transposed(6);
  ramp.array.read_into(cross, ArrayView(reinterpret_cast<std::byte*>(transposed.data()),
                                        ramp.array.data_type(), {2, 3}, {4, 8}));
  EXPECT_EQ(transposed, (Values{1, 51, 2, 52, 3, 53}));
}

TEST(Selections, Masks) {
  Ramp ramp({3, 4}, {2, 2});
  std::vector<bool> flags(12);
  flags[1] = flags[4] = flags[11] = true;
  EXPECT_EQ(ramp.read(mask({flags, {3, 4}})), (Values{1, 4, 11}));
  ramp.array.write(mask({flags, {3, 4}}), Values{-1, -2, -3});
  EXPECT_EQ(ramp.read("..."), (Values{0, -1, 2, 3, -2, 5, 6, 7, 8, 9, 10, -3}));
  EXPECT_ERROR(ramp.read(mask({flags, {4, 3}})), ErrorCode::invalid_argument, "the mask has shape [4, 3]");
}

TEST(Selections, Blocks) {
  Ramp ramp({5, 7}, {2, 3});
  EXPECT_EQ(ramp.read(blocks({2, 1})), (Values{31, 32, 33}));  // the last block along dimension 0 is cut off
  EXPECT_EQ(ramp.array.result_shape(blocks({slice(1, none), -1})), (Shape{3, 1}));
  EXPECT_EQ(ramp.read(blocks({0, slice(0, 1)})), (Values{0, 1, 2, 7, 8, 9}));
  ramp.store->reset();
  ramp.array.write(blocks({1, 0}), Values(6, -1));
  EXPECT_EQ(ramp.store->counts().get_requests, 0u);  // a whole chunk
  EXPECT_EQ(ramp.read("1:5, 0"), (Values{7, -1, -1, 28}));
  EXPECT_ERROR(ramp.read(blocks({3})), ErrorCode::out_of_bounds, "over the chunk grid [3, 3]");
  EXPECT_ERROR(ramp.read(blocks({slice(none, none, 2)})), ErrorCode::invalid_argument, "step 1, found 2");
  EXPECT_ERROR(resolve(blocks({0}), ramp.array.shape()), ErrorCode::invalid_argument, "needs the chunk grid");
}

TEST(Selections, ListsThatCoverAChunkDoNotReadIt) {
  Ramp ramp({4, 4}, {2, 2});
  ramp.array.write(oindex({{1, 0, 1}, {3, 2}}), Values{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ramp.store->counts().get_requests, 0u);
  EXPECT_EQ(ramp.read("0:2, 2:"), (Values{4, 3, 6, 5}));
  ramp.store->reset();
  ramp.array.write(vindex({{0, 1, 1, 0}, {0, 0, 1, 1}}), Values{1, 2, 3, 4});
  EXPECT_EQ(ramp.store->counts().get_requests, 0u);
  ramp.array.write(vindex({{0, 1, 1, 1}, {0, 0, 1, 1}}), Values{1, 2, 3, 4});
  EXPECT_EQ(ramp.store->counts().get_requests, 1u);
}

TEST(Selections, Fields) {
  CreateOptions options;
  options.shape = {4};
  options.chunks = {3};
  options.data_type = R"([["a", "|u1"], ["b", ">i2"], ["c", "<f8", [2]]])";
  options.format = ZarrFormat::v2;
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  array.write(field("b"), std::vector<std::int16_t>{1, 2, 3, 4});
  array.write(Selection("1:3").field("a"), std::vector<std::uint8_t>{7, 8});
  EXPECT_EQ(array.result_shape(field("c")), (Shape{4, 2}));
  EXPECT_EQ(array.result_type(field("b")), DataType(TypeId::int16));
  array.write(vindex({{3, 0}}).field("c"), std::vector<double>{1, 2, 3, 4});
  EXPECT_EQ(array.read<std::int16_t>(field("b")).to_vector(), (std::vector<std::int16_t>{1, 2, 3, 4}));
  EXPECT_EQ(array.read<std::uint8_t>(field("a")).to_vector(), (std::vector<std::uint8_t>{0, 7, 8, 0}));
  EXPECT_EQ(array.read<double>(field("c")).to_vector(), (std::vector<double>{3, 4, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(array.read<double>(oindex({{3, 3}}).field("b"), {.convert = true}).to_vector(),
            (std::vector<double>{4, 4}));
  array.write(Selection("0").field("c"), std::vector<float>{5, 6}, {.convert = true});
  EXPECT_EQ(array.read<double>(Selection("0").field("c")).to_vector(), (std::vector<double>{5, 6}));
  array.write_value(Selection("3").field("a"), 9);
  EXPECT_EQ(array.read<std::uint8_t>(Selection("3").field("a"))[0], 9);
  const NDArray two = array.read(Selection("1:3").fields({"b", "a"}));
  EXPECT_EQ(two.type(), DataType::parse(R"([["b", "<i2"], ["a", "|u1"]])"));
  const std::string bytes(reinterpret_cast<const char*>(two.view().data), 6);
  EXPECT_EQ(bytes, std::string("\2\0\7\3\0\10", 6));
  EXPECT_EQ(array.read(fields({"a"})).type(), DataType::parse(R"([["a", "|u1"]])"));
  EXPECT_ERROR(array.read(field("d")), ErrorCode::invalid_argument, "its fields are \"a\", \"b\", \"c\"");
  EXPECT_ERROR(array.read<double>(field("b")), ErrorCode::invalid_argument, "set ReadOptions::convert");
  EXPECT_ERROR(array.read(fields({"a", "a"})), ErrorCode::invalid_argument, "\"a\"");
  Ramp ramp({2}, {2});
  EXPECT_ERROR(ramp.read(field("a")), ErrorCode::invalid_argument, "elements of type int32 have no fields");
}

TEST(Selections, FieldsOfChunksThatAreNotThere) {
  CreateOptions options;
  options.shape = {3};
  options.chunks = {2};
  options.data_type = R"([["a", "|u1"], ["b", "<f4"]])";
  options.format = ZarrFormat::v2;
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  ArrayMetadata metadata = array.metadata();
  const std::string fill("\5\0\0\200\77", 5);  // 5, 1.0
  metadata.fill_value = FillValue::from_bytes(metadata.data_type, std::as_bytes(std::span(fill)));
  array = create_array(std::make_shared<MemoryStore>(), "b", metadata);
  EXPECT_EQ(array.read<float>(field("b")).to_vector(), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(array.read<std::uint8_t>(vindex({{2, 0}}).field("a")).to_vector(),
            (std::vector<std::uint8_t>{5, 5}));
  EXPECT_EQ(array.read<double>(field("a"), {.convert = true}).to_vector(), (std::vector<double>{5, 5, 5}));
}

TEST(Selections, Converting) {
  Ramp ramp({6, 10}, {4, 3});
  const auto doubles = ramp.array.read<double>(oindex({{5, 0}, {9, 1, 9}}), {.convert = true});
  EXPECT_EQ(doubles.to_vector(), (std::vector<double>{59, 51, 59, 9, 1, 9}));
  ramp.array.write(vindex({{1, 2}, {3, 4}}), std::vector<double>{-5, -6}, {.convert = true});
  EXPECT_EQ(ramp.array.read<std::complex<float>>(vindex({{2, 1}, {4, 3}}), {.convert = true})[0],
            std::complex<float>(-6));
}

// What a call costs grows with what it touches, not with the array: 10^11 chunks.
TEST(Selections, OfHugeArraysCostWhatTheyTouch) {
  CreateOptions options = Ramp::options({std::uint64_t{1} << 40, 1000000}, {1024, 1024});
  auto store = std::make_shared<MemoryStore>();
  create_array(store, "a", options);
  const std::uint64_t before = peak_memory();
  const auto begin = std::chrono::steady_clock::now();
  Array array = open_array(store, "a");
  EXPECT_GT(array.metadata().chunk_count(), 100'000'000'000u);
  array.write("123456789012, 999999", Values{5});
  EXPECT_EQ(array.read<std::int32_t>("123456789012, 999999")[0], 5);
  const std::int64_t far = (std::int64_t{1} << 40) - 1;
  array.write(vindex({{far, 0, 123456789012}, {0, 7, 999998}}), Values{1, 2, 3});
  EXPECT_EQ(array.read<std::int32_t>(vindex({{123456789012, 0, far}, {999998, 7, 0}})).to_vector(),
            (Values{3, 2, 1}));
  EXPECT_EQ(array.read<std::int32_t>(oindex({{far, 5, 0}, {7, 0, 999999}})).to_vector(),
            (Values{0, 1, 0, 0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(array.read<std::int32_t>(blocks({-1, -1})).size(), 1024u * (1000000 % 1024));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_LT(peak_memory() - before, 100u << 20);  // chunks are 4 MiB
}

TEST(Selections, AMillionPoints) {
  CreateOptions options = Ramp::options({3000, 4000}, {100, 100});
  options.codecs = std::vector<CodecSpec>{};
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  std::mt19937_64 random(1);
  std::vector<std::int64_t> rows(1'000'000), columns(rows.size());
  Values values(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<std::int64_t>(random() % 3000);
    columns[i] = static_cast<std::int64_t>(random() % 4000);
    values[i] = static_cast<std::int32_t>(rows[i] * 4000 + columns[i]);
  }
  const Selection points = vindex({rows, columns});
  const auto begin = std::chrono::steady_clock::now();
  array.write(points, values);
  EXPECT_EQ(array.read<std::int32_t>(points).to_vector(), values);
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::seconds(20));  // far less; sanitizers are slow
}

}  // namespace
}  // namespace zarrive
