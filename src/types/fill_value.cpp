// The FillValue value: its bytes, and the rules about null.
#include "zarrive/fill_value.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "types/element_json.hpp"
#include "types/type_table.hpp"
#include "types/utf32.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

// Zeroed by the system, so that a hostile element of 2 GiB costs address space and no memory until it is written.
std::shared_ptr<std::byte> zeroed(std::size_t size) {
  auto* memory = static_cast<std::byte*>(std::calloc(size, 1));
  if (!memory) throw std::bad_alloc();
  return {memory, std::free};
}

}  // namespace

FillValue::FillValue() {
  static const std::shared_ptr<const std::byte> kZero = zeroed(1);
  bytes_ = kZero;
}

FillValue FillValue::zero(const DataType& type) {
  FillValue result;
  result.type_ = type;
  result.bytes_ = nullptr;
  if (type.is_variable()) return result;
  std::shared_ptr<std::byte> bytes = zeroed(type.item_size());
  types::write_default(type, bytes.get());
  result.bytes_ = std::move(bytes);
  return result;
}

FillValue FillValue::undefined(const DataType& type) {
  FillValue result = zero(type);
  result.undefined_ = true;
  return result;
}

FillValue FillValue::from_bytes(const DataType& type, std::span<const std::byte> element) {
  if (type.is_variable())
    throw Error(ErrorCode::invalid_argument,
                "a fill value of type " + type.name() + " is a string, not bytes: use from_string");
  if (element.size() != type.item_size())
    throw Error(ErrorCode::invalid_argument, "a fill value of " + std::to_string(element.size()) +
                                                 " bytes for type " + type.name() + ", whose elements have " +
                                                 std::to_string(type.item_size()));
  FillValue result;
  result.type_ = type;
  std::shared_ptr<std::byte> bytes = zeroed(element.size());
  std::memcpy(bytes.get(), element.data(), element.size());
  result.bytes_ = std::move(bytes);
  return result;
}

FillValue FillValue::from_string(const DataType& type, std::string value) {
  if (!type.is_variable())
    throw Error(ErrorCode::invalid_argument,
                "a fill value of type " + type.name() + " has a fixed size: use from_bytes");
  if (type.id() == TypeId::string && !is_utf8(value))
    throw Error(ErrorCode::invalid_argument, "a fill value of type string is not UTF-8");
  FillValue result = zero(type);
  result.string_ = std::move(value);
  return result;
}

FillValue FillValue::read(const Json& value, const DataType& type, ZarrFormat format,
                          const DataType::Warn& warn) {
  const types::Dialect dialect{format, &warn};
  FillValue result;
  result.type_ = type;
  result.bytes_ = nullptr;
  try {
    if (type.is_variable()) {
      result.string_ = types::read_variable(type, value, dialect);
    } else {
      std::shared_ptr<std::byte> bytes = zeroed(type.item_size());
      types::read_element(type, value, bytes.get(), dialect);
      result.bytes_ = std::move(bytes);
    }
  } catch (const Error& e) {
    throw Error(e.code(), "fill_value: " + e.message(), e.place());
  }
  return result;
}

FillValue FillValue::from_v2(const Json& value, const DataType& type, const DataType::Warn& warn) {
  return value.is_null() ? undefined(type) : read(value, type, ZarrFormat::v2, warn);
}

FillValue FillValue::from_v3(const Json& value, const DataType& type, const DataType::Warn& warn) {
  return read(value, type, ZarrFormat::v3, warn);
}

Json FillValue::to_v2() const {
  if (undefined_) return nullptr;
  const types::Dialect dialect{ZarrFormat::v2, nullptr};
  if (type_.is_variable()) return types::write_variable(type_, string_, dialect);
  if (!types::row(type_.id()).v2 && type_.id() != TypeId::structured && type_.id() != TypeId::custom)
    throw Error(ErrorCode::unsupported_data_type,
                "Zarr v2 has no way to write a fill value of type " + type_.name());
  return types::write_element(type_, bytes_.get(), dialect);
}

Json FillValue::to_v3() const {
  if (type_.id() == TypeId::object)
    throw Error(ErrorCode::unsupported_data_type, "Zarr v3 has no way to write a fill value of type object");
  const types::Dialect dialect;
  return type_.is_variable() ? types::write_variable(type_, string_, dialect)
                             : types::write_element(type_, bytes_.get(), dialect);
}

bool FillValue::is_zero() const noexcept {
  if (type_.is_variable()) return string_.empty();
  const std::span<const std::byte> all = bytes();
  return std::all_of(all.begin(), all.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::span<const std::byte> FillValue::bytes() const noexcept {
  if (!bytes_) return {};
  return {bytes_.get(), type_.item_size()};
}

const std::string& FillValue::string() const noexcept { return string_; }

bool FillValue::operator==(const FillValue& other) const noexcept {
  if (!(type_ == other.type_)) return false;
  if (type_.is_variable()) return string_ == other.string_;
  return bytes_ == other.bytes_ || std::memcmp(bytes_.get(), other.bytes_.get(), type_.item_size()) == 0;
}

std::string base64_encode(std::span<const std::byte> bytes) {
  std::string text(static_cast<std::size_t>(base64::encoded_size(bytes.size())), '\0');
  base64::encode(bytes, std::as_writable_bytes(std::span(text)));
  return text;
}

std::optional<std::vector<std::byte>> base64_decode(std::string_view text) {
  const std::span<const std::byte> characters = std::as_bytes(std::span(text));
  const base64::Survey survey = base64::survey(characters, base64::Space::refused);
  if (!survey.valid()) return std::nullopt;
  std::vector<std::byte> bytes(survey.decoded_size());
  base64::decode(characters, bytes);
  return bytes;
}

}  // namespace zarrive
