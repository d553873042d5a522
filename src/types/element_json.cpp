// The JSON spellings of elements. Sources: Zarr v2 "fill value encoding", Zarr v3.1 "fill value", the data type extensions.
#include "types/element_json.hpp"
#include "base/utf8.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "types/float_text.hpp"
#include "types/metadata_error.hpp"
#include "types/type_table.hpp"
#include "types/utf32.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive {
namespace types {
namespace {

constexpr std::int64_t kNaT = std::numeric_limits<std::int64_t>::min();

[[noreturn]] void refuse(const DataType& type, const Json& value, const std::string& expected) {
  metadata_fail("the value " + shown(value) + " (" + std::string(value.type_name()) + ") is none of type " +
                shown(type.name()) + ": " + expected + " is expected");
}

// Memory is little-endian, so the low bytes of a word are the element.
void store(std::byte* element, std::uint64_t bits, std::size_t bytes) { std::memcpy(element, &bits, bytes); }
std::uint64_t load(const std::byte* element, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, bytes);
  return bits;
}

bool is_zero_number(const Json& value) {
  return value.is_number() && value.to_int64(true) == std::int64_t{0};
}

// ---- booleans and integers

std::uint64_t read_bool(const DataType& type, const Json& value, const Dialect& dialect) {
  if (value.is_bool()) return value.as_bool();
  const std::optional<std::int64_t> number = dialect.v2() ? value.to_int64(true) : std::nullopt;
  if (!number || (*number != 0 && *number != 1)) refuse(type, value, "true or false");
  dialect.lenient("the value " + shown(value) + " of a bool is taken as " + (*number ? "true" : "false"));
  return static_cast<std::uint64_t>(*number);
}

std::uint64_t read_integer(const DataType& type, const Json& value, const Dialect& dialect) {
  const int bits = row(type.id()).bits;
  const bool floats = dialect.v2();
  if (floats && value.is_number() && !value.is_integer() && (value.to_int64(true) || value.to_uint64(true)))
    dialect.lenient("the value " + shown(value) + " of an integer is written as a float");
  if (type.is_signed()) {
    const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    const std::optional<std::int64_t> number = value.to_int64(floats);
    if (number && *number <= high && *number >= -high - 1) return static_cast<std::uint64_t>(*number);
    refuse(type, value, "an integer from " + std::to_string(-high - 1) + " to " + std::to_string(high));
  }
  const std::uint64_t high = ~std::uint64_t{0} >> (64 - bits);
  const std::optional<std::uint64_t> number = value.to_uint64(floats);
  if (number && *number <= high) return *number;
  refuse(type, value, "an integer from 0 to " + std::to_string(high));
}

Json write_integer(const DataType& type, const std::byte* element) {
  const int unused = 64 - row(type.id()).bits;
  const std::uint64_t word = load(element, type.item_size()) << unused;
  if (type.is_signed()) return static_cast<long long>(static_cast<std::int64_t>(word) >> unused);
  return static_cast<unsigned long long>(word >> unused);
}

// ---- floats and complex

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// "NaN", "Infinity", "-Infinity" as they may be spelled, to those; "" for anything else.
std::string_view special_name(std::string_view text) {
  const std::string plain = lower(text);
  if (plain == "nan") return "NaN";
  if (plain == "inf" || plain == "infinity" || plain == "+inf" || plain == "+infinity") return "Infinity";
  if (plain == "-inf" || plain == "-infinity") return "-Infinity";
  return "";
}

std::optional<std::uint64_t> special_bits(const FloatBits& f, std::string_view name) {
  if (name == "NaN") return f.nan;
  if (name == "Infinity") return f.infinity;
  if (name == "-Infinity" && f.infinity) return *f.infinity | f.sign;
  return std::nullopt;
}

// `type` is for messages: the complex type when this is a part of one.
std::uint64_t read_float(TypeId id, const DataType& type, const Json& value, const Dialect& dialect) {
  const FloatBits f = float_bits(id);
  if (value.is_string()) {
    const std::string& text = value.as_string();
    std::optional<std::uint64_t> bits = special_bits(f, text);
    if (!bits && !dialect.v2()) bits = float_from_hex(id, text);
    if (!bits && dialect.v2()) {
      bits = special_bits(f, special_name(text));
      if (bits)
        dialect.lenient("the value \"" + shown(text) + "\" is taken as " + std::string(special_name(text)));
    }
    if (bits) return *bits;
  } else if (value.is_number()) {
    const std::string& text = value.number_text();
    const std::string_view special = special_name(text);
    if (!special.empty()) {
      if (std::optional<std::uint64_t> bits = special_bits(f, special)) {
        dialect.lenient("the bare token " + text + " is taken as the string \"" + text + "\"");
        return *bits;
      }
    } else if (std::optional<std::uint64_t> bits = float_from_decimal(id, text)) {
      return *bits;
    }
  }
  std::string expected = "a number in range";
  if (f.nan) expected += ", \"NaN\"";
  if (f.infinity) expected += ", \"Infinity\", \"-Infinity\"";
  if (!dialect.v2()) expected += " or the bits as \"0x\" and " + std::to_string(2 * f.bytes) + " digits";
  refuse(type, value, expected);
}

Json write_float(TypeId id, const std::byte* element, const Dialect& dialect) {
  const FloatBits f = float_bits(id);
  const std::uint64_t bits = load(element, static_cast<std::size_t>(f.bytes)) & f.mask;
  if (is_nan(id, bits)) return bits == *f.nan || dialect.v2() ? Json("NaN") : Json(float_to_hex(id, bits));
  if (f.infinity && (bits & ~f.sign) == *f.infinity) return bits & f.sign ? "-Infinity" : "Infinity";
  return JsonNumber{float_to_decimal(id, bits)};
}

TypeId part_of(const DataType& complex) {
  return complex.id() == TypeId::complex64 ? TypeId::float32 : TypeId::float64;
}

void read_complex(const DataType& type, const Json& value, std::byte* element, const Dialect& dialect) {
  const TypeId part = part_of(type);
  const std::size_t bytes = type.item_size() / 2;
  if (value.is_array() && value.as_array().size() == 2) {
    for (std::size_t i = 0; i < 2; ++i)
      store(element + i * bytes, read_float(part, type, value.as_array()[i], dialect), bytes);
  } else if (dialect.v2() && value.is_number()) {
    dialect.lenient("the value " + shown(value) + " of a complex number is taken as its real part");
    store(element, read_float(part, type, value, dialect), bytes);
    store(element + bytes, 0, bytes);
  } else {
    refuse(type, value, "a list of two floats");
  }
}

// ---- times

std::uint64_t read_time(const DataType& type, const Json& value, const Dialect& dialect) {
  if (value.is_string() && value.as_string() == "NaT") return static_cast<std::uint64_t>(kNaT);
  const std::optional<std::int64_t> number = value.to_int64(dialect.v2());
  if (!number) refuse(type, value, "an integer of 64 bits or \"NaT\"");
  if (!value.is_integer()) dialect.lenient("the value " + shown(value) + " of a time is written as a float");
  return static_cast<std::uint64_t>(*number);
}

// ---- bytes and text of fixed size

// A list of integers from 0 to 255.
std::optional<std::vector<std::byte>> byte_list(const Json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(value.as_array().size());
  for (const Json& item : value.as_array()) {
    const std::optional<std::uint64_t> byte = item.to_uint64();
    if (!byte || *byte > 255) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(*byte));
  }
  return bytes;
}

