// Every kernel: the one list from which the device code, its loader and the tests' driver are made.
//
// X(name in the image, body, group of lanes that takes a unit). A body is its own parameters; run(unit, group) is called for each unit in
// [0, units), in any order.
#pragma once

#include "gpu/kernels/assemble.hpp"
#include "gpu/kernels/checksums.hpp"
#include "gpu/kernels/delta.hpp"
#include "gpu/kernels/streams.hpp"

#define ZARRIVE_KERNELS(X)                                  \
  X(zarrive_decode_streams, DecodeStreams, GroupKind::warp) \
  X(zarrive_assemble, Assemble, GroupKind::block)           \
  X(zarrive_sum_deltas, SumDeltas, GroupKind::block)        \
  X(zarrive_check_sums, CheckSums, GroupKind::block)

namespace zarrive::gpu::kernels {

enum class GroupKind : std::uint8_t { warp, block };

inline constexpr unsigned block_threads = 256;
inline constexpr unsigned warp_threads = 32;
// Of a block whose warps work on their own: few, so that one slow stream keeps little from the next block.
inline constexpr unsigned warp_block_threads = 64;

}  // namespace zarrive::gpu::kernels
