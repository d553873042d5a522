// LZ4 as numcodecs frames it: the decoded size as a little-endian u32, then one raw LZ4 block.
#include <lz4.h>

#include <algorithm>
#include <cstddef>

#include "codec/byte_codecs.hpp"
#include "codec/device_steps.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

constexpr std::size_t kHeader = 4;

class Lz4 final : public BytesToBytesCodec {
 public:
  explicit Lz4(int acceleration) : acceleration_(acceleration) {}

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    if (decoded.size() > LZ4_MAX_INPUT_SIZE)
      throw Error(ErrorCode::resource_limit, "lz4 takes at most " + std::to_string(LZ4_MAX_INPUT_SIZE) +
                                                 " bytes, the chunk has " + std::to_string(decoded.size()) +
                                                 "; use smaller chunks");
    thread_local LZ4_stream_t state;  // 16 KiB that need no initialisation
    const int size = static_cast<int>(decoded.size());
    Buffer buffer =
        bytes_to_bytes::output_buffer(kHeader + static_cast<std::size_t>(LZ4_compressBound(size)));
    bytes_to_bytes::store_le32(buffer.mutable_data(), static_cast<std::uint32_t>(size));
    const int written =
        LZ4_compress_fast_extState(&state, reinterpret_cast<const char*>(decoded.data()),
                                   reinterpret_cast<char*>(buffer.mutable_data() + kHeader), size,
                                   static_cast<int>(buffer.size() - kHeader), acceleration_);
    if (written <= 0)
      throw Error(ErrorCode::internal, "lz4 cannot compress " + std::to_string(size) + " bytes");
    return bytes_to_bytes::trimmed(std::move(buffer), kHeader + static_cast<std::size_t>(written));
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    if (encoded.size() <= kHeader || encoded.size() - kHeader > INT32_MAX)
      corrupt("lz4 data has " + std::to_string(encoded.size()) +
              " bytes, expected a size of 4 bytes and a block");
    const std::uint32_t size = bytes_to_bytes::load_le32(encoded.data());
    const std::span<const std::byte> block = encoded.subspan(kHeader);
    // A byte of a block gives 255 decoded ones at most.
    if (size > INT32_MAX || size > 255 * std::uint64_t{block.size()})
      corrupt("lz4 data states a decoded size of " + std::to_string(size) + " bytes, which " +
              std::to_string(block.size()) + " encoded bytes cannot hold");
    const std::span<std::byte> room = decoded.reserve(size);
    char nowhere = 0;
    const int result = LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()),
                                           room.empty() ? &nowhere : reinterpret_cast<char*>(room.data()),
                                           static_cast<int>(block.size()), static_cast<int>(size));
    if (result < 0)
      corrupt("the lz4 block is damaged around byte " +
              std::to_string(kHeader + static_cast<std::size_t>(-(result + 1))) + " of " +
              std::to_string(encoded.size()) + " (its decoded size is stated as " + std::to_string(size) +
              ")");
    if (static_cast<std::uint32_t>(result) != size)
      corrupt("the lz4 block ends after " + std::to_string(result) + " of " + std::to_string(size) +
              " bytes");
    decoded.finish(size);
  }

  bool add_device_steps(const ArraySpec&, DeviceSteps& steps) const override {
    steps.container = DeviceContainer::lz4;
    return true;
  }
  std::optional<DeviceContainer> device_encoding() const override { return DeviceContainer::lz4; }

 private:
  int acceleration_;
};

std::shared_ptr<Codec> make(Configuration& configuration, const CodecOptions&) {
  const std::int64_t acceleration = configuration.integer("acceleration", 1, INT32_MIN, INT32_MAX);
  return std::make_shared<Lz4>(static_cast<int>(std::max<std::int64_t>(acceleration, 1)));
}

}  // namespace

void add_lz4(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "lz4", make);
  registry.add_v2_alias("numcodecs.lz4", "lz4");
}

}  // namespace zarrive
