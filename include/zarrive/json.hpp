// An ordered JSON value that keeps what it read: member order, 64-bit integers, and the text of every number.
//
// Numbers are held as their original text, so that untouched user attributes are written back as they were read.
// Python writes bare NaN, Infinity and -Infinity; the reader takes them (unless told otherwise) and the writer repeats them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "zarrive/export.hpp"

namespace zarrive {

class Json;
using JsonArray = std::vector<Json>;

// An object: members in the order they were read. Look-up is by a keyed hash above 16 members, so wide objects stay fast also when
// their names were chosen to collide. Reading a const object from several threads is safe.
class ZARRIVE_API JsonObject {
 public:
  using Member = std::pair<std::string, Json>;
  JsonObject();
  JsonObject(std::initializer_list<Member> members);
  JsonObject(const JsonObject&);
  JsonObject(JsonObject&&) noexcept;
  JsonObject& operator=(const JsonObject&);
  JsonObject& operator=(JsonObject&&) noexcept;
  ~JsonObject();

  std::size_t size() const noexcept;
  bool empty() const noexcept;
  bool contains(std::string_view name) const;
  const Json* find(std::string_view name) const;  // nullptr when absent
  Json* find(std::string_view name);
  Json& set(std::string_view name, Json value);  // replaces in place, or appends
  bool erase(std::string_view name);             // true when it was there
  const std::vector<Member>& members() const noexcept;
  std::vector<Member>::const_iterator begin() const noexcept;
  std::vector<Member>::const_iterator end() const noexcept;
  bool operator==(const JsonObject& other) const;  // same members and values, in any order

 private:
  struct Index;
  std::vector<Member> members_;
  std::shared_ptr<Index> index_;  // of a wide object; not shared with others
};

// A number by its JSON text, e.g. "18446744073709551615", "1e3", "-0.0", "NaN".
struct JsonNumber {
  std::string text;
};

struct JsonParseOptions {
  bool allow_nan = true;               // bare NaN, Infinity, -Infinity
  bool reject_duplicate_names = true;  // else the last one wins
  bool allow_trailing_commas = false;  // for reference files only
  std::size_t max_depth = 200;         // nesting; deeper is resource_limit; at most 2000 is used
};

struct JsonDumpOptions {
  int indent = -1;  // -1: one line; else spaces a level, as Python's json.dumps(indent=...)
  bool sort_keys = false;
  bool ensure_ascii = false;
  bool spaces = true;  // one line: ", " and ": " as Python does; false: none
};

class ZARRIVE_API Json {
 public:
  enum class Type { null, boolean, number, string, array, object };

  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  Json(bool value) noexcept;
  Json(int value);
  Json(long value);
  Json(long long value);
  Json(unsigned value);
  Json(unsigned long value);
  Json(unsigned long long value);
  Json(double value);  // shortest text that reads back equal; NaN and infinities as bare tokens
  Json(const char* value);
  Json(std::string value);
  Json(std::string_view value);
  Json(JsonNumber
           value);  // Error(invalid_argument) when the text is no JSON number and none of the bare tokens
  Json(JsonArray value);
  Json(JsonObject value);

  // Reads one document. Throws Error(invalid_metadata) with line and column, or resource_limit when nested too deep.
  static Json parse(std::string_view text, const JsonParseOptions& options = {});
  // As Python's json.dumps lays it out. Error(invalid_argument) when a string is not UTF-8.
  std::string dump(const JsonDumpOptions& options = {}) const;

  Type type() const noexcept;
  std::string_view type_name() const noexcept;  // "null", "boolean", ..., for messages
  bool is_null() const noexcept { return type() == Type::null; }
  bool is_bool() const noexcept { return type() == Type::boolean; }
  bool is_number() const noexcept { return type() == Type::number; }
  bool is_string() const noexcept { return type() == Type::string; }
  bool is_array() const noexcept { return type() == Type::array; }
  bool is_object() const noexcept { return type() == Type::object; }

  // The value as a C++ type; Error(invalid_metadata) naming the type found when it is another.
  bool as_bool() const;
  const std::string& as_string() const;
  const JsonArray& as_array() const;
  JsonArray& as_array();
  const JsonObject& as_object() const;
  JsonObject& as_object();
  const std::string& number_text() const;
  double as_double() const;  // any number, also bare NaN and infinities

  // Exact integers: nullopt when not a number, not integral, or out of range. Integral floats such as 3.0 and 1e3 count
  // only when `integral_floats`.
  std::optional<std::int64_t> to_int64(bool integral_floats = false) const noexcept;
  std::optional<std::uint64_t> to_uint64(bool integral_floats = false) const noexcept;
  bool is_integer() const noexcept;  // the text has no fraction and no exponent

  // Object look-up; nullptr when this is no object or has no such member.
  const Json* find(std::string_view name) const;
  Json* find(std::string_view name);

  // Equal values; numbers by value when both fit a double or a 64-bit integer, else by text. Objects in any order.
  bool operator==(const Json& other) const;

 private:
  std::variant<std::nullptr_t, bool, JsonNumber, std::string, std::shared_ptr<JsonArray>,
               std::shared_ptr<JsonObject>>
      value_;
  // arrays and objects are copied on write: as_array() and as_object() on a non-const value unshare it first
};

}  // namespace zarrive
