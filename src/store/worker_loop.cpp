#include "store/worker_loop.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "zarrive/error.hpp"
#include "zarrive/executor.hpp"

namespace zarrive::store {
namespace {

struct Shared {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> workers{0};  // that have not left
  std::atomic<std::uint64_t> in_flight{0};
  std::atomic<std::uint64_t> largest{0};
  std::atomic<bool> failed{false};
};

class Held final : public HeldBytes {
 public:
  Held(Shared& shared, std::uint64_t bytes) : shared_(shared), bytes_(bytes) { shared_.in_flight += bytes; }
  ~Held() override { shared_.in_flight -= bytes_; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void now(std::uint64_t bytes) override {
    shared_.in_flight += bytes - bytes_;
    bytes_ = bytes;
    std::uint64_t largest = shared_.largest.load();
    while (largest < bytes && !shared_.largest.compare_exchange_weak(largest, bytes)) {
    }
  }

 private:
  Shared& shared_;
  std::uint64_t bytes_;
};

// True when this worker may leave: another one stays.
bool leave(Shared& shared) {
  std::size_t workers = shared.workers.load();
  while (workers > 1)
    if (shared.workers.compare_exchange_weak(workers, workers - 1)) return true;
  return false;
}

}  // namespace

void run_workers(std::size_t items, const WorkerLimits& limits,
                 const std::function<std::uint64_t(std::size_t)>& estimate,
                 const std::function<void(std::size_t item, HeldBytes& held)>& body) {
  if (items == 0) return;
  Shared shared;
  auto expected = [&](std::size_t item) {
    const std::uint64_t bytes = estimate(item);
    return bytes != 0 ? bytes : shared.largest.load();
  };
  auto work = [&](std::size_t) {
    try {
      while (!shared.failed) {
        const std::size_t peek = shared.next;
        if (peek >= items || limits.stop.stop_requested()) return;
        if (limits.max_bytes != 0) {
          const std::uint64_t in_flight = shared.in_flight;
          const std::uint64_t room = limits.max_bytes - std::min(limits.max_bytes, in_flight);
          if (in_flight > 0 && expected(peek) > room && leave(shared)) return;
        }
        const std::size_t item = shared.next.fetch_add(1);
        if (item >= items) return;
        Held held(shared, expected(item));
        body(item, held);
      }
    } catch (...) {
      shared.failed = true;
      throw;
    }
  };
  std::size_t workers = limits.max_concurrency;
  if (items == 1) workers = 1;
  if (workers == 0) workers = Executor::global().compute_threads();
  workers = std::max<std::size_t>(1, std::min(workers, items));
  shared.workers = workers;
  if (workers == 1) {
    work(0);
  } else {
    Executor::global().parallel_for(workers, work, {.max_concurrency = workers, .stop = {}});
  }
  if (shared.next < items)
    throw Error(ErrorCode::cancelled, "the batch was stopped after " + std::to_string(shared.next) + " of " +
                                          std::to_string(items) + " requests");
}

}  // namespace zarrive::store
