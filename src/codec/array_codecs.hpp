// The array-to-array and array-to-bytes codecs: one factory a file, and what they share.
#pragma once

#include <memory>
#include <string>

#include "zarrive/codec.hpp"

namespace zarrive {

// --- array to array ---
std::shared_ptr<Codec> make_transpose(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_reshape(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_bitround(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_scale_offset(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_cast_value(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_delta(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_fixed_scale_offset(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_quantize(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_packbits_filter(const CodecSpec& spec,
                                            const CodecOptions& options);  // numcodecs, of bool
std::shared_ptr<Codec> make_astype(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_categorize(const CodecSpec& spec, const CodecOptions& options);

// --- array to bytes ---
std::shared_ptr<Codec> make_bytes(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_optional(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_packbits(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_vlen_utf8(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_vlen_bytes(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_vlen_array(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_json2(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_msgpack2(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_sharding(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_zfp(const CodecSpec& spec, const CodecOptions& options);
std::shared_ptr<Codec> make_zfpy(const CodecSpec& spec, const CodecOptions& options);

// --- shared ---

// Memory for encoded bytes: pooled, contents undefined.
Buffer allocate_encoded(std::size_t size);

// Errors that name the codec.
[[noreturn]] void fail_codec(const Codec& codec, ErrorCode code, const std::string& message);
[[noreturn]] void fail_type(const Codec& codec, const DataType& found,
                            const std::string& expected);                      // unsupported_data_type
[[noreturn]] void fail_chunk(const Codec& codec, const std::string& message);  // corrupt_chunk

// Error(corrupt_chunk) unless the encoded value has this many bytes.
void check_encoded_size(const Codec& codec, std::uint64_t found, std::uint64_t expected);

// Error(invalid_argument) or Error(out_of_bounds) unless the part lies in the array.
void check_part(const Codec& codec, const ArraySpec& spec, const ChunkPart& part);

// The fill value as an elementwise codec encodes it.
FillValue encode_fill(const ArrayToArrayCodec& codec, const FillValue& fill, const DataType& encoded);

}  // namespace zarrive
