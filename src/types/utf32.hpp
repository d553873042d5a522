// UTF-8 to code points and back, strictly: no surrogates, no overlong forms, nothing above U+10FFFF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zarrive::types {

std::optional<std::vector<std::uint32_t>> utf32_of(std::string_view text);
// False, and nothing appended, when `point` is no Unicode scalar value.
bool append_utf8(std::string& text, std::uint32_t point);

}  // namespace zarrive::types
