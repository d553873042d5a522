#include "zarrive/context.hpp"

#include <algorithm>

namespace zarrive {

namespace {

std::vector<std::string> sorted(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

ConstantMap::ConstantMap(std::span<const std::string> keys, Context constant)
    : keys_(sorted({keys.begin(), keys.end()})), constant_(std::move(constant)) {}

ConstantMap::ConstantMap(std::initializer_list<std::string> keys, Context constant)
    : keys_(sorted(keys)), constant_(std::move(constant)) {}

const Context* ConstantMap::find(std::string_view key) const {
  return std::binary_search(keys_.begin(), keys_.end(), key, std::less<>()) ? &constant_ : nullptr;
}

const Context* MapOfContexts::find(std::string_view key) const {
  const auto found = contexts_.find(key);
  return found == contexts_.end() ? nullptr : &found->second;
}

}  // namespace zarrive
