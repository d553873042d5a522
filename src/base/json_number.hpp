// The text of JSON numbers: grammar, exact integers, doubles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zarrive::detail {

// Length of the JSON number (RFC 8259 grammar) that `text` begins with; 0 when it begins with none.
std::size_t number_length(std::string_view text) noexcept;

// A whole JSON number, or NaN, Infinity, -Infinity.
bool is_number_text(std::string_view text) noexcept;

struct Magnitude {
  bool negative = false;
  std::uint64_t value = 0;
};
// The number when it is integral and its magnitude fits 64 bits. `integral_floats`: also with fraction or exponent.
std::optional<Magnitude> integer_of(std::string_view text, bool integral_floats) noexcept;

// Nearest double; out of range gives an infinity or a zero, with the sign kept.
double double_of(std::string_view text) noexcept;

// Shortest text that reads back equal, laid out as Python's repr: 0.1, 1.0, 1e+16, 1e-05, NaN, -Infinity.
std::string text_of(double value);

}  // namespace zarrive::detail
