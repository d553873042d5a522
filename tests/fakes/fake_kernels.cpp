#include "fakes/fake_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>

#include "gpu/kernels/list.hpp"

namespace fake_cuda {

namespace {

using namespace zarrive::gpu::kernels;

// Units are shared out among whatever blocks there are, so each runs once.
template <class Body>
void run_all(void* const* parameters, unsigned, unsigned, std::mt19937_64& random) {
  Body body;
  std::memcpy(&body, parameters[0], sizeof body);
  std::vector<std::uint64_t> units(static_cast<std::size_t>(body.units));
  std::iota(units.begin(), units.end(), std::uint64_t{0});
  std::shuffle(units.begin(), units.end(), random);
  for (const std::uint64_t unit : units) body.run(unit, HostGroup{});
}

std::deque<Kernel>& kernels() {
  static auto* const all = new std::deque<Kernel>{
#define FAKE_KERNEL(name, Body, kind) \
  {#name, (kind) == GroupKind::warp ? warp_block_threads : block_threads, {sizeof(Body)}, run_all<Body>},
      ZARRIVE_KERNELS(FAKE_KERNEL)
#undef FAKE_KERNEL
  };
  return *all;
}

}  // namespace

void add_kernel(Kernel kernel) { kernels().push_back(std::move(kernel)); }

const Kernel* find_kernel(std::string_view name) {
  for (const Kernel& kernel : kernels())
    if (name == kernel.name) return &kernel;
  return nullptr;
}

}  // namespace fake_cuda
