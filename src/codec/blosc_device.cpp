#include "codec/blosc_device.hpp"

#include <algorithm>

namespace zarrive {

namespace {

gpu::kernels::Shuffle shuffle_of(BloscShuffle shuffle) {
  switch (shuffle) {
    case BloscShuffle::bytes: return gpu::kernels::Shuffle::bytes;
    case BloscShuffle::bits: return gpu::kernels::Shuffle::bits;
    case BloscShuffle::none: break;
  }
  return gpu::kernels::Shuffle::none;
}

}  // namespace

gpu::kernels::Stream DeviceStream::kernel_stream() const {
  return {reinterpret_cast<const std::uint8_t*>(source), reinterpret_cast<std::uint8_t*>(target), encoded,
          decoded,
          stored                       ? gpu::kernels::StreamKind::stored
          : format == BloscFormat::lz4 ? gpu::kernels::StreamKind::lz4
                                       : gpu::kernels::StreamKind::blosclz};
}

bool decodes_in_place(const BloscHeader& header) noexcept {
  // All blocks but the last are alike.
  const std::uint32_t blocks = header.block_count();
  return blocks == 0 || (header.block_shuffle(0) == BloscShuffle::none &&
                         header.block_shuffle(blocks - 1) == BloscShuffle::none);
}

std::uint64_t device_scratch_size(const BloscHeader& header) noexcept {
  return header.stored ? 0 : header.decoded_size;
}

BloscOnDevice plan_blosc(const BloscFrame& frame, std::span<const std::byte> encoded,
                         const std::byte* device_encoded, std::byte* device_decoded,
                         std::uint32_t first_block, std::uint32_t end_block) {
  const BloscHeader& header = frame.header();
  BloscOnDevice plan;
  plan.layout.size = header.decoded_size;
  plan.layout.width = 1;
  if (header.stored) {
    plan.decoded = device_encoded + BloscHeader::kSize;
    return plan;
  }
  plan.decoded = device_decoded;
  if (!decodes_in_place(header)) {
    plan.layout.shuffle = shuffle_of(header.shuffle);
    plan.layout.block_size = header.block_size;
    plan.layout.width = header.width;
  }
  for (std::uint32_t index = first_block; index < std::min(end_block, header.block_count()); ++index) {
    const BloscBlock block = frame.block(index, encoded);
    std::byte* target = device_decoded + std::uint64_t{index} * header.block_size;
    for (std::uint32_t i = 0; i < block.count; ++i) {
      const BloscStream& stream = block.streams[i];
      plan.streams.push_back({header.format, stream.stored(), device_encoded + stream.offset, target,
                              stream.encoded, stream.decoded});
      target += stream.decoded;
    }
  }
  return plan;
}

}  // namespace zarrive
