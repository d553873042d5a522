// Floats of every size from and to decimal text and their other JSON spellings, by bit pattern.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrive/data_type.hpp"

namespace zarrive::types {

// The bit patterns of a float type that have names. `nan` is the one that "NaN" stands for.
struct FloatBits {
  int bytes = 0;
  std::uint64_t mask = 0;  // significant bits
  std::uint64_t sign = 0;  // 0 when unsigned
  std::optional<std::uint64_t> nan = {};
  std::optional<std::uint64_t> infinity = {};
};
FloatBits float_bits(TypeId id) noexcept;

bool is_nan(TypeId id, std::uint64_t bits) noexcept;

// The value of a decimal number (JSON grammar) rounded once, half to even. nullopt when it lies outside what the type holds.
std::optional<std::uint64_t> float_from_decimal(TypeId id, std::string_view text);

// Decimal text of a finite value that float_from_decimal reads back to the same bits: the shortest for 16 bits and more, the exact
// value for the smaller types.
std::string float_to_decimal(TypeId id, std::uint64_t bits);

// "0x" and exactly two digits a byte, in either case; nullopt for anything else or when bits beyond the type are set.
std::optional<std::uint64_t> float_from_hex(TypeId id, std::string_view text);
std::string float_to_hex(TypeId id, std::uint64_t bits);

}  // namespace zarrive::types
