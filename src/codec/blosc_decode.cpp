// A block is decoded stream by stream to planes in memory that the thread keeps, then unshuffled from there straight into its place,
// row by row when the place is made of rows. Streams that are stored are not moved: the unshuffle reads them in the encoded value.
//
// lz4, zlib and zstd streams are decoded by those libraries. The formats that only c-blosc has (blosclz, and snappy when it was built
// with it) are given to it a block at a time, as a value of one block that is not shuffled.
#include "codec/blosc_decode.hpp"

#include <blosc.h>
#include <lz4.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "codec/byte_codecs.hpp"
#include "codec/decompressors.hpp"
#include "codec/unshuffle.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;
using unshuffle::kernels;

constexpr std::size_t kMaxWidth = 255;
constexpr std::array<const char*, 5> kNames{BLOSC_BLOSCLZ_COMPNAME, BLOSC_LZ4_COMPNAME, BLOSC_SNAPPY_COMPNAME,
                                            BLOSC_ZLIB_COMPNAME, BLOSC_ZSTD_COMPNAME};
// Bytes between planes of a block: planes a power of two apart would share cache sets.
constexpr std::size_t kPlaneGap = 192;
// Bytes of elements whose bits are put in place before their bytes are: both stay in the first-level cache.
constexpr std::size_t kBitPiece = 16 << 10;
constexpr std::size_t kStreamPiece = 4096;
// Larger blocks get memory from the pool, so that threads do not keep more than this.
constexpr std::size_t kMaxKept = 2 << 20;

const char* name(BloscFormat format) { return kNames[static_cast<std::size_t>(format)]; }

// Memory that a thread keeps for its next block.
class Scratch {
 public:
  std::byte* get(std::size_t size) {
    if (size > buffer_.size() || buffer_.size() > kMaxKept) {
      buffer_ = Buffer();
      buffer_ = Buffer::allocate(size, Prototype{{}, pool_allocator()});
    }
    return buffer_.mutable_data();
  }

 private:
  Buffer buffer_;
};

struct Workspace {
  Scratch planes;   // of a block
  Scratch bits;     // a piece of a block whose bits are in place
  Scratch wrapped;  // a block as a value of its own

  static Workspace& of_thread() {
    thread_local Workspace workspace;
    return workspace;
  }
};

// Calls c-blosc for a block of several streams that follow each other, or of one.
bool decode_with_blosc(const BloscHeader& header, const BloscBlock& block, std::span<const std::byte> bytes,
                       std::uint64_t offset, std::span<std::byte> out) {
  constexpr std::size_t kBegin = BloscHeader::kSize + 4;
  const BloscStream& last = block.streams[block.count - 1];
  const std::size_t begin = block.streams[0].offset - 4;
  const std::size_t size = last.offset + last.encoded - begin;
  std::byte* wrapped = Workspace::of_thread().wrapped.get(kBegin + size);
  const auto length = static_cast<std::uint32_t>(out.size());
  wrapped[0] = std::byte{2};
  wrapped[1] = std::byte{header.format_version};
  wrapped[2] =
      static_cast<std::byte>(static_cast<unsigned>(header.format) << 5 | (block.count == 1 ? 0x10 : 0));
  wrapped[3] = static_cast<std::byte>(header.width);
  bytes_to_bytes::store_le32(wrapped + 4, length);
  bytes_to_bytes::store_le32(wrapped + 8, length);
  bytes_to_bytes::store_le32(wrapped + 12, static_cast<std::uint32_t>(kBegin + size));
  bytes_to_bytes::store_le32(wrapped + 16, kBegin);
  std::memcpy(wrapped + kBegin, bytes.data() + (begin - offset), size);
  return blosc_decompress_ctx(wrapped, out.data(), out.size(), 1) == static_cast<int>(out.size());
}

bool decode_stream(BloscFormat format, std::span<const std::byte> encoded, std::span<std::byte> out) {
  switch (format) {
    case BloscFormat::lz4:
      return LZ4_decompress_safe(reinterpret_cast<const char*>(encoded.data()),
                                 reinterpret_cast<char*>(out.data()), static_cast<int>(encoded.size()),
                                 static_cast<int>(out.size())) == static_cast<int>(out.size());
    case BloscFormat::zlib: {
      std::size_t used = 0;
      return libdeflate_zlib_decompress_ex(deflate_decompressor(), encoded.data(), encoded.size(), out.data(),
                                           out.size(), &used, nullptr) == LIBDEFLATE_SUCCESS &&
             used == encoded.size();
    }
    default:
      return ZSTD_decompressDCtx(zstd_decompressor(), out.data(), out.size(), encoded.data(),
                                 encoded.size()) == out.size();
  }
}

