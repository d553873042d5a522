// What a device has to do to undo the codecs of a chain; each codec adds its own (Codec::add_device_steps).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/kernels/delta.hpp"
#include "gpu/kernels/operations.hpp"

namespace zarrive {

// What the bytes of a value are, once checksums around them are taken off.
enum class DeviceContainer : std::uint8_t { plain, blosc, lz4, zstd, gzip, zlib };

// Numbers that follow each other, summed up. (numcodecs delta.)
struct DeviceDelta {
  std::uint32_t width = 0;  // bytes of an element
  bool boolean = false;
};

struct DeviceSteps {
  DeviceContainer container = DeviceContainer::plain;
  // To each element, in this order, from the stored one on; with a delta those before it, and those after it.
  std::vector<gpu::kernels::Operation> before_delta = {};
  std::optional<DeviceDelta> delta = {};
  std::vector<gpu::kernels::Operation> operations = {};

  bool is_plain() const noexcept {
    return container == DeviceContainer::plain && operations.empty() && !delta;
  }
};

}  // namespace zarrive
