// Data types: what one element of an array is, in memory and in the metadata of both formats.
//
// In memory an element is always in the byte order of this machine (little-endian). The byte order that a v2 dtype states is
// remembered for each leaf, because the stored bytes and the v2 document need it; it plays no part in comparisons.
// Elements of variable length (string, bytes, object) are std::string objects in memory.
// Sources: Zarr v2 "data type encoding", Zarr v3.1 "data types", zarr-extensions data-types/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/export.hpp"
#include "zarrive/json.hpp"

namespace zarrive {

enum class ZarrFormat : std::uint8_t { v2 = 2, v3 = 3 };

enum class ByteOrder : std::uint8_t { little, big, none };  // none: single bytes, raw, variable length

enum class TypeId : std::uint8_t {
  boolean,
  int2,
  int4,
  int8,
  int16,
  int32,
  int64,
  uint2,
  uint4,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float4_e2m1fn,
  float6_e2m3fn,
  float6_e3m2fn,
  float8_e3m4,
  float8_e4m3,
  float8_e4m3b11fnuz,
  float8_e4m3fnuz,
  float8_e5m2,
  float8_e5m2fnuz,
  float8_e8m0fnu,
  complex64,
  complex128,
  raw,          // opaque bytes: v3 r<bits>, v2 |V<n>, zarr-python raw_bytes
  fixed_bytes,  // v2 |S<n>, v3 null_terminated_bytes: zero padded, trailing zeros not significant
  fixed_utf32,  // v2 <U<n>, v3 fixed_length_utf32: zero padded code points
  string,       // variable UTF-8; std::string in memory
  bytes,        // variable bytes; std::string in memory
  object,       // v2 |O whose object codec holds JSON-like values; std::string holding JSON text in memory
  datetime64,
  timedelta64,
  structured,  // packed fields
  optional,    // a value or none: one byte (1 or 0), then the value (zeros for none)
  custom       // registered by a third party: fixed size, opaque to Zarrive
};

class DataType;
struct StructField;

// How v3 metadata writes opaque bytes. The core specification has r<bits> (fill value: a list of integers); zarr-python reads and
// writes only raw_bytes {length_bytes} (fill value: base64). The two are equal in every other way.
enum class RawName : std::uint8_t { bits, raw_bytes };

// A type that a program adds at run time (register_data_type). Elements have a fixed size and no byte order.
struct CustomType {
  std::string name = {};      // v3 name and v2 dtype string
  std::size_t item_size = 1;  // bytes
  std::function<std::vector<std::byte>(const Json& fill)> parse_fill =
      {};  // item_size bytes; throws Error(invalid_metadata)
  std::function<Json(const std::byte* element)> format_element = {};  // fill-value JSON of one element
  Json configuration =
      {};  // null: written as a plain name; else the v3 configuration, which a document must equal
};

class ZARRIVE_API DataType {
 public:
  DataType();  // uint8

  // A type that needs no parameters. Throws Error(invalid_argument) for those that do.
  explicit DataType(TypeId id, ByteOrder order = ByteOrder::little);
  // The sizes below are at least 1, and one element is at most 2^31 - 1 bytes; else Error(invalid_argument or resource_limit).
  static DataType raw(std::size_t bytes, RawName name = RawName::bits);
  static DataType fixed_bytes(std::size_t bytes);
  static DataType fixed_utf32(std::size_t code_points, ByteOrder order = ByteOrder::little);
  // Units: Y M W D h m s ms us ns ps fs as generic (micro also as "µs"); an element counts scale x unit since 1970-01-01.
  static DataType datetime64(std::string unit, std::uint32_t scale = 1, ByteOrder order = ByteOrder::little);
  static DataType timedelta64(std::string unit, std::uint32_t scale = 1, ByteOrder order = ByteOrder::little);
  // Fields of fixed size, packed in order. Names are unique, save that "" (padding, raw) may repeat. At most 32 levels deep.
  static DataType structured(std::vector<StructField> fields);
  // A value of this type or none (zarr-extensions proposal "optional", v3 alone). The inner type has a fixed size; it may be optional
  // itself, at most 32 levels deep. In memory: the fields "present" (bool) and "value", packed; the bytes of an absent value are zeros.
  static DataType optional(const DataType& inner);
  // The type that register_data_type made known under `name`.
  static std::optional<DataType> registered(std::string_view name);

  // From metadata. `warn` gets a sentence for each lenient case (appendix D of the format notes); a null `warn` is fine.
  // Errors: unsupported_data_type for a type that is well-formed but unknown, invalid_metadata for nonsense.
  using Warn = std::function<void(const std::string&)>;
  static DataType from_v2(const Json& dtype,
                          const Warn& warn = {});  // typestr or list of fields; "|O" gives object
  static DataType from_v3(const Json& data_type, const Warn& warn = {});
  // Either way of writing: "float32", "<f4", "datetime64[ms]", "<M8[10us]", "optional[uint8]", a v3 object as JSON text, ...
  static DataType parse(std::string_view text);

