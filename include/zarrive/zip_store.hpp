// A store in one zip archive.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "zarrive/export.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

enum class ZipMode : std::uint8_t {
  read,    // the archive must be there
  update,  // likewise; may be written to
  create   // made when it is not there, else as update
};

struct ZipStoreOptions {
  ZipMode mode = ZipMode::read;
  // Keys are the entries below this folder; "" is the root of the archive. Absent: the root, unless it has no zarr.json, .zgroup or .zarray and
  // exactly one top folder has one: then that folder.
  std::optional<std::string> folder = {};
  std::uint64_t max_value_size = 0;  // of one value; more is Error(resource_limit). 0: the machine's memory
  std::uint64_t max_directory_size = 512 << 20;  // of the archive's central directory; likewise
};

// Reads stored and deflated entries, zip64 too; ranges of stored entries read only their bytes. Of several entries with one name the last counts.
// Whole values are checked against their CRC-32. Directory entries, and entries whose names are no valid keys ("../x", "/x", "a//b") or not
// UTF-8, are no keys. Encrypted entries and other methods are listed; reading them is Error(unsupported). A directory that contradicts
// itself or the file (entries outside, overlapping, sizes that cannot be) is Error(corrupt_store).
//
// Writes go to a temporary file beside the archive, values as stored entries; flush() writes the central directory, once, with one entry
// a key, makes it durable and renames it into place. Until then other readers see the old archive, and a crash leaves it as it was.
// Entries that are not keys of this store are kept. The first write after opening or flush copies what the archive holds
// (where the file system can, without moving bytes). Metadata documents stay in memory until flush, so rewriting them costs no space.
// The destructor flushes, and can only ignore errors: call flush() to see them. Only one process may write at a time; when the
// archive was replaced by another meanwhile, flush is Error(unavailable). Durability::full flushes after each value, batch after each batch.
class ZARRIVE_API ZipStore final : public Store {
 public:
  explicit ZipStore(std::filesystem::path path, const ZipStoreOptions& options = {});
  ~ZipStore() override;

  std::string name() const override;
  StoreCapabilities capabilities() const override;
  void flush() override;
  const std::string& folder() const noexcept;  // that keys are below; "" for the root

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
  void finish_batch(Durability durability) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zarrive
