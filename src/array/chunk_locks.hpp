// Locks on chunks within this process: two threads that write parts of one chunk must not lose each other's part.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "zarrive/store.hpp"

namespace zarrive {

// Holds sets of (store, key). A set is taken all at once, so that two holders cannot wait for each other.
class ChunkLocks {
 public:
  class Held {
   public:
    Held(ChunkLocks& locks, std::vector<std::string> names) : locks_(&locks), names_(std::move(names)) {}
    Held(Held&& other) noexcept
        : locks_(std::exchange(other.locks_, nullptr)), names_(std::move(other.names_)) {}
    Held& operator=(Held&&) = delete;
    ~Held();

   private:
    ChunkLocks* locks_;
    std::vector<std::string> names_;
  };

  static ChunkLocks& global();
  // Waits until none of the keys is held.
  Held acquire(const Store& store, const std::vector<std::string>& keys);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_set<std::string> held_;
};

}  // namespace zarrive
