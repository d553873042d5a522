// The kernels of list.hpp for the device: each loops over units with as many groups as the grid has.
#include "gpu/kernels/list.hpp"

namespace zarrive::gpu::kernels {
namespace {

static_assert(Block::threads == block_threads);

template <GroupKind kind, class Body>
__device__ void run_all(const Body& body) {
  if constexpr (kind == GroupKind::warp) {
    constexpr unsigned warps = warp_block_threads / warp_threads;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * warps + threadIdx.x / warp_threads;
    for (std::uint64_t unit = first; unit < body.units; unit += std::uint64_t{gridDim.x} * warps)
      body.run(unit, Warp{});
  } else {
    for (std::uint64_t unit = blockIdx.x; unit < body.units; unit += gridDim.x) body.run(unit, Block{});
  }
}

}  // namespace

#define ZARRIVE_DEFINE_KERNEL(name, Body, kind)                                                              \
  extern "C" __global__ void __launch_bounds__(kind == GroupKind::warp ? warp_block_threads : block_threads) \
      name(const __grid_constant__ Body body) {                                                              \
    run_all<kind>(body);                                                                                     \
  }
ZARRIVE_KERNELS(ZARRIVE_DEFINE_KERNEL)

}  // namespace zarrive::gpu::kernels