bool can_stream(const std::byte* out, std::size_t size) {
  return (reinterpret_cast<std::uintptr_t>(out) | size) % unshuffle::kStreamAlignment == 0;
}

// Elements come out in order; where to is the output's matter. Both kinds take any number of elements at a time.
struct DenseOutput {
  std::byte* at;

  void write(std::span<const std::byte> bytes) {
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): `at` is null for blocks of no bytes only
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    at += bytes.size();
  }
  void elements(const std::byte* const* planes, std::size_t width, std::size_t count) {
    kernels().bytes(planes, width, count, at, false);
    at += count * width;
  }
  // Room for `size` bytes in one piece, when there is; advance afterwards.
  std::byte* room(std::size_t) { return at; }
  void advance(std::size_t size) { at += size; }
};

struct SinkOutput {
  ByteSink& sink;

  void write(std::span<const std::byte> bytes) { sink.write(bytes); }
  void elements(const std::byte* const* planes, std::size_t width, std::size_t count) {
    std::array<const std::byte*, kMaxWidth> at;
    std::copy(planes, planes + width, at.begin());
    for (std::size_t done = 0; done < count;) {
      const std::span<std::byte> run = sink.run();
      std::size_t now = std::min(count - done, run.size() / width);
      if (sink.streams() && !can_stream(run.data(), now * width)) {
        // Several runs at a time through the first-level cache, so that at least the whole cache lines of them go past it.
        alignas(64) std::array<std::byte, kStreamPiece> piece;
        now = std::min(count - done, kStreamPiece / width);
        kernels().bytes(at.data(), width, now, piece.data(), false);
        sink.write({piece.data(), now * width});
      } else if (now != 0) {
        kernels().bytes(at.data(), width, now, run.data(), sink.streams());
        sink.advance(now * width);
      } else {  // an element that a run's end cuts in two
        std::array<std::byte, kMaxWidth> element;
        for (std::size_t b = 0; b < width; ++b) element[b] = *at[b];
        sink.write({element.data(), width});
      }
      const std::size_t step = std::max<std::size_t>(now, 1);
      for (std::size_t b = 0; b < width; ++b) at[b] += step;
      done += step;
    }
  }
  std::byte* room(std::size_t size) { return sink.run().size() >= size ? sink.run().data() : nullptr; }
  void advance(std::size_t size) { sink.advance(size); }
};

// The blocks of one value. `bytes` are the value's from `offset` on.
class Decoder {
 public:
  Decoder(const BloscFrame& frame, std::span<const std::byte> bytes, std::uint64_t offset)
      : frame_(frame), header_(frame.header()), bytes_(bytes), offset_(offset) {}

  template <class Output>
  void decode(std::uint32_t index, Output& output) {
    block_ = frame_.block(index, bytes_, offset_);
    index_ = index;
    const std::size_t length = header_.block_length(index);
    const BloscShuffle shuffle = header_.block_shuffle(index);
    if (shuffle == BloscShuffle::none) return decode_plain(length, output);
    const std::size_t width = header_.width;
    const std::size_t elements = length / width;
    std::array<const std::byte*, kMaxWidth> planes;
    const std::byte* rest = nullptr;
    if (block_.count == width && width > 1) {
      decode_split(elements, planes.data());
    } else {
      const std::byte* block = decode_whole(length);
      for (std::size_t b = 0; b < width; ++b) planes[b] = block + b * elements;
      rest = block + elements * width;
    }
    if (shuffle == BloscShuffle::bytes) output.elements(planes.data(), width, elements);
    else bits(planes.data(), elements, output);
    // Bytes that are no whole element are never shuffled; a block that is split has none.
    if (rest != nullptr) output.write({rest, length - elements * width});
  }

 private:
  std::span<const std::byte> encoded(const BloscStream& stream) const {
    return bytes_.subspan(static_cast<std::size_t>(stream.offset - offset_), stream.encoded);
  }

  bool only_in_blosc() const {
    return header_.format == BloscFormat::blosclz || header_.format == BloscFormat::snappy;
  }

  [[noreturn]] void fail(const std::string& what, std::size_t size) const {
    corrupt(what + " of Blosc block " + std::to_string(index_) + " cannot be decoded to " +
            std::to_string(size) + " bytes by " + name(header_.format));
  }

  void decode_one(std::uint32_t i, std::byte* out) const {
    const BloscStream& stream = block_.streams[i];
    if (!decode_stream(header_.format, encoded(stream), {out, stream.decoded}))
      fail("stream " + std::to_string(i) + " (" + std::to_string(stream.encoded) + " bytes)", stream.decoded);
  }

