// Text for people: sizes, counts, shapes, and names that may come from anywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/checked.hpp"

namespace zarrive::cli {

// With control characters and broken UTF-8 as \xNN, so that a name in a store cannot steer a terminal; always one line.
std::string printable(std::string_view text);
std::string grouped(std::uint64_t number);                        // 1,516,060,800
std::string human_bytes(std::uint64_t bytes);                     // 1.4 GiB; "812 bytes" below a KiB
std::string shape_text(std::span<const std::uint64_t> shape);     // (3, 4), (7,), () as Python writes it
std::string counted(std::uint64_t number, std::string_view one);  // "1 chunk", "2,000 chunks"
std::size_t display_width(std::string_view text);                 // code points
std::string pad_left(std::string text, std::size_t width);
std::string pad_right(std::string text, std::size_t width);
std::string info_line(const std::string& what,
                      const std::string& value);  // of `zarrive info`, with its newline

// "3,4", "[3, 4]", "(3, 4)", "" and "()" for 0-d. UsageError naming the option.
Shape parse_shape(const std::string& text, const char* option);

}  // namespace zarrive::cli
