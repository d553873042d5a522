// The Store contract: keys and bytes, many at once, each key with its context.
//
// A batch of requests goes in; each request completes on its own as found, missing or failed. A missing key is not an error, and an error is
// never an empty value. A store has to implement only the single-key operations; the base class turns them into concurrent batches.
// Keys are UTF-8, "/"-separated, never empty, without empty, "." or ".." parts and without NUL (checked here, once, for every store).
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/context.hpp"
#include "zarrive/error.hpp"
#include "zarrive/export.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

// Which bytes of a value. A range that reaches past the end is cut off at the end (a suffix longer than the value is the
// whole value); one that starts past the end is Error(out_of_bounds). offset == size is the empty range.
struct ZARRIVE_API ByteRange {
  enum class Kind : std::uint8_t { whole, range, from, suffix };
  Kind kind = Kind::whole;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  static ByteRange all() { return {}; }
  static ByteRange range(std::uint64_t offset, std::uint64_t length) { return {Kind::range, offset, length}; }
  static ByteRange from(std::uint64_t offset) { return {Kind::from, offset, 0}; }
  static ByteRange suffix(std::uint64_t length) { return {Kind::suffix, 0, length}; }

  // As [offset, offset + length) of a value of `size` bytes, by the rules above.
  struct Resolved {
    std::uint64_t offset;
    std::uint64_t length;
  };
  Resolved resolve(std::uint64_t size) const;
  bool operator==(const ByteRange&) const = default;
};

// Identifies one state of a value (mtime + size + inode, an ETag, a counter); equal generations mean equal bytes. Empty: unknown.
using Generation = std::string;

struct GetRequest {
  std::string key = {};
  std::vector<ByteRange> ranges =
      {};                            // empty: the whole value; several: one result value each, in this order
  const Context* context = nullptr;  // may be null; outlives the call
  // Empty, or memory of the caller for each range (may be empty for some): where it has exactly the size of the range a store may put the
  // bytes there, and the value then borrows it.
  std::vector<std::span<std::byte>> destinations = {};
};

enum class GetStatus : std::uint8_t { found, missing, error };

struct GetResult {
  GetStatus status = GetStatus::missing;
  std::vector<Buffer> values = {};  // one for each range (one when ranges was empty)
  // The bytes are in context->destination; values[0] borrows them, or is empty when they do not lie in one piece there.
  bool placed = false;
  std::optional<std::uint64_t> total_size = {};  // of the whole value, when the store knows it
  Generation generation = {};
  std::exception_ptr error = {};  // when status is error

  const Buffer& value() const { return values.at(0); }
  void rethrow() const {
    if (error) std::rethrow_exception(error);
  }
};

struct GetOptions {
  std::stop_token stop = {};
  std::size_t max_concurrency = 0;  // 0: the store's own
  std::uint64_t max_bytes_in_flight = 256u << 20;
};

// One completion: index into the batch and its result. Called from any thread, for several requests at the same time, once for each; may
// decode (it runs where computing is right) but must not wait for other requests. An exception from it stops the batch and is thrown by get().
using GetSink = std::function<void(std::size_t index, GetResult&& result)>;

enum class Durability : std::uint8_t {
  none,   // the operating system writes when it likes
  batch,  // everything a batch wrote is on the disk when the batch returns
  full    // each value is on the disk before the next step
};

struct SetRequest {
  std::string key = {};
  Buffer value = {};
  // Called on a worker when the store is ready for this value, so that a batch of any size runs in bounded memory; nullopt erases the key.
  std::function<std::optional<Buffer>()> produce = {};  // when set, `value` is ignored
  const Context* context = nullptr;
};

struct SetOptions {
  std::stop_token stop = {};
  std::size_t max_concurrency = 0;
  std::uint64_t max_bytes_in_flight = 256u << 20;
  std::optional<Durability> durability = {};  // absent: the store's own
};

struct StoreCapabilities {
  bool writable = true;
  bool listable = true;
  bool atomic_set = true;    // a reader sees the old value or the new one
  bool cheap_ranges = true;  // reading a range costs about its bytes
  bool waits = false;        // requests spend their time waiting (network): run on I/O threads, many at once
  bool annotates = false;    // annotate() adds to contexts
  // set() may keep the buffer that it is given. When false it has no more use for the bytes when it returns, and chunks that lie in the
  // caller's memory as they are to be stored come from there, without a copy.
  bool keeps_values = true;
  std::uint64_t coalesce_gap = 64 << 10;  // ranges closer than this are better read as one
};

struct DirectoryListing {
  std::vector<std::string> keys = {};      // full keys directly below the prefix, sorted
  std::vector<std::string> prefixes = {};  // full sub-prefixes without trailing "/", sorted
};

class ZARRIVE_API Store : public std::enable_shared_from_this<Store> {
 public:
  virtual ~Store() = default;

  // For messages: a path or URL without credentials.
  virtual std::string name() const = 0;
  virtual StoreCapabilities capabilities() const { return {}; }

