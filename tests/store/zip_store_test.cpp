// What only a zip store can get wrong: the container, honest and hostile, and writing one archive again and again.
#include "zarrive/zip_store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <thread>

#include "store/file.hpp"
#include "store/store_suite.hpp"
#include "store/zip_format.hpp"
#include "support/paths.hpp"
#include "support/zip_maker.hpp"

namespace zarrive::test {
namespace {

namespace fs = std::filesystem;
using zarrive::testing::TempDir;
using Keys = std::vector<std::string>;

class ZipStoreTest : public ::testing::Test {
 protected:
  fs::path write(const std::string& archive) {
    const fs::path path = dir_ / "a.zip";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << archive;
    return path;
  }
  std::shared_ptr<ZipStore> open(const std::string& archive, const ZipStoreOptions& options = {}) {
    return std::make_shared<ZipStore>(write(archive), options);
  }
  ErrorCode open_error(const std::string& archive) {
    return code_of([&] { open(archive); });
  }
  std::string file() const {
    std::ifstream in(dir_ / "a.zip", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files_in_directory() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()));
  }
  TempDir dir_;
};

TEST_F(ZipStoreTest, ReadsStoredAndDeflated) {
  const std::string value = std::string(100'000, 'a') + pattern(1000, 1);
  ZipMember descriptor = deflated("d/descriptor", value), wide = stored("d/zip64", value);
  descriptor.descriptor = true;
  wide.zip64 = true;
  ZipMember extra = stored("d/extra", "local extra");
  extra.local_extra = std::string("\x55\x54\x05\x00\x01....", 9);
  for (const bool zip64_end : {false, true}) {
    for (const std::string& before : {std::string(), std::string(1000, '#')}) {
      auto store = open(make_zip({stored("zarr.json", "{}"), deflated("d/k", value), descriptor, wide, extra,
                                  stored("d/", ""), stored("empty", ""), deflated("empty2", "")},
                                 {.before = before, .comment = "a comment", .zip64_end = zip64_end}));
      EXPECT_EQ(contents(*store), (Values{{"zarr.json", "{}"},
                                          {"d/k", value},
                                          {"d/descriptor", value},
                                          {"d/zip64", value},
                                          {"d/extra", "local extra"},
                                          {"empty", ""},
                                          {"empty2", ""}}));
      for (const std::string key : {"d/k", "d/zip64"}) {
        EXPECT_EQ(text_of(*store, key, ByteRange::range(99'999, 3)), value.substr(99'999, 3));
        EXPECT_EQ(text_of(*store, key, ByteRange::suffix(10)), value.substr(value.size() - 10));
        EXPECT_EQ(store->size(key), value.size());
      }
      EXPECT_FALSE(store->capabilities().writable);
      EXPECT_FALSE(store->capabilities().cheap_ranges);
      EXPECT_EQ(code_of([&] { store->set("k", bytes("v")); }), ErrorCode::permission);
      store->flush();
    }
  }
  EXPECT_TRUE(open(make_zip({stored("k", "v")}))->capabilities().cheap_ranges);
  EXPECT_TRUE(open(make_zip({}))->list().empty());
}

TEST_F(ZipStoreTest, PlacesBothMethods) {
  const std::string value = "0123456789abcdef";
  auto store = open(make_zip({stored("s", value), deflated("d", value)}));
  for (const std::string key : {"s", "d"}) {
    std::vector<std::uint64_t> memory(2);
    Context context;
    context.destination = ArrayView::of(memory.data(), Shape{2});
    const GetRequest request{.key = key, .context = &context};
    store->get(std::span(&request, 1), [&](std::size_t, GetResult&& result) {
      result.rethrow();
      EXPECT_TRUE(result.placed);
    });
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(memory.data()), 16), value);
  }
}

TEST_F(ZipStoreTest, TheLastDuplicateCounts) {
  auto store =
      open(make_zip({stored("k", "first"), stored("l", "l"), stored("k", "second"), deflated("k", "third")}));
  EXPECT_EQ(contents(*store), (Values{{"k", "third"}, {"l", "l"}}));
}

TEST_F(ZipStoreTest, FindsTheFolder) {
  const auto folder = [&](const std::vector<ZipMember>& members, std::optional<std::string> asked = {}) {
    auto store = open(make_zip(members), {.folder = std::move(asked)});
    return store->folder() + ":" + std::to_string(store->list().size());
  };
  EXPECT_EQ(folder({stored("d.zarr/zarr.json", "{}"), stored("d.zarr/c/0", "x")}), "d.zarr:2");
  EXPECT_EQ(folder({stored("d.zarr/", ""), stored("d.zarr/.zgroup", "{}"), stored("__MACOSX/x", "")}),
            "d.zarr:1");
  EXPECT_EQ(folder({stored("d/.zarray", "{}"), stored("readme.txt", "")}), "d:1");
  EXPECT_EQ(folder({stored("zarr.json", "{}"), stored("d/zarr.json", "{}")}), ":2");
  EXPECT_EQ(folder({stored("a/zarr.json", "{}"), stored("b/zarr.json", "{}")}), ":2");
  EXPECT_EQ(folder({stored("a/b/zarr.json", "{}")}), ":1");
  EXPECT_EQ(folder({stored("a/zarr.json", "{}")}, ""), ":1");
  EXPECT_EQ(folder({stored("a/b/zarr.json", "{}"), stored("a/x", "")}, "a/b"), "a/b:1");
  EXPECT_EQ(folder({stored("a/zarr.json", "{}")}, "none"), "none:0");
  EXPECT_EQ(code_of([&] { open(make_zip({}), {.folder = "../x"}); }), ErrorCode::invalid_argument);
}

TEST_F(ZipStoreTest, NamesThatAreNoKeysAreSkipped) {
  auto store = open(make_zip({stored("../../etc/passwd", "x"), stored("/abs", "x"), stored("a//b", "x"),
                              stored("a/./b", "x"), stored("", "x"), stored("bad\xff", "x"),
                              stored(std::string("nul\0x", 5), "x"), stored("good", "x")}));
  EXPECT_EQ(store->list(), Keys{"good"});
}

TEST_F(ZipStoreTest, WhatCannotBeReadIsListedAndRefused) {
  ZipMember encrypted = stored("encrypted", "x"), bzip2 = stored("bzip2", "x");
  encrypted.flags = 1;
  bzip2.method = 12;
  auto store = open(make_zip({encrypted, bzip2, stored("fine", "v")}));
  EXPECT_EQ(store->list(), (Keys{"bzip2", "encrypted", "fine"}));
  EXPECT_EQ(code_of([&] { store->get("encrypted"); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { store->get("bzip2"); }), ErrorCode::unsupported);
  EXPECT_EQ(text_of(*store, "fine"), "v");
}

TEST_F(ZipStoreTest, DamagedEntriesAreErrorsNotValues) {
  const std::string value(5000, 'v');
  ZipMember crc = stored("crc", value), longer = deflated("longer", value),
            shorter = deflated("shorter", value), bomb = deflated("bomb", value),
            unequal = stored("unequal", value), garbage = stored("garbage", "this is no deflate"),
            trailing = deflated("trailing", value), renamed = stored("renamed", value),
            method = stored("method", value);
  crc.crc ^= 1;
  longer.size = 4999;
  shorter.size = 5001;
  bomb.size = std::uint64_t{1} << 31;
  unequal.size = 4999;
  garbage.method = 8;
  trailing.data += "more";
  renamed.local_name = "someone";
  ZipMember wide_bomb = bomb;
  wide_bomb.name = "wide";
  wide_bomb.zip64 = true;
  wide_bomb.size = ~std::uint64_t{0};
  auto store = open(make_zip(
      {crc, longer, shorter, bomb, unequal, garbage, trailing, renamed, wide_bomb, stored("fine", "v")}));
  for (const std::string key :
       {"crc", "longer", "shorter", "bomb", "unequal", "garbage", "trailing", "renamed", "wide"})
    EXPECT_EQ(code_of([&] { store->get(key); }), ErrorCode::corrupt_store) << key;
  EXPECT_EQ(code_of([&] { store->get("bomb", ByteRange::suffix(4)); }), ErrorCode::corrupt_store);
  EXPECT_EQ(text_of(*store, "fine"), "v");
  auto capped =
      open(make_zip({deflated("k", std::string(1 << 20, 'x')), stored("s", std::string(2000, 'x'))}),
           {.max_value_size = 1000});
  EXPECT_EQ(code_of([&] { capped->get("k"); }), ErrorCode::resource_limit);
  EXPECT_EQ(code_of([&] { capped->get("k", ByteRange::range(0, 1)); }), ErrorCode::resource_limit);
  EXPECT_EQ(code_of([&] { capped->get("s"); }), ErrorCode::resource_limit);
  EXPECT_EQ(text_of(*capped, "s", ByteRange::range(0, 2)), "xx");

  // The header of a stored entry destroyed, or with an extra field that pushes the data into the directory.
  std::string archive = make_zip({stored("k", "value"), stored("l", "v")});
  archive[0] = 'X';
  EXPECT_EQ(code_of([&] { open(archive)->get("k"); }), ErrorCode::corrupt_store);
  archive = make_zip({stored("k", "value")});
  archive[28] = '\x50';
  EXPECT_EQ(code_of([&] { open(archive)->get("k"); }), ErrorCode::corrupt_store);
}

TEST_F(ZipStoreTest, BrokenDirectoriesAreRefused) {
  EXPECT_EQ(open_error(""), ErrorCode::corrupt_store);
  EXPECT_EQ(open_error("PK"), ErrorCode::corrupt_store);
  EXPECT_EQ(open_error(std::string(200'000, 'x')), ErrorCode::corrupt_store);
  const std::vector<ZipMember> two = {stored("a", "11"), stored("b", "22")};
  for (const bool zip64_end : {false, true}) {
    EXPECT_EQ(open_error(make_zip(two, {.zip64_end = zip64_end, .count = 3})), ErrorCode::corrupt_store);
    EXPECT_EQ(open_error(make_zip(two, {.zip64_end = zip64_end, .count = 0x7fff'ffff})),
              ErrorCode::corrupt_store);
    EXPECT_EQ(open_error(make_zip(two, {.zip64_end = zip64_end, .directory_size = 5})),
              ErrorCode::corrupt_store);
    EXPECT_EQ(open_error(make_zip(two, {.zip64_end = zip64_end, .directory_size = 400'000})),
              ErrorCode::corrupt_store);
    EXPECT_EQ(open_error(make_zip(two, {.zip64_end = zip64_end, .directory_offset = 400'000})),
              ErrorCode::corrupt_store);
    EXPECT_EQ(open_error(make_zip(two, {.zip64_end = zip64_end, .directory_tail = "tail"})),
              ErrorCode::corrupt_store);
    EXPECT_EQ(open_error(make_zip(
                  two, {.zip64_end = zip64_end, .directory_tail = "PK\1\2" + std::string(42, '\xff')})),
              ErrorCode::corrupt_store);
  }
  EXPECT_EQ(open_error(make_zip(two, {.zip64_end = true, .directory_size = std::int64_t{1} << 40})),
            ErrorCode::resource_limit);
  ZipMember overlapping = stored("b", "22");
  overlapping.offset = 0;
  EXPECT_EQ(open_error(make_zip({two[0], overlapping})), ErrorCode::corrupt_store);
  overlapping.offset = 1'000'000;
  EXPECT_EQ(open_error(make_zip({two[0], overlapping})), ErrorCode::corrupt_store);
  ZipMember large = stored("b", "22");
  large.stored_size = 4'000'000'000;
  EXPECT_EQ(open_error(make_zip({two[0], large})), ErrorCode::corrupt_store);
  ZipMember wide = stored("b", "22");
  wide.zip64 = true;
  wide.offset = -2;
  wide.stored_size = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(open_error(make_zip({two[0], wide})), ErrorCode::corrupt_store);
  // Every cut and every changed byte of a small archive: an error or a store, never a crash.
  ZipMember zip64 = deflated("c/0", std::string(50, 'c'));
  zip64.zip64 = true;
  const std::string good = make_zip({stored("zarr.json", "{}"), zip64, deflated("c/1", "one")},
                                    {.comment = "c", .zip64_end = true});
  int opened = 0;
  auto try_all = [&](const std::string& archive) {
    try {
      auto store = open(archive, {.max_value_size = 1 << 20});
      ++opened;
      for (const std::string& key : store->list()) {
        try {
          store->get(key);
        } catch (const Error&) {
        }
      }
    } catch (const Error&) {
    }
  };
  for (std::size_t n = 0; n < good.size(); ++n) try_all(good.substr(0, n));
  EXPECT_EQ(opened, 0) << "a cut archive was opened";
  for (std::size_t n = 0; n < good.size(); ++n) {
    for (const char c : {'\0', '\xff', '\x01'}) {
      std::string archive = good;
      archive[n] = c;
      try_all(archive);
    }
  }
  EXPECT_GT(opened, 0);
}

TEST_F(ZipStoreTest, OtherPathsAreRefused) {
  EXPECT_EQ(code_of([&] { ZipStore(dir_ / "none.zip"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { ZipStore(dir_ / "none.zip", {.mode = ZipMode::update}); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { ZipStore store(dir_.path()); }), ErrorCode::invalid_argument);
  ASSERT_EQ(::mkfifo((dir_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { ZipStore store(dir_ / "fifo"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              ZipStore store(dir_ / "no/such/dir.zip", {.mode = ZipMode::create});
              store.flush();
            }),
            ErrorCode::not_found);
}

TEST_F(ZipStoreTest, WritesAnArchiveOthersRead) {
  const fs::path path = dir_ / "a.zip";
  const std::string chunk = pattern(10'000, 5);
  {
    ZipStore store(path, {.mode = ZipMode::create});
    store.set("c/0", bytes(chunk));
    store.set("c/0", bytes(chunk + "!"));
    store.set("zarr.json", bytes("{}"));
    store.set("zarr.json", bytes("{ }"));
    store.set("\xc3\xa4", bytes(""));
    EXPECT_FALSE(fs::exists(path));  // nothing is there before flush
    EXPECT_EQ(text_of(store, "zarr.json"), "{ }");
  }
  EXPECT_EQ(files_in_directory(), 1u);
  // Each key once in the directory.
  const std::string archive = file();
  const store::Fd fd(::open(path.c_str(), O_RDONLY));
  const auto directory = store::zip::read_directory(fd.get(), archive.size(), 1 << 20);
  EXPECT_EQ(directory.entries.size(), 3u);
  for (const auto& entry : directory.entries) {
    EXPECT_EQ(entry.method, 0);
    EXPECT_EQ(entry.flags, entry.name == "\xc3\xa4" ? 0x800 : 0);
    EXPECT_NE(entry.date, 0);
  }
  ZipStore store(path);
  EXPECT_EQ(contents(store), (Values{{"c/0", chunk + "!"}, {"zarr.json", "{ }"}, {"\xc3\xa4", ""}}));
  if (std::system("python3 -c 'import zipfile' >/dev/null 2>&1") == 0) {
    const std::string check =
        "python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; "
        "assert sorted(z.namelist()) == [\"c/0\", \"zarr.json\", \"\\u00e4\"], z.namelist()' " +
        path.string();
    EXPECT_EQ(std::system(check.c_str()), 0);
  }
}

TEST_F(ZipStoreTest, AnEmptyArchiveIsMade) {
  { ZipStore store(dir_ / "a.zip", {.mode = ZipMode::create}); }
  EXPECT_EQ(file().size(), 22u);
  EXPECT_TRUE(ZipStore(dir_ / "a.zip").list().empty());
}

TEST_F(ZipStoreTest, UpdatesKeepWhatWasThere) {
  ZipMember descriptor = deflated("d.zarr/c/1", std::string(1000, 'd')),
            encrypted = stored("d.zarr/secret", "x");
  descriptor.descriptor = true;
  encrypted.flags = 1;
  const fs::path path =
      write(make_zip({stored("d.zarr/zarr.json", "{}"), stored("d.zarr/c/0", "old"), stored("d.zarr/", ""),
                      descriptor, stored("elsewhere", "kept"), encrypted, stored("d.zarr/c/0", "newer"),
                      stored("d.zarr/gone", std::string(200'000, 'g'))},
                     {.before = "#!self extractor\n", .comment = "hello"}));
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const std::string before = file();
  {
    ZipStore store(path, {.mode = ZipMode::update});
    EXPECT_EQ(store.folder(), "d.zarr");
    store.flush();
    EXPECT_EQ(file(), before);  // nothing to write
    store.set("c/2", bytes("two"));
    EXPECT_EQ(text_of(store, "c/0"), "newer");
    EXPECT_EQ(text_of(store, "c/1"), std::string(1000, 'd'));
    store.set("zarr.json", bytes("{\"changed\": 1}"));
    store.erase("gone");
    EXPECT_EQ(file(), before);  // others see the old one
    store.flush();
    EXPECT_NE(file(), before);
    EXPECT_EQ(text_of(store, "zarr.json"), "{\"changed\": 1}");
    store.set("c/3", bytes("three"));
    store.set("c/2", bytes("two again"));
  }
  EXPECT_EQ(files_in_directory(), 1u);
  EXPECT_LT(file().size(), 10'000u);  // what was erased takes no room
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  const Values expected = {{"d.zarr/zarr.json", "{\"changed\": 1}"},
                           {"d.zarr/c/0", "newer"},
                           {"d.zarr/c/1", std::string(1000, 'd')},
                           {"d.zarr/c/2", "two again"},
                           {"d.zarr/c/3", "three"},
                           {"elsewhere", "kept"}};
  ZipStore all(path, {.folder = ""});
  for (const auto& [key, value] : expected) EXPECT_EQ(text_of(all, key), value) << key;
  EXPECT_EQ(all.list().size(), expected.size() + 1);
  EXPECT_EQ(code_of([&] { all.get("d.zarr/secret"); }), ErrorCode::unsupported);
  const store::Fd fd(::open(path.c_str(), O_RDONLY));
  const auto directory = store::zip::read_directory(fd.get(), file().size(), 1 << 20);
  EXPECT_EQ(directory.comment, "hello");
  EXPECT_EQ(directory.entries.size(), expected.size() + 2);  // and "d.zarr/"
}

TEST_F(ZipStoreTest, SeesThatSomebodyElseWrote) {
  const fs::path path = write(make_zip({stored("k", "v")}));
  ZipStore ours(path, {.mode = ZipMode::update}), theirs(path, {.mode = ZipMode::update});
  theirs.set("k", bytes("theirs"));
  theirs.flush();
  ours.set("k", bytes("ours"));
  EXPECT_EQ(code_of([&] { ours.flush(); }), ErrorCode::unavailable);
  EXPECT_EQ(text_of(ours, "k"), "ours");
  EXPECT_EQ(text_of(*std::make_shared<ZipStore>(path), "k"), "theirs");
  // Two that both make the archive: the second to finish is told.
  ZipStore first(dir_ / "n.zip", {.mode = ZipMode::create}),
      second(dir_ / "n.zip", {.mode = ZipMode::create});
  first.flush();
  EXPECT_EQ(code_of([&] { second.flush(); }), ErrorCode::unavailable);
}

TEST_F(ZipStoreTest, AFailedFlushLosesNothing) {
  fs::create_directory(dir_ / "d");
  ZipStore store(dir_ / "d/a.zip", {.mode = ZipMode::create});
  store.set("c/0", bytes("data"));
  store.set("zarr.json", bytes("{}"));
  fs::create_directory(dir_ / "d/a.zip");  // in the way
  EXPECT_NE(code_of([&] { store.flush(); }), ErrorCode::internal);
  EXPECT_EQ(contents(store), (Values{{"c/0", "data"}, {"zarr.json", "{}"}}));
  fs::remove(dir_ / "d/a.zip");
  store.set("c/1", bytes("more"));
  store.flush();
  EXPECT_EQ(contents(*std::make_shared<ZipStore>(dir_ / "d/a.zip")),
            (Values{{"c/0", "data"}, {"c/1", "more"}, {"zarr.json", "{}"}}));
}

TEST_F(ZipStoreTest, EntryRecordsRoundTripInZip64) {
  using namespace store::zip;
  Entry large{.name = "large",
              .offset = std::uint64_t{5} << 32,
              .stored_size = std::uint64_t{6} << 32,
              .size = std::uint64_t{6} << 32,
              .crc = 7};
  const std::vector<std::byte> header = local_header(large);
  EXPECT_EQ(header.size(), 30u + 5 + 20);
  const std::vector<std::byte> records = directory_bytes({&large}, std::uint64_t{12} << 32, "c");
  // As a sparse file with only the directory in it.
  const fs::path path = dir_ / "a.zip";
  const store::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  store::write_at(fd.get(), records, std::uint64_t{12} << 32);
  const auto directory = read_directory(fd.get(), (std::uint64_t{12} << 32) + records.size(), 1 << 20);
  ASSERT_EQ(directory.entries.size(), 1u);
  EXPECT_EQ(directory.entries[0].offset, large.offset);
  EXPECT_EQ(directory.entries[0].size, large.size);
  EXPECT_EQ(directory.entries[0].stored_size, large.stored_size);
  EXPECT_EQ(directory.start, std::uint64_t{12} << 32);
  EXPECT_EQ(directory.comment, "c");
  ZipStore store(path);
  EXPECT_EQ(code_of([&] { store.get("large"); }), ErrorCode::corrupt_store);  // no header there
}

TEST_F(ZipStoreTest, ManyEntriesNeedZip64) {
  const fs::path path = dir_ / "a.zip";
  {
    ZipStore store(path, {.mode = ZipMode::create});
    std::vector<SetRequest> batch;
    for (int i = 0; i < 66'000; ++i) batch.push_back({.key = std::to_string(i), .value = bytes("v")});
    store.set(batch);
  }
  ZipStore store(path);
  EXPECT_EQ(store.list().size(), 66'000u);
  EXPECT_EQ(text_of(store, "65999"), "v");
}

TEST_F(ZipStoreTest, NamesHaveALimit) {
  ZipStore store(dir_ / "a.zip", {.mode = ZipMode::create});
  EXPECT_EQ(code_of([&] { store.set(std::string(65'536, 'x'), bytes("v")); }), ErrorCode::invalid_argument);
}

TEST_F(ZipStoreTest, CrashesLeaveTheOldArchive) {
  const fs::path path = dir_ / "a.zip";
  { ZipStore(path, {.mode = ZipMode::create}).set("n", bytes("0")); }
  std::mt19937 random(99);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        for (int n = 1;; ++n) {
          ZipStore store(path, {.mode = ZipMode::update});
          store.set("n", bytes(std::to_string(n)));
          store.set("big", bytes(pattern(100'000, static_cast<unsigned>(n))));
          store.set("zarr.json", bytes(std::to_string(n)));
          store.flush();
        }
      } catch (...) {
        ::_exit(3);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 20'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";
    ZipStore store(path);
    const std::string n = text_of(store, "n");
    if (n == "0") continue;
    EXPECT_EQ(text_of(store, "zarr.json"), n);
    EXPECT_TRUE(text_of(store, "big") == pattern(100'000, static_cast<unsigned>(std::stoul(n))));
  }
}

TEST_F(ZipStoreTest, ConcurrentReadersWritersAndFlushes) {
  ZipStore store(dir_ / "a.zip", {.mode = ZipMode::create});
  store.set("shared", bytes("s"));
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread flusher([&] {
    while (!stop) store.flush();
  });
  std::thread reader([&] {
    while (!stop) wrong += text_of(store, "shared") != "s";
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; ++t)
    writers.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        store.set("k/" + std::to_string(t) + "/" + std::to_string(i),
                  bytes(pattern(1000, static_cast<unsigned>(i))));
        store.set("m/" + std::to_string(t) + "/zarr.json", bytes(std::to_string(i)));
      }
    });
  for (std::thread& w : writers) w.join();
  stop = true;
  flusher.join();
  reader.join();
  store.flush();
  EXPECT_EQ(wrong, 0);
  ZipStore again(dir_ / "a.zip");
  EXPECT_EQ(again.list().size(), 63u);
  for (int t = 0; t < 2; ++t)
    for (unsigned i = 0; i < 30; ++i)
      EXPECT_TRUE(text_of(again, "k/" + std::to_string(t) + "/" + std::to_string(i)) == pattern(1000, i));
}

}  // namespace
}  // namespace zarrive::test