  // To metadata. Error(unsupported_data_type) when the format cannot express it.
  Json to_v2() const;
  Json to_v3() const;
  std::string name()
      const;  // for people: "float32", "datetime64[ms]", "struct{a: uint8, b: float32}", "optional[uint8]"

  TypeId id() const noexcept;
  std::size_t item_size()
      const noexcept;  // bytes of one element in memory; sizeof(std::string) when variable
  std::size_t alignment() const noexcept;  // in memory, 1 for packed things
  bool is_variable() const noexcept;       // std::string elements
  bool is_real() const noexcept;           // integers and floats
  bool is_integer() const noexcept;        // signed and unsigned, not bool
  bool is_signed() const noexcept;         // signed integers and the floats that have a sign
  bool is_float() const noexcept;          // float16, bfloat16, float32, float64 and the small ones
  bool is_complex() const noexcept;
  ByteOrder byte_order() const noexcept;  // as stored in v2; `none` for structured (each field has its own)
  DataType with_byte_order(ByteOrder order) const;  // for each leaf that has one

  // Size of the units that a byte swap reverses within one element: 1 for none, 4 for complex64 and utf32, ...;
  // 0 when the units differ (structured, optional): use leaves().
  std::size_t swap_unit() const noexcept;
  // The smallest parts with a byte order of their own, in layout order: {offset, count of units, unit size, order}. Parts that
  // have none (single bytes, raw, variable elements) are left out, so the list is empty when a swap has nothing to do.
  struct Leaf {
    std::size_t offset;
    std::size_t count;
    std::size_t unit;
    ByteOrder order;
  };
  const std::vector<Leaf>& leaves() const;

  const std::vector<StructField>& fields() const noexcept;  // of structured and optional; empty otherwise
  const std::string& unit() const noexcept;                 // of datetime64 and timedelta64
  std::uint32_t unit_scale() const noexcept;
  RawName raw_name() const noexcept;  // of raw
  const CustomType* custom() const noexcept;

  // Equal element layout and meaning; byte order aside.
  bool operator==(const DataType& other) const noexcept;

 private:
  struct Impl;
  explicit DataType(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

// A field of a structured type. `shape` is the subarray shape, empty for a scalar field; offset counts from the element's start.
struct StructField {
  std::string name;  // "" and raw: alignment padding of NumPy, kept but hidden
  DataType type;
  Shape shape;
  std::size_t offset = 0;  // filled in by DataType::structured: packed, in order
  std::size_t size() const { return byte_count(shape, type.item_size()); }
};

// Makes a type known under its name to from_v2, from_v3 and parse. Error(already_exists) when the name is taken, by a type of
// Zarrive's own or an earlier call; Error(invalid_argument) when a member is missing. Thread-safe.
ZARRIVE_API void register_data_type(CustomType type);

// The DataType of a C++ element type: bool, [u]int8..64, float, double, std::complex<float|double>, std::string, std::byte (raw(1)).
template <class T>
DataType data_type_of();

// Converts `count` elements, source and destination stepping by their strides in bytes. Supported: among bool, integers, floats and
// complex, and between equal types; else Error(unsupported). To integers truncates towards zero; to floats rounds once, half to even,
// overflowing to infinity where the type has one. Values that the destination cannot hold are Error(out_of_bounds): NaN or an
// out-of-range number to an integer, an overflow or NaN to a float without infinity or NaN, an imaginary part to a real type.
// The two arrays must not overlap; elements before a failing one may have been written.
ZARRIVE_API void convert_elements(const DataType& from, const std::byte* source, std::int64_t source_stride,
                                  const DataType& to, std::byte* destination, std::int64_t destination_stride,
                                  std::uint64_t count);
ZARRIVE_API bool can_convert(const DataType& from, const DataType& to) noexcept;

// 16-bit and smaller floats to and from double, by bits (unused high bits are ignored, and written as zeros). Rounding is half to
// even, once. Overflow gives infinity where the type has one, else NaN, else (float4, float6) the largest value; NaN gives the
// canonical NaN, or 0 where there is none. float8_e8m0fnu has neither sign nor zero: numbers <= 0 give NaN, tiny ones 2^-127.
ZARRIVE_API double to_double(TypeId small_float, std::uint16_t bits) noexcept;
ZARRIVE_API std::uint16_t from_double(TypeId small_float, double value) noexcept;

}  // namespace zarrive

#include "zarrive/data_type-inl.hpp"
