// Batches: getitems, setitems, get_partial_values, contexts, counts, and what happens when single requests fail.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "store/store_suite.hpp"
#include "support/fault_store.hpp"
#include "support/toy_stores.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive::test {
namespace {

using Keys = std::vector<std::string>;

std::shared_ptr<Store> numbers(bool waits = false) {
  auto store = std::make_shared<ToyStore>(waits);
  for (int i = 0; i < 10; ++i) store->set("n/" + std::to_string(i), bytes("value " + std::to_string(i)));
  return store;
}

TEST(StoreItems, GetItemsReturnsWhatIsThere) {
  auto store = std::make_shared<CountingStore>(numbers());
  const std::map<std::string, Buffer> found = getitems(*store, {"n/3", "gone", "n/1", "n/3"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("n/1").text(), "value 1");
  EXPECT_EQ(found.at("n/3").text(), "value 3");
  const StoreCounts counts = store->counts();
  EXPECT_EQ(counts.get_batches, 1u);
  EXPECT_EQ(counts.get_requests, 3u);  // a key asked for twice is read once
  EXPECT_EQ(counts.found, 2u);
  EXPECT_EQ(counts.missing, 1u);
  EXPECT_EQ(counts.bytes_read, 14u);
  EXPECT_TRUE(getitems(*store, {}).empty());
  EXPECT_EQ(code_of([&] { getitems(*store, {"n/1", "../x"}); }), ErrorCode::invalid_argument);
}

TEST(StoreItems, SetItemsIsOneBatch) {
  auto base = std::make_shared<MemoryStore>();
  auto store = std::make_shared<CountingStore>(base);
  setitems(*store, {{"a", bytes("1")}, {"b/c", bytes("23")}});
  EXPECT_EQ(contents(*base), (Values{{"a", "1"}, {"b/c", "23"}}));
  EXPECT_EQ(store->counts().set_batches, 1u);
  EXPECT_EQ(store->counts().set_requests, 2u);
  EXPECT_EQ(store->counts().bytes_written, 3u);
  setitems(*store, {});
  EXPECT_EQ(contents(*base).size(), 2u);
}

TEST(StoreItems, PartialValuesKeepTheirOrder) {
  auto store = std::make_shared<CountingStore>(numbers());
  const std::vector<KeyRange> wanted = {{"n/1", ByteRange::suffix(1)},
                                        {"gone", ByteRange::range(0, 2)},
                                        {"n/2", {}},
                                        {"n/1", ByteRange::range(0, 5)},
                                        {"n/1", ByteRange::from(6)}};
  const std::vector<std::optional<Buffer>> values = get_partial_values(*store, wanted);
  ASSERT_EQ(values.size(), 5u);
  EXPECT_EQ(values[0]->text(), "1");
  EXPECT_EQ(values[1], std::nullopt);
  EXPECT_EQ(values[2]->text(), "value 2");
  EXPECT_EQ(values[3]->text(), "value");
  EXPECT_EQ(values[4]->text(), "1");
  EXPECT_EQ(store->counts().get_requests, 3u);  // one a key, so that neighbours can be read as one
  EXPECT_EQ(store->counts().ranges, 5u);
  const std::vector<KeyRange> bad = {{"n/1", ByteRange::from(100)}};
  EXPECT_EQ(code_of([&] { get_partial_values(*store, bad); }), ErrorCode::out_of_bounds);
  EXPECT_TRUE(get_partial_values(*store, {}).empty());
}

// Notes the context of every request; asks for annotations when told to.
class WatchingStore final : public ToyStore {
 public:
  bool annotating = false;
  std::mutex mutex;
  std::map<std::string, const Context*> seen;
  std::map<std::string, Context> copies;

  StoreCapabilities capabilities() const override {
    StoreCapabilities c = ToyStore::capabilities();
    c.annotates = annotating;
    return c;
  }
  void annotate(Context& context) override {
    context.codec_parameters = Json(JsonObject{{"of", Json(context.key.value_or("no key"))}});
  }

 protected:
  GetResult do_get_one(const GetRequest& request) override {
    note(request.key, request.context);
    return ToyStore::do_get_one(request);
  }
  void do_set_one(const std::string& key, const Buffer& value, const Context* context,
                  Durability durability) override {
    note(key, context);
    ToyStore::do_set_one(key, value, context, durability);
  }

 private:
  void note(const std::string& key, const Context* context) {
    const std::lock_guard lock(mutex);
    seen[key] = context;
    if (context) copies[key] = *context;
  }
};

TEST(StoreContexts, ReachTheInnermostStoreThroughEveryWrapper) {
  auto inner = std::make_shared<WatchingStore>();
  std::shared_ptr<Store> writable =
      std::make_shared<PrefixStore>(std::make_shared<CountingStore>(inner), "p/q");
  writable = std::make_shared<FaultStore>(writable, [](std::string_view, const std::string&) {});
  std::shared_ptr<Store> store = std::make_shared<ReadOnlyStore>(std::make_shared<CountingStore>(writable));

  Context one{.prototype = pinned(), .node = "a", .expected_size = 1};
  const std::vector<SetRequest> writes = {{.key = "k", .value = bytes("v"), .context = &one},
                                          {.key = "l", .value = bytes("w")}};
  writable->set(writes);
  EXPECT_EQ(inner->seen, (std::map<std::string, const Context*>{{"p/q/k", &one}, {"p/q/l", nullptr}}));
  writable->set("m", bytes("x"), &one);
  EXPECT_EQ(inner->seen.at("p/q/m"), &one);

  inner->seen.clear();
  const std::vector<GetRequest> reads = {
      {.key = "k", .context = &one}, {.key = "none", .context = &one}, {.key = "l"}};
  store->get(reads, [](std::size_t, GetResult&&) {});
  EXPECT_EQ(inner->seen,
            (std::map<std::string, const Context*>{{"p/q/k", &one}, {"p/q/none", &one}, {"p/q/l", nullptr}}));
  store->get("l", ByteRange::suffix(1), &one);
  EXPECT_EQ(inner->seen.at("p/q/l"), &one);
}

TEST(StoreContexts, ConstantMapGivesAllTheSameOne) {
  auto inner = std::make_shared<WatchingStore>();
  const Keys keys = {"k", "l", "m"};
  const ConstantMap contexts(keys, Context{.node = "shared"});
  setitems(*inner, {{"k", bytes("1")}, {"l", bytes("2")}, {"other", bytes("3")}}, {.contexts = contexts});
  EXPECT_EQ(inner->seen, (std::map<std::string, const Context*>{
                             {"k", &contexts.constant()}, {"l", &contexts.constant()}, {"other", nullptr}}));
  inner->seen.clear();
  EXPECT_EQ(getitems(*inner, keys, {.contexts = contexts}).size(), 2u);
  EXPECT_EQ(inner->seen.at("m"), &contexts.constant());
  inner->seen.clear();
  const std::vector<KeyRange> ranges = {{"k", ByteRange::suffix(1)}, {"other", {}}};
  EXPECT_EQ(get_partial_values(*inner, ranges, {.contexts = contexts}).size(), 2u);
  EXPECT_EQ(inner->seen,
            (std::map<std::string, const Context*>{{"k", &contexts.constant()}, {"other", nullptr}}));
  // A temporary map lives for the call.
  EXPECT_EQ(getitems(*inner, keys, {.contexts = ConstantMap(keys, Context{.node = "moved"})}).size(), 2u);
  EXPECT_EQ(inner->copies.at("k").node, "moved");
}

TEST(StoreContexts, StoresAnnotateOncePerKey) {
  auto inner = std::make_shared<WatchingStore>();
  inner->annotating = true;
  PrefixStore store(inner, "deep");
  EXPECT_TRUE(store.capabilities().annotates);
  MapOfContexts contexts;
  contexts.set("k", Context{.node = "n"});
  setitems(store, {{"k", bytes("1")}, {"l", bytes("2")}}, {.contexts = contexts});
  // The store found its own key, the codecs will see the array's; without a context one is made.
  EXPECT_EQ(inner->copies.at("deep/k").codec_parameters.find("of")->as_string(), "deep/k");
  EXPECT_EQ(inner->copies.at("deep/k").key, "k");
  EXPECT_EQ(inner->copies.at("deep/k").node, "n");
  EXPECT_EQ(inner->copies.at("deep/l").codec_parameters.find("of")->as_string(), "deep/l");
  inner->copies.clear();
  getitems(store, {"k", "l"}, {.contexts = contexts});
  EXPECT_EQ(inner->copies.at("deep/l").codec_parameters.find("of")->as_string(), "deep/l");
  EXPECT_TRUE(contexts.find("k")->codec_parameters.is_null());  // the caller's context is untouched
  Context keyless;
  store.annotate(keyless);
  EXPECT_EQ(keyless.codec_parameters.find("of")->as_string(), "no key");
}

TEST(StoreContexts, OneDestinationForSeveralKeysIsRefused) {
  MemoryStore store;
  setitems(store, {{"a", bytes("1234")}, {"b", bytes("5678")}});
  std::uint32_t memory = 0;
  Context context;
  context.destination = ArrayView::of(&memory, Shape{1});
  EXPECT_EQ(code_of([&] {
              getitems(store, {"a", "b"}, {.contexts = ConstantMap({"a", "b"}, context)});
            }),
            ErrorCode::invalid_argument);
  const auto found = getitems(store, {"a"}, {.contexts = ConstantMap({"a"}, context)});
  EXPECT_EQ(found.at("a").text(), "1234");
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(&memory), 4),
            "1234");  // a memory store places too
}

