#include "memory/pool.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace zarrive {
namespace {

using detail::PoolAllocator;
constexpr std::size_t mebi = std::size_t{1} << 20;

TEST(Pool, SizeClassesAreTightAndMonotone) {
  EXPECT_EQ(PoolAllocator::class_size(0), 256u);
  EXPECT_EQ(PoolAllocator::class_size(256), 256u);
  EXPECT_EQ(PoolAllocator::class_size(257), 384u);
  EXPECT_EQ(PoolAllocator::class_size(384), 384u);
  EXPECT_EQ(PoolAllocator::class_size(385), 512u);
  EXPECT_EQ(PoolAllocator::class_size(3 * mebi), 3 * mebi);
  EXPECT_EQ(PoolAllocator::class_size(3 * mebi + 1), 4 * mebi);
  std::size_t before = 0;
  for (std::size_t size = 1; size < 300000; ++size) {
    const std::size_t c = PoolAllocator::class_size(size);
    ASSERT_GE(c, size);
    ASSERT_GE(c, before);
    ASSERT_TRUE(size <= 256 || c < size + size / 2) << size;
    before = c;
  }
}

TEST(Pool, BlocksAreReused) {
  PoolAllocator pool(mebi);
  auto block = pool.allocate(1000, 64);
  std::byte* where = block.get();
  EXPECT_EQ(pool.idle_bytes(), 0u);
  block.reset();
  EXPECT_EQ(pool.idle_bytes(), 1024u);
  EXPECT_EQ(pool.allocate(900, 64).get(), where);
  EXPECT_NE(pool.allocate(100, 64).get(), where);
  pool.trim();
  EXPECT_EQ(pool.idle_bytes(), 0u);
}

TEST(Pool, IdleBytesAreBounded) {
  PoolAllocator pool(8 * mebi);
  std::vector<std::shared_ptr<std::byte>> out;
  for (int i = 0; i < 20; ++i) out.push_back(pool.allocate(mebi, 64));
  out.clear();
  EXPECT_EQ(pool.idle_bytes(), 8 * mebi);
  pool.allocate(9 * mebi, 64).reset();  // larger than all that may be kept
  EXPECT_EQ(pool.idle_bytes(), 8 * mebi);
}

TEST(Pool, WhatIsInUseNowDisplacesWhatIsNot) {
  PoolAllocator pool(8 * mebi);
  std::vector<std::shared_ptr<std::byte>> out;
  for (int i = 0; i < 8; ++i) out.push_back(pool.allocate(mebi, 64));
  out.clear();
  for (int i = 0; i < 2; ++i) out.push_back(pool.allocate(3 * mebi, 64));
  std::byte* where = out[1].get();
  out.clear();
  EXPECT_LE(pool.idle_bytes(), 8 * mebi);
  EXPECT_GE(pool.idle_bytes(), 6 * mebi);
  bool found = false;
  for (int i = 0; i < 2; ++i) {
    out.push_back(pool.allocate(3 * mebi, 64));
    found = found || out.back().get() == where;
  }
  EXPECT_TRUE(found);
}

TEST(Pool, AlignmentAndOddRequests) {
  PoolAllocator pool(64 * mebi);
  for (std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{300}, std::size_t{5000}, mebi, 3 * mebi, 5 * mebi + 1})
    for (std::size_t alignment : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, 2 * mebi, 4 * mebi})
      for (int round = 0; round < 2; ++round) {
        auto block = pool.allocate(size, alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % alignment, 0u);
        std::memset(block.get(), 1, size);
      }
  try {
    pool.allocate(100, 3);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  }
  try {
    pool.allocate(static_cast<std::size_t>(-1), 64);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::resource_limit);
  }
}

TEST(Pool, BlocksMayOutliveThePool) {
  std::shared_ptr<std::byte> block;
  {
    PoolAllocator pool(mebi);
    block = pool.allocate(1000, 64);
    pool.allocate(5000, 64).reset();
  }
  std::memset(block.get(), 1, 1000);
}

TEST(Pool, ManyThreadsNeverShareABlock) {
  PoolAllocator pool(16 * mebi);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::pair<std::shared_ptr<std::byte>, std::size_t>> held;
      for (int i = 0; i < 3000; ++i) {
        const std::size_t size = 1 + (std::size_t{1} << random() % 19) + random() % 100;
        auto block = pool.allocate(size, 64);
        std::memset(block.get(), t, std::min<std::size_t>(size, 512));
        block.get()[size - 1] = static_cast<std::byte>(t);
        held.emplace_back(std::move(block), size);
        if (held.size() > 8) {
          const std::size_t victim = random() % held.size();
          wrong += held[victim].first.get()[0] != static_cast<std::byte>(t) ||
                   held[victim].first.get()[held[victim].second - 1] != static_cast<std::byte>(t);
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(victim));
        }
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(pool.idle_bytes(), 16 * mebi);
  pool.trim();
  EXPECT_EQ(pool.idle_bytes(), 0u);
}

TEST(Pool, AForkedChildCanAllocateWhileAParentThreadIsInThePool) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) pool_allocator()->allocate(1000, 64);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      pool_allocator()->allocate(1000, 64);
      pool_allocator()->allocate(100000, 64);
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
  EXPECT_EQ(pool_allocator(), pool_allocator());
}

}  // namespace
}  // namespace zarrive
