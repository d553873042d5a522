// How decoded bytes lie in memory before they are unshuffled.
//
// Bytes are shuffled block by block. Of a block of n whole elements of `width` bytes and a rest, byte b of element i stands at b * n + i
// when bytes are shuffled; when bits are, bit k of that byte is bit i % 8 of byte (8 * b + k) * n / 8 + i / 8, and only if n is a
// multiple of 8. The rest is as it was, as is a block without whole elements. (c-blosc, shuffle.c and bitshuffle.)
#pragma once

#include "gpu/kernels/portable.hpp"

namespace zarrive::gpu::kernels {

enum class Shuffle : std::uint8_t { none, bytes, bits };

struct Layout {
  std::uint64_t size;  // decoded bytes; below 2^32 when they are shuffled
  std::uint32_t
      block_size;       // block b begins at b * block_size; the last may be shorter. Not zero when shuffled.
  std::uint32_t width;  // bytes of a shuffled element, not zero when shuffled
  Shuffle shuffle;
};

// The block that holds a byte.
struct LayoutBlock {
  const std::uint8_t* data;
  std::uint32_t at;        // the byte's place in it, were it not shuffled
  std::uint32_t elements;  // whole ones
  bool shuffled;           // is the byte

  ZARRIVE_KERNEL LayoutBlock(const Layout& layout, const std::uint8_t* decoded, std::uint32_t position) {
    const std::uint32_t begin = position / layout.block_size * layout.block_size;
    const std::uint32_t left = static_cast<std::uint32_t>(layout.size) - begin;
    data = decoded + begin;
    at = position - begin;
    elements = (left < layout.block_size ? left : layout.block_size) / layout.width;
    shuffled = at < elements * layout.width && (layout.shuffle == Shuffle::bytes || elements % 8 == 0);
  }

  // Byte b of element i.
  ZARRIVE_KERNEL std::uint32_t byte(Shuffle shuffle, std::uint32_t b, std::uint32_t i) const {
    if (shuffle == Shuffle::bytes) return data[b * elements + i];
    const std::uint32_t row = elements / 8;
    const std::uint8_t* plane = data + b * 8 * row + i / 8;
    std::uint32_t value = 0;
    for (unsigned k = 0; k < 8; ++k, plane += row) value |= (*plane >> (i % 8) & 1U) << k;
    return value;
  }
};

// The `size` (1, 2, 4 or 8) decoded bytes from `position` on, as a little-endian number. `straight`: they lie within one shuffled
// element, or all outside.
ZARRIVE_KERNEL inline std::uint64_t load_decoded(const Layout& layout, const std::uint8_t* decoded,
                                                 std::int64_t position, unsigned size, bool straight) {
  if (layout.shuffle == Shuffle::none) return load_bits(decoded + position, size);
  const auto first = static_cast<std::uint32_t>(position);
  std::uint64_t bits = 0;
  if (straight) {
    const LayoutBlock block(layout, decoded, first);
    if (!block.shuffled) return load_bits(block.data + block.at, size);
    const std::uint32_t i = block.at / layout.width;
    const std::uint32_t b = block.at - i * layout.width;
    for (unsigned k = 0; k < size; ++k)
      bits |= std::uint64_t{block.byte(layout.shuffle, b + k, i)} << (8 * k);
    return bits;
  }
  for (unsigned k = 0; k < size; ++k) {
    const LayoutBlock block(layout, decoded, first + k);
    const std::uint32_t i = block.at / layout.width;
    const std::uint32_t byte =
        block.shuffled ? block.byte(layout.shuffle, block.at - i * layout.width, i) : block.data[block.at];
    bits |= std::uint64_t{byte} << (8 * k);
  }
  return bits;
}

}  // namespace zarrive::gpu::kernels