std::vector<std::byte> raw_ascii(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

void read_fixed_bytes(const DataType& type, const Json& value, std::byte* element, const Dialect& dialect) {
  std::vector<std::byte> bytes;
  if (dialect.v2() && is_zero_number(value)) {
    dialect.lenient("the value 0 of a byte string is taken as empty");
  } else {
    std::optional<std::vector<std::byte>> decoded =
        value.is_string() ? base64_decode(value.as_string()) : std::nullopt;
    if (!decoded && dialect.v2() && value.is_string()) {
      dialect.lenient("the value \"" + shown(value.as_string()) +
                      "\" of a byte string is not base64 and is taken as plain text");
      decoded = raw_ascii(value.as_string());
    }
    if (!decoded) refuse(type, value, "base64 text");
    bytes = std::move(*decoded);
  }
  if (bytes.size() > type.item_size())
    refuse(type, value,
           "at most " + std::to_string(type.item_size()) + " bytes, not " + std::to_string(bytes.size()));
  std::memset(element, 0, type.item_size());
  if (!bytes.empty()) std::memcpy(element, bytes.data(), bytes.size());
}

Json write_fixed_bytes(const DataType& type, const std::byte* element) {
  std::size_t length = type.item_size();
  while (length > 0 && element[length - 1] == std::byte{0}) --length;
  return base64_encode({element, length});
}

void read_utf32(const DataType& type, const Json& value, std::byte* element, const Dialect& dialect) {
  std::vector<std::uint32_t> points;
  if (dialect.v2() && is_zero_number(value)) {
    dialect.lenient("the value 0 of a text is taken as empty");
  } else {
    std::optional<std::vector<std::uint32_t>> decoded =
        value.is_string() ? utf32_of(value.as_string()) : std::nullopt;
    if (!decoded) refuse(type, value, "UTF-8 text");
    points = std::move(*decoded);
  }
  const std::size_t most = type.item_size() / 4;
  if (points.size() > most)
    refuse(type, value,
           "text of at most " + std::to_string(most) + " code points, not " + std::to_string(points.size()));
  std::memset(element, 0, type.item_size());
  if (!points.empty()) std::memcpy(element, points.data(), 4 * points.size());
}

Json write_utf32(const DataType& type, const std::byte* element) {
  std::size_t length = type.item_size() / 4;
  while (length > 0 && load(element + 4 * (length - 1), 4) == 0) --length;
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    const auto point = static_cast<std::uint32_t>(load(element + 4 * i, 4));
    if (!append_utf8(text, point))
      throw Error(ErrorCode::invalid_argument,
                  "a text of type " + type.name() + " holds " + std::to_string(point) + " at position " +
                      std::to_string(i) + ", which is no Unicode character and cannot be written as JSON");
  }
  return text;
}

