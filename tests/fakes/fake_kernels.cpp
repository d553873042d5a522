#include "fakes/fake_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "gpu/kernels/list.hpp"

namespace fake_cuda {

namespace {

using namespace zarrive::gpu::kernels;

template <class Body>
void run_all(const void* parameters, std::mt19937_64& random) {
  Body body;
  std::memcpy(&body, parameters, sizeof body);
  std::vector<std::uint64_t> units(static_cast<std::size_t>(body.units));
  std::iota(units.begin(), units.end(), std::uint64_t{0});
  std::shuffle(units.begin(), units.end(), random);
  for (const std::uint64_t unit : units) body.run(unit, HostGroup{});
}

constexpr Kernel kernels[] = {
#define FAKE_KERNEL(name, Body, kind) \
  {#name, (kind) == GroupKind::warp ? warp_block_threads : block_threads, sizeof(Body), run_all<Body>},
    ZARRIVE_KERNELS(FAKE_KERNEL)
#undef FAKE_KERNEL
};

}  // namespace

const Kernel* find_kernel(std::string_view name) {
  for (const Kernel& kernel : kernels)
    if (name == kernel.name) return &kernel;
  return nullptr;
}

}  // namespace fake_cuda
