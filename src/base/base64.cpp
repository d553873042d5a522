#include "base/base64.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "zarrive/checked.hpp"

namespace zarrive::base64 {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t kOther = 0xFF;
constexpr std::uint8_t kSpace = 0xFE;
constexpr std::uint8_t kPadding = 0xFD;
constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& value : values) value = kOther;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  for (const unsigned char space : {' ', '\t', '\r', '\n'}) values[space] = kSpace;
  values['='] = kPadding;
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

std::uint8_t value_of(std::byte character) noexcept {
  return kValues[std::to_integer<std::size_t>(character)];
}

}  // namespace

std::uint64_t encoded_size(std::uint64_t size) {
  return multiply(ceil_divide(size, 3), 4, "the size of a text in Base64");
}

void encode(std::span<const std::byte> bytes, std::span<std::byte> text) {
  std::byte* to = text.data();
  for (std::size_t at = 0; at < bytes.size(); at += 3, to += 4) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = std::to_integer<std::uint32_t>(bytes[at]) << 16;
    if (count > 1) bits |= std::to_integer<std::uint32_t>(bytes[at + 1]) << 8;
    if (count > 2) bits |= std::to_integer<std::uint32_t>(bytes[at + 2]);
    for (std::size_t i = 0; i < 4; ++i)
      to[i] = static_cast<std::byte>(i <= count ? kAlphabet[bits >> (18 - 6 * i) & 0x3F] : '=');
  }
}

Survey survey(std::span<const std::byte> text, Space space) noexcept {
  Survey found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::uint8_t value = value_of(text[at]);
    if (value == kSpace && space == Space::skipped) continue;
    if (value == kPadding) {
      ++found.padding;
    } else if (value >= kPadding || found.padding != 0) {
      found.wrong = at;
      break;
    } else {
      ++found.characters;
    }
  }
  return found;
}

void decode(std::span<const std::byte> text, std::span<std::byte> bytes) noexcept {
  std::uint32_t bits = 0;
  unsigned held = 0;
  std::size_t written = 0;
  for (const std::byte character : text) {
    const std::uint8_t value = value_of(character);
    if (value >= kPadding) continue;
    bits = bits << 6 | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[written++] = static_cast<std::byte>(bits >> held & 0xFF);
    }
  }
}

}  // namespace zarrive::base64
