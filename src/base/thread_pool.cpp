#include "base/thread_pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <system_error>

namespace zarrive::detail {
namespace {

std::atomic<std::uint64_t> generation{0};

// Registered when the library is loaded: before any thread of ours can exist.
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });

// Threads inherit the mask: signals are for the threads of the program, not for ours.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::uint64_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

ThreadPool::ThreadPool(std::size_t max_threads, const char* name)
    : max_threads_(max_threads),
      name_(name),
      generation_(fork_generation()),
      state_(std::make_unique<State>()) {}

ThreadPool::~ThreadPool() {
  if (!usable()) {
    static_cast<void>(state_.release());  // its threads and locks are not ours to end
    return;
  }
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  for (std::thread& t : state_->threads) t.join();
}

std::size_t ThreadPool::started_threads() const {
  std::lock_guard lock(state_->mutex);
  return state_->threads.size();
}

void ThreadPool::start_threads(State& state) {
  while (!state.stopping && state.threads.size() < max_threads_ &&
         state.idle < state.tasks.size() + state.wanted) {
    try {
      SignalsBlocked blocked;
      state.threads.emplace_back([this, &state] {
        pthread_setname_np(pthread_self(), name_);
        work(state);
      });
      ++state.idle;  // until it begins work
    } catch (const std::system_error&) {
      return;  // no thread to be had; those that run, or the caller, do the work
    }
  }
}

void ThreadPool::submit(std::function<void()> task) {
  if (usable()) {
    std::unique_lock lock(state_->mutex);
    state_->tasks.push_back(std::move(task));
    start_threads(*state_);
    if (!state_->threads.empty()) {
      lock.unlock();
      state_->wake.notify_one();
      return;
    }
    task = std::move(state_->tasks.back());
    state_->tasks.pop_back();
  }
  task();
}

ThreadPool::Ticket::Ticket(ThreadPool& pool, std::shared_ptr<Job> job, std::size_t helpers)
    : pool_(pool), job_(std::move(job)), wanted_(pool.usable() ? helpers : 0) {
  if (wanted_ == 0) return;
  {
    std::lock_guard lock(pool_.state_->mutex);
    place_ = pool_.state_->tickets.insert(pool_.state_->tickets.end(), this);
    pool_.state_->wanted += wanted_;
    pool_.start_threads(*pool_.state_);
  }
  if (helpers == 1) pool_.state_->wake.notify_one();
  else pool_.state_->wake.notify_all();
}

void ThreadPool::Ticket::withdraw() noexcept {
  if (!job_) return;
  if (pool_.usable()) {
    std::lock_guard lock(pool_.state_->mutex);
    if (wanted_ > 0) pool_.state_->tickets.erase(place_);
    pool_.state_->wanted -= wanted_;
    wanted_ = 0;
  }
  job_.reset();
}

void ThreadPool::work(State& state) noexcept {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.wake.wait(lock, [&] { return state.wanted > 0 || !state.tasks.empty() || state.stopping; });
    --state.idle;
    // Jobs first, the newest of them: somebody waits for it, and it is the innermost.
    if (state.wanted > 0) {
      Ticket& ticket = *state.tickets.back();
      std::shared_ptr<Job> job = ticket.job_;
      --state.wanted;
      if (--ticket.wanted_ == 0) state.tickets.pop_back();
      lock.unlock();
      job->help();
    } else if (!state.tasks.empty()) {
      const std::function<void()> task = std::move(state.tasks.front());
      state.tasks.pop_front();
      lock.unlock();
      task();
    } else {
      return;
    }
    if (!usable()) return;  // the work forked, and this is the child
    lock.lock();
    ++state.idle;
  }
}

}  // namespace zarrive::detail