TEST(StoreFaults, OneFailureLeavesTheOthersFound) {
  for (const bool waits : {false, true}) {
    auto fault = [](std::string_view operation, const std::string& key) {
      if (operation != "get") return;
      if (key == "n/2") throw Error(ErrorCode::unavailable, "503 slow down");
      if (key == "n/4") throw std::bad_alloc();
      if (key == "n/5") throw std::system_error(EACCES, std::generic_category(), "open");
      if (key == "n/6") throw std::runtime_error("odd");
      if (key == "n/7") throw 7;
    };
    // FaultStore fails whole requests; a toy below makes the base class meet the exceptions of single-key calls.
    class Failing final : public ToyStore {
     public:
      Failing(bool waits, decltype(fault) f) : ToyStore(waits), fault_(f) {}

     protected:
      GetResult do_get_one(const GetRequest& request) override {
        fault_("get", request.key);
        if (request.key == "n/8") return {.status = GetStatus::found};  // breaks its promise: no value
        if (request.key == "n/9") return {.status = GetStatus::error};  // likewise: no exception
        return ToyStore::do_get_one(request);
      }

     private:
      decltype(fault) fault_;
    };
    Failing store(waits, fault);
    for (int i = 0; i < 10; ++i) store.set("n/" + std::to_string(i), bytes("v"));
    std::vector<GetRequest> batch;
    for (int i = 0; i <= 10; ++i) batch.push_back({.key = "n/" + std::to_string(i)});
    std::vector<GetResult> results(batch.size());
    store.get(batch, [&](std::size_t i, GetResult&& result) { results[i] = std::move(result); });
    const std::map<std::size_t, ErrorCode> expected = {
        {2, ErrorCode::unavailable}, {4, ErrorCode::resource_limit}, {5, ErrorCode::permission},
        {6, ErrorCode::internal},    {7, ErrorCode::internal},       {8, ErrorCode::internal},
        {9, ErrorCode::internal}};
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto it = expected.find(i);
      if (it == expected.end()) {
        EXPECT_EQ(results[i].status, i == 10 ? GetStatus::missing : GetStatus::found) << i;
        continue;
      }
      ASSERT_EQ(results[i].status, GetStatus::error) << i;
      try {
        results[i].rethrow();
        FAIL();
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), it->second) << e.what();
        EXPECT_EQ(e.place().key, batch[i].key);
        EXPECT_EQ(e.place().store, store.name());
      }
    }
    EXPECT_EQ(code_of([&] { getitems(store, {"n/1", "n/2"}); }), ErrorCode::unavailable);
    EXPECT_EQ(code_of([&] { store.get("n/4"); }), ErrorCode::resource_limit);
    EXPECT_EQ(code_of([&] { store.size("n/6"); }), ErrorCode::internal);
  }
}

