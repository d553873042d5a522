// The codec chain of an array: parsed from its metadata, bound to a chunk shape, then decoding and encoding whole chunks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zarrive/codec.hpp"
#include "zarrive/context.hpp"
#include "zarrive/export.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {

// The chain for chunks of one shape. Immutable; used by many threads at once.
class ZARRIVE_API BoundChain {
 public:
  const ArraySpec& decoded() const noexcept { return decoded_; }
  // Bytes of every encoded chunk, when the codecs fix it.
  std::optional<std::uint64_t> encoded_size() const noexcept { return encoded_size_; }
  // Error(corrupt_chunk) when the codecs fix the encoded size and this is another: known before memory for the chunk is taken.
  void check_encoded_size(std::uint64_t size) const;
  // True when the encoded bytes are the dense decoded chunk, needing at most finish_in_place: a store may read straight into the destination.
  bool is_memory_layout() const noexcept { return memory_layout_; }
  void finish_in_place(const ArrayView& decoded) const;
  bool finishes_in_place() const;  // false when that has nothing to do

  // Decodes a whole chunk into `destination` (the chunk's shape and type, any strides, host memory).
  // Error(corrupt_chunk) when the bytes are not exactly such a chunk.
  void decode(const Buffer& encoded, const ArrayView& destination, const Context& context) const;
  Buffer encode(const ArrayView& chunk, const Context& context) const;
  // The bytes of a chunk that is its own encoded value as it lies in memory; nullopt when codecs have something to do.
  std::optional<std::span<const std::byte>> encoded_view(const ArrayView& chunk) const;

  // Puts what `part` wants of a whole encoded chunk into `output`, converting when that has another type.
  // An output in device memory belongs to a read into it (context.device_read), which goes on with the stream.
  void decode_part(const Buffer& encoded, const ChunkPart& part, const ArrayView& output,
                   const Context& context) const;
  // Decodes part of a chunk from part of its bytes; nullptr when the codecs cannot, or reading all of it is as good. This chain, and the
  // context, outlive what is returned.
  std::unique_ptr<PartialDecode> decode_partial(PartialRequest request, const Context& context) const;
  // Changes part of an encoded chunk; nullptr when the whole chunk has to be decoded for that.
  std::unique_ptr<PartialEncode> encode_partial(PartialRequest request, const Context& context) const;
  // What the array-to-bytes codec sees of a chunk, that codec, and whether others come after it.
  const ArraySpec& encoded_array() const noexcept { return encoded_array_; }
  const std::shared_ptr<const ArrayToBytesCodec>& bytes_codec() const noexcept { return bytes_codec_; }
  bool has_byte_codecs() const noexcept { return !byte_codecs_.empty(); }
  // What a GPU has to do to decode a chunk, and the part and output as the dense array behind these steps has them; false when the host has to.
  // (src/codec/device_steps.hpp)
  bool device_steps(DeviceSteps& steps, ChunkPart& part, ArrayView& output) const;
  // When a GPU can encode chunks: what it has to make of the dense elements. nullopt: the host encodes.
  std::optional<DeviceContainer> device_encoding() const;
  // What the codecs after that (checksums) make of the bytes: the value. The host does it.
  Buffer finish_device_encoding(Buffer encoded, const Context& context) const;
  // The bytes of a value with the checksums around them compared and taken off.
  std::span<const std::byte> without_checksums(std::span<const std::byte> encoded,
                                               const Context& context) const;
  // Of a shard: the shape of its inner chunks, as dimensions of this chunk; nullopt when it has none.
  std::optional<Shape> inner_chunk_shape() const;

 private:
  friend class CodecChain;
  BoundChain() = default;
  std::uint64_t decoded_limit(std::uint64_t encoded_size) const;
  // The part and the output as the array-to-bytes codec sees them; false when array codecs do more than rename dimensions.
  bool seen_by_bytes_codec(PartialRequest& request) const;
  bool decode_shard_part(const Buffer& encoded, PartialRequest request, const Context& context) const;
  bool decode_windows(const Buffer& encoded, PartialRequest request, const Context& context) const;
  void decode_array(std::span<const std::byte> encoded, const ArrayView& target,
                    const Context& context) const;
  void decode_rows(std::span<const std::byte> encoded, const ArrayView& target, const Context& context) const;
  bool lies_encoded(const ArrayView& encoded_array) const;
  bool decode_to_view(std::span<const std::byte>& bytes, std::size_t i, const Context& context) const;
  Buffer decode_bytes(std::span<const std::byte>& bytes, std::size_t first, std::size_t last,
                      const Context& context) const;
  ArraySpec decoded_;
  ArraySpec encoded_array_;  // what the array-to-bytes codec sees
  std::vector<std::shared_ptr<const ArrayToArrayCodec>> array_codecs_;
  std::vector<ArraySpec> array_specs_;  // decoded spec of each array codec
  std::shared_ptr<const ArrayToBytesCodec> bytes_codec_;
  std::vector<std::shared_ptr<const BytesToBytesCodec>> byte_codecs_;
  std::vector<std::optional<std::uint64_t>> byte_sizes_;  // decoded size of each byte codec
  std::optional<std::uint64_t> encoded_size_;
  bool memory_layout_ = false;
};

class ZARRIVE_API CodecChain {
 public:
  // From an array's metadata, v2 (order, filters, compressor) or v3 (codecs). Error(unsupported_codec) for an unknown or refused codec,
  // Error(invalid_metadata) for a chain that breaks the rules (not exactly one array-to-bytes codec, wrong order, wrong type).
  static CodecChain create(const ArrayMetadata& metadata, const MetadataOptions& options = {});
  // Likewise for any list of v3 codecs.
  static CodecChain create(const std::vector<CodecSpec>& codecs, const DataType& type, const FillValue& fill,
                           const MetadataOptions& options = {});

  // For chunks of this shape; kept, so that the next call with the same shape is a look-up. Thread-safe.
  std::shared_ptr<const BoundChain> bind(const Shape& chunk_shape) const;

  const std::vector<std::shared_ptr<const ArrayToArrayCodec>>& array_codecs() const noexcept {
    return array_codecs_;
  }
  const std::shared_ptr<const ArrayToBytesCodec>& bytes_codec() const noexcept { return bytes_codec_; }
  const std::vector<std::shared_ptr<const BytesToBytesCodec>>& byte_codecs() const noexcept {
    return byte_codecs_;
  }

 private:
  struct Cache;
  CodecChain(const DataType& type, const FillValue& fill);
  void add(std::shared_ptr<const Codec> codec);
  void add_v2(std::shared_ptr<const Codec> codec);
  std::vector<std::shared_ptr<const ArrayToArrayCodec>> array_codecs_;
  std::shared_ptr<const ArrayToBytesCodec> bytes_codec_;
  std::vector<std::shared_ptr<const BytesToBytesCodec>> byte_codecs_;
  DataType type_;
  FillValue fill_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace zarrive
