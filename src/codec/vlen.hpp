// The common frame of vlen-utf8, vlen-bytes and vlen-array: u32 count, then for each element u32 length in
// bytes and the bytes, all little-endian, elements in C order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "zarrive/codec.hpp"

namespace zarrive {

// Checks the frame against the bytes that are there and calls element(index, bytes) for each;
// Error(corrupt_chunk) when the count is not `expected`, a length reaches past the end, or bytes are left
// over. Allocates nothing.
void read_vlen(const Codec& codec, std::span<const std::byte> encoded, std::uint64_t expected,
               const std::function<void(std::uint64_t, std::span<const std::byte>)>& element);

// Writes the frame around the elements that `element(index)` gives; it is called twice for each index and
// must give the same both times.
Buffer write_vlen(const Codec& codec, std::uint64_t count,
                  const std::function<std::string_view(std::uint64_t)>& element);

// The std::string elements of a view, in C order.
std::vector<std::string*> string_elements(const ArrayView& view);

}  // namespace zarrive
