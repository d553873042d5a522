// Chunks decoded on a device: encoded values cross once, many of them are decoded by a few launches, and their elements go to their places.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "codec/device_steps.hpp"
#include "gpu/decode.hpp"
#include "gpu/engine.hpp"
#include "gpu/nvcomp.hpp"
#include "zarrive/chunk_part.hpp"
#include "zarrive/codec_chain.hpp"
#include "zarrive/context.hpp"
#include "zarrive/gpu.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

// The values of a read, in waves: while the device decodes one, the next is put together. Thread-safe.
class DeviceDecoder {
 public:
  // Null when this build, or this machine, has no kernels, and with DeviceDecode::never. `budget`: bytes of device memory for encoded and
  // decoded values of both waves, and for nvCOMP; not more than about `expected` are taken for a wave when that is less.
  static std::unique_ptr<DeviceDecoder> make(const gpu::Device& device, gpu::CudaStream stream,
                                             gpu::DeviceDecode how, std::uint64_t budget,
                                             std::uint64_t expected);
  ~DeviceDecoder();

  enum class Taken : std::uint8_t {
    no,
    yes,
    with_engine
  };  // the last: some of its streams by the device's engine
  // `no`, and nothing is done, when the host has to decode this value, or does it faster. Otherwise its elements will be at their places when
  // the stream has passed. Error(corrupt_chunk) for what the host sees of a broken value.
  Taken add(const BoundChain& chain, const Buffer& encoded, const ChunkPart& part, const ArrayView& output,
            const Context& context);
  // Elements that part.to_own_output() means, in pinned memory, to the places of a part of any kind.
  void add_block(const NDArray& block, const ChunkPart& part, const ArrayView& output);
  void add_fill(const ChunkPart& part, const ArrayView& output, const FillValue& value);

  // Waits until all is decoded. Error(corrupt_chunk) for the first value that could not be, naming its place.
  void finish();

 private:
  struct Wave;
  struct Plan;
  DeviceDecoder(const gpu::Device& device, gpu::CudaStream stream, gpu::DeviceDecode how,
                std::uint64_t arena_size, std::uint64_t nvcomp_budget);

  Wave& wave_with(std::uint64_t bytes);
  void launch(Wave& wave);
  void wait(Wave& wave);
  gpu::NvcompCoder& coder(gpu::NvcompFormat format);

  const gpu::Device& device_;
  const gpu::CudaStream stream_;
  const gpu::DeviceDecode how_;
  const gpu::Engine engine_;
  const std::uint64_t arena_size_;
  const std::uint64_t nvcomp_budget_;
  std::mutex mutex_;
  std::map<gpu::NvcompFormat, gpu::NvcompCoder> coders_;
  std::array<std::unique_ptr<Wave>, 2> waves_;  // [0] is being put together, [1] is on the device
};

}  // namespace zarrive
