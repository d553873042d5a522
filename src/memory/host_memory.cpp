#include "memory/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "zarrive/memory.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace zarrive {
namespace detail {
namespace {

// Length of the mapping for a large block. A tail shorter than a huge page would fall back to small pages; it is rounded up where that
// wastes little.
std::size_t mapped_length(std::size_t size) {
  const std::size_t huge = (size + huge_page_size - 1) / huge_page_size * huge_page_size;
  if (huge - size <= size / 8) return huge;
  return (size + page_size - 1) / page_size * page_size;
}

[[noreturn]] void out_of_memory(std::size_t size) {
  throw Error(ErrorCode::resource_limit, "cannot allocate " + std::to_string(size) + " bytes of host memory");
}

// More than the machine has can never be filled; the kernel would promise it and kill the process later.
std::size_t machine_memory() {
  static const std::size_t bytes = [] {
    const long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? static_cast<std::size_t>(pages) * page_size
                     : std::numeric_limits<std::size_t>::max() >> 2;
  }();
  return bytes;
}

std::byte* map_huge(std::size_t size, std::size_t alignment) {
  const std::size_t length = mapped_length(size);
  const std::size_t reserved = length + alignment;  // both are below 2^62
  void* raw =
      mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) out_of_memory(size);
  auto* first = static_cast<std::byte*>(raw);
  const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(first) % alignment) % alignment;
  if (before) munmap(first, before);
  if (alignment > before) munmap(first + before + length, alignment - before);
  // Fresh 4 KiB pages fill at 0.5 GB/s on the machines measured, fresh huge ones at 15 GB/s. Only a hint: may fail.
  madvise(first + before, length, MADV_HUGEPAGE);
  return first + before;
}

}  // namespace

std::byte* host_allocate(std::size_t size, std::size_t alignment) {
  if (!std::has_single_bit(alignment))
    throw Error(ErrorCode::invalid_argument,
                "an alignment of " + std::to_string(alignment) + " is no power of two");
  if (size > machine_memory() || alignment > (std::size_t{1} << 40)) out_of_memory(size);
  if (size >= huge_page_size) return map_huge(size, std::max(alignment, huge_page_size));
  void* data = nullptr;
  if (posix_memalign(&data, std::max(alignment, sizeof(void*)), std::max<std::size_t>(size, 1)) != 0)
    out_of_memory(size);
  return static_cast<std::byte*>(data);
}

void host_free(std::byte* data, std::size_t size, std::size_t) noexcept {
  if (size >= huge_page_size) munmap(data, mapped_length(size));
  else std::free(data);
}

}  // namespace detail

void populate(std::byte* data, std::size_t size) noexcept {
  using detail::huge_page_size, detail::page_size;
  if (!data || size < page_size) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(data), end = begin + size;
  // The hint covers only huge pages that lie wholly inside: what is around belongs to somebody else.
  const std::uintptr_t huge_begin = (begin + huge_page_size - 1) / huge_page_size * huge_page_size;
  const std::uintptr_t huge_end = end / huge_page_size * huge_page_size;
  if (huge_begin < huge_end)
    madvise(reinterpret_cast<void*>(huge_begin), huge_end - huge_begin, MADV_HUGEPAGE);
  // For 64 MiB of present 4 KiB pages, asking takes 0.06 ms and populating 10 ms: only batches with a page missing are populated.
  constexpr std::size_t batch = 4096 * page_size;
  const std::uintptr_t last = (end + page_size - 1) / page_size * page_size;
  for (std::uintptr_t p = begin / page_size * page_size; p < last; p += batch) {
    const std::size_t length = std::min<std::size_t>(batch, last - p);
    unsigned char present[4096];
    if (mincore(reinterpret_cast<void*>(p), length, present) == 0 &&
        std::all_of(present, present + length / page_size, [](unsigned char flags) { return flags & 1; }))
      continue;
    if (madvise(reinterpret_cast<void*>(p), length, MADV_POPULATE_WRITE) == 0 || errno != EINVAL) continue;
    // An older kernel: touch each page, atomically so that a write by another thread is never undone.
    for (std::uintptr_t at = std::max(p, begin); at < std::min(p + length, end);
         at = at / page_size * page_size + page_size)
      __atomic_fetch_or(reinterpret_cast<unsigned char*>(at), 0, __ATOMIC_RELAXED);
  }
}

}  // namespace zarrive
