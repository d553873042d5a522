// Blosc 1: blocks of shuffled bytes, each compressed by one of six compressors; the value's own header says
// which. c-blosc encodes; values are parsed and decoded here (blosc_frame.hpp, blosc_decode.hpp).
//
// Only c-blosc's _ctx calls with one internal thread are used: the others serialise their callers, and chunks
// are the unit of our parallelism.
#include <blosc.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "codec/blosc_decode.hpp"
#include "codec/blosc_frame.hpp"
#include "codec/blosc_ranges.hpp"
#include "codec/byte_codecs.hpp"
#include "codec/device_steps.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

constexpr int kAutoShuffle = -1;

void require_compressor(const std::string& name) {
  if (blosc_compname_to_compcode(name.c_str()) < 0)
    throw Error(ErrorCode::unsupported_codec,
                "this build of the Blosc library is without the compressor '" + name + "'");
}

BloscHeader checked_header(std::span<const std::byte> encoded, std::optional<std::uint64_t> expected) {
  const BloscHeader header = BloscHeader::parse(encoded, encoded.size());
  require_blosc_format(header);
  if (expected && header.decoded_size != *expected)
    corrupt("the Blosc header states " + std::to_string(header.decoded_size) +
            " decoded bytes, expected are " + std::to_string(*expected));
  return header;
}

// How blocks are split is set for the whole process, by anybody. Told to split always, c-blosc splits blocks of few elements too, which it takes
// for whole ones when it decodes them: nobody can read such a value.
void require_readable(const BloscHeader& header) {
  if (header.stored || header.decoded_size == 0 || !header.split || header.width == 1 ||
      header.stream_count(0) > 1)
    return;
  throw Error(
      ErrorCode::unsupported,
      "Blosc split a block of " + std::to_string(header.block_size) + " bytes into streams of elements of " +
          std::to_string(header.width) +
          " bytes, which no reader expects: somebody in this process has called blosc_set_splitmode(" +
          "BLOSC_ALWAYS_SPLIT); set BLOSC_FORWARD_COMPAT_SPLIT, the default, again");
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
    require_readable(BloscHeader::parse(buffer.host_span(), static_cast<std::size_t>(size)));
    return bytes_to_bytes::trimmed(std::move(buffer), static_cast<std::size_t>(size));
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    const BloscHeader header = checked_header(encoded, decoded.expected_size());
    decode_blosc(header, encoded, decoded.reserve(header.decoded_size));
    decoded.finish(header.decoded_size);
  }

  bool add_device_steps(const ArraySpec&, DeviceSteps& steps) const override {
    steps.container = DeviceContainer::blosc;
    return true;
  }

  bool can_decode_ranges(const Context&) const override { return true; }
  std::unique_ptr<PartialDecode> decode_ranges(std::vector<ByteRange> ranges, RangeSink ready,
                                               std::optional<std::uint64_t> decoded_size,
                                               const Context&) const override {
    return decode_blosc_ranges(std::move(ranges), std::move(ready), decoded_size);
  }

  bool decode_in_order(std::span<const std::byte> encoded, ByteSink& sink, const Context&) const override {
    decode_blosc(checked_header(encoded, sink.remaining()), encoded, sink);
    return true;
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
