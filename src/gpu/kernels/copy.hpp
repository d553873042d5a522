// Copies by a group of lanes.
#pragma once

#include "gpu/kernels/group.hpp"

namespace zarrive::gpu::kernels {

// Memory that does not overlap. Whoever reads the target afterwards calls sync() first.
template <class Group>
ZARRIVE_KERNEL inline void copy_bytes(const Group& group, std::uint8_t* to, const std::uint8_t* from,
                                      std::uint32_t size) {
  constexpr std::uint32_t word = 8;
  std::uint32_t done = 0;
  const std::uintptr_t misalignment = reinterpret_cast<std::uintptr_t>(to) % word;
  if (size >= 4 * word && reinterpret_cast<std::uintptr_t>(from) % word == misalignment) {
    const std::uint32_t head = misalignment == 0 ? 0 : word - static_cast<std::uint32_t>(misalignment);
    const std::uint32_t words = (size - head) / word;
    for (std::uint32_t i = group.lane(); i < head; i += group.size()) to[i] = from[i];
    for (std::uint32_t i = group.lane(); i < words; i += group.size())
      store(to + head + std::size_t{i} * word, load<std::uint64_t>(from + head + std::size_t{i} * word));
    done = head + words * word;
  }
  for (std::uint32_t i = done + group.lane(); i < size; i += group.size()) to[i] = from[i];
}

// `length` bytes at `to` become those `distance` before them, as if byte by byte: with a distance below the length they repeat. Each
// comes from the `distance` bytes before `to`, which are all there, so that no lane waits for another.
template <class Group>
ZARRIVE_KERNEL inline void copy_match(const Group& group, std::uint8_t* to, std::uint32_t distance,
                                      std::uint32_t length) {
  const std::uint8_t* const from = to - distance;
  if (distance >= length) {
    for (std::uint32_t i = group.lane(); i < length; i += group.size()) to[i] = from[i];
    return;
  }
  const std::uint32_t step = group.size() % distance;
  std::uint32_t phase = group.lane() % distance;  // i % distance
  for (std::uint32_t i = group.lane(); i < length; i += group.size()) {
    to[i] = from[phase];
    phase += step;
    if (phase >= distance) phase -= distance;
  }
}

// A length as LZ4 and blosclz go on with it: bytes of 255 and one that is less, added to `length`. False when the input ends in it.
// `at` is the place in the input, behind it afterwards.
template <class Group>
ZARRIVE_KERNEL inline bool read_length(const Group& group, const std::uint8_t* in, std::uint32_t in_size,
                                       std::uint32_t& at, std::uint64_t& length) {
  for (;;) {
    if (at >= in_size) return false;
    const std::uint32_t left = in_size - at;
    const std::uint32_t byte = group.lane() < left ? in[at + group.lane()] : 0;
    const std::uint32_t ends = group.ballot(byte != 255);
    if (ends != 0) {
      const std::uint32_t first = lowest_bit(ends);
      if (first >= left) return false;
      length += 255 * std::uint64_t{first} + group.broadcast(byte, first);
      at += first + 1;
      return true;
    }
    length += 255 * std::uint64_t{group.size()};
    at += group.size();
  }
}

}  // namespace zarrive::gpu::kernels
