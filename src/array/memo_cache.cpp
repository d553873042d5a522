#include "array/memo_cache.hpp"

#include <utility>

namespace zarrive {

std::optional<MemoCache::Entry> MemoCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto at = kept_.find(key);
  if (at == kept_.end()) return std::nullopt;
  uses_.splice(uses_.begin(), uses_, at->second.use);
  return at->second.entry;
}

void MemoCache::put(const std::string& key, Entry entry) {
  if (entry.generation.empty() || !entry.memo) return;
  constexpr std::uint64_t kOverhead = 256;  // of the map and the list
  const std::uint64_t bytes = entry.memo->nbytes() + key.size() + kOverhead;
  const std::lock_guard lock(mutex_);
  if (const auto old = kept_.find(key); old != kept_.end()) remove(old);
  if (bytes > max_bytes_) return;
  while (bytes_ + bytes > max_bytes_) remove(kept_.find(*uses_.back()));
  const auto at = kept_.emplace(key, Kept{std::move(entry), bytes, {}}).first;
  uses_.push_front(&at->first);
  at->second.use = uses_.begin();
  bytes_ += bytes;
}

void MemoCache::drop(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (const auto at = kept_.find(key); at != kept_.end()) remove(at);
}

void MemoCache::remove(std::map<std::string, Kept>::iterator at) {
  bytes_ -= at->second.bytes;
  uses_.erase(at->second.use);
  kept_.erase(at);
}

}  // namespace zarrive
