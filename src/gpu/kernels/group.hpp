// Groups of lanes that work on one thing together. A body is called by every lane with the same arguments, and all lanes call what is
// collective (everything but size and lane) in the same order. What lanes wrote is seen by the others after a collective call.
//
//   size(), lane()            how many, and which of them this is
//   sync()                    all have come here
//   ballot(flag)              bit i: lane i's flag; of groups of at most 32
//   broadcast(value, from)    lane `from`'s value
//   inclusive_sum(value)      of the lanes up to this one; wraps
//   exclusive_or(value)       of all lanes
#pragma once

#include "gpu/kernels/portable.hpp"

namespace zarrive::gpu::kernels {

// One lane: how bodies run on the host.
struct HostGroup {
  static constexpr std::uint32_t size() { return 1; }
  static constexpr std::uint32_t lane() { return 0; }
  void sync() const {}
  std::uint32_t ballot(bool flag) const { return flag ? 1 : 0; }
  template <class T>
  T broadcast(T value, std::uint32_t) const {
    return value;
  }
  std::uint64_t inclusive_sum(std::uint64_t value) const { return value; }
  std::uint32_t exclusive_or(std::uint32_t value) const { return value; }
};

#if defined(__CUDACC__)

struct Warp {
  static __device__ std::uint32_t size() { return 32; }
  static __device__ std::uint32_t lane() { return threadIdx.x & 31; }
  __device__ void sync() const { __syncwarp(); }
  __device__ std::uint32_t ballot(bool flag) const { return __ballot_sync(0xFFFFFFFF, flag); }
  template <class T>
  __device__ T broadcast(T value, std::uint32_t from) const {
    return __shfl_sync(0xFFFFFFFF, value, static_cast<int>(from));
  }
};

// A whole thread block of 256.
struct Block {
  static constexpr std::uint32_t threads = 256;
  static __device__ std::uint32_t size() { return threads; }
  static __device__ std::uint32_t lane() { return threadIdx.x; }
  __device__ void sync() const { __syncthreads(); }
  __device__ std::uint64_t broadcast(std::uint64_t value, std::uint32_t from) const {
    __shared__ std::uint64_t slot;
    if (threadIdx.x == from) slot = value;
    __syncthreads();
    value = slot;
    __syncthreads();
    return value;
  }
  __device__ std::uint64_t inclusive_sum(std::uint64_t value) const {
    __shared__ std::uint64_t sums[threads / 32];
    const unsigned lane = threadIdx.x & 31;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint64_t before = __shfl_up_sync(0xFFFFFFFF, value, distance);
      if (lane >= distance) value += before;
    }
    if (lane == 31) sums[threadIdx.x / 32] = value;
    __syncthreads();
    for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) value += sums[warp];
    __syncthreads();
    return value;
  }
  __device__ std::uint32_t exclusive_or(std::uint32_t value) const {
    __shared__ std::uint32_t words[threads / 32];
    for (unsigned distance = 16; distance > 0; distance /= 2)
      value ^= __shfl_xor_sync(0xFFFFFFFF, value, static_cast<int>(distance));
    if ((threadIdx.x & 31) == 0) words[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (unsigned warp = 0; warp < threads / 32; ++warp) value ^= words[warp];
    __syncthreads();
    return value;
  }
};

#endif

}  // namespace zarrive::gpu::kernels
