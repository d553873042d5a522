// A store before another one that fails where a test says so.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/store.hpp"

namespace zarrive::test {

// `fault(operation, key)` throws to make that operation fail ("get", "set", "erase"), or returns.
class FaultStore final : public StoreWrapper {
 public:
  using Fault = std::function<void(std::string_view operation, const std::string& key)>;
  FaultStore(std::shared_ptr<Store> base, Fault fault)
      : StoreWrapper(std::move(base)), fault_(std::move(fault)) {}

 protected:
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override {
    std::vector<GetRequest> passed;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      try {
        fault_("get", batch[i].key);
        passed.push_back(batch[i]);
        places.push_back(i);
      } catch (...) {
        GetResult result;
        result.status = GetStatus::error;
        result.error = std::current_exception();
        sink(i, std::move(result));
      }
    }
    if (!passed.empty())
      StoreWrapper::do_get(
          passed, [&](std::size_t k, GetResult&& result) { sink(places[k], std::move(result)); }, options);
  }
  GetResult do_get_one(const GetRequest& request) override {
    fault_("get", request.key);
    return StoreWrapper::do_get_one(request);
  }
  // One by one, so that what stands before the failing key is written.
  void do_set(std::span<const SetRequest> batch, const SetOptions& options) override {
    for (const SetRequest& request : batch) {
      fault_("set", request.key);
      StoreWrapper::do_set(std::span<const SetRequest>(&request, 1), options);
    }
  }
  bool do_set_if_absent(const std::string& key, const Buffer& value) override {
    fault_("set", key);
    return StoreWrapper::do_set_if_absent(key, value);
  }
  void do_erase(std::span<const std::string> keys) override {
    for (const std::string& key : keys) fault_("erase", key);
    StoreWrapper::do_erase(keys);
  }

 private:
  Fault fault_;
};

}  // namespace zarrive::test
