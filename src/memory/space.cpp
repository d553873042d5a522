// Memory spaces, prototypes, and the allocators of each space.
#include <pthread.h>

#include <charconv>
#include <map>
#include <mutex>

#include "memory/gpu_allocator.hpp"
#include "memory/host_memory.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

// Plain host memory; `minimum` is the least alignment.
class HostAllocator final : public Allocator {
 public:
  explicit HostAllocator(std::size_t minimum) : minimum_(minimum) {}
  std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) override {
    if (alignment != 0 && alignment < minimum_) alignment = minimum_;  // 0 is an error, below
    std::byte* data = detail::host_allocate(size, alignment);
    return {data, [size, alignment](std::byte* p) { detail::host_free(p, size, alignment); }};
  }

 private:
  std::size_t minimum_;
};

struct Registry {
  std::mutex mutex;
  std::map<MemoryKind, std::function<std::shared_ptr<Allocator>(const MemorySpace&)>> makers;
  std::map<std::pair<MemoryKind, int>, std::shared_ptr<Allocator>> made;
};

Registry& registry() {
  // Never destroyed: memory is released while the process exits. Held around fork, so that the child finds it whole.
  static Registry* instance = [] {
    static Registry* made = new Registry;
    pthread_atfork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); }, [] { made->mutex.unlock(); });
    return made;
  }();
  return *instance;
}

// Made while the library is loaded, see pool_allocator.
[[maybe_unused]] const bool made_early = registry().made.empty();

}  // namespace

std::string MemorySpace::name() const {
  switch (kind) {
    case MemoryKind::host: return "host";
    case MemoryKind::pinned: return "pinned";
    case MemoryKind::cuda: return "cuda:" + std::to_string(device);
  }
  return "unknown";
}

MemorySpace MemorySpace::parse(std::string_view name) {
  if (name == "host") return {MemoryKind::host, 0};
  if (name == "pinned") return {MemoryKind::pinned, 0};
  if (name == "cuda") return {MemoryKind::cuda, 0};
  if (name.starts_with("cuda:")) {
    const std::string_view number = name.substr(5);
    int device = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), device);
    if (error == std::errc() && end == number.data() + number.size() && number[0] != '-')
      return {MemoryKind::cuda, device};
  }
  throw Error(ErrorCode::invalid_argument,
              "'" + std::string(name.substr(0, 80)) +
                  "' is no memory space; expected host, pinned, cuda or cuda:<number>");
}

Prototype host() { return {}; }
Prototype pinned() { return {{MemoryKind::pinned, 0}, nullptr}; }
Prototype cuda(int device) { return {{MemoryKind::cuda, device}, nullptr}; }

std::shared_ptr<Allocator> default_allocator(const MemorySpace& space) {
  Registry& r = registry();
  std::unique_lock lock(r.mutex);
  const std::pair key{space.kind, space.device};
  if (const auto found = r.made.find(key); found != r.made.end()) return found->second;
  std::shared_ptr<Allocator> allocator;
  const auto maker = r.makers.find(space.kind);
  const auto make = maker != r.makers.end() ? maker->second : nullptr;
  lock.unlock();  // the maker may ask for the allocators of other spaces
  if (make) allocator = make(space);
  else if (space.kind != MemoryKind::host) allocator = detail::gpu_allocator(space);
  lock.lock();
  if (!allocator && space.kind != MemoryKind::cuda) {
    allocator = std::make_shared<HostAllocator>(space.kind == MemoryKind::pinned ? detail::page_size : 1);
  }
  if (!allocator)
    throw Error(ErrorCode::unsupported, "there is no allocator for memory space " + space.name() +
                                            ": what was registered for it gave none");
  return r.made.try_emplace(key, std::move(allocator)).first->second;  // the first of two threads wins
}

void register_allocator(MemoryKind kind, std::function<std::shared_ptr<Allocator>(const MemorySpace&)> make) {
  Registry& r = registry();
  std::lock_guard guard(r.mutex);
  if (make) r.makers[kind] = std::move(make);
  else r.makers.erase(kind);
  std::erase_if(r.made, [&](const auto& entry) { return entry.first.first == kind; });
}

}  // namespace zarrive
