// The decompression engine that some devices have beside their multiprocessors (Blackwell of data centres, with CUDA 12.8 and later).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gpu/device.hpp"

namespace zarrive::gpu {

// A raw deflate stream; a raw snappy block; a raw LZ4 block. The values are those of CUmemDecompressAlgorithm.
enum class EngineFormat : unsigned {
  deflate = cuda_decompress_deflate,
  snappy = cuda_decompress_snappy,
  lz4 = cuda_decompress_lz4
};

// What a device's engine takes.
struct Engine {
  unsigned formats = 0;  // of EngineFormat, or'ed; 0: there is no engine, or no driver for it
  std::uint64_t longest = 0;

  // A stream of `encoded` bytes that is to decode to `decoded`.
  bool takes(EngineFormat format, std::uint64_t encoded, std::uint64_t decoded) const noexcept {
    return (formats & static_cast<unsigned>(format)) != 0 && encoded != 0 && encoded <= longest &&
           decoded != 0 && decoded <= longest;
  }
};

// Asks the driver each time. None when the environment variable ZARRIVE_GPU_ENGINE is "off".
//
// The driver states no bound on what a stream may write: a damaged one may lead the engine past its target, for all that is known. So
// data of unknown origin is not for it.
// `reason`, when given, becomes why there is none, or empty.
Engine find_engine(const Driver& driver, int ordinal, std::string* reason = nullptr);
inline Engine find_engine(const Device& device) { return find_engine(device.driver(), device.ordinal()); }

// Puts the decoding of all streams into a stream of the device, as one piece of work. Error(unavailable, resource_limit) when the driver says
// no; which stream it was about is in the message.
void decompress(const Device& device, std::span<CudaDecompression> streams, CudaStream stream);

}  // namespace zarrive::gpu
