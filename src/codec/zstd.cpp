// Zstandard (RFC 8878). A value may be several frames, skippable ones among them, with or without their
// content size.
//
// When the decoded size is known, all frames are decoded by one call into exactly that memory, which then is
// its own window. Otherwise frames that state a believable size are added up first; what is left is streamed,
// with zstd's default bound on the window (2^27 bytes). Large values whose place is not in one piece are
// streamed too, in pieces that stay in the cache. Of a value of which only the start is wanted, no more is decoded.
#define ZSTD_STATIC_LINKING_ONLY  // for the name of ZSTD_d_stableOutBuffer; every function is of the stable interface
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include "codec/byte_codecs.hpp"
#include "codec/decompressors.hpp"
#include "codec/device_steps.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

// Kept, one a thread: making one costs more than compressing a small chunk.
ZSTD_CCtx* compressor() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  return context.get();
}

// The decoded size of all frames as they state it; nullopt when one does not, or states more than its bytes
// can hold.
std::optional<std::uint64_t> stated_size(std::span<const std::byte> encoded) {
  std::uint64_t total = 0;
  while (!encoded.empty()) {
    const std::size_t frame = ZSTD_findFrameCompressedSize(encoded.data(), encoded.size());
    if (ZSTD_isError(frame)) return std::nullopt;
    const unsigned long long content = ZSTD_getFrameContentSize(encoded.data(), encoded.size());
    if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
    // A block holds at most 128 KiB and takes at least 3 bytes.
    if (content > (frame / 3 + 1) * std::uint64_t{ZSTD_BLOCKSIZE_MAX}) return std::nullopt;
    total += content;
    encoded = encoded.subspan(frame);
  }
  return total;
}

// Decoded bytes that are handed on at a time.
constexpr std::size_t kPiece = 256 << 10;
// Runs of so many bytes are decoded into as they are.
constexpr std::size_t kWorthOwnCall = 64 << 10;
// The bytes of a frame that tell how many come first.
constexpr std::size_t kLongestHeader = 18;
// Smaller values are decoded whole.
constexpr std::uint64_t kMinStreamed = 1 << 20;
// zstd keeps a window of this size at most for what it streams; frames that want more are decoded whole.
constexpr int kMaxWindowLog = 23;

