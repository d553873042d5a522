// A store in a directory: each key is a file, '/' in keys is the directory separator.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "zarrive/export.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

struct FilesystemStoreOptions {
  bool create =
      false;  // make the root directory (and its parents) when it is not there; else that is Error(not_found)
  bool writable = true;
  // Of values. Metadata documents (zarr.json, .zarray, .zgroup, .zattrs, .zmetadata) are on the disk before set returns, whatever this says.
  Durability durability = Durability::none;
  // False: a key that leads over a symbolic link is Error(permission), and links are not listed. The root itself may be a link.
  bool follow_symlinks = false;
  std::uint64_t coalesce_gap =
      64 << 10;  // bytes between two ranges of a request that are read along rather than skipped
  std::uint64_t max_value_size =
      0;  // bytes read at once; more is Error(resource_limit). 0: the machine's memory
};

// Values are written to a temporary file beside their place and renamed, so a reader, or a crash, sees the old value or the new one whole.
// Temporary files are called ".zarrive-tmp-...~"; such names are no keys and are never listed. What a killed process left behind is removed
// by list, erase_prefix and sweep_temporaries, when its process is gone and the file has not changed for ten minutes (a day when
// it comes from another host or container, whose processes cannot be seen from here).
//
// Generations are modification time, size, inode and device of the file. Files and directories whose names are no valid keys are ignored.
// An empty directory shows as a prefix in list_dir.
class ZARRIVE_API FilesystemStore final : public Store {
 public:
  explicit FilesystemStore(std::filesystem::path root, const FilesystemStoreOptions& options = {});
  ~FilesystemStore() override;

  std::string name() const override;
  StoreCapabilities capabilities() const override;
  void flush() override;

  // Removes temporary files of processes that are gone (see above); returns how many.
  std::size_t sweep_temporaries();

 protected:
  GetResult do_get_one(const GetRequest& request) override;
  void do_set_one(const std::string& key, const Buffer& value, const Context* context,
                  Durability durability) override;
  bool do_set_if_absent(const std::string& key, const Buffer& value) override;
  void do_erase_one(const std::string& key) override;
  void do_erase_prefix(const std::string& prefix) override;
  std::optional<std::uint64_t> do_size(const std::string& key) override;
  std::vector<std::string> do_list(const std::string& prefix) override;
  DirectoryListing do_list_dir(const std::string& prefix) override;
  Durability default_durability() const override;
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override;
  void finish_batch(Durability durability) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zarrive
