#include "memory/pool.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <bit>
#include <mutex>

#include "base/sanitizers.hpp"
#include "memory/host_memory.hpp"

#if ZARRIVE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, size) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(data, size) static_cast<void>(0)
#endif

namespace zarrive {
namespace detail {
namespace {

constexpr std::size_t smallest = 256;
constexpr std::size_t class_count = 2 * (40 - 8);  // 256 bytes to 2^39 * 1.5
constexpr std::size_t lock_count = 16;

// Class 2k holds blocks of 256 * 2^k, class 2k + 1 of 1.5 times that.
// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): class_of gives no class above class_count
std::size_t size_of_class(std::size_t c) { return (c % 2 ? smallest + smallest / 2 : smallest) << (c / 2); }

std::size_t class_of(std::size_t size) {
  if (size <= smallest) return 0;
  const auto k =
      static_cast<std::size_t>(std::bit_width((size - 1) / smallest));  // 256 * 2^(k-1) < size <= 256 * 2^k
  const std::size_t middle = 2 * k - 1;
  return size <= size_of_class(middle) ? middle : 2 * k;
}

// What every block of a class is aligned to.
std::size_t alignment_of_class(std::size_t c) {
  const std::size_t size = size_of_class(c);
  return size >= huge_page_size ? huge_page_size : size >= page_size ? page_size : 64;
}

}  // namespace

struct PoolAllocator::Core {
  struct Class {
    std::vector<std::byte*> idle;
    std::uint64_t last_used = 0;
  };
  const std::size_t max_kept;
  std::array<Class, class_count> classes;
  std::array<std::mutex, lock_count>
      locks;  // classes share them by turns; few enough to hold all around a fork
  std::atomic<std::size_t> kept{0};
  std::atomic<std::uint64_t> clock{0};

  explicit Core(std::size_t max) : max_kept(max) {}
  ~Core() { trim(); }

  std::mutex& lock_of(std::size_t c) { return locks[c % lock_count]; }

  std::byte* take(std::size_t c) noexcept {
    std::lock_guard guard(lock_of(c));
    classes[c].last_used = ++clock;
    return pop(c);
  }

  std::byte* pop(std::size_t c) noexcept {
    if (classes[c].idle.empty()) return nullptr;
    std::byte* block = classes[c].idle.back();
    classes[c].idle.pop_back();
    kept -= size_of_class(c);
    ASAN_UNPOISON_MEMORY_REGION(block, size_of_class(c));
    return block;
  }

  void give_back(std::byte* block, std::size_t c) noexcept {
    const std::size_t size = size_of_class(c);
    if (!reserve(c) || !push(block, c)) host_free(block, size, alignment_of_class(c));
  }

  // Counts one more block of the class as kept, after making room; false when there is no room to make.
  bool reserve(std::size_t c) noexcept {
    const std::size_t size = size_of_class(c);
    if (size > max_kept) return false;
    for (std::size_t now = kept;;) {
      if (now <= max_kept - size) {
        if (kept.compare_exchange_weak(now, now + size)) return true;
      } else {
        if (!evict(c)) return false;
        now = kept;
      }
    }
  }

  bool push(std::byte* block, std::size_t c) noexcept {
    std::lock_guard guard(lock_of(c));
    try {
      classes[c].idle.push_back(block);
    } catch (const std::bad_alloc&) {
      kept -= size_of_class(c);
      return false;
    }
    ASAN_POISON_MEMORY_REGION(block, size_of_class(c));
    return true;
  }

  // Frees one idle block of the class, other than `own`, that was used the longest ago.
  bool evict(std::size_t own) noexcept {
    std::size_t oldest = class_count;
    std::uint64_t when = 0;
    for (std::size_t c = 0; c < class_count; ++c) {
      if (c == own) continue;
      std::lock_guard guard(lock_of(c));
      if (!classes[c].idle.empty() && (oldest == class_count || classes[c].last_used < when)) {
        oldest = c;
        when = classes[c].last_used;
      }
    }
    if (oldest == class_count) return false;
    std::byte* block = nullptr;
    {
      std::lock_guard guard(lock_of(oldest));
      block = pop(oldest);
    }
    if (block) host_free(block, size_of_class(oldest), alignment_of_class(oldest));
    return true;
  }

  void trim() noexcept {
    for (std::size_t c = 0; c < class_count; ++c) {
      std::lock_guard guard(lock_of(c));
      while (std::byte* block = pop(c)) host_free(block, size_of_class(c), alignment_of_class(c));
    }
  }
};

PoolAllocator::PoolAllocator(std::size_t max_kept) : core_(std::make_shared<Core>(max_kept)) {}
PoolAllocator::~PoolAllocator() = default;

std::size_t PoolAllocator::class_size(std::size_t size) noexcept { return size_of_class(class_of(size)); }
std::size_t PoolAllocator::idle_bytes() const noexcept { return core_->kept; }
void PoolAllocator::trim() noexcept { core_->trim(); }
void PoolAllocator::lock_all() noexcept {
  for (std::mutex& m : core_->locks) m.lock();
}
void PoolAllocator::unlock_all() noexcept {
  for (std::mutex& m : core_->locks) m.unlock();
}

std::shared_ptr<std::byte> PoolAllocator::allocate(std::size_t size, std::size_t alignment) {
  const std::size_t c = size <= size_of_class(class_count - 1) ? class_of(size) : class_count;
  if (c == class_count || alignment > alignment_of_class(c) || !std::has_single_bit(alignment)) {
    std::byte* data = host_allocate(size, alignment);
    return {data, [size, alignment](std::byte* p) { host_free(p, size, alignment); }};
  }
  std::byte* data = core_->take(c);
  if (!data) data = host_allocate(size_of_class(c), alignment_of_class(c));
  return {data, [core = core_, c](std::byte* p) { core->give_back(p, c); }};
}

}  // namespace detail

std::shared_ptr<Allocator> pool_allocator() {
  // 256 MiB: the default bound on bytes in flight, so that a read in full swing finds all its blocks again. Never destroyed: blocks
  // may be released while the process exits.
  static auto* pool = new std::shared_ptr<detail::PoolAllocator>([] {
    auto made = std::make_shared<detail::PoolAllocator>(std::size_t{256} << 20);
    static detail::PoolAllocator* raw = made.get();
    pthread_atfork([] { raw->lock_all(); }, [] { raw->unlock_all(); }, [] { raw->unlock_all(); });
    return made;
  }());
  return *pool;
}

namespace {

// Made while the library is loaded. Were it made at the first use, a process that forks while another thread is there would leave the child
// waiting for that thread.
[[maybe_unused]] const bool made_early = pool_allocator() != nullptr;

}  // namespace

}  // namespace zarrive
