// A batch whose requests keep a processor busy (local files, memory): workers on compute threads and the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

namespace zarrive::store {

struct WorkerLimits {
  std::size_t max_concurrency = 0;  // 0: all compute threads
  std::uint64_t max_bytes = 0;      // 0: no bound
  std::stop_token stop = {};
};

// Bytes that one item holds while it is worked on, told by the worker as it learns of them.
class HeldBytes {
 public:
  virtual ~HeldBytes() = default;
  virtual void now(std::uint64_t bytes) = 0;
};

// Calls body(item, held) for each item in [0, items). `estimate` gives the bytes an item will hold (0: unknown, the largest seen is
// taken). A worker that finds no room for its next item leaves and the others go on, one at least: nothing waits, so nothing
// can deadlock, and the bytes in flight settle below the bound. The first exception stops the rest and is thrown; a stop is Error(cancelled).
void run_workers(std::size_t items, const WorkerLimits& limits,
                 const std::function<std::uint64_t(std::size_t)>& estimate,
                 const std::function<void(std::size_t item, HeldBytes& held)>& body);

}  // namespace zarrive::store
