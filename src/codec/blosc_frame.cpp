#include "codec/blosc_frame.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;
using bytes_to_bytes::load_le32;

constexpr unsigned kFormatVersion = 2;
constexpr unsigned kShuffled = 0x01, kStored = 0x02, kBitShuffled = 0x04, kReserved = 0x08, kNotSplit = 0x10;
constexpr unsigned kLastFormat = 4;
// A block that is split has at least so many elements, of at most so many bytes.
constexpr std::uint32_t kMinSplitElements = 128;
constexpr std::uint32_t kMaxSplitWidth = BloscBlock::kMaxStreams;

std::string text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

BloscHeader BloscHeader::parse(std::span<const std::byte> first, std::uint64_t encoded_size) {
  if (encoded_size < kSize || first.size() < kSize)
    corrupt("the Blosc value has " + text(std::min<std::uint64_t>(encoded_size, first.size())) +
            " bytes, fewer than its header of " + text(kSize));
  const unsigned version = std::to_integer<unsigned>(first[0]);
  if (version != kFormatVersion)
    corrupt("the value begins with Blosc format version " + text(version) + ", expected " +
            text(kFormatVersion));
  BloscHeader header;
  const unsigned flags = std::to_integer<unsigned>(first[2]);
  header.format_version = std::to_integer<std::uint8_t>(first[1]);
  header.width = std::to_integer<std::uint8_t>(first[3]);
  header.decoded_size = load_le32(first.data() + 4);
  header.block_size = load_le32(first.data() + 8);
  header.encoded_size = load_le32(first.data() + 12);
  header.stored = (flags & kStored) != 0;
  header.split = (flags & kNotSplit) == 0;
  header.shuffle = (flags & kShuffled) != 0      ? BloscShuffle::bytes
                   : (flags & kBitShuffled) != 0 ? BloscShuffle::bits
                                                 : BloscShuffle::none;
  if (header.encoded_size != encoded_size)
    corrupt("the Blosc header states " + text(header.encoded_size) + " encoded bytes, the value has " +
            text(encoded_size));
  // The format's numbers are signed.
  constexpr std::uint32_t kMaxSize = std::numeric_limits<std::int32_t>::max();
  if (header.encoded_size > kMaxSize)
    corrupt("the Blosc header states " + text(header.encoded_size) +
            " encoded bytes, more than the format's " + text(kMaxSize));
  if (header.decoded_size > kMaxSize - kSize ||
      (header.decoded_size != 0 && (header.block_size == 0 || header.block_size > header.decoded_size)))
    corrupt("the Blosc header states " + text(header.decoded_size) + " decoded bytes in blocks of " +
            text(header.block_size));
  if (header.decoded_size != 0 && header.width == 0) corrupt("the Blosc header states elements of 0 bytes");
  if ((flags & kReserved) != 0 || (flags & (kShuffled | kBitShuffled)) == (kShuffled | kBitShuffled))
    corrupt("the Blosc header has flags " + text(flags) +
            ", which format version 2 does not know: the reserved one, or both shuffles at once");
  if (header.stored) {
    if (header.decoded_size != header.encoded_size - kSize)
      corrupt("the Blosc header states " + text(header.decoded_size) +
              " bytes stored as they are, the value holds " + text(header.encoded_size - kSize));
    return header;
  }
  const unsigned format = flags >> 5;
  if (format > kLastFormat)
    corrupt("the Blosc header names compressor format " + text(format) + ", known are 0 to " +
            text(kLastFormat));
  header.format = static_cast<BloscFormat>(format);
  if (header.data_begin() > encoded_size)
    corrupt("the Blosc header states " + text(header.block_count()) +
            " blocks, whose table does not fit in " + text(encoded_size) + " encoded bytes");
  return header;
}

std::uint32_t BloscHeader::block_count() const noexcept {
  if (stored || decoded_size == 0) return 0;
  return (decoded_size - 1) / block_size + 1;
}

