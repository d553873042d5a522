// Untrusted text and JSON as they stand in a message: cut to a length that a person reads, whatever their size, and always UTF-8 when they were.
#pragma once

#include <string>
#include <string_view>

#include "zarrive/json.hpp"

namespace zarrive {

// The value as JSON on one line; long ones are cut after some 60 characters.
std::string shown(const Json& value);
// The text as a JSON string, in quotation marks.
std::string quoted(std::string_view text);
// The text as it is, control characters as '?'.
std::string shown(std::string_view text);
inline std::string shown(const std::string& text) { return shown(std::string_view(text)); }
inline std::string shown(const char* text) { return shown(std::string_view(text)); }

}  // namespace zarrive