class Zstd final : public BytesToBytesCodec {
 public:
  Zstd(int level, bool checksum) : level_(level), checksum_(checksum) {}

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    ZSTD_CCtx* context = compressor();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level_);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum_ ? 1 : 0);
    Buffer buffer = bytes_to_bytes::output_buffer(ZSTD_compressBound(decoded.size()));
    const std::size_t size =
        ZSTD_compress2(context, buffer.mutable_data(), buffer.size(), decoded.data(), decoded.size());
    if (ZSTD_isError(size))
      throw Error(ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation ? ErrorCode::resource_limit
                                                                          : ErrorCode::internal,
                  "zstd cannot compress " + std::to_string(decoded.size()) + " bytes at level " +
                      std::to_string(level_) + ": " + ZSTD_getErrorName(size));
    return bytes_to_bytes::trimmed(std::move(buffer), size);
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    if (encoded.empty()) corrupt("the encoded value is empty, expected a zstd frame");
    const std::optional<std::uint64_t> size =
        decoded.expected_size() ? decoded.expected_size() : stated_size(encoded);
    if (!size) return stream(encoded, decoded);
    const std::span<std::byte> room = decoded.reserve(*size);
    const std::size_t result =
        ZSTD_decompressDCtx(zstd_decompressor(), room.data(), room.size(), encoded.data(), encoded.size());
    if (ZSTD_isError(result)) fail(result, encoded, room.size());
    if (result != *size)
      corrupt("zstd data ends after " + std::to_string(result) + " of " + std::to_string(*size) + " bytes");
    decoded.finish(result);
  }

  bool add_device_steps(const ArraySpec&, DeviceSteps& steps) const override {
    steps.container = DeviceContainer::zstd;
    return true;
  }
  // nvCOMP's frames have no checksum.
  std::optional<DeviceContainer> device_encoding() const override {
    return checksum_ ? std::nullopt : std::optional(DeviceContainer::zstd);
  }

  bool decode_in_order(std::span<const std::byte> encoded, ByteSink& sink,
                       const Context& context) const override {
    // One frame with everything, which says so; skippable ones may follow.
    if (ZSTD_getFrameContentSize(encoded.data(), encoded.size()) != sink.remaining()) return false;
    // A checksum is of all the bytes.
    const bool stops = sink.wanted() < sink.size() && !(context.verify_checksums && has_checksum(encoded));
    if (stops && sink.run().size() == sink.remaining()) return decode_start(encoded, sink);
    if (sink.remaining() < kMinStreamed) return false;
    ZSTD_DCtx* decompressor = zstd_decompressor();
    ZSTD_DCtx_setParameter(decompressor, ZSTD_d_windowLogMax, kMaxWindowLog);
    ZSTD_inBuffer in{encoded.data(), encoded.size(), 0};
    std::size_t wanted = 0;
    bool began = false;
    do {
      const bool in_place = sink.run().size() >= kWorthOwnCall && !sink.streams();
      const std::span<std::byte> room = in_place ? sink.run() : piece();
      ZSTD_outBuffer out{room.data(), room.size(), 0};
      const std::size_t used = in.pos;
      wanted = ZSTD_decompressStream(decompressor, &out, &in);
      if (ZSTD_isError(wanted)) {
        if (!began && ZSTD_getErrorCode(wanted) == ZSTD_error_frameParameter_windowTooLarge) return false;
        fail(wanted, encoded, sink.size());
      }
      if (in_place) sink.advance(out.pos);
      else sink.write(room.first(out.pos));
      began = began || out.pos != 0;
      if (stops && sink.done()) return true;
      if (in.pos == used && out.pos == 0) break;
    } while (in.pos < in.size || wanted != 0);
    if (wanted != 0) fail_cut_off(sink.size() - sink.remaining());
    return true;
  }

 private:
  // Decodes one frame to where all of it has room, block by block, until what is wanted has come.
  static bool decode_start(std::span<const std::byte> encoded, ByteSink& sink) {
    ZSTD_DCtx* decompressor = zstd_decompressor();
    // The place is zstd's own window then.
    if (ZSTD_isError(ZSTD_DCtx_setParameter(decompressor, ZSTD_d_stableOutBuffer, 1))) return false;
    const std::span<std::byte> room = sink.run();
    const std::uint64_t wanted = sink.wanted();
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    ZSTD_inBuffer in{encoded.data(), std::min(encoded.size(), kLongestHeader), 0};
    while (true) {
      const std::size_t next = ZSTD_decompressStream(decompressor, &out, &in);
      if (ZSTD_isError(next)) fail(next, encoded, room.size());
      if (out.pos >= wanted) break;
      if (next == 0 || in.size == encoded.size()) fail_cut_off(out.pos);
      in.size = std::min(encoded.size(), in.size + next);
    }
    sink.advance(out.pos);
    return true;
  }

  static std::span<std::byte> piece() {
    thread_local Buffer buffer;
    if (buffer.empty()) buffer = Buffer::allocate(kPiece);
    return {buffer.mutable_data(), buffer.size()};
  }

  // Of a frame whose content size is known, so that its header is whole.
  static bool has_checksum(std::span<const std::byte> frame) {
    return (std::to_integer<unsigned>(frame[4]) & 4U) != 0;
  }

  [[noreturn]] static void fail_cut_off(std::uint64_t after) {
    corrupt("the zstd frame is cut off after " + std::to_string(after) + " decoded bytes");
  }

  static void stream(std::span<const std::byte> encoded, ByteOutput& decoded) {
    ZSTD_DCtx* context = zstd_decompressor();
    bytes_to_bytes::StreamedOutput output(decoded, 4 * std::uint64_t{encoded.size()});
    ZSTD_inBuffer in{encoded.data(), encoded.size(), 0};
    // `wanted` is 0 exactly when a frame is complete and its output handed over.
    std::size_t wanted = 0;
    do {
      const std::span<std::byte> room = output.room();
      ZSTD_outBuffer out{room.data(), room.size(), 0};
      const std::size_t used = in.pos;
      wanted = ZSTD_decompressStream(context, &out, &in);
      if (ZSTD_isError(wanted)) {
        if (ZSTD_getErrorCode(wanted) == ZSTD_error_frameParameter_windowTooLarge)
          throw Error(ErrorCode::resource_limit,
                      "the zstd frame needs a window of more than 2^27 bytes and does not state its size");
        fail(wanted, encoded, output.size() + out.pos);
      }
      output.written(out.pos);
      if (in.pos == in.size && out.pos < room.size()) break;  // nothing left to read, nothing held back
      if (in.pos == used && out.pos == 0) break;              // no progress
    } while (in.pos < in.size || wanted != 0);
    if (wanted != 0) fail_cut_off(output.size());
    output.finish();
  }

  [[noreturn]] static void fail(std::size_t error, std::span<const std::byte> encoded, std::uint64_t size) {
    if (ZSTD_getErrorCode(error) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_getErrorCode(error) == ZSTD_error_dstSize_tooSmall)
      corrupt("zstd data decodes to more than the expected " + std::to_string(size) + " bytes");
    corrupt("zstd cannot decode " + std::to_string(encoded.size()) + " encoded bytes into " +
            std::to_string(size) + ": " + ZSTD_getErrorName(error));
  }

  int level_;
  bool checksum_;
};

std::shared_ptr<Codec> make(Configuration& configuration, const CodecOptions& options) {
  // numcodecs takes any level and clamps it.
  const bool v2 = options.format == ZarrFormat::v2;
  const std::int64_t highest = ZSTD_maxCLevel();
  const std::int64_t level =
      configuration.integer("level", 0, v2 ? INT32_MIN : ZSTD_minCLevel(), v2 ? INT32_MAX : highest);
  const bool checksum = configuration.boolean("checksum", false);
  return std::make_shared<Zstd>(static_cast<int>(std::clamp<std::int64_t>(level, ZSTD_minCLevel(), highest)),
                                checksum);
}

}  // namespace

void add_zstd(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "zstd", make);
  bytes_to_bytes::add(registry, ZarrFormat::v3, "zstd", make);
  registry.add_v2_alias("numcodecs.zstd", "zstd");
  registry.add_alias(ZarrFormat::v2, "imagecodecs_zstd", "zstd");
}

}  // namespace zarrive