void read_raw(const DataType& type, const Json& value, std::byte* element, const Dialect& dialect) {
  if (dialect.v2() && is_zero_number(value)) {
    dialect.lenient("the value 0 of raw bytes is taken as zeros");
    std::memset(element, 0, type.item_size());
    return;
  }
  const std::string expected = std::to_string(type.item_size()) +
                               (type.item_size() == 1 ? " byte" : " bytes") +
                               (dialect.v2() ? " as base64" : " as a list of integers or base64");
  std::optional<std::vector<std::byte>> bytes;
  if (value.is_string()) bytes = base64_decode(value.as_string());
  else if (!dialect.v2()) bytes = byte_list(value);
  if (!bytes || bytes->size() != type.item_size()) refuse(type, value, expected);
  std::memcpy(element, bytes->data(), bytes->size());
}

Json write_raw(const DataType& type, const std::byte* element, const Dialect& dialect) {
  if (dialect.v2() || type.raw_name() == RawName::raw_bytes)
    return base64_encode({element, type.item_size()});
  JsonArray list;
  list.reserve(type.item_size());
  for (std::size_t i = 0; i < type.item_size(); ++i) list.emplace_back(std::to_integer<int>(element[i]));
  return list;
}

// ---- structured

// To or from the byte orders that the fields declare (v2 base64).
void swap_declared(const DataType& type, std::byte* element) {
  for (const DataType::Leaf& leaf : type.leaves()) {
    if (leaf.order != ByteOrder::big) continue;
    for (std::size_t i = 0; i < leaf.count; ++i) {
      std::byte* unit = element + leaf.offset + i * leaf.unit;
      std::reverse(unit, unit + leaf.unit);
    }
  }
}

// A field, or the sub-array of one as nested lists; returns the place after it.
std::byte* read_nested(const StructField& field, std::size_t dimension, const Json& value, std::byte* at,
                       const Dialect& dialect) {
  if (dimension == field.shape.size()) {
    read_element(field.type, value, at, dialect);
    return at + field.type.item_size();
  }
  if (!value.is_array() || value.as_array().size() != field.shape[dimension])
    metadata_fail("the value of field \"" + shown(field.name) + "\" is " + shown(value) +
                  "; nested lists of shape " + to_string(field.shape) + " are expected");
  for (const Json& item : value.as_array()) at = read_nested(field, dimension + 1, item, at, dialect);
  return at;
}

