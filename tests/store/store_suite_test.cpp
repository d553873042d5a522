// The stores that the suite runs on: a line each.
#include <gtest/gtest.h>

#include "store/beneath.hpp"
#include "store/store_suite.hpp"
#include "support/fault_store.hpp"
#include "support/paths.hpp"
#include "support/toy_stores.hpp"
#include "zarrive/filesystem_store.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"
#include "zarrive/zip_store.hpp"

namespace zarrive::test {
namespace {

std::shared_ptr<Store> filled(std::shared_ptr<Store> store, const Values& initial) {
  for (const auto& [key, value] : initial) store->set(key, bytes(value));
  return store;
}

StoreUnderTest memory(const Values& initial) { return {filled(std::make_shared<MemoryStore>(), initial)}; }

StoreUnderTest filesystem(const Values& initial, const FilesystemStoreOptions& options) {
  auto directory = std::make_shared<zarrive::testing::TempDir>();
  return {filled(std::make_shared<FilesystemStore>(directory->path() / "s.zarr", options), initial),
          directory};
}

// For as long as the store lives the kernel seems to have no openat2.
StoreUnderTest filesystem_walking(const Values& initial) {
  store::RootDirectory::pretend_no_openat2(true);
  StoreUnderTest made = filesystem(initial, {.create = true});
  made.keep = std::shared_ptr<void>(
      nullptr, [kept = made.keep](void*) { store::RootDirectory::pretend_no_openat2(false); });
  return made;
}

StoreUnderTest zip(const Values& initial, bool flushed, const std::string& folder) {
  auto directory = std::make_shared<zarrive::testing::TempDir>();
  auto store = filled(std::make_shared<ZipStore>(*directory / "s.zip",
                                                 ZipStoreOptions{.mode = ZipMode::create, .folder = folder}),
                      initial);
  if (flushed) {
    store.reset();
    store = std::make_shared<ZipStore>(*directory / "s.zip",
                                       ZipStoreOptions{.mode = ZipMode::update, .folder = folder});
  }
  return {store, directory};
}

StoreUnderTest zip_read(const Values& initial) {
  StoreUnderTest made = zip(initial, true, "");
  made.store.reset();
  auto directory = std::static_pointer_cast<zarrive::testing::TempDir>(made.keep);
  return {std::make_shared<ZipStore>(*directory / "s.zip", ZipStoreOptions{.folder = ""}), directory};
}

StoreUnderTest prefix(const Values& initial) {
  auto base = std::make_shared<MemoryStore>();
  for (const char* key : {"zarr.json", "outer", "outer/view.txt", "outer/viewer/0", "p/outer/view/0"})
    base->set(key, bytes("not in the view"));
  return {filled(std::make_shared<PrefixStore>(base, "outer/view"), initial)};
}

StoreUnderTest read_only(const Values& initial) {
  return {std::make_shared<ReadOnlyStore>(filled(std::make_shared<MemoryStore>(), initial))};
}

StoreUnderTest counting(const Values& initial) {
  return {filled(std::make_shared<CountingStore>(std::make_shared<MemoryStore>(), [](const StoreEvent&) {}),
                 initial)};
}

StoreUnderTest no_fault(const Values& initial) {
  return {filled(std::make_shared<FaultStore>(std::make_shared<MemoryStore>(),
                                              [](std::string_view, const std::string&) {}),
                 initial)};
}

StoreUnderTest nested(const Values& initial) {
  auto base = std::make_shared<PrefixStore>(
      std::make_shared<PrefixStore>(std::make_shared<ToyStore>(true), "a"), "b");
  return {filled(std::make_shared<CountingStore>(base), initial)};
}

const StoreCase kStores[] = {
    {.name = "memory", .make = memory},
    {.name = "filesystem",
     .make = [](const Values& v) { return filesystem(v, {.create = true}); },
     .tree = true},
    {.name = "filesystem_walking", .make = filesystem_walking, .tree = true},
    {.name = "filesystem_links",
     .make = [](const Values& v) { return filesystem(v, {.create = true, .follow_symlinks = true}); },
     .tree = true},
    {.name = "zip_new", .make = [](const Values& v) { return zip(v, false, ""); }},
    {.name = "zip_update", .make = [](const Values& v) { return zip(v, true, ""); }},
    {.name = "zip_folder", .make = [](const Values& v) { return zip(v, true, "top/data.zarr"); }},
    {.name = "zip_read", .make = zip_read},
    {.name = "prefix", .make = prefix},
    {.name = "read_only", .make = read_only},
    {.name = "counting", .make = counting},
    {.name = "fault", .make = no_fault},
    {.name = "toy",
     .make = [](const Values& v) { return StoreUnderTest{filled(std::make_shared<ToyStore>(), v)}; },
     .exclusive = false},
    {.name = "toy_waiting",
     .make = [](const Values& v) { return StoreUnderTest{filled(std::make_shared<ToyStore>(true), v)}; },
     .exclusive = false},
    {.name = "nested", .make = nested, .exclusive = false},
};

INSTANTIATE_TEST_SUITE_P(Store, StoreSuite, ::testing::ValuesIn(kStores),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace zarrive::test
