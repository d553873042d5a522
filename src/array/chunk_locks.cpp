#include "array/chunk_locks.hpp"

#include <algorithm>

namespace zarrive {

ChunkLocks& ChunkLocks::global() {
  static auto* locks = new ChunkLocks();  // never destroyed: writers may outlive static destruction
  return *locks;
}

ChunkLocks::Held ChunkLocks::acquire(const Store& store, const std::vector<std::string>& keys) {
  const auto address = reinterpret_cast<std::uintptr_t>(&store);
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const std::string& key : keys) names.push_back(std::to_string(address) + ' ' + key);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return std::none_of(names.begin(), names.end(), [&](const auto& name) { return held_.contains(name); });
  });
  held_.insert(names.begin(), names.end());
  return Held(*this, std::move(names));
}

ChunkLocks::Held::~Held() {
  if (!locks_) return;
  {
    std::lock_guard lock(locks_->mutex_);
    for (const std::string& name : names_) locks_->held_.erase(name);
  }
  locks_->changed_.notify_all();
}

}  // namespace zarrive
