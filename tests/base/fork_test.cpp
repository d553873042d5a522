// What a forked child finds. Not run under TSan, which does not follow threads into a forked child.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/sanitizers.hpp"
#include "base/thread_pool.hpp"
#include "zarrive/executor.hpp"

namespace zarrive {
namespace {

#if ZARRIVE_TSAN
#define SKIP_UNDER_TSAN() GTEST_SKIP() << "TSan lets no thread start in a forked child"
#else
#define SKIP_UNDER_TSAN() static_cast<void>(0)
#endif

// For tests whose parent allocates while it forks.
#if ZARRIVE_ASAN || ZARRIVE_TSAN
#define SKIP_UNDER_SANITIZERS() \
  GTEST_SKIP() << "the sanitizer's allocator does not give its locks to a forked child (before LLVM 18)"
#else
#define SKIP_UNDER_SANITIZERS() static_cast<void>(0)
#endif

#if defined(ZARRIVE_COVERAGE)
extern "C" void __gcov_dump();
#endif

// Ends a child at once, with its coverage written in such a build.
[[noreturn]] void leave(bool good) {
#if defined(ZARRIVE_COVERAGE)
  __gcov_dump();
#endif
  _exit(good ? 0 : 1);
}

// Runs f in a forked child; true when it returned true within 20 seconds.
template <class F>
bool in_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    leave(f());
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool works(Executor& executor) {
  std::atomic<int> count{0};
  executor.parallel_for(100, [&](std::size_t) { ++count; });
  std::atomic<bool> task{false}, io{false};
  executor.submit_compute([&] { task = true; });
  executor.submit_io([&] { io = true; });
  while (!task || !io) std::this_thread::yield();
  return count == 100;
}

TEST(Fork, TheChildGetsAFreshExecutorWhileTheParentIsBusy) {
  SKIP_UNDER_SANITIZERS();
  Executor& parent = Executor::global();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) parent.parallel_for(50, [](std::size_t) {});
  });
  std::thread submitting([&] {
    while (!stop) {
      std::atomic<bool> done{false};
      parent.submit_compute([&] { done = true; });
      while (!done) std::this_thread::yield();
    }
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(in_child([&] {
      return &Executor::global() != &parent && works(Executor::global()) &&
             &Executor::global() == &Executor::global();
    }));
  stop = true;
  busy.join();
  submitting.join();
  EXPECT_EQ(&Executor::global(), &parent);
  EXPECT_TRUE(works(parent));
}

TEST(Fork, AnInheritedExecutorWorksOnTheCallingThread) {
  SKIP_UNDER_TSAN();
  auto executor = std::make_unique<Executor>(ExecutorOptions{.compute_threads = 3});
  EXPECT_TRUE(works(*executor));
  EXPECT_TRUE(in_child([&] {
    const bool good = works(*executor);
    executor.reset();  // must not wait for threads that are not there
    return good;
  }));
}

TEST(Fork, AnItemMayFork) {
  SKIP_UNDER_SANITIZERS();
  Executor executor({.compute_threads = 3});
  std::atomic<int> good{0};
  const pid_t parent = getpid();
  executor.parallel_for(4, [&](std::size_t) { good += in_child([&] { return works(Executor::global()); }); });
  EXPECT_EQ(good, 4);
  // A child that returns from the item, on the caller's thread, finishes the loop alone.
  executor.parallel_for(2, [&](std::size_t) {}, {});
  const auto self = std::this_thread::get_id();
  std::atomic<bool> forked{false};
  pid_t child = -1;
  executor.parallel_for(100, [&](std::size_t) {
    if (std::this_thread::get_id() != self || forked.exchange(true)) return;
    child = fork();
    if (child == 0) alarm(20);
  });
  if (getpid() != parent) leave(works(Executor::global()));
  if (child > 0) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

TEST(Fork, WithoutThreadsTheCallerDoesTheWork) {
  SKIP_UNDER_TSAN();
  EXPECT_TRUE(in_child([] {
    Executor executor({.compute_threads = 3});
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 50);  // there is no room for such a stack
    if (pthread_setattr_default_np(&attributes) != 0) return false;
    const bool good = works(executor);
    detail::ThreadPool pool(4, "test");
    int ran = 0;
    pool.submit([&] { ++ran; });
    return good && ran == 1 && pool.started_threads() == 0;
  }));
}

TEST(Fork, ExitDoesNotWaitForIdleThreads) {
  SKIP_UNDER_TSAN();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    works(Executor::global());
    exit(0);  // runs static destructors, with the pool's threads there
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace zarrive
