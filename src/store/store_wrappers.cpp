#include "zarrive/store_wrappers.hpp"

#include "store/batch.hpp"
#include "store/key.hpp"

namespace zarrive {

// --- PrefixStore ---

PrefixStore::PrefixStore(std::shared_ptr<Store> base, std::string prefix)
    : StoreWrapper(std::move(base)), prefix_(std::move(prefix)) {
  if (!prefix_.empty()) check_key(prefix_);
}

std::string PrefixStore::name() const {
  return prefix_.empty() ? base()->name() : base()->name() + "/" + prefix_;
}

std::string PrefixStore::full(std::string_view key) const {
  if (key.empty()) return prefix_;
  return store::with_slash(prefix_) + std::string(key);
}

void PrefixStore::annotate(Context& context) {
  if (!context.key) return base()->annotate(context);
  std::string seen = std::exchange(*context.key, full(*context.key));
  base()->annotate(context);
  context.key = std::move(seen);
}

GetResult PrefixStore::do_get_one(const GetRequest& request) {
  return StoreWrapper::do_get_one(
      {.key = full(request.key), .ranges = request.ranges, .context = request.context});
}
void PrefixStore::do_set_one(const std::string& key, const Buffer& value, const Context* context,
                             Durability durability) {
  StoreWrapper::do_set_one(full(key), value, context, durability);
}
bool PrefixStore::do_set_if_absent(const std::string& key, const Buffer& value) {
  return StoreWrapper::do_set_if_absent(full(key), value);
}
void PrefixStore::do_erase_one(const std::string& key) { StoreWrapper::do_erase_one(full(key)); }
void PrefixStore::do_erase_prefix(const std::string& prefix) { StoreWrapper::do_erase_prefix(full(prefix)); }
std::optional<std::uint64_t> PrefixStore::do_size(const std::string& key) {
  return StoreWrapper::do_size(full(key));
}

std::vector<std::string> PrefixStore::do_list(const std::string& prefix) {
  std::vector<std::string> keys = StoreWrapper::do_list(full(prefix));
  const std::size_t cut = store::with_slash(prefix_).size();
  for (std::string& key : keys) key.erase(0, cut);
  return keys;
}

DirectoryListing PrefixStore::do_list_dir(const std::string& prefix) {
  DirectoryListing listing = StoreWrapper::do_list_dir(full(prefix));
  const std::size_t cut = store::with_slash(prefix_).size();
  for (std::string& key : listing.keys) key.erase(0, cut);
  for (std::string& sub : listing.prefixes) sub.erase(0, cut);
  return listing;
}

void PrefixStore::do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) {
  std::vector<GetRequest> requests(batch.begin(), batch.end());
  for (GetRequest& request : requests) request.key = full(request.key);
  StoreWrapper::do_get(requests, sink, options);
}

void PrefixStore::do_set(std::span<const SetRequest> batch, const SetOptions& options) {
  std::vector<SetRequest> requests(batch.begin(), batch.end());
  for (SetRequest& request : requests) request.key = full(request.key);
  StoreWrapper::do_set(requests, options);
}

void PrefixStore::do_erase(std::span<const std::string> keys) {
  std::vector<std::string> all;
  all.reserve(keys.size());
  for (const std::string& key : keys) all.push_back(full(key));
  StoreWrapper::do_erase(all);
}

// --- ReadOnlyStore: the base class refuses first; these are for wrappers before this one that say they are writable ---

namespace {
[[noreturn]] void refuse() { throw Error(ErrorCode::permission, "the store is read-only"); }
}  // namespace

StoreCapabilities ReadOnlyStore::capabilities() const {
  StoreCapabilities c = StoreWrapper::capabilities();
  c.writable = false;
  return c;
}
void ReadOnlyStore::do_set_one(const std::string&, const Buffer&, const Context*, Durability) { refuse(); }
bool ReadOnlyStore::do_set_if_absent(const std::string&, const Buffer&) { refuse(); }
void ReadOnlyStore::do_erase_one(const std::string&) { refuse(); }
void ReadOnlyStore::do_erase_prefix(const std::string&) { refuse(); }
void ReadOnlyStore::do_set(std::span<const SetRequest>, const SetOptions&) { refuse(); }
void ReadOnlyStore::do_erase(std::span<const std::string>) { refuse(); }

// --- CountingStore ---

CountingStore::CountingStore(std::shared_ptr<Store> base, std::function<void(const StoreEvent&)> log)
    : StoreWrapper(std::move(base)), log_(std::move(log)) {}

StoreCounts CountingStore::counts() const {
  const Counters& c = counters_;
  return {.get_batches = c.get_batches,
          .get_requests = c.get_requests,
          .ranges = c.ranges,
          .found = c.found,
          .missing = c.missing,
          .errors = c.errors,
          .placed = c.placed,
          .bytes_read = c.bytes_read,
          .set_batches = c.set_batches,
          .set_requests = c.set_requests,
          .bytes_written = c.bytes_written,
          .erase_requests = c.erase_requests,
          .erase_prefixes = c.erase_prefixes,
          .sizes = c.sizes,
          .lists = c.lists,
          .flushes = c.flushes};
}

