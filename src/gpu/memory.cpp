#include "gpu/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "memory/gpu_allocator.hpp"
#include "memory/host_memory.hpp"

namespace zarrive::gpu {

namespace {

constexpr std::size_t device_alignment = 256;
constexpr std::size_t smallest_slab = detail::huge_page_size;

class DeviceAllocator final : public Allocator {
 public:
  explicit DeviceAllocator(const Device& device) : device_(device) {}

  std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) override {
    if (!std::has_single_bit(alignment) || alignment > device_alignment)
      throw Error(ErrorCode::invalid_argument,
                  "memory of " + device_.name() + " is aligned to powers of two up to " +
                      std::to_string(device_alignment) + "; found " + std::to_string(alignment));
    const ContextScope scope(device_);
    CudaAddress address = 0;
    check(device_.driver(), device_.driver().memory_allocate(&address, std::max<std::size_t>(size, 1)),
          "allocating " + std::to_string(size) + " bytes on " + device_.name());
    return {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address)),
            [&device = device_, address](std::byte*) {
              if (const ContextScope scope(device, std::nothrow); scope) device.driver().memory_free(address);
            }};
  }

 private:
  const Device& device_;
};

// Slabs of powers of two, idle ones by size.
class PinnedSlabs {
 public:
  static PinnedSlabs& all() {
    static PinnedSlabs* const slabs = new PinnedSlabs;  // never destroyed, see the header
    return *slabs;
  }

  std::byte* take(std::size_t size) {
    const Device& device = Device::get(0);  // portable: as good for every other. Refuses in a forked child
    {
      std::lock_guard lock(mutex_);
      if (std::vector<std::byte*>& idle = idle_[size]; !idle.empty()) {
        std::byte* const slab = idle.back();
        idle.pop_back();
        return slab;
      }
    }
    const ContextScope scope(device);
    void* data = nullptr;
    check(device.driver(), device.driver().host_allocate(&data, size, cuda_host_alloc_portable),
          "pinning " + std::to_string(size) + " bytes");
    return static_cast<std::byte*>(data);
  }

  void give_back(std::byte* slab, std::size_t size) noexcept {
    if (!driver_lives()) return;  // a forked child: the lock may be held for ever
    std::lock_guard lock(mutex_);
    idle_[size].push_back(slab);
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> idle_;
};

class PinnedAllocator final : public Allocator {
 public:
  std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) override {
    if (!std::has_single_bit(alignment) || alignment > detail::page_size)
      throw Error(ErrorCode::invalid_argument, "pinned memory is aligned to powers of two up to " +
                                                   std::to_string(detail::page_size) + "; found " +
                                                   std::to_string(alignment));
    if (size > (std::size_t{1} << 62))
      throw Error(ErrorCode::resource_limit, "no memory of such a size can be pinned");
    const std::size_t slab = std::bit_ceil(std::max(size, smallest_slab));
    return {PinnedSlabs::all().take(slab),
            [slab](std::byte* data) { PinnedSlabs::all().give_back(data, slab); }};
  }
};

}  // namespace

std::shared_ptr<Allocator> device_allocator(const MemorySpace& space) {
  if (const DriverStatus& status = driver_status(); !status.driver)
    throw Error(ErrorCode::unsupported, "there is no memory space " + space.name() + ": " + status.reason);
  return std::make_shared<DeviceAllocator>(Device::get(space.device));
}

std::shared_ptr<Allocator> pinned_allocator(const MemorySpace&) {
  if (!driver_status().driver) return nullptr;
  return std::make_shared<PinnedAllocator>();
}

}  // namespace zarrive::gpu

std::shared_ptr<zarrive::Allocator> zarrive::detail::gpu_allocator(const MemorySpace& space) {
  return space.kind == MemoryKind::cuda ? gpu::device_allocator(space) : gpu::pinned_allocator(space);
}
