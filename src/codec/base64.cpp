// Standard Base64 text with padding (RFC 4648, section 4). Line breaks are skipped when it is read.
#include "base/base64.hpp"
#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

class Base64 final : public BytesToBytesCodec {
 public:
  CodecCapabilities capabilities() const noexcept override {
    CodecCapabilities result;
    result.fixed_size = true;
    return result;
  }
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return base64::encoded_size(decoded_size);
  }

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    Buffer buffer = bytes_to_bytes::output_buffer(static_cast<std::size_t>(*encoded_size(decoded.size())));
    base64::encode(decoded, buffer.mutable_host_span());
    return buffer;
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    const base64::Survey survey = base64::survey(encoded, base64::Space::skipped);
    if (survey.wrong)
      corrupt("byte " + std::to_string(*survey.wrong) + " of the Base64 text is " +
              std::to_string(std::to_integer<unsigned>(encoded[*survey.wrong])) +
              ", which may not stand there");
    if (!survey.valid())
      corrupt("the Base64 text has " + std::to_string(survey.characters) + " characters and " +
              std::to_string(survey.padding) + " of padding, expected a multiple of 4 in all");
    base64::decode(encoded, decoded.reserve(survey.decoded_size()));
    decoded.finish(survey.decoded_size());
  }
};

std::shared_ptr<Codec> make(Configuration&, const CodecOptions&) { return std::make_shared<Base64>(); }

}  // namespace

void add_base64(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "base64", make);
  registry.add_v2_alias("numcodecs.base64", "base64");
}

}  // namespace zarrive
