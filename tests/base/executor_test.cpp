#include "zarrive/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "base/thread_pool.hpp"
#include "support/errors.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

using testing::code_of;
using namespace std::chrono_literals;

TEST(Executor, EachItemRunsOnce) {
  Executor executor({.compute_threads = 4});
  EXPECT_EQ(executor.compute_threads(), 4u);
  EXPECT_EQ(executor.io_threads(), 32u);
  for (std::size_t n : {0u, 1u, 2u, 3u, 4u, 5u, 1000u, 20000u}) {
    std::vector<int> counts(n, 0);
    executor.parallel_for(n, [&](std::size_t i) { ++counts[i]; });
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), static_cast<std::ptrdiff_t>(n));
  }
}

TEST(Executor, WorkIsSharedBetweenThreads) {
  Executor executor({.compute_threads = 4});
  std::mutex mutex;
  std::condition_variable all;
  std::set<std::thread::id> seen;
  // Each item waits until four threads have one: only real parallelism ends this.
  executor.parallel_for(4, [&](std::size_t) {
    std::unique_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
    all.notify_all();
    EXPECT_TRUE(all.wait_for(lock, 20s, [&] { return seen.size() == 4; }));
  });
  EXPECT_TRUE(seen.contains(std::this_thread::get_id()));
}

TEST(Executor, ConcurrencyIsBounded) {
  Executor executor({.compute_threads = 4});
  for (std::size_t bound : {1u, 2u, 3u}) {
    std::atomic<int> now{0}, most{0};
    executor.parallel_for(60,
                          [&](std::size_t) {
                            const int mine = ++now;
                            int seen = most;
                            while (seen < mine && !most.compare_exchange_weak(seen, mine)) {
                            }
                            std::this_thread::sleep_for(1ms);
                            --now;
                          },
                          {.max_concurrency = bound});
    EXPECT_LE(most, static_cast<int>(bound));
  }
  std::set<std::thread::id> seen;
  executor.parallel_for(10, [&](std::size_t) { seen.insert(std::this_thread::get_id()); },
                        {.max_concurrency = 1});
  EXPECT_EQ(seen, (std::set{std::this_thread::get_id()}));
}

