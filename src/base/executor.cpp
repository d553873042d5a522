#include "zarrive/executor.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "base/cpu_quota.hpp"
#include "base/thread_pool.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

// One parallel_for: items are handed out one at a time from a counter.
class Loop final : public detail::Job {
 public:
  Loop(std::size_t n, const std::function<void(std::size_t)>& body, const std::stop_token& stop)
      : n_(n), body_(body), stop_(stop) {}

  // On the calling thread.
  void work() noexcept {
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= n_) return;
      try {
        if (stop_.stop_requested())
          throw Error(ErrorCode::cancelled,
                      "stopped before item " + std::to_string(i) + " of " + std::to_string(n_));
        body_(i);
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        failed_ = true;
      }
    }
  }

  // On a helper. `body_` is only touched between the two counts of `active_`, for which the caller waits.
  void help() noexcept override {
    {
      std::lock_guard lock(mutex_);
      if (closed_) return;
      ++active_;
    }
    work();
    std::lock_guard lock(mutex_);
    if (--active_ == 0) idle_.notify_all();
  }

  // On the calling thread, after work(): waits for the helpers' last items and throws what went wrong.
  void finish(bool alone) {
    if (!alone) {
      std::unique_lock lock(mutex_);
      closed_ = true;
      idle_.wait(lock, [&] { return active_ == 0; });
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  const std::size_t n_;
  const std::function<void(std::size_t)>& body_;
  const std::stop_token& stop_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t active_ = 0;
  bool closed_ = false;
  std::exception_ptr error_;
};

std::size_t chosen_threads(std::size_t asked) {
  if (asked != 0) return asked;
  const auto overridden = detail::parse_thread_count(std::getenv("ZARRIVE_NUM_THREADS"));
  return overridden ? *overridden : cpu_quota();
}

struct Global {
  std::uint64_t generation;
  Global* parent;  // of the process that forked us: not ours to end, and no leak
  Executor executor;
};
std::atomic<Global*> current{nullptr};

}  // namespace

struct Executor::State {
  detail::ThreadPool compute;
  detail::ThreadPool io;
};

Executor::Executor(const ExecutorOptions& options)
    : state_(new State{{chosen_threads(options.compute_threads), "zarrive-cpu"},
                       {options.io_threads ? options.io_threads : 32, "zarrive-io"}}) {}

// I/O first: its last tasks may still hand work to the compute threads.
Executor::~Executor() = default;

Executor& Executor::global() {
  // No lock: a fork while another thread held it would block the child. The first to publish wins; the loser has no threads yet.
  Global* seen = current.load(std::memory_order_acquire);
  while (!seen || seen->generation != detail::fork_generation()) {
    auto made = std::unique_ptr<Global>(new Global{detail::fork_generation(), seen, Executor()});
    if (current.compare_exchange_strong(seen, made.get(), std::memory_order_acq_rel)) seen = made.release();
  }
  return seen->executor;
}

std::size_t Executor::compute_threads() const noexcept { return state_->compute.max_threads(); }
std::size_t Executor::io_threads() const noexcept { return state_->io.max_threads(); }

void Executor::parallel_for(std::size_t n, const std::function<void(std::size_t)>& body,
                            const ParallelOptions& options) {
  const std::size_t most = compute_threads();
  const std::size_t concurrency =
      std::min({n, most, options.max_concurrency ? options.max_concurrency : most});
  const auto loop = std::make_shared<Loop>(n, body, options.stop);
  if (concurrency <= 1) {
    loop->work();
    return loop->finish(true);
  }
  detail::ThreadPool::Ticket ticket(state_->compute, loop, concurrency - 1);
  loop->work();
  ticket.withdraw();
  loop->finish(!state_->compute.usable());  // in a child that an item forked, the helpers are gone
}

void Executor::submit_io(std::function<void()> task) { state_->io.submit(std::move(task)); }
void Executor::submit_compute(std::function<void()> task) { state_->compute.submit(std::move(task)); }

}  // namespace zarrive
