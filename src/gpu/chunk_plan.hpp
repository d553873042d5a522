// Chunk work as the assemble kernel is to do it.
#pragma once

#include <optional>
#include <vector>

#include "gpu/decode.hpp"

namespace zarrive::gpu {

// A chunk whose dimensions and operations are still elsewhere: `axes`, and those of the work.
struct ChunkPlan {
  kernels::Chunk chunk = {};
  std::vector<Axis> axes = {};
};

// Threads take elements of 1, 2, 4 or 8 bytes, or such parts of larger ones. Dimensions that are walked with one step are joined, and
// neighbours are written by neighbours. Nothing when no element is wanted. Errors as DecodeBatch::add_chunk.
std::optional<ChunkPlan> plan_chunk(const ChunkWork& work);

}  // namespace zarrive::gpu
