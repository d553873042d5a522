// Base64 with the standard alphabet and padding (RFC 4648, section 4), straight from and to the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace zarrive::base64 {

// Characters that `size` bytes become: 4 for each 3 begun. Error(resource_limit) when that overflows.
std::uint64_t encoded_size(std::uint64_t size);
// `text` has encoded_size(bytes.size()) characters.
void encode(std::span<const std::byte> bytes, std::span<std::byte> text);

enum class Space : std::uint8_t { refused, skipped };  // blanks, tabs and line breaks between the characters

// What a text decodes to, or why it is none.
struct Survey {
  std::size_t characters = 0;  // of the alphabet, up to the first wrong one
  std::size_t padding = 0;     // '=' at the end
  std::optional<std::size_t> wrong =
      {};  // position of the first character that may not stand where it stands

  bool valid() const noexcept { return !wrong && characters % 4 != 1 && padding == (4 - characters % 4) % 4; }
  std::size_t decoded_size() const noexcept { return characters / 4 * 3 + characters % 4 * 3 / 4; }
};
Survey survey(std::span<const std::byte> text, Space space) noexcept;
// Of a valid text; `bytes` has its decoded_size().
void decode(std::span<const std::byte> text, std::span<std::byte> bytes) noexcept;

}  // namespace zarrive::base64
