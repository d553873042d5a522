// How casts round, and what they do with numbers that are out of range. (zarr-extensions "cast_value".)
#pragma once

#include <cstdint>

namespace zarrive::gpu::kernels {

enum class Rounding : std::uint8_t {
  nearest_even,
  towards_zero,
  towards_positive,
  towards_negative,
  nearest_away
};
enum class OutOfRange : std::uint8_t { error, clamp, wrap };

}  // namespace zarrive::gpu::kernels
