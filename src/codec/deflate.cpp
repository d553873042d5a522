// gzip (RFC 1952) and zlib (RFC 1950), both through libdeflate, which works on whole buffers and wants to
// know the size.
//
// A gzip value may be several members; libdeflate stops after each, so we go on until the input is used up
// (Python does the same, and takes zero bytes as padding). When the size is not known, memory is doubled and
// the member decoded again, up to the limit.
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "codec/byte_codecs.hpp"
#include "codec/decompressors.hpp"
#include "codec/device_steps.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

constexpr int kHighestLevel = 9;            // of zlib, which defines the levels
constexpr std::uint64_t kBestRatio = 1032;  // of DEFLATE: a 258-byte match takes two bits at least

// One a level and thread.
libdeflate_compressor* compressor(int level) {
  struct Free {
    void operator()(libdeflate_compressor* held) const { libdeflate_free_compressor(held); }
  };
  thread_local std::array<std::unique_ptr<libdeflate_compressor, Free>, kHighestLevel + 1> held;
  auto& wanted = held.at(static_cast<std::size_t>(level));
  if (!wanted) wanted.reset(libdeflate_alloc_compressor(level));
  if (!wanted) throw std::bad_alloc();
  return wanted.get();
}

struct Wrapper {
  const char* name;
  decltype(&libdeflate_gzip_compress) compress;
  decltype(&libdeflate_gzip_compress_bound) bound;
  decltype(&libdeflate_gzip_decompress_ex) decompress;
  bool members;  // several may follow each other
  DeviceContainer container;
};
constexpr Wrapper kGzip{
    "gzip", libdeflate_gzip_compress, libdeflate_gzip_compress_bound, libdeflate_gzip_decompress_ex,
    true,   DeviceContainer::gzip};
constexpr Wrapper kZlib{
    "zlib", libdeflate_zlib_compress, libdeflate_zlib_compress_bound, libdeflate_zlib_decompress_ex,
    false,  DeviceContainer::zlib};

class Deflate final : public BytesToBytesCodec {
 public:
  Deflate(const Wrapper& wrapper, int level) : wrapper_(wrapper), level_(level) {}

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    libdeflate_compressor* held = compressor(level_);
    Buffer buffer = bytes_to_bytes::output_buffer(wrapper_.bound(held, decoded.size()));
    const std::size_t size =
        wrapper_.compress(held, decoded.data(), decoded.size(), buffer.mutable_data(), buffer.size());
    if (size == 0)
      throw Error(ErrorCode::internal, std::string(wrapper_.name) + " cannot compress " +
                                           std::to_string(decoded.size()) + " bytes");
    return bytes_to_bytes::trimmed(std::move(buffer), size);
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    if (encoded.empty())
      corrupt(std::string("the encoded value is empty, expected a ") + wrapper_.name + " stream");
    std::span<const std::byte> rest = encoded;
    std::uint64_t size = 0;
    do {
      std::size_t used = 0;
      size += decode_member(rest, size, decoded, used);
      rest = rest.subspan(used);
      while (!rest.empty() && rest.front() == std::byte{0}) rest = rest.subspan(1);  // padding
    } while (wrapper_.members && !rest.empty());
    if (!rest.empty())
      corrupt(std::to_string(rest.size()) + " bytes follow after the end of the " + wrapper_.name +
              " stream of " + std::to_string(encoded.size() - rest.size()) + " bytes");
    decoded.finish(size);
  }

  bool add_device_steps(const ArraySpec&, DeviceSteps& steps) const override {
    steps.container = wrapper_.container;
    return true;
  }

 private:
  // Decodes the member that `encoded` begins with to position `offset` of the output; gives its decoded size.
  std::uint64_t decode_member(std::span<const std::byte> encoded, std::uint64_t offset, ByteOutput& decoded,
                              std::size_t& used) const {
    // What the output can be at most, for what is expected, allowed and possible.
    std::uint64_t ceiling = decoded.expected_size().value_or(decoded.limit());
    ceiling = std::min(ceiling, decoded.limit());
    const std::uint64_t possible = std::uint64_t{encoded.size()} * kBestRatio;
    std::uint64_t room_size = ceiling;
    if (!decoded.expected_size())
      room_size = std::min({ceiling, add(offset, possible, "the decoded size"), offset + guess(encoded)});
    while (true) {
      const std::span<std::byte> room = decoded.reserve(room_size).subspan(static_cast<std::size_t>(offset));
      std::byte nowhere{};
      std::size_t size = 0;
      const libdeflate_result result =
          wrapper_.decompress(deflate_decompressor(), encoded.data(), encoded.size(),
                              room.empty() ? &nowhere : room.data(), room.size(), &used, &size);
      if (result == LIBDEFLATE_SUCCESS) return size;
      if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
        corrupt(
            std::string("no valid ") + wrapper_.name + " stream in the last " +
            std::to_string(encoded.size()) + " encoded bytes, " + std::to_string(offset) +
            " bytes were decoded before" +
            (decoded.expected_size() ? ", expected are " + std::to_string(*decoded.expected_size()) : ""));
      if (room_size == ceiling) decoded.reserve(ceiling + 1);  // throws: more than there may be
      room_size = room_size > ceiling / 2 ? ceiling : room_size * 2;
    }
  }

  // What a stream of unknown size may come to. gzip says so in its last four bytes, modulo 2^32, and of the
  // last member only.
  std::uint64_t guess(std::span<const std::byte> encoded) const {
    std::uint64_t guessed = 4 * std::uint64_t{encoded.size()};
    if (wrapper_.members && encoded.size() >= 18)
      guessed = bytes_to_bytes::load_le32(encoded.data() + encoded.size() - 4);
    return std::max<std::uint64_t>(guessed, 256);
  }

  const Wrapper& wrapper_;
  int level_;
};

bytes_to_bytes::Maker maker(const Wrapper& wrapper) {
  return [&wrapper](Configuration& configuration, const CodecOptions& options) -> std::shared_ptr<Codec> {
    const bool v2 = options.format == ZarrFormat::v2;
    const std::int64_t level = configuration.integer("level", v2 ? 1 : 5, v2 ? -1 : 0, kHighestLevel);
    constexpr int kDefault = 6;  // what zlib's -1 means
    return std::make_shared<Deflate>(wrapper, level < 0 ? kDefault : static_cast<int>(level));
  };
}

}  // namespace

void add_deflate(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "gzip", maker(kGzip));
  bytes_to_bytes::add(registry, ZarrFormat::v3, "gzip", maker(kGzip));
  bytes_to_bytes::add(registry, ZarrFormat::v2, "zlib", maker(kZlib));
  registry.add_v2_alias("numcodecs.gzip", "gzip");
  registry.add_v2_alias("numcodecs.zlib", "zlib");
  registry.add_alias(ZarrFormat::v2, "imagecodecs_zlib", "zlib");
}

}  // namespace zarrive
