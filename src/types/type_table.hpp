// What is fixed about each TypeId: its v3 name, element size, and the letter and width of its NumPy typestr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "zarrive/data_type.hpp"

namespace zarrive::types {

// One element at most: NumPy's own bound, and far beyond any real structured type.
constexpr std::size_t kMaxItemSize = 0x7fffffff;
// Levels of nested structured types.
constexpr int kMaxDepth = 32;
// Byte-order leaves of one structured type; more would come only from a huge subarray of records.
constexpr std::size_t kMaxLeaves = 65536;

enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating, complex, other };

struct TypeRow {
  TypeId id;
  std::string_view name;  // v3 name, for people too; "" when the name depends on parameters
  std::uint8_t size;      // bytes of one element; 0: depends on parameters
  std::uint8_t bits;      // significant bits of integers
  std::uint8_t unit;      // bytes that a byte swap reverses
  Kind kind;
  char v2;  // NumPy kind letter, 0 when v2 has no such type
};

const TypeRow& row(TypeId id) noexcept;
// The row whose v3 name this is; nullptr for unknown names and for types with parameters.
const TypeRow* row_named(std::string_view name) noexcept;

// "ms" for "ms", "us" also for the two micro signs; "" when there is no such unit.
std::string_view normal_unit(std::string_view unit) noexcept;

}  // namespace zarrive::types
