// The kernels of the fake driver: their bodies, run on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/fake_cuda.hpp"

namespace fake_cuda {

struct Kernel {
  std::string name;
  unsigned threads = 0;                      // of a block, as the device code is compiled for; 0: any number
  std::vector<std::size_t> parameter_sizes;  // in bytes
  // All that the launch of so many blocks and threads does, in an order that the numbers say.
  std::function<void(void* const* parameters, unsigned blocks, unsigned threads, std::mt19937_64& random)>
      run;
};

// Those of the library are there; this adds one of a program.
FAKE_CUDA_API void add_kernel(Kernel kernel);

// Null for a name that is none.
const Kernel* find_kernel(std::string_view name);

}  // namespace fake_cuda