TEST(StoreFaults, WrappersCountAndPassFailures) {
  auto base = numbers();
  auto failing = std::make_shared<FaultStore>(base, [](std::string_view, const std::string& key) {
    if (key == "n/4") throw Error(ErrorCode::unavailable, "injected");
  });
  CountingStore store(failing);
  std::vector<GetRequest> batch;
  for (int i = 0; i < 11; ++i) batch.push_back({.key = "n/" + std::to_string(i)});
  std::vector<GetStatus> statuses(batch.size());
  store.get(batch, [&](std::size_t i, GetResult&& result) { statuses[i] = result.status; });
  for (std::size_t i = 0; i < batch.size(); ++i)
    EXPECT_EQ(statuses[i], i == 4 ? GetStatus::error : i == 10 ? GetStatus::missing : GetStatus::found) << i;
  EXPECT_EQ(store.counts().errors, 1u);
  EXPECT_EQ(store.counts().found, 9u);
  EXPECT_EQ(store.counts().missing, 1u);
  // A failing write: what stood before it is written, the error is thrown.
  EXPECT_EQ(code_of([&] {
              setitems(store, {{"n/3", bytes("new")}, {"n/4", bytes("new")}});
            }),
            ErrorCode::unavailable);
  EXPECT_EQ(text_of(*base, "n/3"), "new");
  EXPECT_EQ(text_of(*base, "n/4"), "value 4");
  EXPECT_EQ(code_of([&] { store.erase("n/4"); }), ErrorCode::unavailable);
  EXPECT_EQ(code_of([&] { store.set_if_absent("n/4", bytes("x")); }), ErrorCode::unavailable);
}

