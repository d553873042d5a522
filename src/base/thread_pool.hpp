// Threads that take work from one queue; they start when there is work that no idle thread can take, and stay.
//
// Work is of two kinds. A *task* is a function, run once. A *job* is a loop that its caller works on and wants helpers for: it
// stands in the list while helpers are wanted, and its caller takes it out before it returns, so nothing stale is ever queued.
// A caller waits only for helpers that have begun an item, never for queued work; hence nested jobs cannot deadlock, however few
// threads there are.
//
// After fork the child has none of these threads, and locks may be in any state. Each pool remembers the fork generation that it was
// made in; in a later one it takes no lock and does the work on the calling thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace zarrive::detail {

// How many forks lie between the start of the first process and this one.
std::uint64_t fork_generation() noexcept;

class Job {
 public:
  virtual ~Job() = default;
  virtual void help() noexcept = 0;  // works until there is nothing left to hand out
};

class ThreadPool {
 public:
  ThreadPool(std::size_t max_threads, const char* name);
  ~ThreadPool();  // finishes the queued tasks; in a forked child lets go of everything
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t max_threads() const noexcept { return max_threads_; }
  bool usable() const noexcept { return generation_ == fork_generation(); }

  void submit(std::function<void()> task);

  // Asks for `helpers` threads to call job->help(). After withdraw no further thread will.
  class Ticket {
   public:
    Ticket(ThreadPool& pool, std::shared_ptr<Job> job, std::size_t helpers);
    ~Ticket() { withdraw(); }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    void withdraw() noexcept;

   private:
    friend class ThreadPool;
    ThreadPool& pool_;
    std::shared_ptr<Job> job_;
    std::size_t wanted_;
    std::list<Ticket*>::iterator place_;  // in pool_.state_->tickets while wanted_ > 0
  };

  std::size_t started_threads() const;

 private:
  struct State {
    mutable std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> tasks;
    std::list<Ticket*> tickets;
    std::size_t wanted = 0;  // helpers, over all tickets
    std::size_t idle = 0;
    bool stopping = false;
    std::vector<std::thread> threads;
  };

  void start_threads(State& state);  // with the lock held
  void work(State& state) noexcept;

  const std::size_t max_threads_;
  const char* const name_;
  const std::uint64_t generation_;
  std::unique_ptr<State> state_;
};

}  // namespace zarrive::detail
