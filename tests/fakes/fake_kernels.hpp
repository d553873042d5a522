// The kernels of the fake driver: their bodies, run on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>

namespace fake_cuda {

struct Kernel {
  const char* name;
  unsigned threads;  // of a block, as the device code is compiled for
  std::size_t parameter_size;
  // Every unit once, in an order that the numbers say.
  void (*run)(const void* parameters, std::mt19937_64& random);
};

// Null for a name that is none.
const Kernel* find_kernel(std::string_view name);

}  // namespace fake_cuda
