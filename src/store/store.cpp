// The public side of Store: checks once for every store, then hands over to what the store implements.
#include "zarrive/store.hpp"

#include <algorithm>

#include "gpu/transfer.hpp"
#include "store/batch.hpp"
#include "store/device_placement.hpp"
#include "store/failure.hpp"
#include "store/key.hpp"

namespace zarrive {
namespace {

// Runs a single-key operation; whatever goes wrong names the store and the key.
template <class F>
auto placing(const Store& store, const std::string& key, F&& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    throw store::as_error(std::current_exception(), store.name(), key);
  }
}

void check_prefix(std::string_view prefix) {
  if (!prefix.empty()) check_key(prefix);
}

void check_writable(const Store& store) {
  if (!store.capabilities().writable) throw Error(ErrorCode::permission, "the store is read-only");
}

void check_listable(const Store& store) {
  if (!store.capabilities().listable) throw Error(ErrorCode::unsupported, "the store cannot list its keys");
}

void sort_unique(std::vector<std::string>& names) {
  if (!std::is_sorted(names.begin(), names.end())) std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

void Store::get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) {
  for (const GetRequest& request : batch) placing(*this, {}, [&] { check_key(request.key); });
  if (batch.empty()) return;
  if (std::none_of(batch.begin(), batch.end(), store::wants_device)) return do_get(batch, sink, options);
  // Values that their contexts ask for in device memory, whatever the store could do itself.
  do_get(
      batch,
      [&](std::size_t i, GetResult&& result) {
        if (store::wants_device(batch[i])) result = store::on_device(*this, batch[i], std::move(result));
        sink(i, std::move(result));
      },
      options);
}

std::optional<Buffer> Store::get(const std::string& key, const ByteRange& range, const Context* context) {
  GetRequest request{.key = key, .ranges = {}, .context = context};
  if (range.kind != ByteRange::Kind::whole) request.ranges.push_back(range);
  GetResult answer;
  get(std::span<const GetRequest>(&request, 1),
      [&](std::size_t, GetResult&& result) { answer = std::move(result); });
  answer.rethrow();
  if (answer.status == GetStatus::missing) return std::nullopt;
  return std::move(answer.values.at(0));
}

void Store::set(std::span<const SetRequest> batch, const SetOptions& options) {
  for (const SetRequest& request : batch) {
    placing(*this, {}, [&] { check_key(request.key); });
  }
  placing(*this, {}, [&] { check_writable(*this); });
  if (batch.empty()) return;
  if (std::none_of(batch.begin(), batch.end(), store::is_on_device)) return do_set(batch, options);
  do_set(store::by_way_of_host(batch), options);
}

void Store::set(const std::string& key, Buffer value, const Context* context) {
  const SetRequest request{.key = key, .value = std::move(value), .produce = {}, .context = context};
  set(std::span<const SetRequest>(&request, 1));
}

bool Store::set_if_absent(const std::string& key, Buffer value) {
  return placing(*this, key, [&] {
    check_key(key);
    check_writable(*this);
    return do_set_if_absent(key, value.space().host_accessible() ? value : gpu::to_host(value));
  });
}

void Store::erase(const std::string& key) { erase(std::span<const std::string>(&key, 1)); }

void Store::erase(std::span<const std::string> keys) {
  placing(*this, {}, [&] {
    for (const std::string& key : keys) check_key(key);
    check_writable(*this);
  });
  if (!keys.empty()) do_erase(keys);
}

void Store::erase_prefix(const std::string& prefix) {
  placing(*this, prefix, [&] {
    check_prefix(prefix);
    check_writable(*this);
    do_erase_prefix(prefix);
  });
}

bool Store::exists(const std::string& key) { return size(key).has_value(); }

std::optional<std::uint64_t> Store::size(const std::string& key) {
  return placing(*this, key, [&] {
    check_key(key);
    return do_size(key);
  });
}

std::vector<std::string> Store::list(const std::string& prefix) {
  return placing(*this, prefix, [&] {
    check_prefix(prefix);
    check_listable(*this);
    std::vector<std::string> keys = do_list(prefix);
    sort_unique(keys);
    return keys;
  });
}

DirectoryListing Store::list_dir(const std::string& prefix) {
  return placing(*this, prefix, [&] {
    check_prefix(prefix);
    check_listable(*this);
    DirectoryListing listing = do_list_dir(prefix);
    sort_unique(listing.keys);
    sort_unique(listing.prefixes);
    return listing;
  });
}

void Store::annotate(Context&) {}

// --- what an implementation need not provide ---

void Store::do_set_one(const std::string&, const Buffer&, const Context*, Durability) {
  throw Error(ErrorCode::unsupported, "the store cannot write");
}

bool Store::do_set_if_absent(const std::string& key, const Buffer& value) {
  if (do_size(key)) return false;
  do_set_one(key, value, nullptr, default_durability());
  return true;
}

void Store::do_erase_one(const std::string&) {
  throw Error(ErrorCode::unsupported, "the store cannot erase");
}

// Documents before data: when it stops halfway, what is left is no array with chunks missing (which would read as fill values).
void Store::do_erase_prefix(const std::string& prefix) {
  std::vector<std::string> keys = do_list(prefix);
  const auto data = std::stable_partition(keys.begin(), keys.end(),
                                          [](const std::string& key) { return store::is_metadata_key(key); });
  const std::span<const std::string> all(keys);
  const auto documents = static_cast<std::size_t>(data - keys.begin());
  if (documents > 0) do_erase(all.first(documents));
  if (documents < keys.size()) do_erase(all.subspan(documents));
}

bool Store::wants_whole(const GetRequest& request) { return store::wants_whole(request); }

GetResult Store::result_of(const GetRequest& request, const Buffer& value, Generation generation) {
  return store::result_from_value(request, value, std::move(generation));
}

std::optional<std::uint64_t> Store::do_size(const std::string& key) {
  const GetResult result = do_get_one({.key = key, .ranges = {}, .context = nullptr});
  result.rethrow();
  if (result.status == GetStatus::missing) return std::nullopt;
  return result.value().size();
}

std::vector<std::string> Store::do_list(const std::string&) {
  throw Error(ErrorCode::unsupported, "the store cannot list its keys");
}

DirectoryListing Store::do_list_dir(const std::string& prefix) {
  const std::string start = store::with_slash(prefix);
  DirectoryListing listing;
  for (std::string& key : do_list(prefix)) {
    const std::size_t slash = key.find('/', start.size());
    if (slash == std::string::npos) {
      listing.keys.push_back(std::move(key));
    } else if (key.resize(slash); listing.prefixes.empty() || listing.prefixes.back() != key) {
      listing.prefixes.push_back(std::move(key));
    }
  }
  return listing;
}

// --- StoreWrapper ---

StoreWrapper::StoreWrapper(std::shared_ptr<Store> base) : base_(std::move(base)) {
  if (!base_) throw Error(ErrorCode::invalid_argument, "a store wrapper needs a store");
}

GetResult StoreWrapper::do_get_one(const GetRequest& request) { return base_->do_get_one(request); }
void StoreWrapper::do_set_one(const std::string& key, const Buffer& value, const Context* context,
                              Durability durability) {
  base_->do_set_one(key, value, context, durability);
}
bool StoreWrapper::do_set_if_absent(const std::string& key, const Buffer& value) {
  return base_->do_set_if_absent(key, value);
}
void StoreWrapper::do_erase_one(const std::string& key) { base_->do_erase_one(key); }
void StoreWrapper::do_erase_prefix(const std::string& prefix) { base_->do_erase_prefix(prefix); }
std::optional<std::uint64_t> StoreWrapper::do_size(const std::string& key) { return base_->do_size(key); }
std::vector<std::string> StoreWrapper::do_list(const std::string& prefix) { return base_->do_list(prefix); }
DirectoryListing StoreWrapper::do_list_dir(const std::string& prefix) { return base_->do_list_dir(prefix); }
void StoreWrapper::do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) {
  base_->do_get(batch, sink, options);
}
void StoreWrapper::do_set(std::span<const SetRequest> batch, const SetOptions& options) {
  base_->do_set(batch, options);
}
void StoreWrapper::do_erase(std::span<const std::string> keys) { base_->do_erase(keys); }

}  // namespace zarrive
