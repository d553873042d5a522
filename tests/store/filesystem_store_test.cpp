// What only a filesystem store can get wrong: links, odd files, names, temporary files, truncation, durability, crashes.
#include "zarrive/filesystem_store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "store/beneath.hpp"
#include "store/store_suite.hpp"
#include "support/paths.hpp"

namespace zarrive::test {
namespace {

namespace fs = std::filesystem;
using zarrive::testing::TempDir;
using Keys = std::vector<std::string>;

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Keys files_below(const fs::path& path) {
  Keys names;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), path).string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(FilesystemStore, KeysAreFiles) {
  TempDir dir;
  FilesystemStore store(dir / "s.zarr", {.create = true});
  EXPECT_EQ(store.name(), (dir / "s.zarr").string());
  store.set("a/c/0", bytes("bytes"));
  EXPECT_EQ(read_file(dir / "s.zarr/a/c/0"), "bytes");
  write_file(dir / "s.zarr/b/zarr.json", "{}");
  EXPECT_EQ(text_of(store, "b/zarr.json"), "{}");
  store.erase("a/c/0");
  EXPECT_FALSE(fs::exists(dir / "s.zarr/a"));  // emptied directories go
  store.erase("b/zarr.json");
  EXPECT_TRUE(fs::exists(dir / "s.zarr"));  // the root stays
}

TEST(FilesystemStore, OpensWhatIsThere) {
  TempDir dir;
  EXPECT_EQ(code_of([&] { FilesystemStore(dir / "none"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { FilesystemStore(""); }), ErrorCode::invalid_argument);
  write_file(dir / "file", "x");
  EXPECT_EQ(code_of([&] { FilesystemStore(dir / "file"); }), ErrorCode::invalid_argument);
  EXPECT_NE(code_of([&] { FilesystemStore(dir / "file/below", {.create = true}); }), ErrorCode::internal);
  fs::create_directory(dir / "real");
  fs::create_directory_symlink("real", dir / "link");  // the root may be a link
  FilesystemStore store(dir / "link");
  store.set("k", bytes("v"));
  EXPECT_EQ(read_file(dir / "real/k"), "v");
  FilesystemStore reader(dir / "link", {.writable = false});
  EXPECT_EQ(code_of([&] { reader.set("k", bytes("w")); }), ErrorCode::permission);
}

TEST(FilesystemStore, KeyAndDirectoryOfOneNameExcludeEachOther) {
  TempDir dir;
  FilesystemStore store(dir.path());
  store.set("a/b", bytes("v"));
  for (const auto& attempt : {std::function<void()>([&] { store.set("a", bytes("x")); }),
                              {[&] { store.set("a/b/c", bytes("x")); }},
                              {[&] { store.set("a/b/c/d", bytes("x")); }},
                              {[&] { store.set_if_absent("a", bytes("x")); }},
                              {[&] { store.set_if_absent("a/b/c", bytes("x")); }}}) {
    try {
      attempt();
      FAIL() << "nothing was thrown";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      EXPECT_NE(e.message().find("a name is a file or a directory"), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(files_below(dir.path()), Keys{"a/b"});  // and no temporary files
  store.erase("a/b/c");
  store.erase("a");
  EXPECT_EQ(contents(store), (Values{{"a/b", "v"}}));
  EXPECT_TRUE(store.list("a/b").empty());
}

class FilesystemLinks : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { store::RootDirectory::pretend_no_openat2(GetParam()); }
  void TearDown() override { store::RootDirectory::pretend_no_openat2(false); }
};
INSTANTIATE_TEST_SUITE_P(Kernel, FilesystemLinks, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "without_openat2" : "with_openat2"; });

TEST_P(FilesystemLinks, KeysCannotLeaveTheRoot) {
  TempDir dir;
  write_file(dir / "outside/secret", "secret");
  const fs::path root = dir / "root";
  write_file(root / "d/inside", "fine");
  fs::create_directory_symlink(dir / "outside", root / "out");
  fs::create_directory_symlink("d", root / "within");
  fs::create_symlink(dir / "outside/secret", root / "file");
  fs::create_symlink("nowhere", root / "dangling");
  FilesystemStore store(root);
  for (const std::string key : {"out/secret", "file", "dangling", "within/inside", "out/new/deep"}) {
    EXPECT_EQ(code_of([&] { store.get(key); }), ErrorCode::permission) << key;
    EXPECT_EQ(code_of([&] { store.exists(key); }), ErrorCode::permission) << key;
  }
  for (const std::string key : {"out/secret", "out/new", "out/new/deep", "within/x"})
    EXPECT_EQ(code_of([&] { store.set(key, bytes("x")); }), ErrorCode::permission) << key;
  EXPECT_EQ(code_of([&] { store.erase("out/secret"); }), ErrorCode::permission);
  EXPECT_EQ(code_of([&] { store.erase_prefix("out"); }), ErrorCode::permission);
  EXPECT_EQ(code_of([&] { store.list("out"); }), ErrorCode::permission);
  EXPECT_EQ(store.list(), Keys{"d/inside"});
  EXPECT_EQ(store.list_dir().prefixes, Keys{"d"});
  // Writing to the name of a link replaces the link, not what it points to.
  store.set("file", bytes("own"));
  EXPECT_EQ(text_of(store, "file"), "own");
  store.erase_prefix("");
  EXPECT_EQ(read_file(dir / "outside/secret"), "secret");
}

TEST_P(FilesystemLinks, FollowsLinksWhenAsked) {
  TempDir dir;
  write_file(dir / "outside/k", "behind");
  write_file(dir / "outside/sub/l", "deeper");
  const fs::path root = dir / "root";
  write_file(root / "own", "own");
  fs::create_directory_symlink(dir / "outside", root / "out");
  fs::create_symlink(dir / "outside/k", root / "file");
  fs::create_symlink("nowhere", root / "dangling");
  fs::create_directory_symlink(".", root / "loop");
  fs::create_directory_symlink("..", dir / "outside/sub/up");
  FilesystemStore store(root, {.follow_symlinks = true});
  EXPECT_EQ(text_of(store, "out/k"), "behind");
  EXPECT_EQ(text_of(store, "file"), "behind");
  EXPECT_EQ(store.get("dangling"), std::nullopt);
  EXPECT_EQ(store.list(), (Keys{"file", "out/k", "out/sub/l", "own"}));
  EXPECT_EQ(store.list_dir().prefixes, (Keys{"loop", "out"}));
  store.set("out/new", bytes("n"));
  EXPECT_EQ(read_file(dir / "outside/new"), "n");
  store.erase_prefix("");
  EXPECT_EQ(store.list(), Keys{});
  EXPECT_EQ(read_file(dir / "outside/k"), "behind");  // of links, the link goes
  EXPECT_FALSE(fs::is_symlink(root / "out"));
}

TEST_P(FilesystemLinks, OddFilesDoNotHang) {
  TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  const std::string path = (dir / "socket").string();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<const struct sockaddr*>(&address), sizeof address), 0);
  FilesystemStore store(dir.path());
  for (const std::string key : {"fifo", "socket"}) {
    EXPECT_EQ(code_of([&] { store.get(key); }), ErrorCode::unsupported) << key;
    EXPECT_EQ(code_of([&] { store.size(key); }), ErrorCode::unsupported) << key;
  }
  EXPECT_EQ(store.list(), Keys{});
  EXPECT_EQ(store.get("fifo/below"), std::nullopt);
  ::close(fd);
}

TEST(FilesystemStore, NamesThatAreNoKeysAreIgnored) {
  TempDir dir;
  write_file(dir / "good", "1");
  write_file(dir / "bad\xff", "2");
  FilesystemStore store(dir.path());
  EXPECT_EQ(store.list(), Keys{"good"});
  EXPECT_EQ(store.list_dir().keys, Keys{"good"});
}

TEST(FilesystemStore, NamesMayBeLongButNotTooLong) {
  TempDir dir;
  FilesystemStore store(dir.path());
  store.set(std::string(255, 'x'), bytes("v"));
  EXPECT_EQ(text_of(store, std::string(255, 'x')), "v");
  EXPECT_EQ(code_of([&] { store.set(std::string(256, 'x'), bytes("v")); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { store.get(std::string(256, 'x')); }), ErrorCode::invalid_argument);
  EXPECT_EQ(files_below(dir.path()).size(), 1u);
}

TEST(FilesystemStore, PermissionIsNotMissing) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  TempDir dir;
  write_file(dir / "d/k", "v");
  fs::permissions(dir / "d", fs::perms::none);
  FilesystemStore store(dir.path());
  EXPECT_EQ(code_of([&] { store.get("d/k"); }), ErrorCode::permission);
  EXPECT_EQ(code_of([&] { store.set("d/l", bytes("x")); }), ErrorCode::permission);
  fs::permissions(dir / "d", fs::perms::owner_all);
}

TEST(FilesystemStore, LargeSparseFilesAreNotReadWhole) {
  TempDir dir;
  write_file(dir / "k", "start");
  fs::resize_file(dir / "k", std::uintmax_t{1} << 41);
  FilesystemStore store(dir.path());
  EXPECT_EQ(code_of([&] { store.get("k"); }), ErrorCode::resource_limit);
  EXPECT_EQ(text_of(store, "k", ByteRange::range(0, 5)), "start");
  FilesystemStore small(dir.path(), {.max_value_size = 1000});
  const GetRequest request{.key = "k", .ranges = {ByteRange::range(0, 600), ByteRange::range(1 << 30, 600)}};
  small.get(std::span(&request, 1), [](std::size_t, GetResult&& result) {
    EXPECT_EQ(code_of([&] { result.rethrow(); }), ErrorCode::resource_limit);
  });
}

TEST(FilesystemStore, RangesReadOnlyTheirBytes) {
  TempDir dir;
  const std::string value = pattern(1 << 20, 1);
  write_file(dir / "k", value);
  // Far ranges of a gap-less store come in memory of their own, near ones share a block.
  const GetRequest request{
      .key = "k",
      .ranges = {ByteRange::range(0, 100), ByteRange::range(200, 100), ByteRange::range(900'000, 10)}};
  for (const std::uint64_t gap : {std::uint64_t{0}, std::uint64_t{100}}) {
    FilesystemStore store(dir.path(), {.coalesce_gap = gap});
    EXPECT_EQ(store.capabilities().coalesce_gap, gap);
    store.get(std::span(&request, 1), [&](std::size_t, GetResult&& result) {
      ASSERT_EQ(result.values.size(), 3u);
      EXPECT_EQ(result.values[1].data() - result.values[0].data() == 200, gap == 100);
      EXPECT_TRUE(result.values[2].text() == std::string_view(value).substr(900'000, 10));
      EXPECT_EQ(result.total_size, value.size());
    });
  }
}

TEST(FilesystemStore, PlacesStraightIntoTheDestination) {
  TempDir dir;
  write_file(dir / "k", "12345678");
  FilesystemStore store(dir.path());
  std::uint64_t memory = 0;
  Context context;
  context.destination = ArrayView::of(&memory, Shape{1});
  const GetRequest request{.key = "k", .context = &context};
  store.get(std::span(&request, 1), [&](std::size_t, GetResult&& result) { EXPECT_TRUE(result.placed); });
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(&memory), 8), "12345678");
}

TEST(FilesystemStore, TemporaryNamesAreNoKeys) {
  TempDir dir;
  const std::string name = ".zarrive-tmp-0123456789abcdef-1-1~";
  write_file(dir / name, "in the making");
  write_file(dir / "d" / name, "in the making");
  FilesystemStore store(dir.path());
  for (const std::string& key : {name, "d/" + name, name + "/k"}) {
    EXPECT_EQ(code_of([&] { store.set(key, bytes("x")); }), ErrorCode::invalid_argument) << key;
    EXPECT_EQ(code_of([&] { store.set_if_absent(key, bytes("x")); }), ErrorCode::invalid_argument) << key;
    EXPECT_EQ(store.get(key), std::nullopt);
    EXPECT_EQ(store.size(key), std::nullopt);
    store.erase(key);
    store.erase_prefix(key);
    EXPECT_TRUE(store.list(key).empty());
    EXPECT_TRUE(store.list_dir(key).keys.empty());
  }
  EXPECT_EQ(store.list(), Keys{});
  EXPECT_EQ(store.list_dir().keys, Keys{});
  EXPECT_EQ(files_below(dir.path()).size(), 2u);  // fresh ones of another machine stay
  store.set(".zarrive-tmp-x", bytes("a key: the pattern ends with ~"));
  EXPECT_EQ(store.list(), Keys{".zarrive-tmp-x"});
}

void age(const fs::path& path, std::int64_t seconds) {
  struct timespec times[2] = {};
  ::clock_gettime(CLOCK_REALTIME, &times[1]);
  times[1].tv_sec -= seconds;
  times[0] = times[1];
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST(FilesystemStore, SweepsWhatDeadProcessesLeft) {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  ::waitpid(child, nullptr, 0);
  // ".zarrive-tmp-<process table>-<pid>-<counter>~"
  const std::string ours = store::temporary_name();
  const std::string table = ours.substr(0, ours.find('-', std::string(".zarrive-tmp-").size()) + 1);
  const std::string dead = table + std::to_string(child) + "-1~",
                    young = table + std::to_string(child) + "-2~",
                    alive = table + std::to_string(::getpid()) + "-999999999~", odd = table + "x-1~",
                    far_old = ".zarrive-tmp-0000000000000000-5-1~",
                    far_young = ".zarrive-tmp-0000000000000000-5-2~";
  for (const std::string& name : {dead, young, alive, odd, far_old, far_young})
    write_file(dir / "d" / name, "x");
  for (const std::string& name : {dead, alive, odd, far_young}) age(dir / "d" / name, 3600);
  age(dir / "d" / far_old, 2 * 24 * 3600);
  {
    FilesystemStore reader(dir.path(), {.writable = false});
    EXPECT_EQ(reader.sweep_temporaries(), 0u);
  }
  FilesystemStore store(dir.path());
  EXPECT_EQ(store.sweep_temporaries(), 2u);
  Keys left = {"d/" + young, "d/" + alive, "d/" + odd, "d/" + far_young};
  std::sort(left.begin(), left.end());
  EXPECT_EQ(files_below(dir.path()), left);
  age(dir / "d" / young, 3600);
  store.list();  // sweeps too
  EXPECT_FALSE(fs::exists(dir / "d" / young));
}

TEST(FilesystemStore, TemporaryNamesOfAForkedChildDiffer) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(names.insert(store::temporary_name()).second);
  EXPECT_TRUE(store::is_temporary_name(*names.begin()));
  EXPECT_FALSE(store::is_temporary_name(".zarrive-tmp-"));
}

TEST(FilesystemStore, DurableWritesAndFlush) {
  TempDir dir;
  for (const Durability durability : {Durability::none, Durability::batch, Durability::full}) {
    FilesystemStore store(dir / "s", {.create = true, .durability = durability});
    setitems(store, {{"a/b/zarr.json", bytes("{}")}, {"a/b/c/0", bytes("0")}, {"zarr.json", bytes("{}")}});
    EXPECT_TRUE(store.set_if_absent("x/" + std::to_string(static_cast<int>(durability)), bytes("v")));
    store.erase("a/b/zarr.json");
    store.flush();
    store.flush();
    EXPECT_EQ(text_of(store, "a/b/c/0"), "0");
    store.erase_prefix("a");
  }
}

TEST(FilesystemStore, ARemovedRootIsAnErrorForWriters) {
  TempDir dir;
  FilesystemStore store(dir / "s", {.create = true});
  fs::remove_all(dir / "s");
  EXPECT_EQ(code_of([&] { store.set("k", bytes("v")); }), ErrorCode::unavailable);
  EXPECT_EQ(code_of([&] { store.set("a/b/k", bytes("v")); }), ErrorCode::unavailable);
}

TEST(FilesystemStore, AFullDiskLeavesTheOldValue) {
  TempDir dir;
  FilesystemStore store(dir.path());
  store.set("k", bytes("old"));
  const pid_t child = ::fork();
  if (child == 0) {
    // A file size limit stands for a full disk: write fails with EFBIG.
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit {};
    limit.rlim_cur = limit.rlim_max = 1000;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int code = 1;
    try {
      FilesystemStore(dir.path()).set("k", bytes(std::string(5000, 'x')));
    } catch (const Error& e) {
      code = e.code() == ErrorCode::unavailable ? 0 : 2;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(text_of(store, "k"), "old");
  EXPECT_EQ(files_below(dir.path()), Keys{"k"});
}

// A writer in place (not ours) cuts the file while it is read: an error or the whole value, never a short one.
TEST(FilesystemStore, ConcurrentTruncationIsAnError) {
  TempDir dir;
  const std::string value(3 << 20, 'v');
  write_file(dir / "k", value);
  FilesystemStore store(dir.path());
  std::atomic<bool> stop{false};
  std::thread cutter([&] {
    while (!stop) {
      fs::resize_file(dir / "k", 1000);
      fs::resize_file(dir / "k", value.size());
    }
  });
  for (int i = 0; i < 200; ++i) {
    try {
      const std::optional<Buffer> got = store.get("k");
      ASSERT_TRUE(got && (got->size() == value.size() || got->size() == 1000));
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), ErrorCode::unavailable) << e.what();
    }
  }
  stop = true;
  cutter.join();
}

// SIGKILL at random moments: each key holds an old or a new whole value, and what was being written shows nowhere.
TEST(FilesystemStore, CrashesLeaveWholeValues) {
  TempDir dir;
  const Keys keys = {"a/c/0", "a/c/1", "a/zarr.json", "b/deep/er/k"};
  auto whole = [](const std::string& value) {
    if (value.size() < 8) return false;
    const unsigned seed = static_cast<unsigned>(std::stoul(value.substr(0, 8)));
    return value == value.substr(0, 8) + pattern(20'000 + seed % 50'000, seed);
  };
  std::mt19937 random(12345);
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        FilesystemStore store(dir.path());
        for (unsigned n = static_cast<unsigned>(round) * 10'000;; ++n) {
          char head[16];
          std::snprintf(head, sizeof head, "%08u", n);
          const std::string key = keys[n % keys.size()];
          if (n % 7 == 6) store.erase(key);
          store.set(key, bytes(std::string(head, 8) + pattern(20'000 + n % 50'000, n)));
        }
      } catch (...) {
        ::_exit(3);
      }
    }
    ASSERT_GT(child, 0);
    std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 30'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";
    FilesystemStore store(dir.path());
    for (const std::string& key : store.list()) {
      ASSERT_TRUE(std::find(keys.begin(), keys.end(), key) != keys.end()) << key;
      ASSERT_TRUE(whole(text_of(store, key))) << key << " in round " << round;
    }
  }
  // What is left of the killed ones is swept when it is old enough.
  for (const std::string& name : files_below(dir.path()))
    if (store::has_temporary_part(name)) age(dir.path() / name, 3600);
  FilesystemStore store(dir.path());
  store.sweep_temporaries();
  for (const std::string& name : files_below(dir.path()))
    EXPECT_FALSE(store::has_temporary_part(name)) << name;
}

}  // namespace
}  // namespace zarrive::test
