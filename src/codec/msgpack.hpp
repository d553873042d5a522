// MessagePack to Json and back, as far as the msgpack2 codec needs it. (Source: the MessagePack
// specification.)
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "zarrive/json.hpp"

namespace zarrive {

// Reads exactly one value. Binary strings become Base64 texts; map keys must be texts. Error(corrupt_chunk)
// for what is cut off, left over, not UTF-8 or of an extension type; Error(resource_limit) for nesting deeper
// than 200. Memory is in proportion to the bytes that are there, whatever the counts in them say.
Json read_msgpack(std::span<const std::byte> bytes);

// Shortest forms. Numbers with a fraction or an exponent, and NaN and infinities, become floats (64 bits, or
// 32 when `single_floats`). Error(invalid_argument) for an integer outside 64 bits.
std::vector<std::byte> write_msgpack(const Json& value, bool single_floats);

}  // namespace zarrive
