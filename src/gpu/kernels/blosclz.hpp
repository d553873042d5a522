// One blosclz stream by a group of lanes (the format of FastLZ, with far matches), as in lz4.hpp.
//
// A stream is a row of instructions. A first byte below 32 (of the very first, the low five bits): that many literals and one more
// follow. Else a match: its high three bits are the length less 2, 7 means that bytes follow which add to it; its low five bits and the
// next byte are the distance less 1. When those 13 bits are all ones, two more bytes, the high one first, are the distance less 8192.
// (c-blosc, blosclz.c.)
#pragma once

#include "gpu/kernels/copy.hpp"

namespace zarrive::gpu::kernels {

// False unless the stream decodes to exactly `out_size` bytes.
template <class Group>
ZARRIVE_KERNEL inline bool decode_blosclz(const Group& group, const std::uint8_t* in, std::uint32_t in_size,
                                          std::uint8_t* out, std::uint32_t out_size) {
  constexpr std::uint32_t goes_on = 7;
  constexpr std::uint32_t near_distances = 8191;
  std::uint32_t at = 0;
  std::uint32_t done = 0;
  while (at < in_size) {
    const std::uint32_t first = at == 0 ? in[at] & 31U : in[at];
    ++at;
    if (first < 32) {
      const std::uint32_t literals = first + 1;
      if (literals > in_size - at || literals > out_size - done) return false;
      copy_bytes(group, out + done, in + at, literals);
      at += literals;
      done += literals;
      continue;
    }
    std::uint64_t length = first >> 5;
    if (length == goes_on && !read_length(group, in, in_size, at, length)) return false;
    length += 2;
    if (at >= in_size) return false;
    std::uint32_t distance = ((first & 31U) << 8 | in[at++]);
    if (distance == near_distances) {
      if (in_size - at < 2) return false;
      distance += static_cast<std::uint32_t>(in[at]) << 8 | in[at + 1];
      at += 2;
    }
    ++distance;
    if (distance > done || length > out_size - done) return false;
    group.sync();  // what the match repeats has been written by all lanes
    copy_match(group, out + done, distance, static_cast<std::uint32_t>(length));
    done += static_cast<std::uint32_t>(length);
  }
  return done == out_size;
}

}  // namespace zarrive::gpu::kernels
