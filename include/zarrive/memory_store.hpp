// A store in this process's memory: for tests, for intermediate results, and as memory:// URLs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>

#include "zarrive/export.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

// Values are copied in and shared out: what get() returns stays as it was read, whatever is written later. Treat it as read-only.
class ZARRIVE_API MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::string name = "memory://");
  ~MemoryStore() override;

  std::string name() const override { return name_; }
  StoreCapabilities capabilities() const override;
  std::uint64_t total_bytes() const;  // of all values

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

 private:
  struct Entry {
    Buffer value;
    std::uint64_t generation = 0;
  };
  Entry entry_of(const Buffer& value);

  const std::string name_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::atomic<std::uint64_t> generations_{0};
};

}  // namespace zarrive
