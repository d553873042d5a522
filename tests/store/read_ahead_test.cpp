// Read-ahead of cold batches is advice: it stays within its window, and a batch comes out as it does without.
#include "store/read_ahead.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "store/beneath.hpp"
#include "store/store_suite.hpp"
#include "support/paths.hpp"
#include "zarrive/filesystem_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive::test {
namespace {

namespace fs = std::filesystem;
using store::ReadAhead;
using zarrive::testing::TempDir;

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// Files "0", "1", ... of a batch, and who was opened for advice.
class Folder {
 public:
  Folder(std::size_t files, std::uint64_t size) {
    for (std::size_t i = 0; i < files; ++i) {
      write_file(dir_ / std::to_string(i), "");
      fs::resize_file(dir_ / std::to_string(i), size);
      batch.push_back({.key = std::to_string(i)});
    }
  }

  store::Fd open(const std::string& key, struct stat& status) const {
    store::Fd fd(::open((dir_ / key).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.ok() || ::fstat(fd.get(), &status) != 0) return {};
    return fd;
  }

  ReadAhead read_ahead() {
    return ReadAhead(batch, [this](const std::string& key, struct stat& status) {
      opened.push_back(key);
      return open(key, status);
    });
  }

  // As a worker does before it reads.
  void take(ReadAhead& ahead, std::size_t item) const {
    struct stat status {};
    const store::Fd fd = open(batch[item].key, status);
    ahead.before_read(batch[item], fd.get(), static_cast<std::uint64_t>(status.st_size));
  }

  fs::path path(std::size_t item) const { return dir_ / std::to_string(item); }

  std::vector<GetRequest> batch;
  std::vector<std::string> opened;

 private:
  TempDir dir_;
};

class ReadAheadWindow : public ::testing::Test {
 protected:
  void TearDown() override { ReadAhead::pretend(std::nullopt); }
};

TEST_F(ReadAheadWindow, WhatIsInMemoryIsLeftAlone) {
  Folder folder(100, 1000);
  ReadAhead::pretend(false);
  ReadAhead ahead = folder.read_ahead();
  for (std::size_t i = 0; i < folder.batch.size(); ++i) folder.take(ahead, i);
  EXPECT_TRUE(folder.opened.empty());
}

TEST_F(ReadAheadWindow, EachFileOnceAndInOrder) {
  Folder folder(100, 1000);
  ReadAhead::pretend(true);
  ReadAhead ahead = folder.read_ahead();
  for (std::size_t i = 0; i < folder.batch.size(); ++i) {
    folder.take(ahead, i);
    ASSERT_EQ(folder.opened.size(), std::min(i + ReadAhead::kMostRequests, folder.batch.size() - 1)) << i;
  }
  for (std::size_t i = 0; i < folder.opened.size(); ++i) EXPECT_EQ(folder.opened[i], std::to_string(i + 1));
}

TEST_F(ReadAheadWindow, BytesAreBounded) {
  constexpr std::uint64_t kSize = 3 << 20;
  Folder folder(40, kSize);
  ReadAhead::pretend(true);
  ReadAhead ahead = folder.read_ahead();
  folder.take(ahead, 0);
  EXPECT_EQ(folder.opened.size(), (ReadAhead::kMostBytes + kSize - 1) / kSize);
  folder.take(ahead, 3);  // makes room for as many as were taken
  EXPECT_GE(folder.opened.size(), 3 + ReadAhead::kMostBytes / kSize);
  EXPECT_LE(folder.opened.size(), 4 + ReadAhead::kMostBytes / kSize);

  Folder large(40, 10 * ReadAhead::kMostBytes);
  ReadAhead alone = large.read_ahead();
  large.take(alone, 0);
  EXPECT_EQ(large.opened.size(), 1u);
}

TEST_F(ReadAheadWindow, SmallBatchesAreLeftAlone) {
  Folder folder(3, 1000);
  ReadAhead::pretend(true);
  ReadAhead ahead = folder.read_ahead();
  for (std::size_t i = 0; i < folder.batch.size(); ++i) folder.take(ahead, i);
  EXPECT_TRUE(folder.opened.empty());
}

TEST_F(ReadAheadWindow, EndsWhenItIsNeedless) {
  Folder folder(1000, 1000);
  ReadAhead::pretend(true);
  ReadAhead ahead = folder.read_ahead();
  folder.take(ahead, 0);
  ReadAhead::pretend(false);
  for (std::size_t i = 1; i < 500; ++i) folder.take(ahead, i);
  EXPECT_LT(folder.opened.size(), 64u);
  // And begins again.
  const std::size_t before = folder.opened.size();
  ReadAhead::pretend(true);
  for (std::size_t i = 500; i < 520; ++i) folder.take(ahead, i);
  EXPECT_GT(folder.opened.size(), before + 16);
  EXPECT_NE(std::find(folder.opened.begin(), folder.opened.end(), "540"), folder.opened.end());
}

TEST_F(ReadAheadWindow, FaultsAreNotItsOwn) {
  Folder folder(60, 1000);
  fs::remove(folder.path(5));
  fs::remove(folder.path(6));
  fs::create_directory(folder.path(6));
  for (std::size_t i = 10; i < 15; ++i) folder.batch[i].ranges = {ByteRange::range(5000, 10)};
  folder.batch[16].ranges = {ByteRange::range(10, ~std::uint64_t{0}), ByteRange::suffix(~std::uint64_t{0})};
  ReadAhead::pretend(true);
  std::size_t asked = 0;
  ReadAhead ahead(folder.batch, [&](const std::string& key, struct stat& status) {
    ++asked;
    if (key == "20") throw Error(ErrorCode::permission, "not yours");
    if (key == "21") throw std::bad_alloc();
    return folder.open(key, status);
  });
  folder.take(ahead, 0);
  folder.take(ahead, 16);
  EXPECT_EQ(asked, 16 + ReadAhead::kMostRequests);
}

TEST_F(ReadAheadWindow, AFileSystemThatCannotTellGetsNoAdvice) {
  Folder folder(60, 1000);
  ReadAhead ahead = folder.read_ahead();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  for (const int fd : {ends[0], -1})
    for (const GetRequest& request : folder.batch) ahead.before_read(request, fd, 1000);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_TRUE(folder.opened.empty());
}

// --- with the kernel's own word ---

// Without reading anything.
bool in_memory(const fs::path& path, std::size_t size) {
  const store::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const map = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return false;
  std::vector<unsigned char> pages((size + 4095) / 4096);
  const bool told = ::mincore(map, size, pages.data()) == 0;
  ::munmap(map, size);
  return told && std::all_of(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
}

bool evict(const fs::path& path, std::size_t size) {
  const store::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return ::fsync(fd.get()) == 0 && ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED) == 0 &&
         !in_memory(path, size);
}

TEST_F(ReadAheadWindow, BringsColdFilesIn) {
  constexpr std::size_t kSize = 200'000;
  Folder folder(20, 0);
  for (std::size_t i = 0; i < folder.batch.size(); ++i) {
    write_file(folder.path(i), pattern(kSize, static_cast<unsigned>(i)));
    if (!evict(folder.path(i), kSize)) GTEST_SKIP() << "files do not leave memory here";
  }
  ReadAhead ahead = folder.read_ahead();
  folder.take(ahead, 0);
  if (folder.opened.empty()) GTEST_SKIP() << "the file system does not tell what is in memory";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (std::size_t i = 1; i < folder.batch.size(); ++i)
    while (!in_memory(folder.path(i), kSize)) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << i;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// --- in the store ---

class ReadAheadInStore : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    store::RootDirectory::pretend_no_openat2(GetParam());
    ReadAhead::pretend(true);
  }
  void TearDown() override {
    store::RootDirectory::pretend_no_openat2(false);
    ReadAhead::pretend(std::nullopt);
  }
  TempDir dir_;
};
INSTANTIATE_TEST_SUITE_P(Kernel, ReadAheadInStore, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "without_openat2" : "with_openat2"; });

