// Reading many values, each whole or in parts: every round of partial decodes goes to the store as one batch, the whole values with the first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/memo_cache.hpp"
#include "zarrive/codec.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

struct RoundOptions {
  GetOptions get = {};
  std::optional<std::uint64_t> coalesce_gap = {};    // absent: the store's
  std::optional<std::uint64_t> coalesce_limit = {};  // absent: kCoalesceLimit
};
// Ranges are joined up to this many bytes, so that much is never read to save a request, and decoding begins early.
inline constexpr std::uint64_t kCoalesceLimit = 16 << 20;

// One value to read.
struct RoundItem {
  std::string key = {};
  const Context* context = nullptr;
  // Begins a partial decode (`memo` as in PartialRequest); nullptr, or no function: the value is read whole.
  std::function<std::unique_ptr<PartialDecode>(std::shared_ptr<const PartialMemo> memo)> begin = {};
  // The whole value; called from any thread. Its status is found.
  std::function<void(GetResult&& result)> whole = {};
  // Nothing is stored under the key. Gets the partial decode that was begun, if one was.
  std::function<void(PartialDecode* decode)> missing = {};
  // All rounds of the partial decode are over. Called from any thread.
  std::function<void(PartialDecode& decode)> done = {};
};

// Returns when all are done; errors name the store and the key. A value that changes between two rounds (as its generation tells) is begun
// again, so that parts of two states are never mixed; Error(unavailable) when it does not come to rest.
void run_rounds(Store& store, MemoCache& memos, std::vector<RoundItem>& items, const RoundOptions& options);

}  // namespace zarrive
