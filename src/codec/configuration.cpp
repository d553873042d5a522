#include "codec/configuration.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/shown.hpp"

namespace zarrive {

Configuration::Configuration(const CodecSpec& spec, const CodecOptions& options)
    : spec_(spec), options_(options) {}

const Json* Configuration::find(std::string_view member) {
  ignore(member);
  const Json* value = spec_.configuration.find(member);
  // numcodecs writes null for whatever was left unset.
  if (value != nullptr && value->is_null() && options_.format == ZarrFormat::v2) return nullptr;
  return value;
}

bool Configuration::boolean(std::string_view member, bool otherwise) {
  const Json* value = find(member);
  if (value == nullptr) return otherwise;
  if (!value->is_bool())
    fail("'" + std::string(member) + "' is " + shown(*value) + ", expected true or false");
  return value->as_bool();
}

std::int64_t Configuration::integer(std::string_view member, std::int64_t otherwise, std::int64_t low,
                                    std::int64_t high) {
  const Json* value = find(member);
  if (value == nullptr) return otherwise;
  const std::optional<std::int64_t> number = value->to_int64(!options_.strict);
  if (!number || *number < low || *number > high)
    fail("'" + std::string(member) + "' is " + shown(*value) + ", expected an integer from " +
         std::to_string(low) + " to " + std::to_string(high));
  return *number;
}

std::int64_t Configuration::required_integer(std::string_view member, std::int64_t low, std::int64_t high) {
  if (find(member) == nullptr)
    fail("'" + std::string(member) + "' is missing, expected an integer from " + std::to_string(low) +
         " to " + std::to_string(high));
  return integer(member, low, low, high);
}

double Configuration::number(std::string_view member, double otherwise) {
  const Json* value = find(member);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) fail("'" + std::string(member) + "' is " + shown(*value) + ", expected a number");
  const double number = value->as_double();
  if (!std::isfinite(number))
    fail("'" + std::string(member) + "' is " + shown(*value) + ", expected a finite number");
  return number;
}

std::string Configuration::string(std::string_view member, std::string otherwise) {
  const Json* value = find(member);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) fail("'" + std::string(member) + "' is " + shown(*value) + ", expected a string");
  return value->as_string();
}

std::string Configuration::choice(std::string_view member, std::string otherwise,
                                  const std::vector<std::string>& allowed) {
  std::string names;
  for (const std::string& name : allowed) names += (names.empty() ? "\"" : ", \"") + name + "\"";
  const Json* value = find(member);
  if (value == nullptr) {
    if (otherwise.empty()) fail("'" + std::string(member) + "' is missing, expected one of " + names);
    return otherwise;
  }
  if (!value->is_string() || std::find(allowed.begin(), allowed.end(), value->as_string()) == allowed.end())
    fail("'" + std::string(member) + "' is " + shown(*value) + ", expected one of " + names);
  return value->as_string();
}

CodecSpec Configuration::codec(const Json& value) const {
  CodecSpec spec;
  if (value.is_string()) {
    spec.name = value.as_string();
    return spec;
  }
  const Json* name = value.find("name");
  if (name == nullptr || !name->is_string())
    fail("a codec inside its configuration is " + shown(value) +
         ", expected a name or an object with a 'name'");
  spec.name = name->as_string();
  for (const auto& [member, inner] : value.as_object()) {
    if (member == "name") continue;
    if (member == "configuration" && inner.is_object()) {
      spec.configuration = inner.as_object();
    } else if (member == "must_understand" && inner.is_bool()) {
      spec.must_understand = inner.as_bool();
    } else {
      fail("the codec '" + spec.name + "' inside its configuration has the member '" + member + "' with " +
           shown(inner));
    }
  }
  return spec;
}

void Configuration::ignore(std::string_view member) {
  if (std::find(known_.begin(), known_.end(), member) == known_.end()) known_.emplace_back(member);
}

void Configuration::finish() const {
  for (const auto& [member, value] : spec_.configuration) {
    if (std::find(known_.begin(), known_.end(), member) != known_.end()) continue;
    std::string message = "unknown configuration member '" + member + "' (" + shown(value) + ")";
    if (options_.strict) fail(message);
    if (options_.warn) options_.warn("codec '" + spec_.name + "': " + message + " is ignored");
  }
}

void Configuration::fail(const std::string& message) const {
  throw Error(ErrorCode::invalid_metadata, "codec '" + spec_.name + "': " + message);
}

}  // namespace zarrive
