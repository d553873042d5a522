#include "gpu/kernels.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/kernel_image.hpp"

namespace zarrive::gpu {

namespace {

struct Entry {
  const char* name;
  kernels::GroupKind kind;
};

constexpr std::array<Entry, static_cast<std::size_t>(KernelId::count)> entries{{
#define ZARRIVE_KERNEL_ENTRY(name, Body, group) {#name, kernels::group},
    ZARRIVE_KERNELS(ZARRIVE_KERNEL_ENTRY)
#undef ZARRIVE_KERNEL_ENTRY
}};

// More groups than any device runs at a time; the kernels loop.
constexpr std::uint64_t max_blocks = std::uint64_t{1} << 20;

struct Image {
  std::vector<char> file = {};  // when it is not the built-in one
  const void* data = nullptr;
  std::string name = {};
  std::string path = "built in";
};

Image find_image() {
  Image image;
  if (const char* const path = std::getenv("ZARRIVE_GPU_KERNELS"); path && *path) {
    image.path = path;
    image.name = std::string("the GPU kernels in ") + path + " (ZARRIVE_GPU_KERNELS)";
    std::ifstream in(path, std::ios::binary);
    image.file.assign(std::istreambuf_iterator<char>(in), {});
    if (image.file.empty()) throw Error(ErrorCode::unsupported, image.name + " cannot be read, or are empty");
    image.data = image.file.data();
    return image;
  }
  const std::span<const std::byte> built_in = built_in_kernels();
  if (built_in.empty())
    throw Error(ErrorCode::unsupported,
                "this build has no GPU kernels: nvcc was not found when it was built");
  image.name = "the GPU kernels of this build";
  image.data = built_in.data();
  return image;
}

}  // namespace

KernelsStatus kernels_status() {
  try {
    return {find_image().path, {}};
  } catch (const Error& error) {
    return {{}, error.message()};
  }
}

const Kernels& Kernels::get() {
  static std::mutex* const mutex = new std::mutex;
  static const Kernels* loaded = nullptr;  // never destroyed: work may be under way while the process ends
  std::lock_guard lock(*mutex);
  if (!loaded) {
    auto made = std::make_unique<Kernels>();
    made->load(driver());
    loaded = made.release();
  }
  return *loaded;
}

bool Kernels::available() {
  try {
    get();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Kernels::load(const Driver& driver) {
  static Image* const image = new Image;  // the driver may read it later, when a device first uses it
  *image = find_image();
  CudaLibrary library = nullptr;
  const CudaResult result =
      driver.library_load(&library, image->data, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result == cuda_no_binary_for_gpu)
    throw Error(ErrorCode::unsupported, image->name + " have no code for these devices");
  check(driver, result, "loading " + image->name);
  for (std::size_t i = 0; i < entries.size(); ++i)
    check(driver, driver.library_kernel(&kernels_[i], library, entries[i].name),
          "finding " + std::string(entries[i].name) + " among " + image->name);
}

void Kernels::launch(const Device& device, KernelId id, const void* body, std::uint64_t units,
                     CudaStream stream) const {
  if (units == 0) return;
  const auto index = static_cast<std::size_t>(id);
  const bool warps = entries[index].kind == kernels::GroupKind::warp;
  const unsigned threads = warps ? kernels::warp_block_threads : kernels::block_threads;
  const std::uint64_t groups = warps ? kernels::warp_block_threads / kernels::warp_threads : 1;
  const auto blocks = static_cast<unsigned>(std::min((units - 1) / groups + 1, max_blocks));
  void* parameters[] = {const_cast<void*>(body)};
  const ContextScope scope(device);
  check(device.driver(),
        device.driver().launch_kernel(kernels_[index], blocks, 1, 1, threads, 1, 1, 0, stream, parameters,
                                      nullptr),
        "launching " + std::string(entries[index].name) + " on " + device.name());
}

}  // namespace zarrive::gpu
