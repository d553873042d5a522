#include "codec/device_values.hpp"

#include <zstd.h>

#include <algorithm>

#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;
using bytes_to_bytes::load_le32;

std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

// What lies between the header and the trailer of one member; empty when it is not as simple as that.
std::span<const std::byte> zlib_body(std::span<const std::byte> bytes) {
  constexpr std::size_t kHeader = 2, kTrailer = 4;
  if (bytes.size() < kHeader + kTrailer + 1) return {};
  const unsigned method = byte_at(bytes, 0), flags = byte_at(bytes, 1);
  const bool has_dictionary = (flags & 0x20) != 0;
  if ((method & 0x0F) != 8 || (method << 8 | flags) % 31 != 0 || has_dictionary) return {};
  return bytes.subspan(kHeader, bytes.size() - kHeader - kTrailer);
}

// One frame that states its size, fills the value, and needs no dictionary.
bool is_plain_zstd(std::span<const std::byte> bytes, std::uint64_t decoded_size) {
  return ZSTD_getFrameContentSize(bytes.data(), bytes.size()) == decoded_size &&
         ZSTD_getDictID_fromFrame(bytes.data(), bytes.size()) == 0 &&
         ZSTD_findFrameCompressedSize(bytes.data(), bytes.size()) == bytes.size();
}

// One member as far as its header and its trailer tell: without optional fields, and of this size.
bool is_plain_gzip(std::span<const std::byte> bytes, std::uint64_t decoded_size) {
  constexpr std::size_t kHeader = 10, kTrailer = 8;
  return bytes.size() > kHeader + kTrailer && byte_at(bytes, 0) == 0x1F && byte_at(bytes, 1) == 0x8B &&
         byte_at(bytes, 2) == 8 && byte_at(bytes, 3) == 0 && decoded_size <= UINT32_MAX &&
         load_le32(bytes.data() + bytes.size() - 4) == decoded_size;
}

bool is_plain_snappy(std::span<const std::byte> bytes, std::uint64_t decoded_size) {
  std::uint64_t stated = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 5; ++i) {
    const std::uint64_t byte = byte_at(bytes, i);
    stated |= (byte & 0x7F) << (7 * i);
    if ((byte & 0x80) == 0) return stated == decoded_size;
  }
  return false;
}

}  // namespace

bool DeviceValue::add_to_engine(gpu::EngineFormat format, Stream stream) {
  if (!engine_.takes(format, stream.encoded, stream.decoded)) return false;
  stream.by = Decoder::engine;
  stream.engine_format = format;
  streams_.push_back(stream);
  return true;
}

// A raw block.
void DeviceValue::add_lz4(Stream stream) {
  if (add_to_engine(gpu::EngineFormat::lz4, stream)) return;
  stream.by = Decoder::kernel;
  stream.kind = gpu::kernels::StreamKind::lz4;
  streams_.push_back(stream);
}

// A stream for the engine or nvCOMP, when one is there and the stream is one that it decodes.
void DeviceValue::add(std::span<const std::byte> bytes, gpu::NvcompFormat format, Stream stream) {
  const std::span<const std::byte> own = bytes.subspan(stream.offset, stream.encoded);
  switch (format) {
    case gpu::NvcompFormat::zstd: decodable_ = decodable_ && is_plain_zstd(own, stream.decoded); break;
    case gpu::NvcompFormat::gzip:
      decodable_ = decodable_ && is_plain_gzip(own, stream.decoded);
      if (decodable_)
        stream.checksum = {gpu::kernels::ChecksumKind::crc32, load_le32(own.data() + own.size() - 8)};
      break;
    case gpu::NvcompFormat::snappy: decodable_ = decodable_ && is_plain_snappy(own, stream.decoded); break;
    case gpu::NvcompFormat::deflate: {
      const std::span<const std::byte> body = zlib_body(own);
      decodable_ = decodable_ && !body.empty();
      if (!body.empty()) {
        stream.offset += static_cast<std::uint64_t>(body.data() - own.data());
        stream.checksum = {gpu::kernels::ChecksumKind::adler32,
                           __builtin_bswap32(load_le32(own.data() + own.size() - 4))};
      }
      stream.encoded = body.size();
      break;
    }
    case gpu::NvcompFormat::lz4: break;
  }
  if (decodable_ &&
      ((format == gpu::NvcompFormat::deflate && add_to_engine(gpu::EngineFormat::deflate, stream)) ||
       (format == gpu::NvcompFormat::snappy && add_to_engine(gpu::EngineFormat::snappy, stream))))
    return;
  decodable_ = decodable_ && gpu::nvcomp_status().library != nullptr;
  stream.by = Decoder::nvcomp;
  stream.format = format;
  streams_.push_back(stream);
}

