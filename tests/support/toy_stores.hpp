// Small stores for tests: only what an implementation must provide, and one whose requests wait.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "zarrive/store.hpp"

namespace zarrive::test {

// Single-key calls on a map; every value whole, cut by hand; everything else comes from the base class.
class ToyStore : public Store {
 public:
  explicit ToyStore(bool waits = false) : waits_(waits) {}
  std::string name() const override { return waits_ ? "toy-waiting" : "toy"; }
  StoreCapabilities capabilities() const override { return {.waits = waits_}; }

 protected:
  GetResult do_get_one(const GetRequest& request) override {
    wait();
    GetResult result;
    const std::lock_guard lock(mutex_);
    const auto it = values_.find(request.key);
    if (it == values_.end()) return result;
    const std::string& value = it->second.first;
    result.status = GetStatus::found;
    result.total_size = value.size();
    result.generation = std::to_string(it->second.second);
    std::vector<ByteRange> ranges = request.ranges;
    if (ranges.empty()) ranges.push_back(ByteRange::all());
    for (const ByteRange& range : ranges) {
      const auto at = range.resolve(value.size());
      result.values.push_back(Buffer::from_string(value.substr(at.offset, at.length)));
    }
    return result;
  }
  void do_set_one(const std::string& key, const Buffer& value, const Context*, Durability) override {
    wait();
    const std::lock_guard lock(mutex_);
    values_[key] = {std::string(value.text()), ++generation_};
  }
  void do_erase_one(const std::string& key) override {
    wait();
    const std::lock_guard lock(mutex_);
    values_.erase(key);
  }
  std::vector<std::string> do_list(const std::string& prefix) override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> keys;
    for (const auto& [key, value] : values_)
      if (prefix.empty() || key.starts_with(prefix + "/")) keys.push_back(key);
    return keys;
  }

 private:
  void wait() const {
    if (waits_) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const bool waits_;
  std::mutex mutex_;
  std::map<std::string, std::pair<std::string, int>> values_;
  int generation_ = 0;
};

}  // namespace zarrive::test
