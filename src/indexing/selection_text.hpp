// The text form of selections.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "zarrive/selection.hpp"

namespace zarrive {

// Entries separated by commas, spaces anywhere between tokens, one trailing comma allowed. Error(invalid_argument) says where it goes wrong.
std::vector<SelectionItem> parse_selection(std::string_view text);

// Entries separated by ", "; lists with their first positions only when they are long.
std::string selection_text(const std::vector<SelectionItem>& items);

}  // namespace zarrive
