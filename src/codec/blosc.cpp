// Blosc 1: blocks of shuffled bytes, each compressed by one of six compressors; the value's own header says
// which.
//
// Only the _ctx calls with one internal thread are used: the others serialise their callers, and chunks are
// the unit of our parallelism. The header is checked against the value's real length before any of it is
// trusted; the library checks the block table.
#include <blosc.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

constexpr std::size_t kHeader = BLOSC_MIN_HEADER_LENGTH;
constexpr int kFormatVersion = 2;
// Compressor formats by the number in the top bits of the flags.
constexpr std::array<const char*, 5> kFormats{BLOSC_BLOSCLZ_COMPNAME, BLOSC_LZ4_COMPNAME,
                                              BLOSC_SNAPPY_COMPNAME, BLOSC_ZLIB_COMPNAME,
                                              BLOSC_ZSTD_COMPNAME};
constexpr int kAutoShuffle = -1;

void require_compressor(const std::string& name) {
  if (blosc_compname_to_compcode(name.c_str()) < 0)
    throw Error(ErrorCode::unsupported_codec,
                "this build of the Blosc library is without the compressor '" + name + "'");
}

// The decoded size; Error(corrupt_chunk) unless the header can be true of these bytes.
std::size_t checked_size(std::span<const std::byte> encoded) {
  if (encoded.size() < kHeader)
    corrupt("the Blosc value has " + std::to_string(encoded.size()) + " bytes, fewer than its header of " +
            std::to_string(kHeader));
  const int version = std::to_integer<int>(encoded[0]);
  if (version != kFormatVersion)
    corrupt("the value begins with Blosc format version " + std::to_string(version) + ", expected " +
            std::to_string(kFormatVersion));
  const auto flags = std::to_integer<unsigned>(encoded[2]);
  const std::uint32_t nbytes = bytes_to_bytes::load_le32(encoded.data() + 4);
  const std::uint32_t blocksize = bytes_to_bytes::load_le32(encoded.data() + 8);
  const std::uint32_t cbytes = bytes_to_bytes::load_le32(encoded.data() + 12);
  if (cbytes != encoded.size())
    corrupt("the Blosc header states " + std::to_string(cbytes) + " encoded bytes, the value has " +
            std::to_string(encoded.size()));
  if (nbytes > BLOSC_MAX_BUFFERSIZE || (nbytes != 0 && (blocksize == 0 || blocksize > nbytes)))
    corrupt("the Blosc header states " + std::to_string(nbytes) + " decoded bytes in blocks of " +
            std::to_string(blocksize));
  if ((flags & BLOSC_MEMCPYED) != 0) {
    if (nbytes != cbytes - kHeader)
      corrupt("the Blosc header states " + std::to_string(nbytes) +
              " bytes stored as they are, the value holds " + std::to_string(cbytes - kHeader));
  } else {
    const unsigned format = flags >> 5;
    if (format >= kFormats.size())
      corrupt("the Blosc header names compressor format " + std::to_string(format) + ", known are 0 to 4");
    require_compressor(kFormats.at(format));
  }
  std::size_t size = 0;
  if (blosc_cbuffer_validate(encoded.data(), encoded.size(), &size) != 0 || size != nbytes)
    corrupt("the Blosc header of the " + std::to_string(encoded.size()) + " encoded bytes is not valid");
  return nbytes;
}

class Blosc final : public BytesToBytesCodec {
 public:
  struct Parameters {
    std::string compressor;
    int level = 5;
    int shuffle = kAutoShuffle;
    std::size_t type_size = 0;  // 0: to be bound
    std::size_t block_size = 0;
  };
  explicit Blosc(Parameters parameters) : parameters_(std::move(parameters)) {}