TEST(StoreFaults, FailedWritesStopTheBatch) {
  for (const bool waits : {false, true}) {
    class Full final : public ToyStore {
     public:
      using ToyStore::ToyStore;

     protected:
      void do_set_one(const std::string& key, const Buffer& value, const Context* context,
                      Durability durability) override {
        if (key == "k10") throw std::system_error(ENOSPC, std::generic_category(), "write");
        ToyStore::do_set_one(key, value, context, durability);
      }
      void do_erase_one(const std::string& key) override {
        if (key == "k10") throw Error(ErrorCode::unavailable, "no");
        ToyStore::do_erase_one(key);
      }
    };
    Full store(waits);
    std::vector<SetRequest> batch(500);
    Keys keys;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].key = "k" + std::to_string(i);
      batch[i].value = bytes("v");
      keys.push_back(batch[i].key);
    }
    try {
      store.set(batch, {.max_concurrency = 2});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::unavailable);
      EXPECT_EQ(e.place().key, "k10");
    }
    EXPECT_LT(store.list().size(), 100u);
    EXPECT_EQ(code_of([&] { store.erase(keys); }), ErrorCode::unavailable);
  }
}

TEST(StoreBase, WhatAStoreLacksIsUnsupported) {
  class Least final : public Store {
   public:
    std::string name() const override { return "least"; }

   protected:
    GetResult do_get_one(const GetRequest&) override { return {}; }
  };
  Least store;
  EXPECT_EQ(code_of([&] { store.set("k", bytes("v")); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { store.erase("k"); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { store.list(); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { store.list_dir(); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { store.erase_prefix("k"); }), ErrorCode::unsupported);
  EXPECT_FALSE(store.exists("k"));
  Context context;
  store.annotate(context);
  store.flush();
  EXPECT_EQ(code_of([&] { PrefixStore(nullptr, "x"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { PrefixStore(numbers(), "x//y"); }), ErrorCode::invalid_argument);
}

TEST(StoreBase, LongKeysAreCutInMessages) {
  MemoryStore store;
  std::string key;
  for (int i = 0; i < 300; ++i) key += "\xc3\xa4";
  try {
    store.get(key + "//x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_LT(std::string(e.what()).size(), 700u);
    EXPECT_NE(std::string(e.what()).find("(603 bytes)"), std::string::npos) << e.what();
  }
  try {
    store.get("a\x01\xff/b");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'a\\x01\\xff/b'"), std::string::npos) << e.what();
  }
}

TEST(StoreBase, ByteRangesResolve) {
  const auto resolved = [](const ByteRange& r, std::uint64_t size) {
    const auto at = r.resolve(size);
    return std::pair(at.offset, at.length);
  };
  using P = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(resolved(ByteRange::all(), 7), P(0, 7));
  EXPECT_EQ(resolved(ByteRange::suffix(9), 7), P(0, 7));
  EXPECT_EQ(resolved(ByteRange::range(7, 1), 7), P(7, 0));
  EXPECT_EQ(resolved(ByteRange::range(6, ~std::uint64_t{0}), 7), P(6, 1));
  EXPECT_EQ(resolved(ByteRange::from(2), 7), P(2, 5));
  EXPECT_THROW(ByteRange::from(8).resolve(7), Error);
}

// --- bounds ---

template <class T>
void raise_to(std::atomic<T>& top, std::type_identity_t<T> now) {
  T seen = top;
  while (seen < now && !top.compare_exchange_weak(seen, now)) {
  }
}

TEST(StoreBounds, WaitingStoresKeepRequestsAndBytesBounded) {
  // Counts how many requests are inside at once, and how many bytes were read but not yet taken.
  class Gauge final : public ToyStore {
   public:
    Gauge() : ToyStore(true) {}
    std::atomic<int> inside{0}, most{0};
    std::atomic<std::int64_t> bytes_out{0}, most_bytes{0};

   protected:
    GetResult do_get_one(const GetRequest& request) override {
      raise_to(most, ++inside);
      GetResult result = ToyStore::do_get_one(request);
      if (result.status == GetStatus::found)
        raise_to(most_bytes, bytes_out += static_cast<std::int64_t>(result.value().size()));
      --inside;
      return result;
    }
  };
  Gauge store;
  std::vector<SetRequest> writes;
  std::vector<GetRequest> reads;
  Context context{.expected_size = 1000};
  for (int i = 0; i < 60; ++i) {
    writes.push_back({.key = "k" + std::to_string(i), .value = bytes(std::string(1000, 'x'))});
    reads.push_back({.key = writes.back().key, .context = &context});
  }
  store.set(writes);
  std::atomic<int> done{0};
  auto sink = [&](std::size_t, GetResult&& result) {
    ++done;
    store.bytes_out -= static_cast<std::int64_t>(result.value().size());
  };
  store.get(reads, sink, {.max_concurrency = 3});
  EXPECT_LE(store.most, 3);
  store.get(reads, sink, {.max_bytes_in_flight = 4000});
  EXPECT_EQ(done, 120);
  store.most_bytes = 0;
  store.get(reads, sink, {.max_bytes_in_flight = 4000});
  EXPECT_LE(store.most_bytes, 4000);
  EXPECT_EQ(done, 180);
  // Room for less than one: one at a time.
  store.most = 0;
  store.get(reads, sink, {.max_bytes_in_flight = 10});
  EXPECT_EQ(store.most, 1);
}

TEST(StoreWrappers, CountingStoreReportsEvents) {
  std::mutex mutex;
  Keys log;
  CountingStore store(std::make_shared<MemoryStore>(), [&](const StoreEvent& event) {
    const std::lock_guard lock(mutex);
    log.push_back(std::string(event.operation) + " " + std::string(event.key) + " " +
                  std::to_string(event.bytes) + " " + std::string(event.outcome));
    EXPECT_GE(event.since_start.count(), 0);
  });
  store.set("k", bytes("abc"));
  store.get("k", ByteRange::range(1, 1));
  store.get("none");
  store.size("k");
  store.exists("none");
  store.set_if_absent("k", bytes("x"));
  store.set_if_absent("l", bytes("xy"));
  store.list();
  store.list_dir();
  store.erase("l");
  const SetRequest gone{.key = "k", .produce = []() -> std::optional<Buffer> { return std::nullopt; }};
  store.set(std::span(&gone, 1));
  store.erase_prefix("z");
  store.flush();
  float memory = 0;
  Context context;
  context.destination = ArrayView::of(&memory, Shape{1});
  store.set("f", bytes("1234"));
  store.get("f", {}, &context);
  EXPECT_EQ(log,
            (Keys{"set k 3 ", "get k 1 found", "get none 0 missing", "size k 0 found", "size none 0 missing",
                  "set_if_absent k 0 ", "set_if_absent l 2 ", "list  0 ", "list_dir  0 ", "erase l 0 ",
                  "erase k 0 ", "erase_prefix z 0 ", "flush  0 ", "set f 4 ", "get f 4 placed"}));
  const StoreCounts c = store.counts();
  EXPECT_EQ(c.get_batches, 3u);
  EXPECT_EQ(c.ranges, 3u);
  EXPECT_EQ(c.placed, 1u);
  EXPECT_EQ(c.sizes, 2u);
  EXPECT_EQ(c.lists, 2u);
  EXPECT_EQ(c.erase_requests, 2u);
  EXPECT_EQ(c.erase_prefixes, 1u);
  EXPECT_EQ(c.flushes, 1u);
  EXPECT_EQ(c.bytes_written, 9u);
  store.reset();
  EXPECT_EQ(store.counts().get_batches + store.counts().bytes_read, 0u);
}

// A wrapper that hands single calls on instead of batches: the single-key side of the wrappers must mean the same.
class OneByOne final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;

 protected:
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override {
    Store::do_get(batch, sink, options);
  }
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override {
    Store::do_set(batch, options);
  }
  void do_erase(std::span<const std::string> keys) override { Store::do_erase(keys); }
};

// Values that may lie in the caller's memory go only where somebody has said that nobody keeps them.
TEST(StoreWrappers, KeepValuesUnlessTheySayOtherwise) {
  auto memory = std::make_shared<MemoryStore>();
  EXPECT_FALSE(memory->capabilities().keeps_values);
  EXPECT_FALSE(PrefixStore(memory, "p").capabilities().keeps_values);
  EXPECT_FALSE(CountingStore(memory).capabilities().keeps_values);
  EXPECT_TRUE(OneByOne(memory).capabilities().keeps_values);
  EXPECT_TRUE(PrefixStore(std::make_shared<OneByOne>(memory), "p").capabilities().keeps_values);
  EXPECT_TRUE(numbers()->capabilities().keeps_values);
}

TEST(StoreWrappers, SingleCallsMeanTheSameAsBatches) {
  auto memory = std::make_shared<MemoryStore>();
  auto counting = std::make_shared<CountingStore>(std::make_shared<PrefixStore>(memory, "p"));
  OneByOne store(counting);
  setitems(store, {{"a", bytes("1")}, {"b", bytes("22")}});
  EXPECT_EQ(contents(*memory), (Values{{"p/a", "1"}, {"p/b", "22"}}));
  EXPECT_EQ(getitems(store, {"a", "b", "c"}).size(), 2u);
  store.erase("a");
  EXPECT_EQ(memory->list(), Keys{"p/b"});
  EXPECT_EQ(memory->total_bytes(), 2u);
  const StoreCounts c = counting->counts();
  EXPECT_EQ(c.set_requests, 2u);
  EXPECT_EQ(c.bytes_written, 3u);
  EXPECT_EQ(c.found, 2u);
  EXPECT_EQ(c.missing, 1u);
  EXPECT_EQ(c.erase_requests, 1u);
  EXPECT_EQ(c.get_batches, 0u);

  // A wrapper before a read-only one that says it is writable.
  class Optimist final : public StoreWrapper {
   public:
    using StoreWrapper::StoreWrapper;
    StoreCapabilities capabilities() const override { return {}; }
    bool single = false;

   protected:
    void do_set(std::span<const SetRequest> b, const SetOptions& o) override {
      single ? Store::do_set(b, o) : StoreWrapper::do_set(b, o);
    }
    void do_erase(std::span<const std::string> k) override {
      single ? Store::do_erase(k) : StoreWrapper::do_erase(k);
    }
  };
  Optimist optimist(std::make_shared<ReadOnlyStore>(memory));
  for (const bool single : {false, true}) {
    optimist.single = single;
    EXPECT_EQ(code_of([&] { optimist.set("k", bytes("v")); }), ErrorCode::permission);
    EXPECT_EQ(code_of([&] { optimist.erase("p/b"); }), ErrorCode::permission);
    EXPECT_EQ(code_of([&] { optimist.set_if_absent("k", bytes("v")); }), ErrorCode::permission);
    EXPECT_EQ(code_of([&] { optimist.erase_prefix("p"); }), ErrorCode::permission);
  }
  EXPECT_EQ(memory->list(), Keys{"p/b"});
}

}  // namespace
}  // namespace zarrive::test
