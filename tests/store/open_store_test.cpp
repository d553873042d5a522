#include "zarrive/open_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "store/store_suite.hpp"
#include "support/paths.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/zip_store.hpp"

namespace zarrive::test {
namespace {

namespace fs = std::filesystem;
using zarrive::testing::TempDir;
constexpr OpenStoreOptions kCreate{.mode = OpenMode::create}, kWrite{.mode = OpenMode::write};

TEST(OpenStore, PathsAndFileUrls) {
  TempDir dir;
  const std::string path = (dir / "a b.zarr").string();
  EXPECT_EQ(code_of([&] { open_store(path); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { open_store(path, kWrite); }), ErrorCode::not_found);
  open_store(path, kCreate)->set("zarr.json", bytes("{}"));
  open_store(path, kWrite)->set("k", bytes("v"));
  const auto reader = open_store(path);
  EXPECT_EQ(text_of(*reader, "k"), "v");
  EXPECT_EQ(code_of([&] { reader->set("k", bytes("w")); }), ErrorCode::permission);
  std::string url = "file://" + path;
  url.replace(url.find(' '), 1, "%20");
  EXPECT_EQ(text_of(*open_store(url), "k"), "v");
  EXPECT_EQ(text_of(*open_store("FILE://localhost" + url.substr(7)), "k"), "v");
  for (const char* bad :
       {"file://elsewhere/x", "file://", "file:///a%2", "file:///a%zz", "file:///a%00b", ""})
    EXPECT_EQ(code_of([&] { open_store(bad); }), ErrorCode::invalid_argument) << bad;
  EXPECT_EQ(code_of([&] { open_store(std::string_view("a\0b", 3)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { open_store(path + "/zarr.json/x"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { open_store(std::string(300, 'x')); }), ErrorCode::invalid_argument);
}

TEST(OpenStore, ZipArchives) {
  TempDir dir;
  const std::string path = (dir / "a.zip").string();
  EXPECT_EQ(code_of([&] { open_store(path); }), ErrorCode::not_found);
  open_store(path, kCreate)->set("d/zarr.json", bytes("{}"));
  ASSERT_TRUE(fs::is_regular_file(path));
  open_store(path, {.mode = OpenMode::write, .zip_folder = ""})->set("d/k", bytes("v"));
  EXPECT_EQ(text_of(*open_store(path), "k"), "v");  // the one top folder
  EXPECT_EQ(text_of(*open_store(path, {.zip_folder = ""}), "d/k"), "v");
  EXPECT_EQ(text_of(*open_store("file://" + path), "k"), "v");
  fs::rename(path, dir / "other.name");  // a file is an archive whatever its name
  EXPECT_EQ(text_of(*open_store((dir / "other.name").string()), "k"), "v");
  fs::create_directory(dir / "really.zip");  // and a directory is none
  open_store((dir / "really.zip").string(), kWrite)->set("k", bytes("v"));
  EXPECT_TRUE(fs::exists(dir / "really.zip/k"));
  std::ofstream(dir / "text") << "hello";
  EXPECT_EQ(code_of([&] { open_store((dir / "text").string()); }), ErrorCode::corrupt_store);
}

TEST(OpenStore, MemoryStoresByName) {
  EXPECT_EQ(code_of([&] { open_store("memory://shared-name"); }), ErrorCode::not_found);
  const auto one = open_store("memory://shared-name", kCreate);
  one->set("k", bytes("v"));
  EXPECT_EQ(one->name(), "memory://shared-name");
  EXPECT_EQ(open_store("memory://shared-name", kCreate), one);
  EXPECT_EQ(open_store("memory://shared-name", kWrite), one);
  const auto reader = open_store("memory://shared-name");
  EXPECT_EQ(text_of(*reader, "k"), "v");
  EXPECT_EQ(code_of([&] { reader->erase("k"); }), ErrorCode::permission);
  EXPECT_TRUE(forget_memory_store("shared-name"));
  EXPECT_FALSE(forget_memory_store("shared-name"));
  EXPECT_EQ(text_of(*one, "k"), "v");
  EXPECT_TRUE(open_store("memory://shared-name", kCreate)->list().empty());
  forget_memory_store("shared-name");
  EXPECT_NE(open_store("memory://", kCreate), open_store("memory://", kCreate));
}

TEST(OpenStore, RegisteredSchemes) {
  EXPECT_EQ(code_of([&] { open_store("toy+x://host/path"); }), ErrorCode::unsupported);
  std::string seen;
  register_store_scheme("Toy+X", [&](std::string_view url, const OpenStoreOptions& options) {
    seen = url;
    auto store = std::make_shared<MemoryStore>("toy");
    if (options.follow_symlinks) throw Error(ErrorCode::unavailable, "cannot connect");
    store->set("k", bytes("v"));
    return store;
  });
  const auto store = open_store("TOY+x://user@host/path?query");
  EXPECT_EQ(seen, "TOY+x://user@host/path?query");
  EXPECT_EQ(text_of(*store, "k"), "v");
  EXPECT_EQ(code_of([&] { store->set("k", bytes("w")); }), ErrorCode::permission);  // mode read holds for all
  open_store("toy+x://h", kWrite)->set("k", bytes("w"));
  try {
    open_store("toy+x://user:secret@host/path?signature=secret", {.follow_symlinks = true});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::unavailable);
    EXPECT_EQ(e.place().store, "toy+x://host/path");
  }
  register_store_scheme("toy+x",
                        [](std::string_view, const OpenStoreOptions&) { return std::shared_ptr<Store>(); });
  EXPECT_EQ(code_of([&] { open_store("toy+x://h"); }), ErrorCode::internal);
  const StoreFactory any = [](std::string_view, const OpenStoreOptions&) {
    return std::make_shared<MemoryStore>();
  };
  for (const char* bad : {"file", "memory", "", "1x", "a b", "x:"})
    EXPECT_EQ(code_of([&] { register_store_scheme(bad, any); }), ErrorCode::invalid_argument) << bad;
  EXPECT_EQ(code_of([&] { register_store_scheme("ok", nullptr); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace zarrive::test
