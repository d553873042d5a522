// Fill values: one element, exact to the bit, with its JSON forms in both formats.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/data_type.hpp"
#include "zarrive/export.hpp"
#include "zarrive/json.hpp"

namespace zarrive {

// One element of a data type. Fixed-size types hold its bytes (in-memory byte order); variable ones a string.
// A v2 null is `undefined`: it reads as zeros (NaT, "" and so on), and is written back as null (to v3: as the type's default).
// v2 has only one NaN, so any NaN is written there as "NaN"; v3 keeps the bits.
class ZARRIVE_API FillValue {
 public:
  FillValue();  // zero uint8
  static FillValue zero(
      const DataType& type);  // default of the type: zeros, NaT for datetimes (zeros within structs), ""
  static FillValue undefined(const DataType& type);  // v2 null
  // These two check the size, and that text of `string` is UTF-8; else Error(invalid_argument).
  static FillValue from_bytes(const DataType& type, std::span<const std::byte> element);  // fixed-size types
  static FillValue from_string(const DataType& type, std::string value);                  // variable types

  // From metadata; errors are invalid_metadata naming what was found and what the type takes. `warn` as in DataType.
  static FillValue from_v2(const Json& value, const DataType& type, const DataType::Warn& warn = {});
  static FillValue from_v3(const Json& value, const DataType& type, const DataType::Warn& warn = {});
  Json to_v2() const;
  Json to_v3() const;

  const DataType& type() const noexcept { return type_; }
  bool is_undefined() const noexcept { return undefined_; }
  bool is_zero() const noexcept;                      // all bits zero, or the empty string
  std::span<const std::byte> bytes() const noexcept;  // item_size bytes; empty for variable types
  const std::string& string() const noexcept;         // of variable types

  // Same type and same bits (undefined compares as its zeros).
  bool operator==(const FillValue& other) const noexcept;

 private:
  static FillValue read(const Json& value, const DataType& type, ZarrFormat format,
                        const DataType::Warn& warn);

  DataType type_;
  std::shared_ptr<const std::byte> bytes_;  // item_size bytes, shared between copies; null for variable types
  std::string string_;
  bool undefined_ = false;
};

// An element in the JSON form that a v3 fill value of its type has (numbers exact and shortest, "NaN", "0x7fc00001", base64, lists,
// objects for structured, null or [value] for optional ...; of `object` its JSON value). `element` points at item_size bytes, or at a std::string for variable
// types. Error(invalid_argument) for text that is not Unicode.
ZARRIVE_API Json element_to_json(const DataType& type, const std::byte* element);
// The reverse, into item_size bytes or an existing std::string. Error(invalid_metadata) when `value` is none of the type.
ZARRIVE_API void element_from_json(const DataType& type, const Json& value, std::byte* element);

ZARRIVE_API std::string base64_encode(std::span<const std::byte> bytes);
// Standard alphabet with padding; nullopt when `text` is not that.
ZARRIVE_API std::optional<std::vector<std::byte>> base64_decode(std::string_view text);

}  // namespace zarrive
