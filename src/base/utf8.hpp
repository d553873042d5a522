// Validity of UTF-8 text.
#pragma once

#include <string_view>

namespace zarrive {

// True when `text` is UTF-8 by the letter: shortest forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace zarrive
