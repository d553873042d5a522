#include "store/store_suite.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

#include "zarrive/memory.hpp"

namespace zarrive::test {

Buffer bytes(const std::string& text) { return Buffer::from_string(text); }

std::string pattern(std::size_t size, unsigned seed) {
  std::string text(size, '\0');
  std::uint32_t state = seed * 2654435761u + 1;
  for (char& c : text) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

std::string text_of(Store& store, const std::string& key, const ByteRange& range) {
  const std::optional<Buffer> value = store.get(key, range);
  return value ? std::string(value->text()) : "<missing>";
}

Values contents(Store& store) {
  Values all;
  for (const std::string& key : store.list()) all[key] = text_of(store, key);
  return all;
}

#define WRITABLE_OR_SKIP() \
  if (!writable()) GTEST_SKIP() << "read-only"

using Keys = std::vector<std::string>;

const Values kTree = {{"zarr.json", "{}"},
                      {"a/zarr.json", "{\"a\":1}"},
                      {"a/c/0/0", "00"},
                      {"a/c/0/1", "01"},
                      {"a/c/1/0", "10"},
                      {"ab/zarr.json", "{}"},
                      {"ab/c/0", "x"},
                      {"a-b/0", "minus"},
                      {"a.b/0", "dot sorts before slash"},
                      {"\xc3\xa4\xe2\x82\xac/\xf0\x9f\xa7\xad", "unicode"}};

TEST_P(StoreSuite, ReadsWhatItHolds) {
  Store& store = open(kTree);
  EXPECT_FALSE(store.name().empty());
  EXPECT_EQ(contents(store), kTree);
  for (const auto& [key, value] : kTree) {
    EXPECT_TRUE(store.exists(key)) << key;
    EXPECT_EQ(store.size(key), value.size()) << key;
    EXPECT_EQ(text_of(store, key), value) << key;
  }
}

TEST_P(StoreSuite, MissingIsNoError) {
  Store& store = open(kTree);
  for (const std::string key : {"a/c/9/9", "b", "a/zarr.json2", "zzz/y/x", "a/c/0/0/0"}) {
    EXPECT_EQ(store.get(key), std::nullopt) << key;
    EXPECT_EQ(store.get(key, ByteRange::suffix(4)), std::nullopt) << key;
    EXPECT_EQ(store.size(key), std::nullopt) << key;
    EXPECT_FALSE(store.exists(key)) << key;
  }
  // What is only the beginning of keys is no key.
  EXPECT_EQ(store.get("a"), std::nullopt);
  EXPECT_EQ(store.get("a/c/0"), std::nullopt);
  EXPECT_FALSE(store.exists("a/c"));
}

TEST_P(StoreSuite, Lists) {
  Store& store = open(kTree);
  Keys all;
  for (const auto& [key, value] : kTree) all.push_back(key);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(store.list(), all);
  EXPECT_EQ(store.list("a"), (Keys{"a/c/0/0", "a/c/0/1", "a/c/1/0", "a/zarr.json"}));
  EXPECT_EQ(store.list("a/c/0"), (Keys{"a/c/0/0", "a/c/0/1"}));
  EXPECT_EQ(store.list("a/c/0/0"), Keys{});
  EXPECT_EQ(store.list("nothing/here"), Keys{});
}

TEST_P(StoreSuite, ListsDirectories) {
  Store& store = open(kTree);
  DirectoryListing root = store.list_dir();
  EXPECT_EQ(root.keys, Keys{"zarr.json"});
  EXPECT_EQ(root.prefixes, (Keys{"a", "a-b", "a.b", "ab", "\xc3\xa4\xe2\x82\xac"}));
  DirectoryListing a = store.list_dir("a");
  EXPECT_EQ(a.keys, Keys{"a/zarr.json"});
  EXPECT_EQ(a.prefixes, Keys{"a/c"});
  DirectoryListing c = store.list_dir("a/c");
  EXPECT_EQ(c.keys, Keys{});
  EXPECT_EQ(c.prefixes, (Keys{"a/c/0", "a/c/1"}));
  EXPECT_EQ(store.list_dir("a/c/1").keys, Keys{"a/c/1/0"});
  DirectoryListing none = store.list_dir("none");
  EXPECT_TRUE(none.keys.empty() && none.prefixes.empty());
}

TEST_P(StoreSuite, ReadsRanges) {
  const std::string value = "0123456789";
  Store& store = open({{"k", value}, {"empty", ""}});
  EXPECT_EQ(text_of(store, "k", ByteRange::all()), value);
  EXPECT_EQ(text_of(store, "k", ByteRange::range(2, 3)), "234");
  EXPECT_EQ(text_of(store, "k", ByteRange::range(0, 10)), value);
  EXPECT_EQ(text_of(store, "k", ByteRange::range(8, 100)), "89");
  EXPECT_EQ(text_of(store, "k", ByteRange::range(3, ~std::uint64_t{0})), "3456789");
  EXPECT_EQ(text_of(store, "k", ByteRange::range(4, 0)), "");
  EXPECT_EQ(text_of(store, "k", ByteRange::range(10, 5)), "");
  EXPECT_EQ(text_of(store, "k", ByteRange::from(7)), "789");
  EXPECT_EQ(text_of(store, "k", ByteRange::from(0)), value);
  EXPECT_EQ(text_of(store, "k", ByteRange::from(10)), "");
  EXPECT_EQ(text_of(store, "k", ByteRange::suffix(4)), "6789");
  EXPECT_EQ(text_of(store, "k", ByteRange::suffix(0)), "");
  EXPECT_EQ(text_of(store, "k", ByteRange::suffix(11)), value);
  EXPECT_EQ(text_of(store, "empty", ByteRange::suffix(3)), "");
  EXPECT_EQ(text_of(store, "empty", ByteRange::from(0)), "");
  for (const ByteRange range :
       {ByteRange::from(11), ByteRange::range(11, 1), ByteRange::range(~std::uint64_t{0}, 2)})
    EXPECT_EQ(code_of([&] { store.get("k", range); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] { store.get("empty", ByteRange::from(1)); }), ErrorCode::out_of_bounds);
}

TEST_P(StoreSuite, ReadsSeveralRangesOfOneKey) {
  const std::string value = pattern(1 << 20, 3);
  Store& store = open({{"k", value}, {"other", "x"}});
  const std::vector<ByteRange> ranges = {
      ByteRange::range(900'000, 1000), ByteRange::suffix(16),    ByteRange::range(10, 20),
      ByteRange::range(25, 10),        ByteRange::range(10, 20), ByteRange::from((1 << 20) - 5),
      ByteRange::range(5, 0),          ByteRange::all(),         ByteRange::range(500'000, 1),
      ByteRange::from(1 << 20),        ByteRange::range(30, 100)};
  const std::vector<GetRequest> batch = {{.key = "k", .ranges = ranges}, {.key = "gone", .ranges = ranges}};
  std::vector<GetResult> results(2);
  store.get(batch, [&](std::size_t i, GetResult&& result) { results[i] = std::move(result); });
  ASSERT_EQ(results[0].status, GetStatus::found);
  ASSERT_EQ(results[0].values.size(), ranges.size());
  EXPECT_FALSE(results[0].placed);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto at = ranges[i].resolve(value.size());
    EXPECT_TRUE(results[0].values[i].text() == std::string_view(value).substr(at.offset, at.length))
        << "range " << i;
  }
  EXPECT_EQ(results[1].status, GetStatus::missing);
  EXPECT_TRUE(results[1].values.empty());
  // One bad range fails its request, not the batch.
  const std::vector<GetRequest> bad = {
      {.key = "k", .ranges = {ByteRange::range(0, 1), ByteRange::from(2 << 20)}}, {.key = "other"}};
  store.get(bad, [&](std::size_t i, GetResult&& result) { results[i] = std::move(result); });
  EXPECT_EQ(results[0].status, GetStatus::error);
  EXPECT_EQ(code_of([&] { results[0].rethrow(); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(results[1].status, GetStatus::found);
}

TEST_P(StoreSuite, ErrorsNameStoreAndKey) {
  Store& store = open({{"some/key", "1234"}});
  try {
    store.get("some/key", ByteRange::from(5));
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_bounds);
    EXPECT_FALSE(e.place().store.empty());
    EXPECT_TRUE(e.place().key.ends_with("some/key")) << e.what();
    EXPECT_NE(std::string(e.what()).find('5'), std::string::npos) << e.what();
  }
}

TEST_P(StoreSuite, EmptyAndLargeValues) {
  const std::string large = pattern(5'000'003, 7);
  Store& store = open({{"empty", ""}, {"dir/large", large}});
  EXPECT_EQ(text_of(store, "empty"), "");
  EXPECT_EQ(store.size("empty"), 0u);
  EXPECT_TRUE(store.exists("empty"));
  EXPECT_TRUE(text_of(store, "dir/large") == large);
  EXPECT_TRUE(text_of(store, "dir/large", ByteRange::range(4'999'990, 10)) == large.substr(4'999'990, 10));
  EXPECT_TRUE(text_of(store, "dir/large", ByteRange::suffix(3)) == large.substr(5'000'000));
}

TEST_P(StoreSuite, RefusesInvalidKeys) {
  Store& store = open(kTree);
  const std::string nul("a\0b", 3);
  for (const std::string& key :
       {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."),
        std::string(".."), std::string("a/../zarr.json"), std::string("a/./b"), std::string("../x"), nul,
        std::string("\xff"), std::string("\xed\xa0\x80"), std::string("\xc0\xaf"),
        std::string("a/\xe2\x82")}) {
    EXPECT_EQ(code_of([&] { store.get(key); }), ErrorCode::invalid_argument) << key;
    EXPECT_EQ(code_of([&] { store.exists(key); }), ErrorCode::invalid_argument) << key;
    EXPECT_EQ(code_of([&] { store.set(key, bytes("x")); }), ErrorCode::invalid_argument) << key;
    EXPECT_EQ(code_of([&] { store.set_if_absent(key, bytes("x")); }), ErrorCode::invalid_argument) << key;
    EXPECT_EQ(code_of([&] { store.erase(key); }), ErrorCode::invalid_argument) << key;
    if (!key.empty()) {
      EXPECT_EQ(code_of([&] { store.list(key); }), ErrorCode::invalid_argument) << key;
      EXPECT_EQ(code_of([&] { store.list_dir(key); }), ErrorCode::invalid_argument) << key;
      EXPECT_EQ(code_of([&] { store.erase_prefix(key); }), ErrorCode::invalid_argument) << key;
    }
  }
  EXPECT_EQ(contents(store), kTree);
}

TEST_P(StoreSuite, ReadOnlyStoresRefuseToWrite) {
  Store& store = open(kTree);
  if (writable()) GTEST_SKIP() << "writable";
  EXPECT_EQ(code_of([&] { store.set("k", bytes("x")); }), ErrorCode::permission);
  EXPECT_EQ(code_of([&] { store.set_if_absent("k", bytes("x")); }), ErrorCode::permission);
  EXPECT_EQ(code_of([&] { store.erase("zarr.json"); }), ErrorCode::permission);
  EXPECT_EQ(code_of([&] { store.erase_prefix(""); }), ErrorCode::permission);
  const std::vector<SetRequest> batch = {{.key = "k", .value = bytes("x")}};
  EXPECT_EQ(code_of([&] { store.set(batch); }), ErrorCode::permission);
  EXPECT_EQ(contents(store), kTree);
}

TEST_P(StoreSuite, WritesAndOverwrites) {
  Store& store = open(kTree);
  WRITABLE_OR_SKIP();
  store.set("new/deep/key", bytes("1"));
  store.set("a/c/0/0", bytes("longer than before"));
  store.set("a/c/0/1", bytes(""));
  store.set("zarr.json", bytes("{\"second\": true}"));
  store.set("zarr.json", bytes("{}!"));
  Values expected = kTree;
  expected["new/deep/key"] = "1";
  expected["a/c/0/0"] = "longer than before";
  expected["a/c/0/1"] = "";
  expected["zarr.json"] = "{}!";
  EXPECT_EQ(contents(store), expected);
  store.flush();
  store.flush();
  EXPECT_EQ(contents(store), expected);
  store.set("after/flush", bytes("2"));
  store.set("a/c/0/0", bytes("again"));
  expected["after/flush"] = "2";
  expected["a/c/0/0"] = "again";
  EXPECT_EQ(contents(store), expected);
}

TEST_P(StoreSuite, KeepsItsOwnCopy) {
  Store& store = open();
  WRITABLE_OR_SKIP();
  std::string memory = "first";
  store.set("k", Buffer::borrow(std::as_bytes(std::span(memory.data(), memory.size()))));
  memory = "other";
  EXPECT_EQ(text_of(store, "k"), "first");
  // What was read stays as it was read.
  const std::optional<Buffer> before = store.get("k");
  store.set("k", bytes("later"));
  EXPECT_EQ(before->text(), "first");
}

TEST_P(StoreSuite, Erases) {
  Store& store = open(kTree);
  WRITABLE_OR_SKIP();
  Values expected = kTree;
  store.erase("a/c/0/0");
  expected.erase("a/c/0/0");
  store.erase("a/c/0/0");
  store.erase("never/was");
  store.erase("a/c");  // only the beginning of keys
  EXPECT_EQ(contents(store), expected);
  store.erase(Keys{"a/c/0/1", "zarr.json", "nope"});
  expected.erase("a/c/0/1");
  expected.erase("zarr.json");
  EXPECT_EQ(contents(store), expected);
  EXPECT_EQ(store.list_dir("a/c").prefixes, Keys{"a/c/1"});  // an emptied prefix is gone
  store.set("a/c/0/0", bytes("back"));
  EXPECT_EQ(text_of(store, "a/c/0/0"), "back");
}

TEST_P(StoreSuite, ErasesPrefixesExactly) {
  Store& store = open(kTree);
  WRITABLE_OR_SKIP();
  store.erase_prefix("a");
  Values expected = kTree;
  std::erase_if(expected, [](const auto& item) { return item.first.starts_with("a/"); });
  EXPECT_EQ(contents(store), expected);  // "ab", "a-b" and "a.b" are still there
  EXPECT_EQ(store.list_dir().prefixes, (Keys{"a-b", "a.b", "ab", "\xc3\xa4\xe2\x82\xac"}));
  store.erase_prefix("zarr.json");  // a key, not a prefix
  store.erase_prefix("none");
  EXPECT_EQ(contents(store), expected);
  store.erase_prefix("");
  EXPECT_EQ(store.list(), Keys{});
  store.set("a/zarr.json", bytes("new"));
  EXPECT_EQ(contents(store), (Values{{"a/zarr.json", "new"}}));
}

TEST_P(StoreSuite, SetIfAbsent) {
  Store& store = open({{"there", "old"}, {"a/zarr.json", "doc"}});
  WRITABLE_OR_SKIP();
  EXPECT_FALSE(store.set_if_absent("there", bytes("new")));
  EXPECT_FALSE(store.set_if_absent("a/zarr.json", bytes("new")));
  EXPECT_TRUE(store.set_if_absent("b/zarr.json", bytes("new")));
  EXPECT_TRUE(store.set_if_absent("fresh/key", bytes("")));
  EXPECT_FALSE(store.set_if_absent("fresh/key", bytes("late")));
  store.erase("there");
  EXPECT_TRUE(store.set_if_absent("there", bytes("again")));
  EXPECT_EQ(contents(store),
            (Values{{"there", "again"}, {"a/zarr.json", "doc"}, {"b/zarr.json", "new"}, {"fresh/key", ""}}));
}

TEST_P(StoreSuite, BatchOfAThousandWithContexts) {
  Values values;
  for (int i = 0; i < 1000; i += 2)
    values["data/c/" + std::to_string(i)] = pattern(static_cast<std::size_t>(i), i);
  Store& store = open(values);
  Context shared{.prototype = host(), .node = "data"};
  std::vector<Context> own(1000);
  std::vector<GetRequest> batch(1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    batch[i].key = "data/c/" + std::to_string(i);
    own[i].chunk_index = Index{i};
    own[i].expected_size = i;
    batch[i].context = i % 3 == 0 ? &own[i] : i % 3 == 1 ? &shared : nullptr;
  }
  for (const std::size_t concurrency : {0u, 1u, 3u}) {
    for (const std::uint64_t in_flight : {std::uint64_t{256} << 20, std::uint64_t{1000}}) {
      std::vector<std::atomic<int>> completions(1000);
      std::atomic<int> wrong{0};
      store.get(batch,
                [&](std::size_t i, GetResult&& result) {
                  ++completions[i];
                  if (i % 2 == 1) {
                    if (result.status != GetStatus::missing) ++wrong;
                  } else if (result.status != GetStatus::found ||
                             result.value().text() != values.at(batch[i].key)) {
                    ++wrong;
                  }
                },
                {.max_concurrency = concurrency, .max_bytes_in_flight = in_flight});
      EXPECT_EQ(wrong, 0);
      for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(completions[i], 1) << i;
    }
  }
}

TEST_P(StoreSuite, EmptyBatches) {
  Store& store = open(kTree);
  store.get({}, [](std::size_t, GetResult&&) { FAIL(); });
  if (!writable()) return;
  store.set(std::span<const SetRequest>{});
  store.erase(std::span<const std::string>{});
  EXPECT_EQ(contents(store), kTree);
}

TEST_P(StoreSuite, PlacesWholeValues) {
  std::vector<float> numbers = {1, 2.5, -3, 4};
  const std::string raw(reinterpret_cast<const char*>(numbers.data()), 16);
  Store& store = open({{"k", raw}});
  std::vector<float> memory(8, 0.f);
  Context context;
  context.destination = ArrayView::of(memory.data(), Shape{2, 2});
  const GetRequest whole{.key = "k", .ranges = {}, .context = &context};
  GetResult result;
  auto keep = [&](std::size_t, GetResult&& r) { result = std::move(r); };
  store.get(std::span(&whole, 1), keep);
  ASSERT_EQ(result.status, GetStatus::found);
  EXPECT_EQ(result.value().text(), raw);
  if (result.placed) {
    EXPECT_EQ(static_cast<const void*>(result.value().data()), static_cast<const void*>(memory.data()));
    EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), memory.begin()));
  }
  // Of another size, or not contiguous, or only a part: never placed.
  std::fill(memory.begin(), memory.end(), 9.f);
  const std::vector<float> untouched = memory;
  std::vector<Context> others(3);
  others[0].destination = ArrayView::of(memory.data(), Shape{3});
  others[1].destination =
      ArrayView(reinterpret_cast<std::byte*>(memory.data()), data_type_of<float>(), Shape{4}, Strides{8});
  others[2].destination = ArrayView::of(memory.data(), Shape{4});
  for (std::size_t i = 0; i < others.size(); ++i) {
    GetRequest request{.key = "k", .ranges = {}, .context = &others[i]};
    if (i == 2) request.ranges = {ByteRange::range(0, 16)};
    store.get(std::span(&request, 1), keep);
    ASSERT_EQ(result.status, GetStatus::found);
    EXPECT_FALSE(result.placed) << i;
    EXPECT_EQ(result.value().text(), raw);
    EXPECT_EQ(memory, untouched);
  }
}

// Gives out memory and counts what it gave.
class CountingAllocator final : public Allocator {
 public:
  std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) override {
    ++calls;
    return default_allocator({})->allocate(size, alignment);
  }
  std::atomic<int> calls{0};
};

// Before anything asks for a driver: tests/gpu is about machines that have one.
[[maybe_unused]] const bool without_driver = ::setenv("ZARRIVE_LIBCUDA", "none", 1) == 0;

TEST_P(StoreSuite, ValuesAreWhereTheContextAsks) {
  Store& store = open({{"k", "0123456789"}, {"zarr.json", "{}"}});
  auto allocator = std::make_shared<CountingAllocator>();
  Context device;
  device.prototype = cuda(0);
  EXPECT_ERROR(store.get("k", {}, &device), ErrorCode::unsupported, "no CUDA driver");
  EXPECT_ERROR(store.get("k", {}, &device), ErrorCode::unsupported, store.name());
  EXPECT_FALSE(store.get("absent", {}, &device));
  EXPECT_EQ(store.get("zarr.json", {}, &device)->text(), "{}") << "metadata stays on the host";
  std::vector<Context> contexts(2);
  contexts[0].prototype = pinned();
  contexts[1].prototype = Prototype{{}, allocator};
  for (const Context& context : contexts) {
    const std::optional<Buffer> value = store.get("k", {}, &context);
    ASSERT_TRUE(value);
    EXPECT_TRUE(value->space().host_accessible());
    EXPECT_EQ(value->text(), "0123456789");
    EXPECT_EQ(store.get("k", ByteRange::suffix(2), &context)->text(), "89");
  }
}

TEST_P(StoreSuite, GenerationsChangeWithTheValue) {
  Store& store = open({{"k", "same size 0"}});
  auto generation = [&] {
    Generation g;
    const GetRequest request{.key = "k", .ranges = {ByteRange::range(0, 2)}};
    store.get(std::span(&request, 1), [&](std::size_t, GetResult&& result) {
      result.rethrow();
      g = result.generation;
    });
    return g;
  };
  if (!GetParam().generations) GTEST_SKIP() << "no generations";
  const Generation first = generation();
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(generation(), first);
  WRITABLE_OR_SKIP();
  std::set<Generation> seen = {first};
  for (int i = 1; i <= 20; ++i) {
    store.set("k", bytes("same size " + std::to_string(i % 10)));
    EXPECT_TRUE(seen.insert(generation()).second) << "write " << i << " repeats a generation";
  }
}

TEST_P(StoreSuite, ProducesValuesWhenReady) {
  Store& store = open({{"c/7", "to be erased"}, {"c/8", "x"}});
  WRITABLE_OR_SKIP();
  for (const std::uint64_t in_flight : {std::uint64_t{64} << 20, std::uint64_t{100}}) {
    std::vector<SetRequest> batch(200);
    std::vector<std::atomic<int>> calls(200);
    Values expected;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].key = "c/" + std::to_string(i);
      const std::string value = pattern(i, static_cast<unsigned>(i));
      if (i != 7) expected[batch[i].key] = value;
      if (i % 5 == 0) {
        batch[i].value = bytes(value);
      } else {
        batch[i].produce = [&calls, i, value]() -> std::optional<Buffer> {
          ++calls[i];
          if (i == 7) return std::nullopt;
          return bytes(value);
        };
      }
    }
    store.set(batch, {.max_bytes_in_flight = in_flight});
    EXPECT_EQ(contents(store), expected);
    for (std::size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(calls[i], i % 5 == 0 ? 0 : 1) << i;
  }
}

