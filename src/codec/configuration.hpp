// Reads the configuration of a codec: typed members with defaults, and a complaint about members nobody asked
// for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/codec.hpp"

namespace zarrive {

// Each getter marks its member as known. Errors are Error(invalid_metadata) that name codec, member, what was
// found and what is allowed.
class Configuration {
 public:
  Configuration(const CodecSpec& spec, const CodecOptions& options);

  const Json* find(std::string_view member);  // nullptr when absent
  bool boolean(std::string_view member, bool otherwise);
  std::int64_t integer(std::string_view member, std::int64_t otherwise, std::int64_t low, std::int64_t high);
  std::int64_t required_integer(std::string_view member, std::int64_t low, std::int64_t high);
  double number(std::string_view member, double otherwise);
  std::string string(std::string_view member, std::string otherwise);
  std::string choice(std::string_view member, std::string otherwise,
                     const std::vector<std::string>& allowed);  // "" otherwise: required
  // A codec inside this one's configuration: a name, or an object with name and configuration.
  CodecSpec codec(const Json& value) const;
  void ignore(std::string_view member);  // known, of no consequence for us

  // Call last: members that no getter asked for are a warning, or an error when strict.
  void finish() const;

  [[noreturn]] void fail(const std::string& message) const;  // invalid_metadata, with the codec's name

 private:
  const CodecSpec& spec_;
  const CodecOptions& options_;
  std::vector<std::string> known_;
};

}  // namespace zarrive
