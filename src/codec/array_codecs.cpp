// What the array codecs share.
#include "codec/array_codecs.hpp"

#include <algorithm>
#include <utility>

namespace zarrive {

Buffer allocate_encoded(std::size_t size) {
  Prototype pooled;
  pooled.allocator = pool_allocator();
  return Buffer::allocate(size, pooled);
}

void fail_codec(const Codec& codec, ErrorCode code, const std::string& message) {
  throw Error(code, "codec '" + codec.name() + "': " + message);
}

void fail_type(const Codec& codec, const DataType& found, const std::string& expected) {
  fail_codec(codec, ErrorCode::unsupported_data_type,
             "found data type " + found.name() + ", takes " + expected);
}

void fail_chunk(const Codec& codec, const std::string& message) {
  fail_codec(codec, ErrorCode::corrupt_chunk, message);
}

void check_encoded_size(const Codec& codec, std::uint64_t found, std::uint64_t expected) {
  if (found != expected)
    fail_chunk(codec,
               "found " + std::to_string(found) + " bytes, expected exactly " + std::to_string(expected));
}

void check_part(const Codec& codec, const ArraySpec& spec, const ChunkPart& part) {
  if (part.ndim() != spec.shape.size())
    fail_codec(
        codec, ErrorCode::invalid_argument,
        "a part of rank " + std::to_string(part.ndim()) + " of a chunk of shape " + to_string(spec.shape));
  if (part.empty()) return;
  const Box bounds = part.bounds();
  for (std::size_t d = 0; d < spec.shape.size(); ++d)
    if (bounds.start[d] > spec.shape[d] || bounds.extent[d] > spec.shape[d] - bounds.start[d])
      fail_codec(codec, ErrorCode::out_of_bounds,
                 "the part from " + to_string(bounds.start) + " of extent " + to_string(bounds.extent) +
                     " reaches outside the chunk of shape " + to_string(spec.shape));
}

FillValue encode_fill(const ArrayToArrayCodec& codec, const FillValue& fill, const DataType& encoded) {
  if (fill.is_undefined()) return FillValue::undefined(encoded);
  std::vector<std::byte> in(fill.bytes().begin(), fill.bytes().end());
  std::vector<std::byte> out(encoded.item_size());
  codec.encode(ArrayView(in.data(), fill.type(), Shape{}), ArrayView(out.data(), encoded, Shape{}),
               Context{});
  return FillValue::from_bytes(encoded, out);
}

}  // namespace zarrive
