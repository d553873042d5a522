// Standard Base64 text with padding (RFC 4648, section 4). Line breaks are skipped when it is read.
#include <array>
#include <string_view>

#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t kOther = 0xFF;
constexpr std::uint8_t kSpace = 0xFE;
constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& value : values) value = kOther;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  for (const unsigned char space : {' ', '\t', '\r', '\n'}) values[space] = kSpace;
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

class Base64 final : public BytesToBytesCodec {
 public:
  CodecCapabilities capabilities() const noexcept override {
    CodecCapabilities result;
    result.fixed_size = true;
    return result;
  }
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return multiply(ceil_divide(decoded_size, 3), 4, "the size of a chunk in Base64");
  }

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    Buffer buffer = bytes_to_bytes::output_buffer(static_cast<std::size_t>(*encoded_size(decoded.size())));
    std::byte* to = buffer.mutable_data();
    for (std::size_t at = 0; at < decoded.size(); at += 3, to += 4) {
      const std::size_t count = std::min<std::size_t>(3, decoded.size() - at);
      std::uint32_t bits = std::to_integer<std::uint32_t>(decoded[at]) << 16;
      if (count > 1) bits |= std::to_integer<std::uint32_t>(decoded[at + 1]) << 8;
      if (count > 2) bits |= std::to_integer<std::uint32_t>(decoded[at + 2]);
      for (std::size_t i = 0; i < 4; ++i)
        to[i] = static_cast<std::byte>(i <= count ? kAlphabet[bits >> (18 - 6 * i) & 0x3F] : '=');
    }
    return buffer;
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    // Counted first, so that the room is exact.
    std::size_t characters = 0;
    std::size_t padding = 0;
    for (std::size_t at = 0; at < encoded.size(); ++at) {
      const auto character = std::to_integer<unsigned char>(encoded[at]);
      if (kValues[character] == kSpace) continue;
      if (character == '=') ++padding;
      else if (kValues[character] == kOther || padding != 0)
        corrupt("byte " + std::to_string(at) + " of the Base64 text is " + std::to_string(character) +
                ", which may not stand there");
      else ++characters;
    }
    if (characters % 4 == 1 || padding != (4 - characters % 4) % 4)
      corrupt("the Base64 text has " + std::to_string(characters) + " characters and " +
              std::to_string(padding) + " of padding, expected a multiple of 4 in all");
    const std::size_t size = characters / 4 * 3 + (characters % 4 == 0 ? 0 : characters % 4 - 1);
    const std::span<std::byte> room = decoded.reserve(size);
    std::uint32_t bits = 0;
    unsigned held = 0;
    std::size_t written = 0;
    for (const std::byte byte : encoded) {
      const std::uint8_t value = kValues[std::to_integer<unsigned char>(byte)];
      if (value >= kSpace) continue;  // white space or padding
      bits = bits << 6 | value;
      held += 6;
      if (held >= 8) {
        held -= 8;
        room[written++] = static_cast<std::byte>(bits >> held & 0xFF);
      }
    }
    decoded.finish(written);
  }
};

std::shared_ptr<Codec> make(Configuration&, const CodecOptions&) { return std::make_shared<Base64>(); }

}  // namespace

void add_base64(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "base64", make);
  registry.add_v2_alias("numcodecs.base64", "base64");
}

}  // namespace zarrive
