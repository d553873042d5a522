// Numbers of any real type by blocks: loaded into the widest type that holds them exactly (int64, uint64 or
// double), stored from there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "zarrive/data_type.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

enum class Carrier : std::uint8_t { int64, uint64, float64 };

// The carrier of a real type (bool counts as unsigned, datetimes as int64); nullopt for every other type.
std::optional<Carrier> carrier_of(const DataType& type) noexcept;

struct NumberBlock {
  static constexpr std::size_t kSize = 512;  // 4 KiB: stays in the first cache beside source and destination
  Carrier carrier = Carrier::float64;
  std::array<std::uint64_t, kSize> u;  // of the integer carriers; int64 in two's complement
  std::array<double, kSize> f;         // of float64
  NumberBlock() noexcept {}            // contents undefined

  std::int64_t signed_at(std::size_t k) const noexcept { return static_cast<std::int64_t>(u[k]); }
  void to_floats(std::size_t count) noexcept;  // changes the carrier to float64, rounding to nearest
};

bool is_sub_byte(const DataType& type) noexcept;  // int2, uint4 and the like

// `count` (at most kSize) elements, `step` bytes apart. Signalling NaNs of 16 and 32 bits may become quiet.
void load_numbers(const DataType& type, const std::byte* from, std::int64_t step, std::size_t count,
                  NumberBlock& block);

// The C cast as NumPy does it on this kind of machine: integers wrap, floats are truncated and wrap (NaN and
// what is outside 64 bits become the lowest int64), bool is "not zero", rounding between floats is to
// nearest, half to even.
void store_numbers(const DataType& type, const NumberBlock& block, std::size_t count, std::byte* to,
                   std::int64_t step);

// A C cast between views of one shape; real types and complex (a real part is kept, a missing imaginary one
// is zero).
bool can_cast(const DataType& from, const DataType& to) noexcept;
void cast_elements(const ArrayView& from, const ArrayView& to);

// Reverses the bytes of each part of each element (parts of DataType::swap_unit() bytes).
void swap_elements(const ArrayView& view);

}  // namespace zarrive