// What a request got, as text.
std::string told(const GetResult& result) {
  if (result.status == GetStatus::missing) return "missing";
  if (result.status == GetStatus::error) {
    try {
      result.rethrow();
    } catch (const Error& error) {
      return std::string("error ") + error.what();
    }
  }
  std::string text = "found " + std::to_string(result.total_size.value_or(0)) + " " + result.generation;
  for (const Buffer& value : result.values) text += "|" + std::string(value.text());
  return text;
}

std::vector<std::string> told_of_all(Store& store, std::span<const GetRequest> batch,
                                     std::size_t concurrency) {
  std::vector<std::string> texts(batch.size());
  store.get(batch, [&](std::size_t i, GetResult&& result) { texts[i] = told(result); },
            {.max_concurrency = concurrency});
  return texts;
}

TEST_P(ReadAheadInStore, BatchesComeOutAsTheyDoWithout) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const fs::path root = dir_ / "s";
  write_file(dir_ / "outside", "secret");
  std::vector<GetRequest> batch;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string key = "c/" + std::to_string(i);
    switch (below(12)) {
      case 0: break;  // missing
      case 1: write_file(root / key / "below", "a directory has the name"); break;
      case 2:
        fs::create_directories(root / "c");
        fs::create_symlink(dir_ / "outside", root / key);
        break;
      case 3: write_file(root / key, ""); break;
      case 4: write_file(root / key, pattern(200'000, static_cast<unsigned>(i))); break;  // over the limit
      default: write_file(root / key, pattern(below(5000), static_cast<unsigned>(i)));
    }
    GetRequest request{.key = key};
    for (std::size_t n = below(4); n > 1; --n)
      request.ranges.push_back(below(2) == 0 ? ByteRange::range(below(4000), below(4000))
                                             : ByteRange::suffix(below(6000)));
    batch.push_back(std::move(request));
  }
  auto store = std::make_shared<CountingStore>(
      std::make_shared<FilesystemStore>(root, FilesystemStoreOptions{.max_value_size = 100'000}));
  std::vector<std::string> expected;
  for (const GetRequest& request : batch)
    expected.push_back(told_of_all(*store, std::span(&request, 1), 1).front());
  const StoreCounts before = store->counts();
  for (const std::size_t concurrency : {1, 4}) EXPECT_EQ(told_of_all(*store, batch, concurrency), expected);
  EXPECT_EQ(store->counts().get_requests, before.get_requests + 2 * batch.size());
  EXPECT_EQ(store->counts().bytes_read, 3 * before.bytes_read);
}

TEST_P(ReadAheadInStore, WhatChangesAfterTheAdviceIsReadAsItIs) {
  FilesystemStore store(dir_.path());
  std::vector<GetRequest> batch;
  for (int i = 0; i < 40; ++i) {
    batch.push_back({.key = std::to_string(i)});
    write_file(dir_ / batch.back().key, pattern(20'000, 1));
  }
  std::vector<std::string> texts(batch.size());
  store.get(batch,
            [&](std::size_t i, GetResult&& result) {
              if (i == 0) {
                fs::resize_file(dir_ / "10", 5);
                fs::remove(dir_ / "11");
                write_file(dir_ / "12", "new");
                fs::remove(dir_ / "13");
                fs::create_symlink("14", dir_ / "13");
              }
              texts[i] = result.status == GetStatus::found ? result.value().text() : told(result);
            },
            {.max_concurrency = 1});
  EXPECT_EQ(texts[10], pattern(20'000, 1).substr(0, 5));
  EXPECT_EQ(texts[11], "missing");
  EXPECT_EQ(texts[12], "new");
  EXPECT_NE(texts[13].find("symbolic link"), std::string::npos) << texts[13];
  EXPECT_EQ(texts[14], pattern(20'000, 1));
}

TEST_P(ReadAheadInStore, StopsAndFailsWithTheBatch) {
  FilesystemStore store(dir_.path());
  std::vector<GetRequest> batch;
  for (int i = 0; i < 500; ++i) {
    batch.push_back({.key = std::to_string(i)});
    write_file(dir_ / batch.back().key, "value");
  }
  std::stop_source stop;
  std::atomic<int> done = 0;
  EXPECT_EQ(code_of([&] {
              store.get(batch,
                        [&](std::size_t, GetResult&&) {
                          if (++done == 5) stop.request_stop();
                        },
                        {.stop = stop.get_token(), .max_concurrency = 2});
            }),
            ErrorCode::cancelled);
  EXPECT_LT(done, 20);
  EXPECT_EQ(code_of([&] {
              store.get(batch,
                        [&](std::size_t, GetResult&&) { throw Error(ErrorCode::corrupt_chunk, "bad"); });
            }),
            ErrorCode::corrupt_chunk);
}

}  // namespace
}  // namespace zarrive::test
