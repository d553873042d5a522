// One element from and to JSON, in the two dialects of fill values.
#pragma once

#include <cstddef>
#include <string>

#include "zarrive/data_type.hpp"
#include "zarrive/json.hpp"

namespace zarrive::types {

struct Dialect {
  ZarrFormat format = ZarrFormat::v3;
  const DataType::Warn* warn = nullptr;  // may be null, and what it points at may be empty

  bool v2() const noexcept { return format == ZarrFormat::v2; }
  void lenient(const std::string& message) const {
    if (warn && *warn) (*warn)(message);
  }
};

// Fixed-size types: item_size bytes at `element`, unaligned. Errors are invalid_metadata.
void read_element(const DataType& type, const Json& value, std::byte* element, const Dialect& dialect);
Json write_element(const DataType& type, const std::byte* element, const Dialect& dialect);

// Variable types.
std::string read_variable(const DataType& type, const Json& value, const Dialect& dialect);
Json write_variable(const DataType& type, const std::string& element, const Dialect& dialect);

// The default of a fixed-size type, into bytes that are already zero.
void write_default(const DataType& type, std::byte* zeros);

}  // namespace zarrive::types