  // All streams, one after another.
  void decode_to(std::byte* out, std::size_t length) const {
    if (only_in_blosc()) {
      if (!decode_with_blosc(header_, block_, bytes_, offset_, {out, length}))
        fail("the " + std::to_string(block_.count) + " streams", length);
      return;
    }
    for (std::uint32_t i = 0; i < block_.count; ++i) {
      const BloscStream& stream = block_.streams[i];
      if (stream.stored()) std::memcpy(out, encoded(stream).data(), stream.decoded);
      else decode_one(i, out);
      out += stream.decoded;
    }
  }

  // The block's bytes as they are before the unshuffle, in one piece.
  const std::byte* decode_whole(std::size_t length) const {
    if (block_.count == 1 && block_.streams[0].stored()) return encoded(block_.streams[0]).data();
    std::byte* out = Workspace::of_thread().planes.get(length);
    decode_to(out, length);
    return out;
  }

  // One stream a plane.
  void decode_split(std::size_t elements, const std::byte** planes) const {
    const bool together = only_in_blosc();
    const std::size_t step = together ? elements : elements + kPlaneGap;
    std::byte* out = Workspace::of_thread().planes.get(step * block_.count);
    if (together) decode_to(out, elements * block_.count);
    for (std::uint32_t b = 0; b < block_.count; ++b) {
      const BloscStream& stream = block_.streams[b];
      planes[b] = out + b * step;
      if (together) continue;
      if (stream.stored()) planes[b] = encoded(stream).data();
      else decode_one(b, out + b * step);
    }
  }

  template <class Output>
  void decode_plain(std::size_t length, Output& output) const {
    const bool stored = block_.count == 1 && block_.streams[0].stored();
    if (std::byte* room = stored ? nullptr : output.room(length)) {
      decode_to(room, length);
      output.advance(length);
    } else {
      output.write({decode_whole(length), length});
    }
  }

  template <class Output>
  void bits(const std::byte* const* planes, std::size_t elements, Output& output) const {
    const std::size_t width = header_.width;
    const std::size_t piece = std::max<std::size_t>(kBitPiece / width / 256, 1) * 256;
    const std::size_t step = piece + kPlaneGap;
    std::byte* bytes = Workspace::of_thread().bits.get(step * width);
    std::array<const std::byte*, kMaxWidth> byte_planes;
    for (std::size_t b = 0; b < width; ++b) byte_planes[b] = bytes + b * step;
    for (std::size_t begin = 0; begin < elements; begin += piece) {
      const std::size_t count = std::min(piece, elements - begin);
      for (std::size_t b = 0; b < width; ++b)
        kernels().bits(planes[b] + begin / 8, elements / 8, count, bytes + b * step);
      output.elements(byte_planes.data(), width, count);
    }
  }

  const BloscFrame& frame_;
  const BloscHeader& header_;
  std::span<const std::byte> bytes_;
  std::uint64_t offset_;
  BloscBlock block_;
  std::uint32_t index_ = 0;
};

template <class Output>
void decode_all(const BloscHeader& header, std::span<const std::byte> encoded, Output& output) {
  if (header.stored) return output.write(encoded.subspan(BloscHeader::kSize));
  const BloscFrame frame = BloscFrame::parse(header, encoded);
  Decoder decoder(frame, encoded, 0);
  for (std::uint32_t block = 0; block < header.block_count(); ++block) decoder.decode(block, output);
}

}  // namespace

void require_blosc_format(const BloscHeader& header) {
  if (header.stored || header.decoded_size == 0) return;
  if (blosc_compname_to_compcode(name(header.format)) < 0 &&
      (header.format == BloscFormat::blosclz || header.format == BloscFormat::snappy))
    throw Error(ErrorCode::unsupported_codec, std::string("this build of the Blosc library is without the "
                                                          "compressor '") +
                                                  name(header.format) + "'");
}

void decode_blosc(const BloscHeader& header, std::span<const std::byte> encoded, std::span<std::byte> out) {
  DenseOutput output{out.data()};
  decode_all(header, encoded, output);
}

void decode_blosc(const BloscHeader& header, std::span<const std::byte> encoded, ByteSink& sink) {
  SinkOutput output{sink};
  decode_all(header, encoded, output);
}

void decode_blosc_block(const BloscFrame& frame, std::uint32_t block, std::span<const std::byte> bytes,
                        std::uint64_t offset, std::span<std::byte> out) {
  DenseOutput output{out.data()};
  Decoder(frame, bytes, offset).decode(block, output);
}

}  // namespace zarrive
