// Checked arithmetic for sizes and shapes: every product and sum of untrusted numbers goes through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zarrive/export.hpp"

namespace zarrive {

using Extent = std::uint64_t;               // a length along one dimension
using Shape = std::vector<std::uint64_t>;   // lengths, one a dimension; empty for 0-d
using Index = std::vector<std::uint64_t>;   // a position, one a dimension
using Strides = std::vector<std::int64_t>;  // bytes from one element to the next, one a dimension

// nullopt on overflow.
constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

// Sum and product that throw Error(resource_limit) on overflow; `what` names the thing in the message.
ZARRIVE_API std::uint64_t add(std::uint64_t a, std::uint64_t b, const char* what);
ZARRIVE_API std::uint64_t multiply(std::uint64_t a, std::uint64_t b, const char* what);

// Number of elements of a shape (1 for 0-d). A zero extent gives 0 whatever the others are. Throws as above.
ZARRIVE_API std::uint64_t element_count(std::span<const std::uint64_t> shape);

// Bytes of a shape with items of `item_size`; must also fit in ptrdiff_t (strides are signed).
ZARRIVE_API std::size_t byte_count(std::span<const std::uint64_t> shape, std::size_t item_size);

// ceil(a / b) for b > 0, without overflow.
constexpr std::uint64_t ceil_divide(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0);
}

// Byte strides of a dense array in C order.
ZARRIVE_API Strides c_strides(std::span<const std::uint64_t> shape, std::size_t item_size);

// "[2, 3, 4]", for messages.
ZARRIVE_API std::string to_string(std::span<const std::uint64_t> shape);

}  // namespace zarrive