TEST_P(StoreSuite, DurableBatches) {
  Store& store = open();
  WRITABLE_OR_SKIP();
  for (const Durability durability : {Durability::none, Durability::batch, Durability::full}) {
    std::vector<SetRequest> batch;
    Values expected;
    for (int i = 0; i < 5; ++i) {
      const std::string key = "deep/er/" + std::to_string(i),
                        value = std::to_string(static_cast<int>(durability));
      batch.push_back({.key = key, .value = bytes(value)});
      expected[key] = value;
    }
    store.set(batch, {.durability = durability});
    EXPECT_EQ(contents(store), expected);
  }
}

struct Unusual {};

TEST_P(StoreSuite, SinkExceptionsStopTheBatch) {
  Values values;
  for (int i = 0; i < 100; ++i) values["k" + std::to_string(i)] = "v";
  Store& store = open(values);
  std::vector<GetRequest> batch(100);
  for (std::size_t i = 0; i < 100; ++i) batch[i].key = "k" + std::to_string(i);
  std::atomic<int> completed{0};
  auto sink = [&](std::size_t, GetResult&&) {
    if (++completed == 3) throw Unusual();
  };
  EXPECT_THROW(store.get(batch, sink, {.max_concurrency = 1}), Unusual);
  EXPECT_EQ(completed, 3);
  completed = 0;
  EXPECT_THROW(store.get(batch, sink), Unusual);
  EXPECT_GE(completed, 3);
  EXPECT_LE(completed, 99);
  // The store is as good as before.
  EXPECT_EQ(contents(store), values);
}