void DeviceValue::parse_blosc(std::span<const std::byte> bytes, std::uint64_t decoded_size) {
  const BloscFrame frame = BloscFrame::parse(bytes, bytes.size());
  const BloscHeader& header = frame.header();
  if (header.decoded_size != decoded_size)
    corrupt("the Blosc header states " + std::to_string(header.decoded_size) +
            " decoded bytes, expected are " + std::to_string(decoded_size));
  // Where it lies does not matter yet: offsets from here are kept.
  std::byte* const base = const_cast<std::byte*>(bytes.data());
  const BloscOnDevice plan = plan_blosc(frame, bytes, base, base);
  layout_ = plan.layout;
  in_value_ = header.stored;
  decoded_at_ = header.stored ? BloscHeader::kSize : 0;
  scratch_size_ = device_scratch_size(header);
  for (const DeviceStream& from : plan.streams) {
    Stream stream;
    stream.offset = static_cast<std::uint64_t>(from.source - base);
    stream.encoded = from.encoded;
    stream.target = static_cast<std::uint64_t>(from.target - base);
    stream.decoded = from.decoded;
    if (!from.stored && from.format == BloscFormat::lz4) {
      add_lz4(stream);
    } else if (from.by_kernel()) {
      stream.by = Decoder::kernel;
      stream.kind = from.kernel_stream().kind;
      streams_.push_back(stream);
    } else {
      add(bytes,
          from.format == BloscFormat::zstd     ? gpu::NvcompFormat::zstd
          : from.format == BloscFormat::snappy ? gpu::NvcompFormat::snappy
                                               : gpu::NvcompFormat::deflate,
          stream);
    }
  }
}

DeviceValue DeviceValue::parse(DeviceContainer container, std::span<const std::byte> bytes,
                               std::uint64_t decoded_size, const gpu::Engine& engine) {
  DeviceValue value;
  value.engine_ = engine;
  value.layout_ = {.size = decoded_size, .block_size = 0, .width = 1, .shuffle = gpu::kernels::Shuffle::none};
  value.scratch_size_ = decoded_size;
  const Stream all{.offset = 0, .encoded = bytes.size(), .target = 0, .decoded = decoded_size};
  switch (container) {
    case DeviceContainer::plain:
      if (bytes.size() != decoded_size)
        corrupt("the value has " + std::to_string(bytes.size()) + " bytes, expected are " +
                std::to_string(decoded_size));
      value.in_value_ = true;
      value.scratch_size_ = 0;
      break;
    case DeviceContainer::blosc: value.parse_blosc(bytes, decoded_size); break;
    case DeviceContainer::lz4: {
      constexpr std::size_t kHeader = 4;
      if (bytes.size() <= kHeader || load_le32(bytes.data()) != decoded_size) {
        value.decodable_ = false;  // the host's decoder says what is wrong
        break;
      }
      Stream stream = all;
      stream.offset = kHeader;
      stream.encoded -= kHeader;
      value.decodable_ = stream.encoded <= UINT32_MAX && decoded_size <= UINT32_MAX;
      value.add_lz4(stream);
      break;
    }
    case DeviceContainer::zstd: value.add(bytes, gpu::NvcompFormat::zstd, all); break;
    case DeviceContainer::gzip: value.add(bytes, gpu::NvcompFormat::gzip, all); break;
    case DeviceContainer::zlib: value.add(bytes, gpu::NvcompFormat::deflate, all); break;
  }
  return value;
}

std::uint64_t DeviceValue::longest_kernel_stream() const noexcept {
  std::uint64_t longest = 0;
  for (const Stream& stream : streams_)
    if (stream.by == Decoder::kernel && stream.kind != gpu::kernels::StreamKind::stored)
      longest = std::max(longest, stream.decoded);
  return longest;
}

std::uint64_t DeviceValue::longest_nvcomp_stream() const noexcept {
  std::uint64_t longest = 0;
  for (const Stream& stream : streams_)
    if (stream.by == Decoder::nvcomp) longest = std::max(longest, stream.decoded);
  return longest;
}

DeviceValue::Streams DeviceValue::on_device(const std::byte* bytes, std::byte* scratch) const {
  Streams out;
  out.layout = layout_;
  out.decoded = in_value_ ? bytes + decoded_at_ : scratch;
  for (const Stream& stream : streams_) {
    const std::byte* const from = bytes + stream.offset;
    std::byte* const to = scratch + stream.target;
    const auto encoded = static_cast<std::uint32_t>(stream.encoded);
    const auto decoded = static_cast<std::uint32_t>(stream.decoded);
    if (stream.checksum)
      out.checksums.push_back({reinterpret_cast<const std::uint8_t*>(to), stream.decoded, nullptr,
                               stream.checksum->second, stream.checksum->first});
    switch (stream.by) {
      case Decoder::engine: out.engine.push_back({from, to, encoded, decoded, stream.engine_format}); break;
      case Decoder::kernel:
        out.kernel.push_back({reinterpret_cast<const std::uint8_t*>(from),
                              reinterpret_cast<std::uint8_t*>(to), encoded, decoded, stream.kind});
        break;
      case Decoder::nvcomp:
        out.nvcomp.emplace_back(stream.format,
                                gpu::NvcompChunk{from, static_cast<std::size_t>(stream.encoded), to,
                                                 static_cast<std::size_t>(stream.decoded)});
        break;
    }
  }
  return out;
}

}  // namespace zarrive