Json write_nested(const StructField& field, std::size_t dimension, const std::byte*& at,
                  const Dialect& dialect) {
  if (dimension == field.shape.size()) {
    Json json = write_element(field.type, at, dialect);
    at += field.type.item_size();
    return json;
  }
  JsonArray list;
  for (std::uint64_t i = 0; i < field.shape[dimension]; ++i)
    list.push_back(write_nested(field, dimension + 1, at, dialect));
  return list;
}

void default_field(const StructField& field, std::byte* at) {
  std::memset(at, 0, field.size());
  for (std::uint64_t i = 0, n = element_count(field.shape); i < n; ++i)
    write_default(field.type, at + i * field.type.item_size());
}

void read_struct_object(const DataType& type, const JsonObject& object, std::byte* element,
                        const Dialect& dialect) {
  std::set<std::string_view> unknown;
  for (const auto& [name, value] : object) unknown.insert(name);
  for (const StructField& field : type.fields()) {
    const Json* value = field.name.empty() ? nullptr : object.find(field.name);
    if (value) {
      read_nested(field, 0, *value, element + field.offset, dialect);
      unknown.erase(field.name);
    } else {
      default_field(field, element + field.offset);
      if (!field.name.empty())
        dialect.lenient("the value of field \"" + shown(field.name) + "\" is absent; its default is taken");
    }
  }
  if (!unknown.empty())
    metadata_fail("the value of a structured type names the field \"" + shown(*unknown.begin()) +
                  "\", which " + shown(type.name()) + " does not have");
}

void read_struct(const DataType& type, const Json& value, std::byte* element, const Dialect& dialect) {
  if (value.is_object() && !dialect.v2())
    return read_struct_object(type, value.as_object(), element, dialect);
  if (dialect.v2() && is_zero_number(value)) {
    dialect.lenient("the value 0 of a structured type is taken as zeros");
    std::memset(element, 0, type.item_size());
    return;
  }
  const std::optional<std::vector<std::byte>> bytes =
      value.is_string() ? base64_decode(value.as_string()) : std::nullopt;
  if (!bytes || bytes->size() != type.item_size())
    refuse(type, value,
           (dialect.v2() ? "base64 of " : "an object with a value for each field, or base64 of ") +
               std::to_string(type.item_size()) + " bytes");
  std::memcpy(element, bytes->data(), bytes->size());
  if (dialect.v2()) swap_declared(type, element);
}

Json write_struct(const DataType& type, const std::byte* element, const Dialect& dialect) {
  if (dialect.v2()) {
    std::vector<std::byte> bytes(element, element + type.item_size());
    swap_declared(type, bytes.data());
    return base64_encode(bytes);
  }
  JsonObject object;
  for (const StructField& field : type.fields()) {
    if (field.name.empty()) continue;
    const std::byte* at = element + field.offset;
    object.set(field.name, write_nested(field, 0, at, dialect));
  }
  return object;
}

// ---- optional: null, or a list of the one value

void read_optional(const DataType& type, const Json& value, std::byte* element, const Dialect& dialect) {
  if (!value.is_null() && !(value.is_array() && value.as_array().size() == 1))
    refuse(type, value, "null or a list of one value");
  std::memset(element, 0, type.item_size());
  if (value.is_null()) return;
  element[0] = std::byte{1};
  read_element(type.fields()[1].type, value.as_array()[0], element + 1, dialect);
}

Json write_optional(const DataType& type, const std::byte* element, const Dialect& dialect) {
  if (element[0] == std::byte{0}) return nullptr;
  JsonArray list;
  list.push_back(write_element(type.fields()[1].type, element + 1, dialect));
  return list;
}

void read_custom(const DataType& type, const Json& value, std::byte* element) {
  const std::vector<std::byte> bytes = type.custom()->parse_fill(value);
  if (bytes.size() != type.item_size())
    throw Error(ErrorCode::invalid_argument, "parse_fill of custom data type " + type.name() + " gave " +
                                                 std::to_string(bytes.size()) + " bytes; " +
                                                 std::to_string(type.item_size()) + " are expected");
  std::memcpy(element, bytes.data(), bytes.size());
}

}  // namespace

