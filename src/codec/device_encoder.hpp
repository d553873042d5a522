// Chunks encoded on a device by nvCOMP: many of them by one launch, and only what they were encoded to comes to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "codec/device_steps.hpp"
#include "gpu/decode.hpp"
#include "gpu/nvcomp.hpp"
#include "zarrive/codec_chain.hpp"
#include "zarrive/context.hpp"
#include "zarrive/fill_value.hpp"
#include "zarrive/gpu.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

// For the chunks of one write. Not thread-safe.
class DeviceEncoder {
 public:
  struct Options {
    gpu::DeviceEncode how = gpu::DeviceEncode::automatic;
    std::uint64_t max_bytes = 0;  // of device memory: half of it for chunks, half for nvCOMP
    const FillValue* fill =
        nullptr;  // chunks of nothing but this are told apart. Outlives the encoder. Null: they are as all others
  };
  // Null when nvCOMP is not there or the host has to encode chunks of this chain. Elements are those after what is in `stream`.
  static std::unique_ptr<DeviceEncoder> make(const gpu::Device& device, gpu::CudaStream stream,
                                             const BoundChain& chain, const Options& options);
  DeviceEncoder(const DeviceEncoder&) = delete;
  DeviceEncoder& operator=(const DeviceEncoder&) = delete;

  // Whether it can encode this chunk: of any strides where there are kernels, else of none but dense ones.
  bool takes(const ArrayView& elements);

  struct Chunk {
    ArrayView elements = {};           // all of the chunk, in device memory; it takes them
    const Context* context = nullptr;  // for errors
  };
  struct Encoded {
    Buffer bytes = {};  // for BoundChain::finish_device_encoding
    bool only_fill = false;
  };
  // Waits for the stream. nullopt when the device has not enough memory: the host has to encode them.
  // Error(unavailable) for the first chunk that nvCOMP could not encode, naming its place.
  std::optional<std::vector<Encoded>> encode(std::span<const Chunk> chunks);

 private:
  // Chunks of one size. Those of a batch are alike, since nvCOMP goes by the largest: so they are encoded as the chunk of fill was.
  struct Alike {
    std::uint64_t size = 0;
    std::uint64_t room = 0;           // that each may need when it is encoded; 0: nvCOMP does not take them
    std::optional<Buffer> fill = {};  // what one of nothing but the fill value is encoded to
    std::uint64_t footprint() const noexcept;
  };
  class InFlight;

  DeviceEncoder(const gpu::Device& device, gpu::CudaStream stream, DeviceContainer container,
                const Options& options);
  Alike& alike(std::uint64_t size);
  void reserve(std::span<const Chunk> chunks);
  // `fill`: null, or gets what a chunk of the fill value is encoded to. All bytes are there when the stream has passed.
  void encode_batch(std::span<const Chunk> chunks, std::span<const std::size_t> members, const Alike& alike,
                    std::vector<Encoded>& results, Buffer* fill, InFlight& in_flight);
  void gather(const ArrayView& elements, std::byte* dense, std::uint64_t room);
  [[noreturn]] void fail(const Chunk* chunk, const std::string& reason) const;

  const gpu::Device& device_;
  const gpu::CudaStream stream_;
  const DeviceContainer container_;
  const FillValue* const fill_;
  const std::uint64_t arena_limit_;
  const bool has_kernels_;
  std::map<std::uint64_t, Alike> sizes_;
  Buffer arena_;
  gpu::NvcompCoder coder_;
  gpu::DecodeBatch gathering_;
};

}  // namespace zarrive