std::uint32_t BloscHeader::block_length(std::uint32_t block) const noexcept {
  const std::uint64_t begin = std::uint64_t{block} * block_size;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(block_size, decoded_size - begin));
}

std::uint32_t BloscHeader::stream_count(std::uint32_t block) const noexcept {
  const bool splits = split && width <= kMaxSplitWidth && block_size / width >= kMinSplitElements &&
                      block_length(block) == block_size;
  return splits ? width : 1;
}

BloscShuffle BloscHeader::block_shuffle(std::uint32_t block) const noexcept {
  const std::uint32_t elements = block_length(block) / width;
  if (elements == 0) return BloscShuffle::none;
  if (shuffle == BloscShuffle::bytes && width == 1) return BloscShuffle::none;
  if (shuffle == BloscShuffle::bits && elements % 8 != 0) return BloscShuffle::none;
  return shuffle;
}

BloscFrame BloscFrame::parse(std::span<const std::byte> first, std::uint64_t encoded_size) {
  return parse(BloscHeader::parse(first, encoded_size), first);
}

BloscFrame BloscFrame::parse(const BloscHeader& header, std::span<const std::byte> first) {
  const std::uint64_t begin = header.data_begin();
  if (first.size() < begin)
    corrupt("the Blosc value is cut off in its table of " + text(header.block_count()) + " blocks, after " +
            text(first.size()) + " bytes");
  BloscFrame frame;
  frame.header_ = header;
  frame.starts_.resize(header.block_count());
  for (std::size_t i = 0; i < frame.starts_.size(); ++i) {
    const std::uint32_t start = load_le32(first.data() + BloscHeader::kSize + 4 * i);
    if (start < begin || start >= header.encoded_size)
      corrupt("Blosc block " + text(i) + " is stated to start at byte " + text(start) +
              ", blocks lie in bytes " + text(begin) + " to " + text(header.encoded_size));
    frame.starts_[i] = start;
  }
  if (!std::is_sorted(frame.starts_.begin(), frame.starts_.end())) {
    frame.sorted_ = frame.starts_;
    std::sort(frame.sorted_.begin(), frame.sorted_.end());
  }
  return frame;
}

ByteRange BloscFrame::block_range(std::uint32_t block) const {
  const std::uint32_t start = starts_.at(block);
  const std::vector<std::uint32_t>& order = sorted_.empty() ? starts_ : sorted_;
  const auto next = std::upper_bound(order.begin(), order.end(), start);
  return ByteRange::range(start, (next == order.end() ? header_.encoded_size : *next) - start);
}

BloscBlock BloscFrame::block(std::uint32_t block, std::span<const std::byte> bytes,
                             std::uint64_t offset) const {
  BloscBlock result;
  result.count = header_.stream_count(block);
  const std::uint32_t length = header_.block_length(block);
  const std::uint32_t decoded = length / result.count;
  if (decoded * result.count != length)
    corrupt("the Blosc blocks of " + text(length) + " bytes cannot be split into " + text(result.count) +
            " equal streams");
  const std::uint64_t start = starts_.at(block);
  if (start < offset || start - offset > bytes.size())
    corrupt("Blosc block " + text(block) + " at byte " + text(start) + " is not in the bytes that were read");
  std::uint64_t at = start - offset;
  for (std::uint32_t i = 0; i < result.count; ++i) {
    const std::uint64_t left = bytes.size() - at;
    const std::uint32_t size = left < 4 ? 0 : load_le32(bytes.data() + at);
    if (size == 0 || size > left - 4)
      corrupt("stream " + text(i) + " of Blosc block " + text(block) + " is stated to have " + text(size) +
              " bytes where " + text(left < 4 ? 0 : left - 4) + " are left");
    result.streams[i] = {static_cast<std::uint32_t>(offset + at + 4), size, decoded};
    at += 4 + std::uint64_t{size};
  }
  return result;
}

}  // namespace zarrive