void CountingStore::reset() {
  Counters& c = counters_;
  for (std::atomic<std::uint64_t>* counter :
       {&c.get_batches, &c.get_requests, &c.ranges, &c.found, &c.missing, &c.errors, &c.placed, &c.bytes_read,
        &c.set_batches, &c.set_requests, &c.bytes_written, &c.erase_requests, &c.erase_prefixes, &c.sizes,
        &c.lists, &c.flushes})
    *counter = 0;
}

void CountingStore::report(std::string_view operation, std::string_view key, std::uint64_t bytes,
                           std::string_view outcome, Clock::time_point start) {
  if (log_)
    log_({.operation = operation,
          .key = key,
          .bytes = bytes,
          .outcome = outcome,
          .since_start = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start)});
}

void CountingStore::count(const GetRequest& request, const GetResult& result, Clock::time_point start) {
  const std::uint64_t bytes = store::bytes_of(result);
  std::string_view outcome = "error";
  if (result.status == GetStatus::error) ++counters_.errors;
  if (result.status == GetStatus::missing) {
    ++counters_.missing;
    outcome = "missing";
  }
  if (result.status == GetStatus::found) {
    ++counters_.found;
    outcome = result.placed ? "placed" : "found";
    if (result.placed) ++counters_.placed;
  }
  counters_.bytes_read += bytes;
  report("get", request.key, bytes, outcome, start);
}

void CountingStore::do_get(std::span<const GetRequest> batch, const GetSink& sink,
                           const GetOptions& options) {
  const auto start = Clock::now();
  ++counters_.get_batches;
  counters_.get_requests += batch.size();
  for (const GetRequest& request : batch) counters_.ranges += std::max<std::size_t>(1, request.ranges.size());
  StoreWrapper::do_get(
      batch,
      [&](std::size_t i, GetResult&& result) {
        count(batch[i], result, start);
        sink(i, std::move(result));
      },
      options);
}

GetResult CountingStore::do_get_one(const GetRequest& request) {
  const auto start = Clock::now();
  ++counters_.get_requests;
  counters_.ranges += std::max<std::size_t>(1, request.ranges.size());
  GetResult result = StoreWrapper::do_get_one(request);
  count(request, result, start);
  return result;
}

void CountingStore::do_set(std::span<const SetRequest> batch, const SetOptions& options) {
  const auto start = Clock::now();
  ++counters_.set_batches;
  std::vector<SetRequest> requests(batch.begin(), batch.end());
  auto handed_over = [this, start](const std::string& key, const std::optional<Buffer>& value) {
    if (value) {
      ++counters_.set_requests;
      counters_.bytes_written += value->size();
      report("set", key, value->size(), {}, start);
    } else {
      ++counters_.erase_requests;
      report("erase", key, 0, {}, start);
    }
  };
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].produce) {
      requests[i].produce = [&handed_over, &original = batch[i]] {
        std::optional<Buffer> value = original.produce();
        handed_over(original.key, value);
        return value;
      };
    } else {
      handed_over(requests[i].key, requests[i].value);
    }
  }
  StoreWrapper::do_set(requests, options);
}

void CountingStore::do_set_one(const std::string& key, const Buffer& value, const Context* context,
                               Durability durability) {
  const auto start = Clock::now();
  ++counters_.set_requests;
  counters_.bytes_written += value.size();
  StoreWrapper::do_set_one(key, value, context, durability);
  report("set", key, value.size(), {}, start);
}

bool CountingStore::do_set_if_absent(const std::string& key, const Buffer& value) {
  const auto start = Clock::now();
  ++counters_.set_requests;
  const bool done = StoreWrapper::do_set_if_absent(key, value);
  if (done) counters_.bytes_written += value.size();
  report("set_if_absent", key, done ? value.size() : 0, {}, start);
  return done;
}

void CountingStore::do_erase_one(const std::string& key) {
  const auto start = Clock::now();
  ++counters_.erase_requests;
  StoreWrapper::do_erase_one(key);
  report("erase", key, 0, {}, start);
}

void CountingStore::do_erase(std::span<const std::string> keys) {
  const auto start = Clock::now();
  counters_.erase_requests += keys.size();
  StoreWrapper::do_erase(keys);
  for (const std::string& key : keys) report("erase", key, 0, {}, start);
}

void CountingStore::do_erase_prefix(const std::string& prefix) {
  const auto start = Clock::now();
  ++counters_.erase_prefixes;
  StoreWrapper::do_erase_prefix(prefix);
  report("erase_prefix", prefix, 0, {}, start);
}

std::optional<std::uint64_t> CountingStore::do_size(const std::string& key) {
  const auto start = Clock::now();
  ++counters_.sizes;
  const std::optional<std::uint64_t> size = StoreWrapper::do_size(key);
  report("size", key, 0, size ? "found" : "missing", start);
  return size;
}

std::vector<std::string> CountingStore::do_list(const std::string& prefix) {
  const auto start = Clock::now();
  ++counters_.lists;
  std::vector<std::string> keys = StoreWrapper::do_list(prefix);
  report("list", prefix, 0, {}, start);
  return keys;
}

DirectoryListing CountingStore::do_list_dir(const std::string& prefix) {
  const auto start = Clock::now();
  ++counters_.lists;
  DirectoryListing listing = StoreWrapper::do_list_dir(prefix);
  report("list_dir", prefix, 0, {}, start);
  return listing;
}

void CountingStore::flush() {
  const auto start = Clock::now();
  ++counters_.flushes;
  StoreWrapper::flush();
  report("flush", {}, 0, {}, start);
}

}  // namespace zarrive