TEST_P(StoreSuite, ProduceExceptionsStopTheBatch) {
  Store& store = open();
  WRITABLE_OR_SKIP();
  std::vector<SetRequest> batch(50);
  for (std::size_t i = 0; i < 50; ++i) {
    batch[i].key = "k" + std::to_string(i);
    batch[i].produce = [i]() -> std::optional<Buffer> {
      if (i == 10) throw Unusual();
      return bytes("v");
    };
  }
  EXPECT_THROW(store.set(batch, {.max_concurrency = 1}), Unusual);
  EXPECT_THROW(store.set(batch), Unusual);
  for (const auto& [key, value] : contents(store)) EXPECT_EQ(value, "v");
  EXPECT_FALSE(store.exists("k10"));
  batch[10].produce = []() -> std::optional<Buffer> {
    throw Error(ErrorCode::corrupt_chunk, "does not encode");
  };
  try {
    store.set(batch);
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::corrupt_chunk);
    EXPECT_TRUE(e.place().key.ends_with("k10")) << e.what();
  }
}

TEST_P(StoreSuite, StopsWhenAsked) {
  Values values;
  for (int i = 0; i < 200; ++i) values["k" + std::to_string(i)] = "v";
  Store& store = open(values);
  std::vector<GetRequest> batch(200);
  for (std::size_t i = 0; i < 200; ++i) batch[i].key = "k" + std::to_string(i);
  std::stop_source stop;
  std::atomic<int> completed{0};
  auto sink = [&](std::size_t, GetResult&&) {
    if (++completed == 5) stop.request_stop();
  };
  const GetOptions options{.stop = stop.get_token(), .max_concurrency = 2};
  EXPECT_EQ(code_of([&] { store.get(batch, sink, options); }), ErrorCode::cancelled);
  EXPECT_GE(completed, 5);
  EXPECT_LE(completed, 10);
  // Stopped beforehand: nothing happens at all.
  completed = 0;
  EXPECT_EQ(code_of([&] { store.get(batch, sink, options); }), ErrorCode::cancelled);
  EXPECT_EQ(completed, 0);
  EXPECT_EQ(code_of([&] { store.get(std::span(batch).first(1), sink, options); }), ErrorCode::cancelled);
  if (!writable()) return;
  const std::vector<SetRequest> writes = {{.key = "k0", .value = bytes("new")},
                                          {.key = "k1", .value = bytes("new")}};
  EXPECT_EQ(code_of([&] { store.set(writes, {.stop = stop.get_token()}); }), ErrorCode::cancelled);
  EXPECT_EQ(contents(store), values);
}

