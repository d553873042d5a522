// bzip2. A value may be several streams, as Python's decoder takes them.
#include <bzlib.h>

#include <algorithm>
#include <new>

#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

// bz_stream counts in unsigned int.
constexpr std::size_t kWindow = std::size_t{1} << 30;

struct Compression : bz_stream {
  explicit Compression(int level) : bz_stream{} {
    if (BZ2_bzCompressInit(this, level, 0, 0) != BZ_OK) throw std::bad_alloc();
  }
  ~Compression() { BZ2_bzCompressEnd(this); }
  Compression(const Compression&) = delete;
  Compression& operator=(const Compression&) = delete;
};

struct Decompression : bz_stream {
  Decompression() : bz_stream{} {
    if (BZ2_bzDecompressInit(this, 0, 0) != BZ_OK) throw std::bad_alloc();
  }
  ~Decompression() { BZ2_bzDecompressEnd(this); }
  Decompression(const Decompression&) = delete;
  Decompression& operator=(const Decompression&) = delete;
};

class Bz2 final : public BytesToBytesCodec {
 public:
  explicit Bz2(int level) : level_(level) {}

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    Compression stream(level_);
    const std::size_t bound = decoded.size() + decoded.size() / 100 + 600;  // as bzip2's manual states it
    Buffer buffer = bytes_to_bytes::output_buffer(bound);
    std::size_t read = 0;
    std::size_t written = 0;
    int result = BZ_RUN_OK;
    while (result != BZ_STREAM_END) {
      const std::span<const std::byte> in = decoded.subspan(read, std::min(kWindow, decoded.size() - read));
      const std::size_t room = std::min(kWindow, bound - written);
      stream.next_in = reinterpret_cast<char*>(const_cast<std::byte*>(in.data()));
      stream.avail_in = static_cast<unsigned>(in.size());
      stream.next_out = reinterpret_cast<char*>(buffer.mutable_data() + written);
      stream.avail_out = static_cast<unsigned>(room);
      result = BZ2_bzCompress(&stream, read + in.size() == decoded.size() ? BZ_FINISH : BZ_RUN);
      if (result < 0 || (room == 0 && result != BZ_STREAM_END))
        throw Error(ErrorCode::internal,
                    "bzip2 cannot compress " + std::to_string(decoded.size()) + " bytes");
      read += in.size() - stream.avail_in;
      written += room - stream.avail_out;
    }
    return bytes_to_bytes::trimmed(std::move(buffer), written);
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    if (encoded.empty()) corrupt("the encoded value is empty, expected a bzip2 stream");
    bytes_to_bytes::StreamedOutput output(decoded, 4 * std::uint64_t{encoded.size()});
    std::size_t read = 0;
    while (read < encoded.size()) decode_stream(encoded, read, output);
    output.finish();
  }

 private:
  static void decode_stream(std::span<const std::byte> encoded, std::size_t& read,
                            bytes_to_bytes::StreamedOutput& output) {
    Decompression stream;
    while (true) {
      const std::span<const std::byte> in = encoded.subspan(read, std::min(kWindow, encoded.size() - read));
      const std::span<std::byte> room = output.room();
      const std::size_t room_size = std::min(kWindow, room.size());
      stream.next_in = reinterpret_cast<char*>(const_cast<std::byte*>(in.data()));
      stream.avail_in = static_cast<unsigned>(in.size());
      stream.next_out = reinterpret_cast<char*>(room.data());
      stream.avail_out = static_cast<unsigned>(room_size);
      const int result = BZ2_bzDecompress(&stream);
      if (result == BZ_MEM_ERROR) throw std::bad_alloc();
      const std::size_t used = in.size() - stream.avail_in;
      const std::size_t count = room_size - stream.avail_out;
      read += used;
      output.written(count);
      if (result == BZ_STREAM_END) return;
      if (result != BZ_OK)
        corrupt("bzip2 data is damaged before byte " + std::to_string(read) + " of " +
                std::to_string(encoded.size()) + ", after " + std::to_string(output.size()) +
                " decoded bytes (bzip2 error " + std::to_string(result) + ")");
      if (used == 0 && count == 0)
        corrupt("the bzip2 stream of " + std::to_string(encoded.size()) + " bytes is cut off after " +
                std::to_string(output.size()) + " decoded bytes");
    }
  }

  int level_;
};

std::shared_ptr<Codec> make(Configuration& configuration, const CodecOptions&) {
  return std::make_shared<Bz2>(static_cast<int>(configuration.integer("level", 1, 1, 9)));
}

}  // namespace

void add_bz2(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "bz2", make);
  registry.add_v2_alias("numcodecs.bz2", "bz2");
}

}  // namespace zarrive