TEST(Executor, OneThreadNeedsNoOther) {
  Executor executor({.compute_threads = 1});
  const auto self = std::this_thread::get_id();
  executor.parallel_for(10, [&](std::size_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST(Executor, TheFirstExceptionStopsTheRest) {
  Executor executor({.compute_threads = 3});
  for (int round = 0; round < 50; ++round) {
    std::atomic<std::size_t> ran{0};
    EXPECT_EQ(code_of([&] {
                executor.parallel_for(1000000, [&](std::size_t i) {
                  if (i == 5) throw Error(ErrorCode::corrupt_chunk, "chunk 5");
                  ++ran;
                });
              }),
              ErrorCode::corrupt_chunk);
    EXPECT_LT(ran, 1000000u);
  }
  EXPECT_THROW(
      executor.parallel_for(10, [](std::size_t) { throw std::runtime_error("other types pass too"); }),
      std::runtime_error);
  EXPECT_THROW(executor.parallel_for(1, [](std::size_t) { throw 7; }), int);
  int after = 0;
  executor.parallel_for(1, [&](std::size_t) { ++after; });
  EXPECT_EQ(after, 1);
}

TEST(Executor, StopEndsTheLoop) {
  Executor executor({.compute_threads = 3});
  std::stop_source stop;
  std::atomic<int> ran{0};
  EXPECT_EQ(code_of([&] {
              executor.parallel_for(1000000,
                                    [&](std::size_t) {
                                      if (++ran == 10) stop.request_stop();
                                    },
                                    {.stop = stop.get_token()});
            }),
            ErrorCode::cancelled);
  EXPECT_LT(ran, 1000);
  ran = 0;
  EXPECT_EQ(
      code_of([&] { executor.parallel_for(5, [&](std::size_t) { ++ran; }, {.stop = stop.get_token()}); }),
      ErrorCode::cancelled);
  EXPECT_EQ(ran, 0);
  executor.parallel_for(0, [&](std::size_t) { ++ran; }, {.stop = stop.get_token()});
  EXPECT_EQ(ran, 0);
}

TEST(Executor, NestedLoopsTakePartInTheSamePool) {
  for (std::size_t threads : {1u, 2u, 4u}) {
    Executor executor({.compute_threads = threads});
    std::atomic<int> count{0};
    std::mutex mutex;
    std::set<std::thread::id> seen;
    executor.parallel_for(8, [&](std::size_t) {
      executor.parallel_for(8, [&](std::size_t) {
        executor.parallel_for(8, [&](std::size_t) {
          ++count;
          std::lock_guard lock(mutex);
          seen.insert(std::this_thread::get_id());
        });
      });
    });
    EXPECT_EQ(count, 512);
    EXPECT_LE(seen.size(), threads + 1);  // the pool's and the caller
  }
}

TEST(Executor, NestedExceptionsReachTheOutside) {
  Executor executor({.compute_threads = 4});
  for (int round = 0; round < 50; ++round)
    EXPECT_EQ(code_of([&] {
                executor.parallel_for(20, [&](std::size_t i) {
                  executor.parallel_for(20, [&](std::size_t j) {
                    if (i == 7 && j == 7) throw Error(ErrorCode::unavailable, "here");
                  });
                });
              }),
              ErrorCode::unavailable);
}

TEST(Executor, ManyCallersAtOnce) {
  Executor executor({.compute_threads = 3});
  std::vector<std::thread> callers;
  std::atomic<long> sum{0};
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round)
        executor.parallel_for(20, [&](std::size_t i) {
          sum += static_cast<long>(i);
          if (i % 5 == 0) executor.parallel_for(3, [&](std::size_t) { ++sum; });
        });
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(sum, 6 * 100 * (190 + 12));
}

TEST(Executor, SubmittedTasksRun) {
  std::atomic<int> ran{0};
  {
    Executor executor({.compute_threads = 2, .io_threads = 3});
    for (int i = 0; i < 100; ++i) {
      executor.submit_compute([&] { ++ran; });
      executor.submit_io([&] {
        ++ran;
        executor.submit_compute([&] { ++ran; });  // what a finished request does
      });
    }
  }  // the destructor finishes what is queued
  EXPECT_EQ(ran, 300);
}

TEST(Executor, IoThreadsMayWaitAndAreBounded) {
  Executor executor({.compute_threads = 1, .io_threads = 4});
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0, most = 0, done = 0;
  bool open = false;
  for (int i = 0; i < 12; ++i)
    executor.submit_io([&] {
      std::unique_lock lock(mutex);
      most = std::max(most, ++inside);
      changed.notify_all();
      changed.wait(lock, [&] { return open; });
      --inside;
      ++done;
      changed.notify_all();
    });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, 20s, [&] { return inside == 4; }));
  open = true;
  changed.notify_all();
  EXPECT_TRUE(changed.wait_for(lock, 20s, [&] { return done == 12; }));
  EXPECT_EQ(most, 4);
}

TEST(Executor, ComputeTasksMayRunLoops) {
  std::atomic<int> count{0};
  {
    Executor executor({.compute_threads = 2});
    for (int i = 0; i < 20; ++i)
      executor.submit_compute([&] { executor.parallel_for(10, [&](std::size_t) { ++count; }); });
  }
  EXPECT_EQ(count, 200);
}

TEST(Executor, ThreadsStartOnDemandOnly) {
  detail::ThreadPool pool(8, "test");
  EXPECT_EQ(pool.started_threads(), 0u);
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i) {
    pool.submit([&] { ++ran; });
    while (ran != i + 1) std::this_thread::yield();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_LE(pool.started_threads(), 4u);  // one after the other: a task rarely finds the thread not yet idle
  EXPECT_GE(pool.started_threads(), 1u);
}

TEST(Executor, GlobalIsOne) {
  EXPECT_EQ(&Executor::global(), &Executor::global());
  EXPECT_GE(Executor::global().compute_threads(), 1u);
  std::atomic<int> count{0};
  Executor::global().parallel_for(100, [&](std::size_t) { ++count; });
  EXPECT_EQ(count, 100);
}

TEST(Executor, TheEnvironmentSetsTheNumberOfThreads) {
  const char* before = std::getenv("ZARRIVE_NUM_THREADS");
  const std::string kept = before ? before : "";
  setenv("ZARRIVE_NUM_THREADS", "7", 1);
  EXPECT_EQ(Executor().compute_threads(), 7u);
  EXPECT_EQ(Executor({.compute_threads = 2}).compute_threads(), 2u);
  setenv("ZARRIVE_NUM_THREADS", "many", 1);
  EXPECT_EQ(Executor().compute_threads(), cpu_quota());
  unsetenv("ZARRIVE_NUM_THREADS");
  EXPECT_EQ(Executor().compute_threads(), cpu_quota());
  if (before) setenv("ZARRIVE_NUM_THREADS", kept.c_str(), 1);
}

}  // namespace
}  // namespace zarrive
