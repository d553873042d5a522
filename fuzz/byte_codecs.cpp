// Bytes-to-bytes codecs: any encoded value ends in bytes within the limit or in a clean Error, and what a codec encodes it decodes to the same.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/codec.hpp"

namespace {

using namespace zarrive;

struct Case {
  ZarrFormat format;
  std::string_view name;
  std::string_view configuration;
};

// Only appended to: the corpus counts on the positions.
constexpr std::array<Case, 26> kCases{{
    {ZarrFormat::v3, "zstd", R"({"level": 1})"},
    {ZarrFormat::v3, "gzip", R"({"level": 1})"},
    {ZarrFormat::v2, "zlib", R"({"level": 1})"},
    {ZarrFormat::v2, "bz2", R"({"level": 1})"},
    {ZarrFormat::v2, "lzma", R"({"format": 0})"},
    {ZarrFormat::v2, "lzma", R"({"preset": 0})"},
    {ZarrFormat::v2, "lzma", R"({"format": 2, "preset": 0})"},
    {ZarrFormat::v2, "lzma", R"({"format": 3, "filters": [{"id": 33, "preset": 0}]})"},
    {ZarrFormat::v2, "lzma",
     R"({"format": 3, "filters": [{"id": 3, "dist": 2}, {"id": 4}, {"id": 4611686018427387905, "preset": 0}]})"},
    {ZarrFormat::v2, "lz4", "{}"},
    {ZarrFormat::v2, "blosc", R"({"cname": "lz4", "shuffle": 1})"},
    {ZarrFormat::v2, "blosc", R"({"cname": "blosclz", "shuffle": 2})"},
    {ZarrFormat::v2, "blosc", R"({"cname": "zstd", "shuffle": 0, "clevel": 1})"},
    {ZarrFormat::v2, "blosc", R"({"cname": "snappy", "shuffle": 1, "blocksize": 256})"},
    {ZarrFormat::v2, "blosc", R"({"cname": "zlib", "shuffle": 1, "clevel": 1})"},
    {ZarrFormat::v3, "crc32c", "{}"},
    {ZarrFormat::v2, "crc32", "{}"},
    {ZarrFormat::v2, "adler32", R"({"location": "end"})"},
    {ZarrFormat::v2, "fletcher32", "{}"},
    {ZarrFormat::v2, "jenkins_lookup3", R"({"initval": 7, "prefix": "p"})"},
    {ZarrFormat::v2, "base64", "{}"},
    {ZarrFormat::v2, "shuffle", R"({"elementsize": 4})"},
    {ZarrFormat::v2, "shuffle", R"({"elementsize": 3})"},
    {ZarrFormat::v3, "conditional", R"({"codecs": ["crc32c", {"name": "zstd"}, "numcodecs.base64"]})"},
    {ZarrFormat::v3, "conditional",
     R"({"codecs": [{"name": "gzip"}, {"name": "blosc"}], "header_bits": 16})"},
    {ZarrFormat::v2, "zstd", R"({"checksum": true})"},
}};

std::shared_ptr<const BytesToBytesCodec> make(const Case& wanted) {
  CodecSpec spec;
  spec.name = wanted.name;
  spec.configuration = Json::parse(wanted.configuration).as_object();
  CodecOptions options;
  options.format = wanted.format;
  BytesSpec bytes;
  bytes.item_size = 4;
  return std::dynamic_pointer_cast<const BytesToBytesCodec>(CodecRegistry::global().make(spec, options))
      ->bind(bytes);
}

const BytesToBytesCodec& codec_of(std::size_t index) {
  static const auto codecs = [] {
    std::vector<std::shared_ptr<const BytesToBytesCodec>> made;
    for (const Case& wanted : kCases) made.push_back(make(wanted));
    return made;
  }();
  return *codecs[index];
}

void decode(const BytesToBytesCodec& codec, std::span<const std::byte> encoded, ByteOutput& output) {
  try {
    codec.decode(encoded, output, Context());
    if (output.bytes().size() > output.limit()) std::abort();
    if (output.expected_size() && output.bytes().size() != *output.expected_size()) std::abort();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt_chunk && error.code() != ErrorCode::resource_limit) std::abort();
  }
}

}  // namespace

// Byte 0: the codec. Byte 1: its lowest bit makes the rest the decoded value, to encode and decode. Bytes 2 and 3: the expected size.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const BytesToBytesCodec& codec = codec_of(data[0] % kCases.size());
  const std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data) + 4, size - 4);
  constexpr std::uint64_t kLimit = 1 << 20;
  if ((data[1] & 1) != 0) {
    Buffer encoded;
    try {
      encoded = codec.encode(rest, Context());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::unsupported) std::abort();
      return 0;
    }
    ByteOutput output(rest.size(), rest.size());
    codec.decode(encoded.host_span(), output, Context());
    const auto bytes = output.bytes();
    if (!std::equal(bytes.begin(), bytes.end(), rest.begin(), rest.end())) std::abort();
    return 0;
  }
  const std::size_t expected = data[2] + 256U * data[3];
  std::vector<std::byte> memory(expected);
  ByteOutput fixed{std::span<std::byte>(memory)};
  decode(codec, rest, fixed);
  ByteOutput growing(std::nullopt, kLimit);
  decode(codec, rest, growing);
  return 0;
}
