// A part of a chunk as device kernels walk it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/decode.hpp"
#include "zarrive/chunk_part.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

struct DevicePart {
  std::vector<gpu::Axis> axes = {};
  std::int64_t source_start = 0;  // of the first element, in the decoded chunk
  std::int64_t target_start = 0;  // and from the output's first element
  std::shared_ptr<const std::vector<std::vector<gpu::Place>>> lists =
      {};  // what the axes point to; keep it until the launch
};

// `strides`: bytes between neighbours in the decoded chunk, by dimension of the chunk as the part has them (of a transposed chunk those
// of the stored order, permuted). Of the output shape and strides count, its data is not touched. A stride of the output must not make
// places overflow 64 bits, as is so for memory that exists.
DevicePart device_part(const ChunkPart& part, std::span<const std::int64_t> strides, const ArrayView& output);

// The memory that a view's elements lie in, and the place in it that is `start` bytes from the first element. Not of empty views.
gpu::Target device_target(const ArrayView& view, std::int64_t start);

}  // namespace zarrive
