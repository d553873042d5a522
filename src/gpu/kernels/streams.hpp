// The kernel that decodes streams, one group of lanes (a warp) a stream.
#pragma once

#include "gpu/kernels/blosclz.hpp"
#include "gpu/kernels/lz4.hpp"

namespace zarrive::gpu::kernels {

enum class StreamKind : std::uint32_t { stored, lz4, blosclz };

// `encoded` bytes at `source` decode to exactly `decoded` at `target`; of a stored stream both are equal.
struct Stream {
  const std::uint8_t* source;
  std::uint8_t* target;
  std::uint32_t encoded;
  std::uint32_t decoded;
  StreamKind kind;
};

struct DecodeStreams {
  const Stream* streams;
  std::uint32_t* statuses;  // one a stream
  std::uint64_t units;      // streams

  template <class Group>
  ZARRIVE_KERNEL void run(std::uint64_t unit, const Group& group) const {
    const Stream stream = streams[unit];
    bool good = false;
    switch (stream.kind) {
      case StreamKind::stored:
        good = stream.encoded == stream.decoded;
        if (good) copy_bytes(group, stream.target, stream.source, stream.decoded);
        break;
      case StreamKind::lz4:
        good = decode_lz4(group, stream.source, stream.encoded, stream.target, stream.decoded);
        break;
      case StreamKind::blosclz:
        good = decode_blosclz(group, stream.source, stream.encoded, stream.target, stream.decoded);
        break;
    }
    if (group.lane() == 0) statuses[unit] = good ? status_ok : status_corrupt;
  }
};

}  // namespace zarrive::gpu::kernels
