// The container of Blosc 1: where the compressed streams of a value lie and what becomes of them. Parsing only; every offset and
// size is checked against the bytes that are there, so that whoever decodes (host or device) may trust a BloscBlock.
//
// A value is a header of 16 bytes (all numbers little-endian):
//   u8 format version (2), u8 version of the compressor's format, u8 flags, u8 width of an element,
//   u32 decoded bytes, u32 decoded bytes of a block, u32 encoded bytes, of the whole value.
// Flags: 0x01 bytes shuffled, 0x02 stored (the decoded bytes follow the header, not shuffled), 0x04 bits shuffled, 0x08 reserved,
// 0x10 blocks are not split, bits 5 to 7 the compressor's format.
// Unless it is stored, a table of u32 block starts follows, counted from the start of the value, in any order and with any gaps.
// A block is one stream, or as many as an element has bytes: when 0x10 is clear, elements have at most 16 bytes, the block at least
// 128 elements, and it is not a last block that is shorter than the others. A stream is an i32 size and so many bytes; when that is
// the stream's decoded size, they are stored. Shuffling is by block, before it is split.
// (c-blosc, README_CHUNK_FORMAT.rst; where that and the library differ, as about what starts count from, the library.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "zarrive/store.hpp"

namespace zarrive {

enum class BloscFormat : std::uint8_t { blosclz = 0, lz4 = 1, snappy = 2, zlib = 3, zstd = 4 };
enum class BloscShuffle : std::uint8_t { none, bytes, bits };

struct BloscHeader {
  static constexpr std::size_t kSize = 16;

  BloscFormat format = BloscFormat::blosclz;  // meaningless when stored
  std::uint8_t format_version = 0;            // of the compressor's format
  BloscShuffle shuffle = BloscShuffle::none;  // as the flags say; bits when they say both
  bool stored = false;
  bool split = false;  // may blocks be split
  std::uint32_t width = 1;
  std::uint32_t decoded_size = 0;
  std::uint32_t block_size = 0;  // decoded
  std::uint32_t encoded_size = 0;

  // From a value's first bytes, at least kSize of them. Error(corrupt_chunk) unless it can be true of a value of `encoded_size` bytes.
  static BloscHeader parse(std::span<const std::byte> first, std::uint64_t encoded_size);

  // Stored values and those of no bytes have no blocks and no table.
  std::uint32_t block_count() const noexcept;
  std::uint32_t block_length(std::uint32_t block) const noexcept;  // decoded bytes of this block
  std::uint32_t stream_count(std::uint32_t block) const noexcept;
  // Where the first block may start: behind the header and the table.
  std::uint64_t data_begin() const noexcept { return kSize + 4 * std::uint64_t{block_count()}; }
  // How this block's bytes are really shuffled: bits only when its whole elements come in eights, nothing when there is nothing to do.
  BloscShuffle block_shuffle(std::uint32_t block) const noexcept;
};

// Bytes [offset, offset + encoded) of the value decode to `decoded` bytes; they are stored when both sizes are equal.
struct BloscStream {
  std::uint32_t offset = 0;
  std::uint32_t encoded = 0;
  std::uint32_t decoded = 0;
  bool stored() const noexcept { return encoded == decoded; }
};

// A block's streams; their decoded bytes, one after another, are the block (shuffled as block_shuffle says).
struct BloscBlock {
  static constexpr std::size_t kMaxStreams = 16;
  std::array<BloscStream, kMaxStreams> streams = {};
  std::uint32_t count = 0;
};

// A header with its table.
class BloscFrame {
 public:
  // From the value's first data_begin() bytes or more. Error(corrupt_chunk) when a block starts where none can.
  static BloscFrame parse(std::span<const std::byte> first, std::uint64_t encoded_size);
  static BloscFrame parse(const BloscHeader& header, std::span<const std::byte> first);

  const BloscHeader& header() const noexcept { return header_; }

  // Bytes of the value that hold this block: from its start to that of the next in the order they lie in.
  ByteRange block_range(std::uint32_t block) const;
  // The streams of a block. `bytes` are those of the value from `offset` on: the whole value and 0, or what block_range said.
  // Error(corrupt_chunk) when a stream does not lie in them.
  BloscBlock block(std::uint32_t block, std::span<const std::byte> bytes, std::uint64_t offset = 0) const;

 private:
  BloscHeader header_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> sorted_;  // the same in the order they lie in, when it is another
};

}  // namespace zarrive
