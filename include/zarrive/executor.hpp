// One executor for the process: a compute pool sized to the machine, and I/O threads for stores that wait. No thread exists before the
// first parallel work. After fork, the child's global() is a fresh executor; one that was made before does all work on the calling
// thread there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>

#include "zarrive/export.hpp"

namespace zarrive {

struct ExecutorOptions {
  std::size_t compute_threads = 0;  // 0: ZARRIVE_NUM_THREADS (1 to 4096), else cpu_quota()
  std::size_t io_threads = 0;       // 0: 32; threads for stores whose requests wait (not for local files)
};

struct ParallelOptions {
  std::size_t max_concurrency = 0;  // 0: all compute threads. 1: everything on the calling thread
  std::stop_token stop = {};        // checked before each item; then Error(cancelled)
};

class ZARRIVE_API Executor {
 public:
  explicit Executor(const ExecutorOptions& options = {});
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The executor of this process, made on first use, never destroyed; after fork the child gets its own.
  static Executor& global();

  std::size_t compute_threads() const noexcept;
  std::size_t io_threads() const noexcept;

  // Calls body(i) for i in [0, n), each once, on compute threads and the calling thread, in no order, and returns when all
  // are done. The first exception stops handing out further items and is thrown here. Called from within a
  // compute task it takes part in the same pool: no nested pools, no deadlock.
  void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body,
                    const ParallelOptions& options = {});

  // Runs task on an I/O thread, where it may wait. The caller bounds how many are out. Exceptions must not leave it.
  void submit_io(std::function<void()> task);
  // Runs task on a compute thread, where it must not wait for another task. Exceptions must not leave it (std::terminate).
  // Where the system gives no thread at all, a submitted task runs on the calling thread.
  void submit_compute(std::function<void()> task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// CPUs this process may use: the smaller of affinity mask and cgroup quota (v1 and v2), at least 1.
ZARRIVE_API std::size_t cpu_quota();

}  // namespace zarrive