  std::shared_ptr<const BytesToBytesCodec> bind(const BytesSpec& decoded) const override {
    auto bound = std::make_shared<Blosc>(*this);
    Parameters& parameters = bound->parameters_;
    if (parameters.type_size == 0) parameters.type_size = std::max<std::size_t>(decoded.item_size, 1);
    if (parameters.shuffle == kAutoShuffle)
      parameters.shuffle = parameters.type_size == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
    return bound;
  }

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    if (decoded.size() > BLOSC_MAX_BUFFERSIZE)
      throw Error(ErrorCode::resource_limit, "Blosc takes at most " + std::to_string(BLOSC_MAX_BUFFERSIZE) +
                                                 " bytes, the chunk has " + std::to_string(decoded.size()) +
                                                 "; use smaller chunks");
    require_compressor(parameters_.compressor);
    const std::size_t type_size =
        parameters_.type_size == 0 || parameters_.type_size > BLOSC_MAX_TYPESIZE ? 1 : parameters_.type_size;
    int shuffle = parameters_.shuffle;
    if (shuffle == kAutoShuffle) shuffle = type_size == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
    Buffer buffer = bytes_to_bytes::output_buffer(decoded.size() + BLOSC_MAX_OVERHEAD);
    const int size = blosc_compress_ctx(parameters_.level, shuffle, type_size, decoded.size(), decoded.data(),
                                        buffer.mutable_data(), buffer.size(), parameters_.compressor.c_str(),
                                        parameters_.block_size, 1);
    if (size <= 0)
      throw Error(ErrorCode::internal, "Blosc cannot compress " + std::to_string(decoded.size()) +
                                           " bytes with " + parameters_.compressor + " (result " +
                                           std::to_string(size) + ")");
    return bytes_to_bytes::trimmed(std::move(buffer), static_cast<std::size_t>(size));
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    const std::size_t size = checked_size(encoded);
    if (decoded.expected_size() && size != *decoded.expected_size())
      corrupt("the Blosc header states " + std::to_string(size) + " decoded bytes, expected are " +
              std::to_string(*decoded.expected_size()));
    const std::span<std::byte> room = decoded.reserve(size);
    if (size != 0) {
      const int result = blosc_decompress_ctx(encoded.data(), room.data(), room.size(), 1);
      if (result < 0 || static_cast<std::size_t>(result) != size)
        corrupt("the Blosc value of " + std::to_string(encoded.size()) + " bytes does not decode to its " +
                std::to_string(size) + " bytes (result " + std::to_string(result) + ")");
    }
    decoded.finish(size);
  }

 private:
  Parameters parameters_;
};

int read_shuffle(Configuration& configuration, bool v2) {
  const Json* value = configuration.find("shuffle");
  if (value == nullptr) return v2 ? BLOSC_SHUFFLE : kAutoShuffle;
  if (!value->is_string())
    return static_cast<int>(configuration.integer("shuffle", BLOSC_SHUFFLE, kAutoShuffle, BLOSC_BITSHUFFLE));
  const std::string name = configuration.choice("shuffle", "", {"noshuffle", "shuffle", "bitshuffle"});
  return name == "noshuffle" ? BLOSC_NOSHUFFLE : name == "shuffle" ? BLOSC_SHUFFLE : BLOSC_BITSHUFFLE;
}

std::shared_ptr<Codec> make(Configuration& configuration, const CodecOptions& options) {
  const bool v2 = options.format == ZarrFormat::v2;
  Blosc::Parameters parameters;
  parameters.compressor = configuration.choice("cname", v2 ? "lz4" : "zstd",
                                               {"lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"});
  parameters.level = static_cast<int>(configuration.integer("clevel", 5, 0, 9));
  parameters.shuffle = read_shuffle(configuration, v2);
  parameters.type_size = static_cast<std::size_t>(configuration.integer("typesize", 0, 0, INT_MAX));
  parameters.block_size = static_cast<std::size_t>(configuration.integer("blocksize", 0, 0, INT_MAX));
  return std::make_shared<Blosc>(std::move(parameters));
}

}  // namespace

void add_blosc(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "blosc", make);
  bytes_to_bytes::add(registry, ZarrFormat::v3, "blosc", make);
  registry.add_v2_alias("numcodecs.blosc", "blosc");
}

}  // namespace zarrive