  // Reads a batch; returns when every request has completed. Throws only for a bad key, a stop, or an exception of the sink;
  // what goes wrong with one request is that request's result.
  void get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options = {});
  // One key, one range: nullopt when missing; throws when failed.
  std::optional<Buffer> get(const std::string& key, const ByteRange& range = {},
                            const Context* context = nullptr);

  // Writes a batch. Values are independent: when one fails the rest may or may not be written, each atomically where the store can, and
  // the first error is thrown.
  void set(std::span<const SetRequest> batch, const SetOptions& options = {});
  void set(const std::string& key, Buffer value, const Context* context = nullptr);
  // True when the key was not there and now holds the value; false when it was there already (nothing is changed).
  bool set_if_absent(const std::string& key, Buffer value);

  void erase(const std::string& key);  // no error when missing
  void erase(std::span<const std::string> keys);
  void erase_prefix(const std::string& prefix);  // every key below "prefix/"; "" erases everything
  bool exists(const std::string& key);
  std::optional<std::uint64_t> size(const std::string& key);  // nullopt when missing

  // Full keys below "prefix/" ("" for all), sorted. Error(unsupported) when the store cannot list.
  std::vector<std::string> list(const std::string& prefix = {});
  DirectoryListing list_dir(const std::string& prefix = {});

  // A store may add what it knows about the key (codec_parameters, say). Called once for each context of a batch, before get or set.
  virtual void annotate(Context& context);

  // Makes everything written so far durable, and finishes containers (a zip writes its directory). Idempotent.
  virtual void flush() {}

 protected:
  // What an implementation provides. Keys are valid. Single-key calls may throw; they are called concurrently.
  virtual GetResult do_get_one(const GetRequest& request) = 0;
  virtual void do_set_one(const std::string& key, const Buffer& value, const Context* context,
                          Durability durability);
  virtual bool do_set_if_absent(const std::string& key,
                                const Buffer& value);  // default: exists() then set, not atomic
  virtual void do_erase_one(const std::string& key);
  virtual void do_erase_prefix(const std::string& prefix);               // default: list and erase
  virtual std::optional<std::uint64_t> do_size(const std::string& key);  // default: reads the value
  virtual std::vector<std::string> do_list(const std::string& prefix);   // default: Error(unsupported)
  virtual DirectoryListing do_list_dir(const std::string& prefix);       // default: from do_list
  virtual Durability default_durability() const { return Durability::none; }

  // Help for do_get_one. Whether the whole value is wanted, as one:
  static bool wants_whole(const GetRequest& request);
  // What a request gets of a value that is there whole: its ranges cut out, shared and not copied; or all of it, in the place that the context
  // asks for where the host can write there.
  static GetResult result_of(const GetRequest& request, const Buffer& value, Generation generation = {});

  // Batches. The defaults run the single-key calls on the executor: compute threads and the caller, or I/O threads when capabilities().waits,
  // with completions handed to compute threads. Wrappers forward whole batches.
  virtual void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options);
  virtual void do_set(std::span<const SetRequest> batch, const SetOptions& options);
  virtual void do_erase(std::span<const std::string> keys);
  virtual void finish_batch(Durability) {}  // after the default do_set, for Durability::batch

  friend class StoreWrapper;
};

// Throws Error(invalid_argument) unless `key` is a valid key (see the top of this file).
ZARRIVE_API void check_key(std::string_view key);

// A store before another one. Forwards everything, contexts included; derived classes override what they change.
class ZARRIVE_API StoreWrapper : public Store {
 public:
  explicit StoreWrapper(std::shared_ptr<Store> base);
  std::string name() const override { return base_->name(); }
  // The base's, but keeps_values: that it keeps none is for each derived class to say.
  StoreCapabilities capabilities() const override {
    StoreCapabilities all = base_->capabilities();
    all.keeps_values = true;
    return all;
  }
  void annotate(Context& context) override { base_->annotate(context); }
  void flush() override { base_->flush(); }
  const std::shared_ptr<Store>& base() const noexcept { return base_; }

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
  Durability default_durability() const override { return base_->default_durability(); }
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override;
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override;
  void do_erase(std::span<const std::string> keys) override;

 private:
  std::shared_ptr<Store> base_;
};

// --- zarr-python's bulk calls over the contract above ---

struct GetItemsOptions {
  ContextsRef contexts = {};  // a context for a key; keys without one get none
  GetOptions get = {};
};
// The values of the keys that are there; absent keys are absent from the result. Any failure throws.
// (zarr-python 2.18 Store.getitems(keys, *, contexts).)
ZARRIVE_API std::map<std::string, Buffer> getitems(Store& store, std::span<const std::string> keys,
                                                   const GetItemsOptions& options = {});
ZARRIVE_API std::map<std::string, Buffer> getitems(Store& store, std::initializer_list<std::string> keys,
                                                   const GetItemsOptions& options = {});

struct SetItemsOptions {
  ContextsRef contexts = {};
  SetOptions set = {};
};
// Writes all of them in one batch.
ZARRIVE_API void setitems(Store& store, const std::map<std::string, Buffer>& values,
                          const SetItemsOptions& options = {});

struct KeyRange {
  std::string key = {};
  ByteRange range = {};
};
// One value for each entry, in order; nullopt for a missing key. (zarr-python 2.18 Store.get_partial_values.)
ZARRIVE_API std::vector<std::optional<Buffer>> get_partial_values(Store& store,
                                                                  std::span<const KeyRange> key_ranges,
                                                                  const GetItemsOptions& options = {});

}  // namespace zarrive
