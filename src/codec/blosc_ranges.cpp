#include "codec/blosc_ranges.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "codec/blosc_decode.hpp"
#include "codec/blosc_frame.hpp"
#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;
using bytes_to_bytes::output_buffer;

// Values that decode to no more than this are read whole: most of them are one or two blocks.
constexpr std::uint64_t kReadWhole = 512 << 10;
// What is read first of others: a page, with the starts of a thousand blocks (128 MiB in blocks of the usual size).
constexpr std::uint64_t kFirst = 4096;

class BloscRanges final : public PartialDecode {
 public:
  BloscRanges(std::vector<ByteRange> ranges, BytesToBytesCodec::RangeSink ready,
              std::optional<std::uint64_t> decoded_size)
      : ranges_(std::move(ranges)), ready_(std::move(ready)), decoded_size_(decoded_size) {
    const bool whole = !decoded_size || *decoded_size <= kReadWhole;
    next_.push_back({whole ? ByteRange::all() : ByteRange::range(0, kFirst), {}});
  }

  std::vector<WantedBytes> wanted() override { return std::exchange(next_, {}); }

  void receive(std::size_t i, const Buffer& bytes, std::optional<std::uint64_t> value_size) override {
    if (stage_ == Stage::blocks)
      decode_block(i, bytes.host_span(), frame_.block_range(blocks_[i].block).offset);
    else if (stage_ == Stage::stored) ready_stored(i, bytes);
    else receive_first(bytes, value_size);
  }

 private:
  enum class Stage : std::uint8_t { first, table, stored, blocks };

  // A block that is needed, with the ranges that need it: needs_[first] to needs_[last - 1].
  struct Block {
    std::uint32_t block;
    std::size_t first;
    std::size_t last;
  };
  struct Need {
    std::uint32_t block;
    std::size_t range;
    bool operator<(const Need& other) const {
      return block != other.block ? block < other.block : range < other.range;
    }
  };
  // A range that lies in several blocks is put together from them.
  struct Joined {
    Buffer buffer;
    std::atomic<std::uint32_t> missing{0};
  };

  void receive_first(const Buffer& bytes, std::optional<std::uint64_t> value_size) {
    const std::span<const std::byte> first = bytes.host_span();
    if (first.size() < BloscHeader::kSize) BloscHeader::parse(first, first.size());  // throws: cut off
    const BloscHeader header =
        BloscHeader::parse(first, value_size.value_or(bytes_to_bytes::load_le32(first.data() + 12)));
    require_blosc_format(header);
    if (decoded_size_ && header.decoded_size != *decoded_size_)
      corrupt("the Blosc header states " + std::to_string(header.decoded_size) +
              " decoded bytes, expected are " + std::to_string(*decoded_size_));
    for (const ByteRange& range : ranges_)
      if (range.offset > header.decoded_size || range.length > header.decoded_size - range.offset)
        corrupt("bytes " + std::to_string(range.offset) + " to " +
                std::to_string(range.offset + range.length) + " are wanted of a Blosc value of " +
                std::to_string(header.decoded_size) + " decoded bytes");
    const bool whole = first.size() == header.encoded_size;
    if (header.stored) {
      plan_stored(whole ? &bytes : nullptr);
    } else if (first.size() < header.data_begin() && stage_ == Stage::first) {
      next_.push_back({ByteRange::range(0, header.data_begin()), {}});
      stage_ = Stage::table;
    } else {
      frame_ = BloscFrame::parse(header, first);
      plan_blocks();
      stage_ = Stage::blocks;
      for (std::size_t i = 0; i < blocks_.size(); ++i)
        if (whole) decode_block(i, first, 0);
        else
          next_.push_back({frame_.block_range(blocks_[i].block), {}, header.block_length(blocks_[i].block)});
    }
  }

  void plan_stored(const Buffer* value) {
    stage_ = Stage::stored;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const std::uint64_t offset = BloscHeader::kSize + ranges_[i].offset;
      if (value != nullptr)
        ready_(i,
               value->slice(static_cast<std::size_t>(offset), static_cast<std::size_t>(ranges_[i].length)));
      else next_.push_back({ByteRange::range(offset, ranges_[i].length), {}});
    }
  }
  void ready_stored(std::size_t i, const Buffer& bytes) {
    if (bytes.size() != ranges_[i].length)
      corrupt("the stored Blosc value is cut off: " + std::to_string(bytes.size()) + " of " +
              std::to_string(ranges_[i].length) + " bytes at " + std::to_string(ranges_[i].offset));
    ready_(i, bytes);
  }

  void plan_blocks() {
    const std::uint64_t size = frame_.header().block_size;
    joined_ = std::make_unique<Joined[]>(ranges_.size());
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const ByteRange& range = ranges_[i];
      if (range.length == 0) {
        ready_(i, Buffer());
        continue;
      }
      const auto first = static_cast<std::uint32_t>(range.offset / size);
      const auto last = static_cast<std::uint32_t>((range.offset + range.length - 1) / size);
      for (std::uint32_t block = first; block <= last; ++block) needs_.push_back({block, i});
      if (first == last) continue;
      joined_[i].buffer = output_buffer(static_cast<std::size_t>(range.length));
      joined_[i].missing = last - first + 1;
    }
    std::sort(needs_.begin(), needs_.end());
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      if (i == 0 || needs_[i].block != needs_[i - 1].block) blocks_.push_back({needs_[i].block, i, i});
      blocks_.back().last = i + 1;
    }
  }

  // `bytes`: those of the value from `offset` on.
  void decode_block(std::size_t i, std::span<const std::byte> bytes, std::uint64_t offset) {
    const Block& block = blocks_[i];
    const std::size_t length = frame_.header().block_length(block.block);
    const std::uint64_t begin = std::uint64_t{block.block} * frame_.header().block_size;
    Buffer decoded = output_buffer(length);
    decode_blosc_block(frame_, block.block, bytes, offset, {decoded.mutable_data(), length});
    for (std::size_t n = block.first; n < block.last; ++n) {
      const std::size_t r = needs_[n].range;
      const ByteRange& range = ranges_[r];
      const std::uint64_t from = std::max(range.offset, begin);
      const std::uint64_t to = std::min(range.offset + range.length, begin + length);
      const Buffer part =
          decoded.slice(static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - from));
      Joined& joined = joined_[r];
      if (joined.buffer.empty()) {
        ready_(r, part);
      } else {
        std::memcpy(joined.buffer.mutable_data() + (from - range.offset), part.data(), part.size());
        if (joined.missing.fetch_sub(1, std::memory_order_acq_rel) == 1)
          ready_(r, std::exchange(joined.buffer, {}));
      }
    }
  }

  const std::vector<ByteRange> ranges_;
  const BytesToBytesCodec::RangeSink ready_;
  const std::optional<std::uint64_t> decoded_size_;
  Stage stage_ = Stage::first;
  std::vector<WantedBytes> next_;
  BloscFrame frame_;
  std::vector<Need> needs_;  // sorted
  std::vector<Block> blocks_;
  std::unique_ptr<Joined[]> joined_;
};

}  // namespace

std::unique_ptr<PartialDecode> decode_blosc_ranges(std::vector<ByteRange> ranges,
                                                   BytesToBytesCodec::RangeSink ready,
                                                   std::optional<std::uint64_t> decoded_size) {
  return std::make_unique<BloscRanges>(std::move(ranges), std::move(ready), decoded_size);
}

}  // namespace zarrive
