// Checksum codecs: four bytes (little-endian) before or after the value, checked when it is read.
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "codec/byte_codecs.hpp"
#include "codec/checksum.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

constexpr std::size_t kSize = 4;
using Function = std::function<std::uint32_t(std::span<const std::byte>)>;

std::string hexadecimal(std::uint32_t value) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(value));
  return text;
}

// Ranges of a value without its checksum: the same ranges, moved behind a checksum at the start.
class UncheckedRanges final : public PartialDecode {
 public:
  UncheckedRanges(std::vector<ByteRange> ranges, BytesToBytesCodec::RangeSink ready)
      : ranges_(std::move(ranges)), ready_(std::move(ready)) {}
  std::vector<WantedBytes> wanted() override {
    std::vector<WantedBytes> out;
    if (!std::exchange(asked_, true))
      for (const ByteRange& range : ranges_) out.push_back({range, {}});
    return out;
  }
  void receive(std::size_t i, const Buffer& bytes, std::optional<std::uint64_t>) override {
    ready_(i, bytes);
  }

 private:
  const std::vector<ByteRange> ranges_;
  const BytesToBytesCodec::RangeSink ready_;
  bool asked_ = false;
};

class Checksum final : public BytesToBytesCodec {
 public:
  Checksum(std::string kind, Function function, bool at_start)
      : kind_(std::move(kind)), function_(std::move(function)), at_start_(at_start) {}

  CodecCapabilities capabilities() const noexcept override {
    CodecCapabilities result;
    result.fixed_size = true;
    return result;
  }
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return zarrive::add(decoded_size, kSize, "the size of a chunk with its checksum");
  }

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    Buffer buffer = bytes_to_bytes::output_buffer(decoded.size() + kSize);
    if (!decoded.empty())
      std::memcpy(buffer.mutable_data() + (at_start_ ? kSize : 0), decoded.data(), decoded.size());
    bytes_to_bytes::store_le32(buffer.mutable_data() + (at_start_ ? 0 : decoded.size()), function_(decoded));
    return buffer;
  }

  std::optional<std::span<const std::byte>> decode_view(std::span<const std::byte> encoded,
                                                        const Context&) const override {
    if (encoded.size() < kSize)
      corrupt("the encoded value has " + std::to_string(encoded.size()) + " bytes, too few for its " + kind_ +
              " checksum of 4");
    const std::size_t size = encoded.size() - kSize;
    const std::span<const std::byte> value = encoded.subspan(at_start_ ? kSize : 0, size);
    const std::uint32_t stored = bytes_to_bytes::load_le32(encoded.data() + (at_start_ ? 0 : size));
    const std::uint32_t computed = function_(value);
    if (stored != computed)
      corrupt("the " + kind_ + " checksum of " + std::to_string(size) + " bytes is " + hexadecimal(computed) +
              ", stored is " + hexadecimal(stored));
    return value;
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded,
              const Context& context) const override {
    decoded.assign(*decode_view(encoded, context));
  }

  // The host takes it off before the bytes cross.
  bool add_device_steps(const ArraySpec&, DeviceSteps&) const override { return true; }

  bool can_decode_ranges(const Context& context) const override { return !context.verify_checksums; }
  std::unique_ptr<PartialDecode> decode_ranges(std::vector<ByteRange> ranges, RangeSink ready,
                                               std::optional<std::uint64_t>, const Context&) const override {
    if (at_start_)
      for (ByteRange& range : ranges) range.offset += kSize;
    return std::make_unique<UncheckedRanges>(std::move(ranges), std::move(ready));
  }

 private:
  std::string kind_;
  Function function_;
  bool at_start_;
};

void add_v2(CodecRegistry& registry, const std::string& id,
            std::uint32_t (*function)(std::span<const std::byte>), const char* location) {
  bytes_to_bytes::add(
      registry, ZarrFormat::v2, id,
      [=](Configuration& configuration, const CodecOptions&) -> std::shared_ptr<Codec> {
        const bool at_start = configuration.choice("location", location, {"start", "end"}) == "start";
        return std::make_shared<Checksum>(id, function, at_start);
      });
  registry.add_v2_alias("numcodecs." + id, id);
}

// numcodecs' prefix is a byte string, which JSON has no form for: taken as text or as a list of bytes.
std::vector<std::byte> read_prefix(Configuration& configuration) {
  std::vector<std::byte> prefix;
  const Json* value = configuration.find("prefix");
  if (value == nullptr || value->is_null()) return prefix;
  if (value->is_string()) {
    for (const char character : value->as_string()) prefix.push_back(static_cast<std::byte>(character));
  } else if (value->is_array()) {
    for (const Json& item : value->as_array()) {
      const std::optional<std::uint64_t> byte = item.to_uint64();
      if (!byte || *byte > 255)
        configuration.fail("'prefix' holds " + item.dump() + ", expected integers from 0 to 255");
      prefix.push_back(static_cast<std::byte>(*byte));
    }
  } else {
    configuration.fail("'prefix' is of type " + std::string(value->type_name()) +
                       ", expected null, a string or a list of bytes");
  }
  return prefix;
}

std::shared_ptr<Codec> make_jenkins(Configuration& configuration, const CodecOptions&) {
  const auto initval = static_cast<std::uint32_t>(configuration.integer("initval", 0, 0, UINT32_MAX));
  Function function = [initval, prefix = read_prefix(configuration)](std::span<const std::byte> bytes) {
    if (prefix.empty()) return jenkins_lookup3(bytes, initval);
    std::vector<std::byte> whole = prefix;
    whole.insert(whole.end(), bytes.begin(), bytes.end());
    return jenkins_lookup3(whole, initval);
  };
  return std::make_shared<Checksum>("jenkins_lookup3", std::move(function), false);
}

}  // namespace

void add_checksums(CodecRegistry& registry) {
  add_v2(registry, "crc32", crc32, "start");
  add_v2(registry, "adler32", adler32, "start");
  add_v2(registry, "crc32c", crc32c, "end");
  bytes_to_bytes::add(registry, ZarrFormat::v3, "crc32c",
                      [](Configuration&, const CodecOptions&) -> std::shared_ptr<Codec> {
                        return std::make_shared<Checksum>("crc32c", crc32c, false);
                      });

  bytes_to_bytes::add(registry, ZarrFormat::v2, "fletcher32",
                      [](Configuration&, const CodecOptions&) -> std::shared_ptr<Codec> {
                        return std::make_shared<Checksum>("fletcher32", fletcher32, false);
                      });
  registry.add_v2_alias("numcodecs.fletcher32", "fletcher32");
  registry.add_v2_alias("https://codec.zarrs.dev/bytes_to_bytes/fletcher32", "fletcher32");

  bytes_to_bytes::add(registry, ZarrFormat::v2, "jenkins_lookup3", make_jenkins);
  registry.add_v2_alias("numcodecs.jenkins_lookup3", "jenkins_lookup3");
}

}  // namespace zarrive
