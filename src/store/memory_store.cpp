#include "zarrive/memory_store.hpp"

#include <mutex>

#include "store/batch.hpp"
#include "store/key.hpp"

namespace zarrive {

MemoryStore::MemoryStore(std::string name) : name_(std::move(name)) {}
MemoryStore::~MemoryStore() = default;

StoreCapabilities MemoryStore::capabilities() const { return {.keeps_values = false, .coalesce_gap = 0}; }

std::uint64_t MemoryStore::total_bytes() const {
  const std::shared_lock lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [key, entry] : entries_) sum += entry.value.size();
  return sum;
}

GetResult MemoryStore::do_get_one(const GetRequest& request) {
  Entry entry;
  {
    const std::shared_lock lock(mutex_);
    const auto it = entries_.find(request.key);
    if (it == entries_.end()) return {};
    entry = it->second;
  }
  return store::result_from_value(request, entry.value, std::to_string(entry.generation));
}

MemoryStore::Entry MemoryStore::entry_of(const Buffer& value) {
  return {Buffer::copy_of(value.host_span()), ++generations_};
}

void MemoryStore::do_set_one(const std::string& key, const Buffer& value, const Context*, Durability) {
  Entry entry = entry_of(value);
  const std::unique_lock lock(mutex_);
  std::swap(entries_[key], entry);  // the old value is released after the lock
}

bool MemoryStore::do_set_if_absent(const std::string& key, const Buffer& value) {
  Entry entry = entry_of(value);
  const std::unique_lock lock(mutex_);
  return entries_.try_emplace(key, std::move(entry)).second;
}

void MemoryStore::do_erase_one(const std::string& key) {
  const std::unique_lock lock(mutex_);
  entries_.erase(key);
}

void MemoryStore::do_erase_prefix(const std::string& prefix) {
  const std::string start = store::with_slash(prefix);
  const std::unique_lock lock(mutex_);
  auto end = entries_.lower_bound(start);
  const auto begin = end;
  while (end != entries_.end() && end->first.starts_with(start)) ++end;
  entries_.erase(begin, end);
}

std::optional<std::uint64_t> MemoryStore::do_size(const std::string& key) {
  const std::shared_lock lock(mutex_);
  const auto it = entries_.find(key);
  if (it == entries_.end()) return std::nullopt;
  return it->second.value.size();
}

std::vector<std::string> MemoryStore::do_list(const std::string& prefix) {
  const std::string start = store::with_slash(prefix);
  std::vector<std::string> keys;
  const std::shared_lock lock(mutex_);
  for (auto it = entries_.lower_bound(start); it != entries_.end() && it->first.starts_with(start); ++it)
    keys.push_back(it->first);
  return keys;
}

DirectoryListing MemoryStore::do_list_dir(const std::string& prefix) {
  const std::string start = store::with_slash(prefix);
  DirectoryListing listing;
  const std::shared_lock lock(mutex_);
  auto it = entries_.lower_bound(start);
  while (it != entries_.end() && it->first.starts_with(start)) {
    const std::size_t slash = it->first.find('/', start.size());
    if (slash == std::string::npos) {
      listing.keys.push_back(it->first);
      ++it;
    } else {
      // On to what follows everything below this sub-prefix: '0' comes after '/'.
      std::string sub = it->first.substr(0, slash);
      it = entries_.lower_bound(sub + '0');
      listing.prefixes.push_back(std::move(sub));
    }
  }
  return listing;
}

}  // namespace zarrive
