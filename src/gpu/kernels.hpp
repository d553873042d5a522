// Our kernels on a device: found in their image, launched by body.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "gpu/device.hpp"
#include "gpu/kernels/list.hpp"

namespace zarrive::gpu {

enum class KernelId : std::uint8_t {
#define ZARRIVE_KERNEL_ID(name, Body, kind) name,
  ZARRIVE_KERNELS(ZARRIVE_KERNEL_ID)
#undef ZARRIVE_KERNEL_ID
      count
};

template <class Body>
struct KernelOf;
#define ZARRIVE_KERNEL_OF(name, Body, kind)           \
  template <>                                         \
  struct KernelOf<kernels::Body> {                    \
    static constexpr KernelId value = KernelId::name; \
  };
ZARRIVE_KERNELS(ZARRIVE_KERNEL_OF)
#undef ZARRIVE_KERNEL_OF

// Where the image is from: "built in", or the file that ZARRIVE_GPU_KERNELS names; `reason` says why there is none. Nothing is loaded.
struct KernelsStatus {
  std::string path = {};
  std::string reason = {};
};
KernelsStatus kernels_status();

class Kernels {
 public:
  // Loaded by the first call in a process; thread-safe. The image is the one in the library, or the file that the environment variable
  // ZARRIVE_GPU_KERNELS names. Error(unsupported) when there is none, or none for these devices; what fails is tried again next time.
  static const Kernels& get();
  // Without a fuss when there are none: there are other ways then.
  static bool available();

  // Runs body.run(unit, group) for all units, in stream order; the body is copied. Nothing for no units.
  template <class Body>
  void launch(const Device& device, const Body& body, CudaStream stream) const {
    static_assert(std::is_trivially_copyable_v<Body>);
    launch(device, KernelOf<Body>::value, &body, body.units, stream);
  }

 private:
  void load(const Driver& driver);
  void launch(const Device& device, KernelId id, const void* body, std::uint64_t units,
              CudaStream stream) const;

  std::array<CudaKernel, static_cast<std::size_t>(KernelId::count)> kernels_ = {};
};

}  // namespace zarrive::gpu
