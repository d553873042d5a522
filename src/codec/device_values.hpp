// Encoded values as a device decodes them: containers are read here, while the bytes are on the host, and every offset and size in them is
// checked; the device gets streams that lie within the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codec/blosc_device.hpp"
#include "codec/device_steps.hpp"
#include "gpu/decode.hpp"
#include "gpu/engine.hpp"
#include "gpu/nvcomp.hpp"

namespace zarrive {

class DeviceValue {
 public:
  // `decoded_size`: what the value has to decode to. Error(corrupt_chunk) when it cannot. The bytes stay alive and as they are. Streams that
  // `engine` takes are for it; of the others the kernels take LZ4, blosclz and what is stored, and nvCOMP the rest.
  static DeviceValue parse(DeviceContainer container, std::span<const std::byte> bytes,
                           std::uint64_t decoded_size, const gpu::Engine& engine);

  // Whether there is a decoder on this machine for every stream.
  bool has_decoders() const noexcept { return decodable_; }
  // Decoded bytes of the longest streams of either; 0 when there are none.
  std::uint64_t longest_kernel_stream() const noexcept;
  std::uint64_t longest_nvcomp_stream() const noexcept;
  // Bytes of device memory that decoding needs beside the value's own.
  std::uint64_t scratch_size() const noexcept { return scratch_size_; }

  struct Streams {
    std::vector<gpu::EngineStream> engine = {};
    std::vector<gpu::kernels::Stream> kernel = {};
    std::vector<std::pair<gpu::NvcompFormat, gpu::NvcompChunk>> nvcomp = {};
    std::vector<gpu::kernels::ChecksumRange> checksums = {};  // of decoded bytes
    const std::byte* decoded = nullptr;                       // where the decoded bytes will be
    gpu::Layout layout = {};                                  // and how they lie
  };
  // With the value's bytes at `bytes` on the device, and scratch_size() bytes at `scratch`.
  Streams on_device(const std::byte* bytes, std::byte* scratch) const;

 private:
  enum class Decoder : std::uint8_t { engine, kernel, nvcomp };
  // Bytes [offset, offset + encoded) of the value become [target, target + decoded) of the scratch.
  struct Stream {
    std::uint64_t offset = 0;
    std::uint64_t encoded = 0;
    std::uint64_t target = 0;
    std::uint64_t decoded = 0;
    Decoder by = Decoder::nvcomp;
    gpu::EngineFormat engine_format = gpu::EngineFormat::lz4;
    gpu::kernels::StreamKind kind = gpu::kernels::StreamKind::stored;
    gpu::NvcompFormat format = gpu::NvcompFormat::lz4;
    // What a zlib stream and a gzip member end with; neither the engine nor nvCOMP's decoder of deflate sees it.
    std::optional<std::pair<gpu::kernels::ChecksumKind, std::uint32_t>> checksum = {};
  };
  void parse_blosc(std::span<const std::byte> bytes, std::uint64_t decoded_size);
  bool add_to_engine(gpu::EngineFormat format, Stream stream);  // false: it does not take it
  void add_lz4(Stream stream);
  void add(std::span<const std::byte> bytes, gpu::NvcompFormat format, Stream stream);

  gpu::Engine engine_ = {};
  bool decodable_ = true;
  std::uint64_t scratch_size_ = 0;
  std::uint64_t decoded_at_ = 0;  // offset of the decoded bytes, when they are among the value's own
  bool in_value_ = false;
  gpu::Layout layout_ = {};
  std::vector<Stream> streams_ = {};
};

}  // namespace zarrive
