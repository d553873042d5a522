// What every bytes-to-bytes codec must do. A codec joins by its lines in byte_codec_cases(); a test checks
// that none is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/codec.hpp"

namespace zarrive::testing {

using Bytes = std::vector<std::byte>;

struct ByteCodecCase {
  ZarrFormat format = ZarrFormat::v2;
  std::string name = {};
  std::string configuration = "{}";  // JSON
  std::size_t item_size = 4;         // it is bound to
  std::size_t multiple = 1;          // it takes only whole numbers of this many bytes
  bool detects_damage = false;       // no altered byte goes unnoticed
  bool slow = false;                 // fewer large inputs
};

std::vector<ByteCodecCase> byte_codec_cases();
std::string to_string(const ByteCodecCase& test);  // for messages

// Made by the global registry (strict) and bound.
std::shared_ptr<const BytesToBytesCodec> make_byte_codec(ZarrFormat format, const std::string& name,
                                                         std::string_view configuration = "{}",
                                                         std::size_t item_size = 1);
std::shared_ptr<const BytesToBytesCodec> make_byte_codec(const ByteCodecCase& test);

Bytes to_bytes(std::string_view text);
Bytes from_hex(std::string_view digits);
std::string to_hex(std::span<const std::byte> bytes);
Bytes random_bytes(std::size_t size, std::uint32_t seed);
Bytes constant_bytes(std::size_t size);
Bytes ramp_bytes(std::size_t size);   // little-endian u32: 0, 1, 2, ...
Bytes mixed_bytes(std::size_t size);  // some of each: compresses, but not away

Bytes encode(const BytesToBytesCodec& codec, std::span<const std::byte> decoded);
// Into memory of exactly `size` bytes; into growing memory.
Bytes decode_fixed(const BytesToBytesCodec& codec, std::span<const std::byte> encoded, std::size_t size);
Bytes decode_growing(const BytesToBytesCodec& codec, std::span<const std::byte> encoded, std::uint64_t limit,
                     std::optional<std::uint64_t> expected = {});

// The code of the Error that `call` throws; nullopt when it throws none.
template <class Call>
std::optional<ErrorCode> error_of(Call&& call, std::string* message = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.message();
    return error.code();
  }
  return std::nullopt;
}

}  // namespace zarrive::testing
