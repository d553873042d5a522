// A read into device memory: the codecs hand over what they have, and it goes to its place in stream order.
//
// The ways of a chunk's bytes, from the cheapest on:
//   direct        they are the elements as they lie in the value, and cuFile reads them to their place;
//   copied        the same, but the store reads them into pinned memory, and they are copied from there;
//   device decoded  they cross compressed, and the device decodes them;
//   host decoded  the host decodes them into pinned memory, and the elements are copied from there.
// While the device copies from one half of the pinned memory, the store and the codecs fill the other.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "codec/device_decoder.hpp"
#include "gpu/device.hpp"
#include "zarrive/chunk_part.hpp"
#include "zarrive/codec_chain.hpp"
#include "zarrive/context.hpp"
#include "zarrive/gpu.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

class DeviceRead {
 public:
  struct Options {
    // Others put work on the destination into the stream, so nothing may go there but through it.
    bool ordered = false;
    std::uint64_t max_bytes = 0;  // of pinned memory that waits for the stream, about
    gpu::DeviceDecode decode = gpu::DeviceDecode::automatic;
    std::uint64_t max_device_bytes = 0;  // for chunks that are decoded there
    std::uint64_t expected = 0;          // bytes of the result
  };
  // Copies and launches go into `stream` of `device`.
  DeviceRead(const gpu::Device& device, gpu::CudaStream stream, const Options& options);
  // Without finish(): waits for what was begun, for it uses our memory.
  ~DeviceRead();
  DeviceRead(const DeviceRead&) = delete;
  DeviceRead& operator=(const DeviceRead&) = delete;

  // The one that a context belongs to. Error(internal) when there is none.
  static DeviceRead& of(const Context& context);

  // Where encoded values are to be read to: pinned memory, small values side by side.
  Prototype encoded_memory() const { return {{MemoryKind::pinned, 0}, slabs_}; }
  // Whether a store may read to places on the device itself.
  bool direct() const noexcept { return direct_; }
  void count_direct(std::uint64_t bytes);
  // Pinned memory for elements that the host decodes.
  NDArray block(const DataType& type, const Shape& shape) const;

  // Whether parts may have lists and points; else they have ranges only.
  bool takes_lists() const noexcept { return decoder_ != nullptr; }

  // The following may be called from any thread, several at a time. Outputs are device memory.
  // A whole value, encoded by a chain without shards.
  void place(const BoundChain& chain, const Buffer& encoded, const ChunkPart& part, const ArrayView& output,
             const Context& context);
  // What part.to_own_output() meant, decoded into a block of ours.
  void place_block(const NDArray& block, const ChunkPart& part, const ArrayView& output);
  void fill(const ChunkPart& part, const ArrayView& output, const FillValue& value);

  // All of it is on its way: the stream keeps the memory alive until it has passed, or, when `wait`, this returns when it has.
  void finish(bool wait);
  gpu::ReadReport report() const;

 private:
  // Elements of `from`, which lie in `memory`, to the places of the part.
  void copy(const ArrayView& from, const Buffer& memory, const ChunkPart& part, const ArrayView& output);
  void hold(const Buffer& memory);

  const gpu::Device& device_;
  const gpu::CudaStream stream_;
  const std::uint64_t max_bytes_;
  const bool direct_;
  const std::shared_ptr<Allocator> slabs_;
  const std::unique_ptr<DeviceDecoder> decoder_;  // null: the host decodes all
  mutable std::mutex mutex_;
  std::vector<Buffer> held_;  // that the stream still reads
  std::uint64_t held_bytes_ = 0;
  std::vector<Buffer> earlier_;  // the same, until earlier_mark_ is reached
  std::optional<gpu::Event> earlier_mark_;
  bool finished_ = false;
  gpu::ReadReport report_;
};

}  // namespace zarrive
