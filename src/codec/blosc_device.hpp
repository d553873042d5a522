// A Blosc value for a device: the header, the table and the streams' sizes are read while the bytes are on the host; the device gets a
// list of streams that all lie within the value, and how the decoded bytes lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/blosc_frame.hpp"
#include "gpu/decode.hpp"

namespace zarrive {

// A stream at `source` on the device that decodes to `decoded` bytes at `target`.
struct DeviceStream {
  BloscFormat format = BloscFormat::blosclz;  // meaningless when stored
  bool stored = false;
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint32_t encoded = 0;
  std::uint32_t decoded = 0;

  bool by_kernel() const noexcept {  // or by another decoder: zlib, snappy, zstd
    return stored || format == BloscFormat::lz4 || format == BloscFormat::blosclz;
  }
  gpu::kernels::Stream kernel_stream() const;  // only when by_kernel()
};

struct BloscOnDevice {
  gpu::Layout layout = {};
  const std::byte* decoded =
      nullptr;  // where the layout begins: scratch, or among the encoded bytes of a stored value
  std::vector<DeviceStream> streams = {};
};

// Whether decoded bytes are shuffled in no block: streams may be decoded straight to where the chunk's bytes are wanted.
bool decodes_in_place(const BloscHeader& header) noexcept;
// Bytes that decoding needs on the device; 0 for a stored value, which is read where it is.
std::uint64_t device_scratch_size(const BloscHeader& header) noexcept;

// Blocks [first_block, end_block) of a value whose bytes are `encoded` on the host and lie at `device_encoded` on the device;
// `device_decoded` has room for device_scratch_size(), whichever blocks these are. Error(corrupt_chunk) when a stream does not lie in the value.
BloscOnDevice plan_blosc(const BloscFrame& frame, std::span<const std::byte> encoded,
                         const std::byte* device_encoded, std::byte* device_decoded,
                         std::uint32_t first_block = 0, std::uint32_t end_block = UINT32_MAX);

}  // namespace zarrive
