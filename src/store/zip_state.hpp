// What the files of the zip store share.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "store/file.hpp"
#include "store/zip_format.hpp"
#include "zarrive/zip_store.hpp"

namespace zarrive {

struct ZipStore::State {
  State(const std::string& path, const ZipStoreOptions& options);

  // A file that entries lie in: the archive, or the temporary file that becomes it.
  struct Source {
    store::Fd fd;
    std::uint64_t limit = 0;  // entries end before
  };
  // One value. Never changed, so a reader goes on with it whatever is written meanwhile.
  struct Item {
    store::zip::Entry entry = {};
    std::shared_ptr<const Source> source = {};         // null: in memory
    std::uint64_t span_end = 0;                        // nothing of another entry lies before this
    mutable std::atomic<std::uint64_t> data_start{0};  // 0: not looked up yet
    Buffer pending = {};
    Generation generation = {};
  };
  using ItemPtr = std::shared_ptr<const Item>;

  // --- reading (zip_store.cpp) ---
  ItemPtr find(const std::string& key) const;
  GetResult read(const GetRequest& request, const Item& item) const;

  // --- writing (zip_write.cpp) ---
  // False when `replace` is false and the key is there.
  bool write(const std::string& key, const Buffer& value, bool replace);
  void erase(const std::string& key);
  void erase_prefix(const std::string& prefix);
  void flush();

  const std::string path;
  const ZipStoreOptions options;
  const std::uint64_t max_value_size;
  std::string base;  // "" or "folder/": before each key
  std::string folder;
  bool cheap_ranges = true;

  mutable std::shared_mutex items_mutex;
  std::map<std::string, ItemPtr, std::less<>> items;  // by name in the archive

 private:
  void open_archive();
  void choose_folder();
  void start_session();
  std::uint64_t span_end_of(const Item& item) const;
  void put(const std::string& name, ItemPtr item);

  // Writers share it; starting a session and flushing have it alone.
  std::shared_mutex session_mutex_;
  struct Session {
    store::Fd directory;
    std::unique_ptr<store::TemporaryFile> file;
    std::shared_ptr<const Source> source;
    std::atomic<std::uint64_t> end{0};  // where the next entry goes
  };
  std::unique_ptr<Session> session_;
  std::vector<ItemPtr> others_;  // entries that are no keys
  std::string comment_;
  std::string archive_state_;  // generation of the file at `path` that we know; "" when there is none
  std::optional<mode_t> mode_;
  std::atomic<bool> dirty_{false};
};

}  // namespace zarrive
