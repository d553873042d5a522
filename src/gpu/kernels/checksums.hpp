// The kernel that compares checksums, a thread block a range: each lane takes a slice, and what comes after a slice is worked in at once,
// by a multiplication modulo the polynomial (CRC), or by so many times the sum of its bytes (Adler-32).
#pragma once

#include "gpu/kernels/group.hpp"

namespace zarrive::gpu::kernels {

enum class ChecksumKind : std::uint8_t {
  crc32c,  // the codec of that name
  crc32,   // of gzip
  adler32  // of zlib
};

struct ChecksumRange {
  const std::uint8_t* data;
  std::uint64_t size;
  const std::uint8_t* stored;  // the checksum, 4 bytes little-endian; null: `expected` is it
  std::uint32_t expected;
  ChecksumKind kind;
};

struct CheckSums {
  // Bit 31 is the constant term.
  static constexpr std::uint32_t castagnoli = 0x82F63B78;
  static constexpr std::uint32_t ethernet = 0xEDB88320;
  static constexpr std::uint64_t adler_modulus = 65521;

  const ChecksumRange* ranges;
  std::uint32_t* statuses;  // one a range
  std::uint64_t units;

  template <class Group>
  ZARRIVE_KERNEL void run(std::uint64_t unit, const Group& group) const {
    const ChecksumRange range = ranges[unit];
    const std::uint64_t length = (range.size + group.size() - 1) / group.size();
    const std::uint64_t begin = min(length * group.lane(), range.size);
    const Slice slice{range.data + begin, min(length, range.size - begin), range.size};
    const std::uint64_t after = range.size - begin - slice.size;
    const std::uint32_t sum = range.kind == ChecksumKind::adler32 ? adler(slice, after, group)
                              : range.kind == ChecksumKind::crc32 ? crc<ethernet>(slice, after, group)
                                                                  : crc<castagnoli>(slice, after, group);
    if (group.lane() != 0) return;
    const std::uint32_t expected = range.stored ? load<std::uint32_t>(range.stored) : range.expected;
    statuses[unit] = sum == expected ? status_ok : status_corrupt;
  }

 private:
  struct Slice {
    const std::uint8_t* data;
    std::uint64_t size;
    std::uint64_t of;  // bytes of the whole range
  };

  ZARRIVE_KERNEL static std::uint64_t min(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

  // Linear: the sum of a range is that of the slices, each followed by zeros, and of the start value followed by zeros.
  template <std::uint32_t polynomial, class Group>
  ZARRIVE_KERNEL static std::uint32_t crc(const Slice& slice, std::uint64_t after, const Group& group) {
    std::uint32_t sum = 0;
    for (std::uint64_t i = 0; i < slice.size; ++i) {
      sum ^= slice.data[i];
      for (unsigned bit = 0; bit < 8; ++bit) sum = times_x<polynomial>(sum);
    }
    sum = shifted<polynomial>(sum, after);
    if (group.lane() == 0) sum ^= shifted<polynomial>(0xFFFFFFFF, slice.of);
    return ~group.exclusive_or(sum);
  }

  template <std::uint32_t polynomial>
  ZARRIVE_KERNEL static std::uint32_t times_x(std::uint32_t value) {
    return value >> 1 ^ ((value & 1) != 0 ? polynomial : 0);
  }

  template <std::uint32_t polynomial>
  ZARRIVE_KERNEL static std::uint32_t product(std::uint32_t a, std::uint32_t b) {
    std::uint32_t result = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((a << bit & 0x80000000) != 0) result ^= b;
      b = times_x<polynomial>(b);
    }
    return result;
  }

  // As if `bytes` zeros followed.
  template <std::uint32_t polynomial>
  ZARRIVE_KERNEL static std::uint32_t shifted(std::uint32_t value, std::uint64_t bytes) {
    std::uint32_t power = 0x00800000;  // x^8
    for (; bytes != 0; bytes >>= 1) {
      if ((bytes & 1) != 0) value = product<polynomial>(value, power);
      power = product<polynomial>(power, power);
    }
    return value;
  }

  // The low half is 1 and the sum of all bytes, the high half the sum of what the low half was after each. (RFC 1950.)
  template <class Group>
  ZARRIVE_KERNEL static std::uint32_t adler(const Slice& slice, std::uint64_t after, const Group& group) {
    std::uint64_t low = 0, high = 0;
    for (std::uint64_t i = 0; i < slice.size;) {
      // So few that 32 bits would do, too.
      const std::uint64_t stop = min(i + 4096, slice.size);
      for (; i < stop; ++i) {
        low += slice.data[i];
        high += low;
      }
      low %= adler_modulus;
      high %= adler_modulus;
    }
    high = (high + low * (after % adler_modulus)) % adler_modulus;
    const std::uint64_t sums = group.broadcast(group.inclusive_sum(high << 32 | low), group.size() - 1);
    low = (1 + (sums & 0xFFFFFFFF)) % adler_modulus;
    high = (slice.of + (sums >> 32)) % adler_modulus;
    return static_cast<std::uint32_t>(high << 16 | low);
  }
};

}  // namespace zarrive::gpu::kernels
