// What partial decodes learned about values of an array (the indexes of shards), kept for later reads.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "zarrive/codec.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

// Least recently used memos go first. Thread-safe.
class MemoCache {
 public:
  // 64 MiB hold the indexes of 4 million inner chunks.
  static constexpr std::uint64_t kMaxBytes = 64 << 20;
  explicit MemoCache(std::uint64_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  struct Entry {
    Generation generation = {};  // of the value that the memo is about
    std::shared_ptr<const PartialMemo> memo = {};
  };
  std::optional<Entry> find(const std::string& key);
  // Without a generation nothing can be trusted later, and nothing is kept.
  void put(const std::string& key, Entry entry);
  void drop(const std::string& key);

 private:
  struct Kept {
    Entry entry;
    std::uint64_t bytes;
    std::list<const std::string*>::iterator use;
  };
  void remove(std::map<std::string, Kept>::iterator at);

  std::mutex mutex_;
  const std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::map<std::string, Kept> kept_;
  std::list<const std::string*> uses_;  // most recent first; keys of kept_
};

}  // namespace zarrive
