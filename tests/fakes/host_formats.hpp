// Streams decoded on the host, for the fakes of what decodes them on a device: bytes in, at most `room` bytes out; nothing when they cannot be
// decoded, or not to so few.
#pragma once

#include <lz4.h>
#include <zlib.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace fakes {

using Bytes = std::vector<std::byte>;

inline std::optional<Bytes> decode_LZ4(const Bytes& from, std::size_t room) {
  Bytes to(room);
  const int n =
      LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                          static_cast<int>(from.size()), static_cast<int>(room));
  if (n < 0) return std::nullopt;
  to.resize(static_cast<std::size_t>(n));
  return to;
}

inline std::optional<Bytes> inflate_all(const Bytes& from, std::size_t room, int window) {
  Bytes to(room);
  z_stream stream{};
  if (inflateInit2(&stream, window) != Z_OK) return std::nullopt;
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from.data()));
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = static_cast<uInt>(room);
  const int result = inflate(&stream, Z_FINISH);
  to.resize(stream.total_out);
  inflateEnd(&stream);
  return result == Z_STREAM_END ? std::optional(to) : std::nullopt;
}

inline std::optional<Bytes> decode_Deflate(const Bytes& from, std::size_t room) {
  return inflate_all(from, room, -15);
}

// A snappy block: the size as a varint, then literals and copies.
inline std::optional<Bytes> decode_Snappy(const Bytes& from, std::size_t room) {
  std::size_t at = 0;
  const auto more = [&](std::size_t n) { return n <= from.size() - at; };
  const auto number = [&](std::size_t n) {  // little-endian
    std::size_t value = 0;
    for (std::size_t i = 0; i < n; ++i) value |= std::to_integer<std::size_t>(from[at + i]) << (8 * i);
    at += n;
    return value;
  };
  std::size_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (shift > 28 || !more(1)) return std::nullopt;
    const std::size_t digit = number(1);
    size |= (digit & 127) << shift;
    if (digit < 128) break;
  }
  if (size > room) return std::nullopt;
  Bytes to;
  while (to.size() < size) {
    if (!more(1)) return std::nullopt;
    const std::size_t tag = number(1);
    std::size_t length = (tag >> 2) + 1, distance = 0;
    if ((tag & 3) == 0) {
      if (length > 60) {
        const std::size_t digits = length - 60;
        if (!more(digits)) return std::nullopt;
        length = number(digits) + 1;
      }
      if (!more(length) || length > size - to.size()) return std::nullopt;
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                from.begin() + static_cast<std::ptrdiff_t>(at + length));
      at += length;
      continue;
    }
    if ((tag & 3) == 1) {
      if (!more(1)) return std::nullopt;
      length = (tag >> 2 & 7) + 4;
      distance = (tag >> 5 << 8) | number(1);
    } else {
      const std::size_t digits = (tag & 3) == 2 ? 2 : 4;
      if (!more(digits)) return std::nullopt;
      distance = number(digits);
    }
    if (distance == 0 || distance > to.size() || length > size - to.size()) return std::nullopt;
    for (std::size_t i = 0; i < length; ++i) to.push_back(to[to.size() - distance]);
  }
  return at == from.size() ? std::optional(to) : std::nullopt;
}

}  // namespace fakes
