// CUDA's words for kernels that are compiled for the host: include this, then the kernels, then name each to the fake driver by add_kernel.
// A launch runs thread after thread, so a kernel cannot wait for other threads (__syncthreads), nor share memory with them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "fakes/fake_kernels.hpp"

#define __global__ static

namespace fake_cuda {

struct Index {
  unsigned x = 0;
};

}  // namespace fake_cuda

inline thread_local fake_cuda::Index gridDim, blockDim, blockIdx, threadIdx;

template <class T>
T atomicAdd(T* to, T value) {
  return std::exchange(*to, *to + value);
}

namespace fake_cuda {

// `name` is what nvcc makes of the kernel's name and parameters.
template <class... Parameters>
void add_kernel(const char* name, void (*body)(Parameters...)) {
  const auto run = [body](void* const* parameters, unsigned blocks, unsigned threads,
                          std::mt19937_64& random) {
    std::vector<std::uint64_t> order(std::uint64_t{blocks} * threads);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::shuffle(order.begin(), order.end(), random);
    gridDim.x = blocks;
    blockDim.x = threads;
    for (const std::uint64_t thread : order) {
      blockIdx.x = static_cast<unsigned>(thread / threads);
      threadIdx.x = static_cast<unsigned>(thread % threads);
      [&]<std::size_t... i>(std::index_sequence<i...>) { body(*static_cast<Parameters*>(parameters[i])...); }
      (std::index_sequence_for<Parameters...>{});
    }
  };
  add_kernel(Kernel{name, 0, {sizeof(Parameters)...}, run});
}

}  // namespace fake_cuda
