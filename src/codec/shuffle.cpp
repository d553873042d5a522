// numcodecs' byte shuffle: byte b of element i goes to place b * n + i, so that bytes of equal weight lie
// together.
#include <algorithm>
#include <string>

#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

// Elements a block: its reads and writes stay in the first cache also for wide elements.
constexpr std::size_t kBlock = 64;

// Size: the element size when it is known at compile time, else 0.
template <std::size_t Size, bool Forward>
void transpose(const std::byte* from, std::byte* to, std::size_t count, std::size_t element_size) {
  const std::size_t width = Size != 0 ? Size : element_size;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(count, begin + kBlock);
    for (std::size_t b = 0; b < width; ++b)
      for (std::size_t i = begin; i < end; ++i) {
        if constexpr (Forward) to[b * count + i] = from[i * width + b];
        else to[i * width + b] = from[b * count + i];
      }
  }
}

template <bool Forward>
void transpose(std::span<const std::byte> from, std::byte* to, std::size_t element_size) {
  const std::size_t count = from.size() / element_size;
  switch (element_size) {
    case 2: return transpose<2, Forward>(from.data(), to, count, 2);
    case 4: return transpose<4, Forward>(from.data(), to, count, 4);
    case 8: return transpose<8, Forward>(from.data(), to, count, 8);
    default: return transpose<0, Forward>(from.data(), to, count, element_size);
  }
}

class Shuffle final : public BytesToBytesCodec {
 public:
  // 0: to be bound to the item size of the array.
  explicit Shuffle(std::size_t element_size) : element_size_(element_size) {}

  CodecCapabilities capabilities() const noexcept override {
    CodecCapabilities result;
    result.fixed_size = true;
    return result;
  }
  std::shared_ptr<const BytesToBytesCodec> bind(const BytesSpec& decoded) const override {
    if (element_size_ != 0) return BytesToBytesCodec::bind(decoded);
    auto bound = std::make_shared<Shuffle>(*this);
    bound->element_size_ = std::max<std::size_t>(decoded.item_size, 1);
    return bound;
  }
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return decoded_size;
  }

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    if (element_size_ <= 1) return Buffer::copy_of(decoded);
    if (decoded.size() % element_size_ != 0)
      throw Error(ErrorCode::invalid_argument, "cannot shuffle: " + remainder(decoded.size()));
    Buffer buffer = bytes_to_bytes::output_buffer(decoded.size());
    transpose<true>(decoded, buffer.mutable_data(), element_size_);
    return buffer;
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    if (element_size_ <= 1) return decoded.assign(encoded);
    if (encoded.size() % element_size_ != 0)
      bytes_to_bytes::corrupt("cannot unshuffle: " + remainder(encoded.size()));
    transpose<false>(encoded, decoded.reserve(encoded.size()).data(), element_size_);
    decoded.finish(encoded.size());
  }

 private:
  std::string remainder(std::size_t size) const {
    return std::to_string(size) + " bytes are no whole number of elements of " +
           std::to_string(element_size_) + " bytes";
  }

  std::size_t element_size_;
};

// numcodecs' element size 0 means 1; left out it is 4 in v2, the item size in v3.
std::shared_ptr<Codec> make_v2(Configuration& configuration, const CodecOptions&) {
  return std::make_shared<Shuffle>(static_cast<std::size_t>(
      std::max<std::int64_t>(configuration.integer("elementsize", 4, 0, INT32_MAX), 1)));
}
std::shared_ptr<Codec> make_v3(Configuration& configuration, const CodecOptions& options) {
  const Json* value = configuration.find("elementsize");
  if (value == nullptr || value->is_null()) return std::make_shared<Shuffle>(0);
  return make_v2(configuration, options);
}

}  // namespace

void add_shuffle(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "shuffle", make_v2);
  bytes_to_bytes::add(registry, ZarrFormat::v3, "numcodecs.shuffle", make_v3);
}

}  // namespace zarrive
