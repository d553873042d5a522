// What the files of the filesystem store share.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "store/beneath.hpp"
#include "store/read_ahead.hpp"
#include "zarrive/filesystem_store.hpp"

namespace zarrive {

struct FilesystemStore::State {
  State(const std::string& path, const FilesystemStoreOptions& options);

  // --- reading ---
  // The open file of a key, or not ok() when it is missing (or no regular file has the name: a directory). Throws otherwise.
  store::Fd open_value(const std::string& key, int flags, struct stat& status) const;
  // `ahead` may be null.
  GetResult read(const GetRequest& request, store::ReadAhead* ahead) const;

  // --- writing (filesystem_write.cpp) ---
  // False when `replace` is false and the key is there.
  bool write(const std::string& key, std::span<const std::byte> value, bool replace, bool durable);
  void erase(const std::string& key);
  void sync_everything();

  // --- listing and erasing trees (filesystem_tree.cpp) ---
  struct Directory {
    std::string path = {};  // relative; "" for the root
    std::vector<std::string> files = {};
    std::vector<std::string> directories = {};
    std::vector<std::string> linked_files = {};  // symbolic links, when they are followed
    std::vector<std::string> linked_directories = {};
    std::size_t swept = 0;
    dev_t device = 0;
    ino_t inode = 0;
  };
  // What is in one directory; nothing when it is not there. Stale temporary files are removed when `sweep`.
  bool scan(Directory& directory, bool sweep) const;
  // Everything below `prefix`, parents before children. `links`: also what lies behind links to directories.
  std::vector<Directory> walk(const std::string& prefix, bool links) const;
  void erase_tree(const std::string& prefix);

  // Throws for errors that are not "missing": says what is in the way of the key.
  [[noreturn]] static void fail(int error, const std::string& doing);
  static bool is_missing(int error) noexcept;

  const std::string path;
  const FilesystemStoreOptions options;
  const std::uint64_t max_value_size;
  store::RootDirectory root;

 private:
  friend class FilesystemStore;
  struct Opened {
    store::Fd owned;
    int fd = -1;
  };
  Opened open_directory(const std::string& relative, int& error) const;
  Opened make_directory(const std::string& relative);
  void sync_directory(const std::string& relative);
  void sync_entries_of(const std::string& directory);
  void remove_empty_directories(std::string directory);
  void forget(const std::string& directory);

  std::mutex mutex_;
  std::unordered_set<std::string>
      durable_directories_;         // whose entry in their parent is known to be on the disk
  std::atomic<bool> dirty_{false};  // something was written and not synced
};

}  // namespace zarrive
