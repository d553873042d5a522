// What of the elementwise codecs a device kernel can do.
#pragma once

#include <optional>
#include <vector>

#include "gpu/kernels/operations.hpp"
#include "zarrive/data_type.hpp"

namespace zarrive {

// The number type of a kernel; datetimes are int64. Nothing for what kernels have no arithmetic for: floats below 16 bits, integers
// below 8, complex numbers and whatever is no number.
std::optional<gpu::kernels::NumberType> device_number_type(const DataType& type) noexcept;

// What makes elements in memory of those that the codec `bytes` stored: nothing for most, a swap, the value of a bool. `order`: that of
// the codec; nullopt for v2, where the type has its own. nullopt comes back when a kernel cannot: structured types with parts to swap or fix.
std::optional<std::vector<gpu::kernels::Operation>> device_fixes(const DataType& type,
                                                                 std::optional<ByteOrder> order);

// The decoding of each codec. Parameters are those of its configuration.
gpu::kernels::Operation device_convert(gpu::kernels::NumberType from, gpu::kernels::NumberType to);
gpu::kernels::Operation device_fixed_scale_offset(gpu::kernels::NumberType encoded,
                                                  gpu::kernels::NumberType decoded, double scale,
                                                  double offset);
// `scale` and `offset`: bits of an element of the type.
gpu::kernels::Operation device_scale_offset(gpu::kernels::NumberType type, std::uint64_t scale,
                                            std::uint64_t offset);
gpu::kernels::Operation device_cast_value(gpu::kernels::NumberType encoded, gpu::kernels::NumberType decoded,
                                          gpu::kernels::Rounding rounding,
                                          gpu::kernels::OutOfRange out_of_range);

}  // namespace zarrive
