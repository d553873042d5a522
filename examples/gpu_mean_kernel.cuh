#pragma once

#include <cstddef>

// Adds to *sum all values, of which each thread takes every so manieth.
__global__ void add_up(const float* values, std::size_t count, double* sum) {
  double mine = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += values[i];
  atomicAdd(sum, mine);
}
