// Blocks that are kept when released and handed out again.
//
// Sizes are rounded up to classes: powers of two and 1.5 times those, from 256 bytes, so a block is at most half again as large as
// asked for. Each class keeps its idle blocks on a stack (the warmest first). When keeping a block would exceed the bound, blocks
// of the classes that have gone unused the longest make room.
#pragma once

#include <cstdint>
#include <memory>

#include "zarrive/memory.hpp"

namespace zarrive::detail {

class PoolAllocator final : public Allocator {
 public:
  explicit PoolAllocator(std::size_t max_kept);
  ~PoolAllocator() override;
  std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) override;

  std::size_t idle_bytes() const noexcept;  // at most max_kept
  void trim() noexcept;                     // gives all idle blocks back

  // Held around fork, so that the child finds the pool whole.
  void lock_all() noexcept;
  void unlock_all() noexcept;

  static std::size_t class_size(std::size_t size) noexcept;  // what a request is rounded up to

 private:
  struct Core;
  std::shared_ptr<Core> core_;  // blocks that are out keep it alive
};

}  // namespace zarrive::detail
