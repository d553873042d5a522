#include "zarrive/json.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include "base/json_number.hpp"
#include "base/sanitizers.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

constexpr std::string_view type_names[] = {"null", "boolean", "number", "string", "array", "object"};

[[noreturn]] void wrong_type(Json::Type expected, Json::Type found) {
  throw Error(ErrorCode::invalid_metadata, "expected JSON type " +
                                               std::string(type_names[static_cast<int>(expected)]) +
                                               ", found " + std::string(type_names[static_cast<int>(found)]));
}

// The thing behind a shared pointer, for writing: a copy when others share it. Null is a moved-from value.
template <class T>
T& unshared(std::shared_ptr<T>& shared) {
  if (!shared) shared = std::make_shared<T>();
  else if (shared.use_count() > 1) shared = std::make_shared<T>(*shared);
#if !ZARRIVE_TSAN
  else std::atomic_thread_fence(std::memory_order_acquire);  // after the last other owner's release
#endif
  return *shared;
}

template <class T>
const T& behind(const std::shared_ptr<T>& shared) {
  static const T empty;
  return shared ? *shared : empty;
}

bool equal_numbers(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = detail::integer_of(a, true), y = detail::integer_of(b, true);
  if (x && y) return x->value == y->value && (x->negative == y->negative || x->value == 0);
  const auto plain = [](const std::string& s) { return s.find_first_of(".eENI") == std::string::npos; };
  if (x || y || (plain(a) && plain(b))) return false;
  const double p = detail::double_of(a), q = detail::double_of(b);
  return std::isfinite(p) && std::isfinite(q) && p == q;
}

}  // namespace

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(bool value) noexcept : value_(value) {}
Json::Json(int value) : value_(JsonNumber{std::to_string(value)}) {}
Json::Json(long value) : value_(JsonNumber{std::to_string(value)}) {}
Json::Json(long long value) : value_(JsonNumber{std::to_string(value)}) {}
Json::Json(unsigned value) : value_(JsonNumber{std::to_string(value)}) {}
Json::Json(unsigned long value) : value_(JsonNumber{std::to_string(value)}) {}
Json::Json(unsigned long long value) : value_(JsonNumber{std::to_string(value)}) {}
Json::Json(double value) : value_(JsonNumber{detail::text_of(value)}) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(JsonArray value) : value_(std::make_shared<JsonArray>(std::move(value))) {}
Json::Json(JsonObject value) : value_(std::make_shared<JsonObject>(std::move(value))) {}
Json::Json(JsonNumber value) {
  if (!detail::is_number_text(value.text))
    throw Error(ErrorCode::invalid_argument,
                "'" + value.text.substr(0, 40) + "' is not the text of a JSON number");
  value_ = std::move(value);
}

Json::Type Json::type() const noexcept { return static_cast<Type>(value_.index()); }
std::string_view Json::type_name() const noexcept { return type_names[value_.index()]; }

bool Json::as_bool() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  wrong_type(Type::boolean, type());
}

const std::string& Json::as_string() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  wrong_type(Type::string, type());
}

const JsonArray& Json::as_array() const {
  if (const auto* value = std::get_if<std::shared_ptr<JsonArray>>(&value_)) return behind(*value);
  wrong_type(Type::array, type());
}

JsonArray& Json::as_array() {
  if (auto* value = std::get_if<std::shared_ptr<JsonArray>>(&value_)) return unshared(*value);
  wrong_type(Type::array, type());
}

const JsonObject& Json::as_object() const {
  if (const auto* value = std::get_if<std::shared_ptr<JsonObject>>(&value_)) return behind(*value);
  wrong_type(Type::object, type());
}

JsonObject& Json::as_object() {
  if (auto* value = std::get_if<std::shared_ptr<JsonObject>>(&value_)) return unshared(*value);
  wrong_type(Type::object, type());
}

const std::string& Json::number_text() const {
  if (const auto* value = std::get_if<JsonNumber>(&value_)) return value->text;
  wrong_type(Type::number, type());
}

double Json::as_double() const { return detail::double_of(number_text()); }

std::optional<std::int64_t> Json::to_int64(bool integral_floats) const noexcept {
  const auto* number = std::get_if<JsonNumber>(&value_);
  const auto integer = number ? detail::integer_of(number->text, integral_floats) : std::nullopt;
  if (!integer) return std::nullopt;
  constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!integer->negative)
    return integer->value <= max ? std::optional(static_cast<std::int64_t>(integer->value)) : std::nullopt;
  if (integer->value > max + 1) return std::nullopt;
  return static_cast<std::int64_t>(~integer->value + 1);
}

std::optional<std::uint64_t> Json::to_uint64(bool integral_floats) const noexcept {
  const auto* number = std::get_if<JsonNumber>(&value_);
  const auto integer = number ? detail::integer_of(number->text, integral_floats) : std::nullopt;
  if (!integer || (integer->negative && integer->value != 0)) return std::nullopt;
  return integer->value;
}

bool Json::is_integer() const noexcept {
  const auto* number = std::get_if<JsonNumber>(&value_);
  return number && number->text.find_first_of(".eENI") == std::string::npos && !number->text.empty();
}

const Json* Json::find(std::string_view name) const { return is_object() ? as_object().find(name) : nullptr; }
Json* Json::find(std::string_view name) { return is_object() ? as_object().find(name) : nullptr; }

bool Json::operator==(const Json& other) const {
  if (type() != other.type()) return false;
  switch (type()) {
    case Type::null: return true;
    case Type::boolean: return as_bool() == other.as_bool();
    case Type::number: return equal_numbers(number_text(), other.number_text());
    case Type::string: return as_string() == other.as_string();
    case Type::array: return &as_array() == &other.as_array() || as_array() == other.as_array();
    case Type::object: return &as_object() == &other.as_object() || as_object() == other.as_object();
  }
  return false;
}

}  // namespace zarrive