// --- threads; names that ThreadSanitizer runs pick ---

template <class F>
void in_threads(int n, F body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(StoreSuite, ConcurrentWritersToOneKeyLeaveOneWholeValue) {
  Store& store = open({{"k", pattern(30'000, 99)}});
  WRITABLE_OR_SKIP();
  std::set<std::string> allowed = {pattern(30'000, 99)};
  for (unsigned t = 0; t < 4; ++t) allowed.insert(pattern(20'000 + 1000 * t, t));
  std::atomic<int> torn{0};
  in_threads(6, [&](int t) {
    for (int round = 0; round < 25; ++round) {
      if (t < 4) {
        store.set("k", bytes(pattern(20'000 + 1000 * static_cast<unsigned>(t), static_cast<unsigned>(t))));
      } else if (!allowed.contains(text_of(store, "k"))) {
        ++torn;
      }
    }
  });
  EXPECT_EQ(torn, 0);
  EXPECT_TRUE(allowed.contains(text_of(store, "k")));
  EXPECT_EQ(store.list(), Keys{"k"});
}

TEST_P(StoreSuite, ConcurrentWritersAndErasersOfOneDirectory) {
  Store& store = open();
  WRITABLE_OR_SKIP();
  in_threads(4, [&](int t) {
    const std::string key = "x/y/z/" + std::to_string(t);
    for (int round = 0; round < 50; ++round) {
      store.set(key, bytes("v"));
      if (round % 10 != 9 || t != 0) store.erase(key);
    }
  });
  EXPECT_EQ(contents(store), (Values{{"x/y/z/0", "v"}}));
}

TEST_P(StoreSuite, ConcurrentSetIfAbsentHasOneWinner) {
  Store& store = open();
  WRITABLE_OR_SKIP();
  if (!GetParam().exclusive) GTEST_SKIP() << "not exclusive";
  for (int round = 0; round < 20; ++round) {
    const std::string key = "race/" + std::to_string(round) + "/zarr.json";
    std::atomic<int> winners{0}, winner{-1};
    in_threads(4, [&](int t) {
      if (store.set_if_absent(key, bytes(std::to_string(t)))) {
        ++winners;
        winner = t;
      }
    });
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(text_of(store, key), std::to_string(winner));
  }
}

TEST_P(StoreSuite, ConcurrentBatches) {
  Values values;
  for (int i = 0; i < 100; ++i) values["k/" + std::to_string(i)] = pattern(1000, i);
  Store& store = open(values);
  std::atomic<int> wrong{0};
  in_threads(4, [&](int) {
    std::vector<GetRequest> batch;
    for (const auto& [key, value] : values) batch.push_back({.key = key});
    for (int round = 0; round < 5; ++round)
      store.get(batch, [&](std::size_t i, GetResult&& result) {
        if (result.status != GetStatus::found || result.value().text() != values.at(batch[i].key)) ++wrong;
      });
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(StoreSuite, BatchesWithinSinks) {
  Values values;
  for (int i = 0; i < 20; ++i) values["k/" + std::to_string(i)] = std::to_string(i);
  Store& store = open(values);
  std::vector<GetRequest> batch;
  for (const auto& [key, value] : values) batch.push_back({.key = key});
  std::atomic<int> inner{0};
  store.get(batch, [&](std::size_t, GetResult&&) {
    store.get(batch, [&](std::size_t, GetResult&& result) { inner += result.status == GetStatus::found; },
              {.max_bytes_in_flight = 1});
  });
  EXPECT_EQ(inner, 400);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreSuite);

}  // namespace zarrive::test
