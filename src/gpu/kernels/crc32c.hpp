// The kernel that compares crc32c checksums, a thread block a range: each lane takes a slice, and what comes after a slice is worked in
// by a multiplication modulo the polynomial.
#pragma once

#include "gpu/kernels/group.hpp"

namespace zarrive::gpu::kernels {

struct ChecksumRange {
  const std::uint8_t* data;
  std::uint64_t size;
  const std::uint8_t* stored;  // the checksum, 4 bytes little-endian; null: `expected` is it
  std::uint32_t expected;
};

struct CheckCrc32c {
  static constexpr std::uint32_t polynomial = 0x82F63B78;  // Castagnoli's; bit 31 is the constant term

  const ChecksumRange* ranges;
  std::uint32_t* statuses;  // one a range
  std::uint64_t units;

  template <class Group>
  ZARRIVE_KERNEL void run(std::uint64_t unit, const Group& group) const {
    const ChecksumRange range = ranges[unit];
    const std::uint64_t slice = (range.size + group.size() - 1) / group.size();
    const std::uint64_t begin = min(slice * group.lane(), range.size);
    const std::uint64_t end = min(begin + slice, range.size);
    // Linear: the sum of a range is that of the slices, each followed by zeros, and of the start value followed by zeros.
    std::uint32_t sum = shifted(remainder(range.data + begin, end - begin), range.size - end);
    if (group.lane() == 0) sum ^= shifted(0xFFFFFFFF, range.size);
    sum = ~group.exclusive_or(sum);
    if (group.lane() != 0) return;
    const std::uint32_t expected = range.stored ? load<std::uint32_t>(range.stored) : range.expected;
    statuses[unit] = sum == expected ? status_ok : status_corrupt;
  }

 private:
  ZARRIVE_KERNEL static std::uint64_t min(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

  ZARRIVE_KERNEL static std::uint32_t times_x(std::uint32_t value) {
    return value >> 1 ^ ((value & 1) != 0 ? polynomial : 0);
  }

  ZARRIVE_KERNEL static std::uint32_t remainder(const std::uint8_t* data, std::uint64_t size) {
    std::uint32_t value = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      value ^= data[i];
      for (unsigned bit = 0; bit < 8; ++bit) value = times_x(value);
    }
    return value;
  }

  ZARRIVE_KERNEL static std::uint32_t product(std::uint32_t a, std::uint32_t b) {
    std::uint32_t result = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((a << bit & 0x80000000) != 0) result ^= b;
      b = times_x(b);
    }
    return result;
  }

  // As if `bytes` zeros followed.
  ZARRIVE_KERNEL static std::uint32_t shifted(std::uint32_t value, std::uint64_t bytes) {
    std::uint32_t power = 0x00800000;  // x^8
    for (; bytes != 0; bytes >>= 1) {
      if ((bytes & 1) != 0) value = product(value, power);
      power = product(power, power);
    }
    return value;
  }
};

}  // namespace zarrive::gpu::kernels
