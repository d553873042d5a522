// Parts of values whose encoded elements lie one after the other in C order, each of the same number of bits (`bytes`, `packbits`).
#pragma once

#include <functional>
#include <memory>

#include "zarrive/codec.hpp"

namespace zarrive {

// How elements [first, first + count), counted in C order, lie in the encoded bytes.
struct DenseLayout {
  std::function<ByteRange(std::uint64_t first, std::uint64_t count)> bytes_of = {};
  // The elements as they are in memory, one after the other.
  std::function<Buffer(const Buffer& encoded, std::uint64_t first, std::uint64_t count)> elements = {};
  // Set when encoded and decoded bytes are the same up to what this does in place.
  std::function<void(const ArrayView&)> finish_in_place = {};
  std::uint64_t encoded_size = 0;  // of the whole value
};

// Reads runs of elements: whole blocks of inner dimensions where a block has no large gaps, else row by row.
std::unique_ptr<PartialDecode> decode_dense_part(const Codec& codec, PartialRequest request,
                                                 const ArraySpec& spec, DenseLayout layout);

}  // namespace zarrive
