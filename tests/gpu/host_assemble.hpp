// Chunk work done by the kernel's body on the host, on host memory.
#pragma once

#include <vector>

#include "gpu/chunk_plan.hpp"
#include "gpu/kernels_support.hpp"

namespace zarrive::gpu::testing {

// The chunk's status.
inline std::uint32_t assemble_on_host(const ChunkWork& work, Random& random) {
  std::optional<ChunkPlan> plan = plan_chunk(work);
  std::uint32_t status = kernels::status_ok;
  if (!plan) return status;
  std::vector<kernels::Dimension> dimensions;
  for (const Axis& axis : plan->axes)
    dimensions.push_back({axis.count, axis.source_step, axis.target_step, axis.places});
  kernels::Chunk& chunk = plan->chunk;
  chunk.dimensions = dimensions.data();
  chunk.operations = work.operations.data();
  chunk.status = &status;
  run_units(kernels::Assemble{&chunk, 1, (chunk.elements - 1) / kernels::Assemble::tile + 1}, random);
  return status;
}

inline ChunkWork dense_work(const std::byte* source, const Layout& layout, std::size_t item_size,
                            std::byte* target, std::size_t target_size, std::size_t target_item_size) {
  ChunkWork work;
  work.source = source;
  work.layout = layout;
  work.item_size = item_size;
  work.axes = {{layout.size / item_size, static_cast<std::int64_t>(item_size),
                static_cast<std::int64_t>(target_item_size), nullptr}};
  work.target = {target, target_size, 0};
  return work;
}

}  // namespace zarrive::gpu::testing
