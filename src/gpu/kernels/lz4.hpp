// One raw LZ4 block by a group of lanes: all of them read the same token, each copies its share of what it stands for.
//
// A block is a row of sequences: a token (high half: length of literals, low half: length of the match less 4; 15 means that bytes
// follow which add to it), literals, a match's distance of 2 bytes. The last sequence ends after its literals. (LZ4 block format
// description.) Nothing outside [in, in + in_size) is read, nothing outside [out, out + out_size) is touched, whatever the input.
#pragma once

#include "gpu/kernels/copy.hpp"

namespace zarrive::gpu::kernels {

// False unless the block decodes to exactly `out_size` bytes.
template <class Group>
ZARRIVE_KERNEL inline bool decode_lz4(const Group& group, const std::uint8_t* in, std::uint32_t in_size,
                                      std::uint8_t* out, std::uint32_t out_size) {
  constexpr std::uint32_t goes_on = 15;
  constexpr std::uint32_t least_match = 4;
  std::uint32_t at = 0;
  std::uint32_t done = 0;
  while (at < in_size) {
    const std::uint32_t token = in[at++];
    std::uint64_t literals = token >> 4;
    if (literals == goes_on && !read_length(group, in, in_size, at, literals)) return false;
    if (literals > in_size - at || literals > out_size - done) return false;
    copy_bytes(group, out + done, in + at, static_cast<std::uint32_t>(literals));
    at += static_cast<std::uint32_t>(literals);
    done += static_cast<std::uint32_t>(literals);
    if (at == in_size) return done == out_size;

    if (in_size - at < 2) return false;
    const std::uint32_t distance = in[at] | static_cast<std::uint32_t>(in[at + 1]) << 8;
    at += 2;
    if (distance == 0 || distance > done) return false;
    std::uint64_t length = token & 15;
    if (length == goes_on && !read_length(group, in, in_size, at, length)) return false;
    length += least_match;
    if (length > out_size - done) return false;
    group.sync();  // what the match repeats has been written by all lanes
    copy_match(group, out + done, distance, static_cast<std::uint32_t>(length));
    done += static_cast<std::uint32_t>(length);
  }
  return false;  // no last literals
}

}  // namespace zarrive::gpu::kernels
