// Stores before another store: a view of one prefix, a read-only view, and one that counts and reports.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "zarrive/export.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

// The part of a store below "prefix/", with keys as seen from there. An empty prefix is the store itself.
class ZARRIVE_API PrefixStore final : public StoreWrapper {
 public:
  PrefixStore(std::shared_ptr<Store> base, std::string prefix);
  std::string name() const override;
  StoreCapabilities capabilities() const override { return base()->capabilities(); }
  void annotate(Context& context)
      override;  // the base sees its own key in context.key; the caller's is back afterwards
  const std::string& prefix() const noexcept { return prefix_; }

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
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override;
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override;
  void do_erase(std::span<const std::string> keys) override;

 private:
  std::string full(std::string_view key) const;  // "" gives the prefix itself
  std::string prefix_;
};

// Every write is Error(permission).
class ZARRIVE_API ReadOnlyStore final : public StoreWrapper {
 public:
  explicit ReadOnlyStore(std::shared_ptr<Store> base) : StoreWrapper(std::move(base)) {}
  StoreCapabilities capabilities() const override;

 protected:
  void do_set_one(const std::string& key, const Buffer& value, const Context* context,
                  Durability durability) override;
  bool do_set_if_absent(const std::string& key, const Buffer& value) override;
  void do_erase_one(const std::string& key) override;
  void do_erase_prefix(const std::string& prefix) override;
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override;
  void do_erase(std::span<const std::string> keys) override;
};

// What a CountingStore has seen since it was made or reset. Batches count calls, requests count keys.
struct StoreCounts {
  std::uint64_t get_batches = 0;
  std::uint64_t get_requests = 0;
  std::uint64_t ranges = 0;  // values asked for: one a request without ranges
  std::uint64_t found = 0;
  std::uint64_t missing = 0;
  std::uint64_t errors = 0;
  std::uint64_t placed = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t set_batches = 0;
  std::uint64_t set_requests = 0;   // that were passed on (produce may turn one into an erase)
  std::uint64_t bytes_written = 0;  // of the values handed over, whether or not the write succeeded
  std::uint64_t erase_requests = 0;
  std::uint64_t erase_prefixes = 0;
  std::uint64_t sizes = 0;  // also of exists()
  std::uint64_t lists = 0;  // list and list_dir
  std::uint64_t flushes = 0;
};

// One thing that happened, for logs.
struct StoreEvent {
  std::string_view operation =
      {};  // "get", "set", "set_if_absent", "erase", "erase_prefix", "size", "list", "list_dir", "flush"
  std::string_view key = {};  // or prefix
  std::uint64_t bytes = 0;
  std::string_view outcome = {};              // "found", "missing", "error", "placed"; empty for writes
  std::chrono::nanoseconds since_start = {};  // since the call (for batches: the whole batch) began
};

class ZARRIVE_API CountingStore final : public StoreWrapper {
 public:
  // `log` is called from any thread, several at once; what it throws is treated as thrown by the caller's sink.
  explicit CountingStore(std::shared_ptr<Store> base, std::function<void(const StoreEvent&)> log = {});
  StoreCapabilities capabilities() const override { return base()->capabilities(); }
  StoreCounts counts() const;
  void reset();
  void flush() override;

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
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override;
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override;
  void do_erase(std::span<const std::string> keys) override;

 private:
  struct Counters {
    std::atomic<std::uint64_t> get_batches{0}, get_requests{0}, ranges{0}, found{0}, missing{0}, errors{0},
        placed{0}, bytes_read{0}, set_batches{0}, set_requests{0}, bytes_written{0}, erase_requests{0},
        erase_prefixes{0}, sizes{0}, lists{0}, flushes{0};
  };
  using Clock = std::chrono::steady_clock;
  void count(const GetRequest& request, const GetResult& result, Clock::time_point start);
  void report(std::string_view operation, std::string_view key, std::uint64_t bytes, std::string_view outcome,
              Clock::time_point start);

  Counters counters_;
  std::function<void(const StoreEvent&)> log_;
};

}  // namespace zarrive
