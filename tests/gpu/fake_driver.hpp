// The tests of this folder use the fake driver, wherever they run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fakes/fake_cuda.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::gpu::testing {

const char* fake_driver_path();
const char* program_path();  // of the command

// What lies in device memory now, without waiting for any stream.
std::vector<std::byte> peek(const std::byte* device_data, std::size_t size);
// Counts made with 1, 2, 3, ... from `seed`.
std::vector<std::byte> counting(std::size_t size, unsigned seed = 0);

}  // namespace zarrive::gpu::testing