void read_element(const DataType& type, const Json& value, std::byte* element, const Dialect& dialect) {
  const std::size_t size = type.item_size();
  if (type.is_integer()) return store(element, read_integer(type, value, dialect), size);
  if (type.is_float()) return store(element, read_float(type.id(), type, value, dialect), size);
  if (type.is_complex()) return read_complex(type, value, element, dialect);
  switch (type.id()) {
    case TypeId::boolean: return store(element, read_bool(type, value, dialect), size);
    case TypeId::datetime64:
    case TypeId::timedelta64: return store(element, read_time(type, value, dialect), size);
    case TypeId::raw: return read_raw(type, value, element, dialect);
    case TypeId::fixed_bytes: return read_fixed_bytes(type, value, element, dialect);
    case TypeId::fixed_utf32: return read_utf32(type, value, element, dialect);
    case TypeId::structured: return read_struct(type, value, element, dialect);
    case TypeId::optional: return read_optional(type, value, element, dialect);
    case TypeId::custom: return read_custom(type, value, element);
    default: throw Error(ErrorCode::internal, "read_element of type " + type.name());
  }
}

Json write_element(const DataType& type, const std::byte* element, const Dialect& dialect) {
  if (type.is_integer()) return write_integer(type, element);
  if (type.is_float()) return write_float(type.id(), element, dialect);
  switch (type.id()) {
    case TypeId::complex64:
    case TypeId::complex128:
      return JsonArray{write_float(part_of(type), element, dialect),
                       write_float(part_of(type), element + type.item_size() / 2, dialect)};
    case TypeId::boolean: return *element != std::byte{0};
    case TypeId::datetime64:
    case TypeId::timedelta64: {
      const auto number = static_cast<std::int64_t>(load(element, 8));
      // zarr-python 2 reads only the integer.
      return number == kNaT && !dialect.v2() ? Json("NaT") : Json(static_cast<long long>(number));
    }
    case TypeId::raw: return write_raw(type, element, dialect);
    case TypeId::fixed_bytes: return write_fixed_bytes(type, element);
    case TypeId::fixed_utf32: return write_utf32(type, element);
    case TypeId::structured: return write_struct(type, element, dialect);
    case TypeId::optional: return write_optional(type, element, dialect);
    case TypeId::custom: return type.custom()->format_element(element);
    default: throw Error(ErrorCode::internal, "write_element of type " + type.name());
  }
}

std::string read_variable(const DataType& type, const Json& value, const Dialect& dialect) {
  if (type.id() == TypeId::object) return value.dump();  // null is a value here
  if (dialect.v2() && is_zero_number(value)) {
    dialect.lenient("the value 0 of type " + type.name() + " is taken as empty");
    return "";
  }
  if (type.id() == TypeId::string) {
    if (!value.is_string()) refuse(type, value, "a string");
    return value.as_string();
  }
  std::optional<std::vector<std::byte>> bytes =
      value.is_string() ? base64_decode(value.as_string()) : byte_list(value);
  if (!bytes && dialect.v2() && value.is_string()) {
    dialect.lenient("the value \"" + shown(value.as_string()) +
                    "\" of type bytes is not base64 and is taken as plain text");
    return value.as_string();
  }
  if (!bytes) refuse(type, value, "base64 text or a list of integers from 0 to 255");
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

Json write_variable(const DataType& type, const std::string& element, const Dialect&) {
  switch (type.id()) {
    case TypeId::bytes: return base64_encode(std::as_bytes(std::span(element)));
    case TypeId::object: return element.empty() ? Json() : Json::parse(element);
    default:
      if (!is_utf8(element))
        throw Error(ErrorCode::invalid_argument, "a string is not UTF-8 and cannot be written as JSON");
      return element;
  }
}

void write_default(const DataType& type, std::byte* zeros) {
  if (type.id() == TypeId::datetime64 || type.id() == TypeId::timedelta64)
    store(zeros, static_cast<std::uint64_t>(kNaT), 8);
}

}  // namespace types

Json element_to_json(const DataType& type, const std::byte* element) {
  const types::Dialect dialect;
  if (type.is_variable())
    return types::write_variable(type, *reinterpret_cast<const std::string*>(element), dialect);
  return types::write_element(type, element, dialect);
}

void element_from_json(const DataType& type, const Json& value, std::byte* element) {
  const types::Dialect dialect;
  if (type.is_variable())
    *reinterpret_cast<std::string*>(element) = types::read_variable(type, value, dialect);
  else types::read_element(type, value, element, dialect);
}

}  // namespace zarrive
