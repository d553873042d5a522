// The files of bytes-to-bytes codecs, and what they share: pooled output, growing output, little-endian
// words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>

#include "codec/configuration.hpp"
#include "zarrive/codec.hpp"

namespace zarrive {

// One a file; called by add_builtin_byte_codecs().
void add_base64(CodecRegistry& registry);
void add_blosc(CodecRegistry& registry);
void add_bz2(CodecRegistry& registry);
void add_checksums(CodecRegistry& registry);
void add_conditional(CodecRegistry& registry);
void add_deflate(CodecRegistry& registry);
void add_lz4(CodecRegistry& registry);
void add_lzma(CodecRegistry& registry);
void add_shuffle(CodecRegistry& registry);
void add_zstd(CodecRegistry& registry);

namespace bytes_to_bytes {

// Makes a codec from its configuration; finish() is called on it afterwards.
using Maker =
    std::function<std::shared_ptr<Codec>(Configuration& configuration, const CodecOptions& options)>;
void add(CodecRegistry& registry, ZarrFormat format, std::string name, Maker make);

[[noreturn]] void corrupt(const std::string& message);  // Error(corrupt_chunk)

// Pooled memory for `size` bytes that are about to be written.
Buffer output_buffer(std::size_t size);
// The first `size` bytes of an output buffer. Copied when most of the buffer would be kept alive for nothing:
// encoded chunks may live long.
Buffer trimmed(Buffer buffer, std::size_t size);

inline std::uint32_t load_le32(const std::byte* from) {
  return std::to_integer<std::uint32_t>(from[0]) | std::to_integer<std::uint32_t>(from[1]) << 8 |
         std::to_integer<std::uint32_t>(from[2]) << 16 | std::to_integer<std::uint32_t>(from[3]) << 24;
}
inline void store_le32(std::byte* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
}

// Room in a ByteOutput for a streaming decoder, which cannot say beforehand how much it will write:
// the expected size at once when it is known, else doubling up to the limit. Use: decode into room(), tell
// written(), until done; finish().
class StreamedOutput {
 public:
  // `guess`: bytes to begin with when the size is not known.
  StreamedOutput(ByteOutput& output, std::uint64_t guess);
  // Never empty. When all that is allowed has been written it is one byte outside the output, to see whether
  // the decoder wants more.
  std::span<std::byte> room();
  // `count` bytes of room() were written. Error(corrupt_chunk) or Error(resource_limit) when that is more
  // than there may be.
  void written(std::size_t count);
  std::uint64_t size() const noexcept { return size_; }
  void finish() { output_.finish(size_); }

 private:
  ByteOutput& output_;
  std::uint64_t ceiling_;
  std::span<std::byte> reserved_;
  std::uint64_t size_ = 0;
  std::byte overflow_{};
};

}  // namespace bytes_to_bytes
}  // namespace zarrive
