// The kernel that undoes delta: each element becomes the sum of all up to it, a thread block an array. Integers wrap; of bool the sum is
// the exclusive or. Floats are not for it: their sums depend on the order.
#pragma once

#include "gpu/kernels/group.hpp"

namespace zarrive::gpu::kernels {

struct Delta {
  std::uint8_t* data;  // dense, in place
  std::uint64_t count;
  std::uint32_t width;  // 1, 2, 4 or 8
  bool boolean;         // of one byte
};

struct SumDeltas {
  const Delta* deltas;
  std::uint64_t units;

  template <class Group>
  ZARRIVE_KERNEL void run(std::uint64_t unit, const Group& group) const {
    const Delta delta = deltas[unit];
    std::uint64_t before = 0;
    for (std::uint64_t begin = 0; begin < delta.count; begin += group.size()) {
      const std::uint64_t i = begin + group.lane();
      std::uint8_t* const at = delta.data + i * delta.width;
      std::uint64_t value = i < delta.count ? load_bits(at, delta.width) : 0;
      if (delta.boolean) value = value != 0 ? 1 : 0;
      const std::uint64_t sum = before + group.inclusive_sum(value);
      // The first stays what it is.
      if (i < delta.count && i > 0) store_bits(at, delta.width, delta.boolean ? sum & 1 : sum);
      before = group.broadcast(sum, group.size() - 1);
    }
  }
};

}  // namespace zarrive::gpu::kernels
