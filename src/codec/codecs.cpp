#include "zarrive/codecs.hpp"

#include <utility>

namespace zarrive::codecs {
namespace {

CodecSpec make(std::string name, JsonObject configuration = {}) {
  CodecSpec spec;
  spec.name = std::move(name);
  spec.configuration = std::move(configuration);
  return spec;
}

JsonArray json_of(const std::vector<CodecSpec>& specs) {
  JsonArray list;
  list.reserve(specs.size());
  for (const CodecSpec& spec : specs) list.push_back(to_json(spec));
  return list;
}

}  // namespace

CodecSpec bytes(ByteOrder endian) {
  if (endian == ByteOrder::none) return make("bytes");
  return make("bytes", {{"endian", endian == ByteOrder::little ? "little" : "big"}});
}

CodecSpec transpose(std::vector<std::size_t> order) {
  JsonArray positions;
  for (const std::size_t dimension : order) positions.emplace_back(dimension);
  return make("transpose", {{"order", std::move(positions)}});
}

CodecSpec zstd(int level, bool checksum) { return make("zstd", {{"level", level}, {"checksum", checksum}}); }

CodecSpec gzip(int level) { return make("gzip", {{"level", level}}); }

CodecSpec blosc(std::string cname, int clevel, std::string shuffle, std::size_t typesize) {
  CodecSpec spec = make("blosc");
  if (typesize != 0) spec.configuration.set("typesize", typesize);
  spec.configuration.set("cname", std::move(cname));
  spec.configuration.set("clevel", clevel);
  if (!shuffle.empty()) spec.configuration.set("shuffle", std::move(shuffle));
  spec.configuration.set("blocksize", 0);
  return spec;
}

CodecSpec crc32c() { return make("crc32c"); }
CodecSpec vlen_utf8() { return make("vlen-utf8"); }
CodecSpec vlen_bytes() { return make("vlen-bytes"); }

CodecSpec sharding(std::vector<std::uint64_t> chunk_shape, std::vector<CodecSpec> codecs,
                   std::vector<CodecSpec> index_codecs, std::string index_location) {
  JsonArray edges;
  for (const std::uint64_t edge : chunk_shape) edges.emplace_back(edge);
  return make("sharding_indexed", {{"chunk_shape", std::move(edges)},
                                   {"codecs", json_of(codecs)},
                                   {"index_codecs", json_of(index_codecs)},
                                   {"index_location", std::move(index_location)}});
}

CodecSpec optional(const std::vector<CodecSpec>& mask_codecs, const std::vector<CodecSpec>& data_codecs) {
  return make("optional", {{"mask_codecs", json_of(mask_codecs)}, {"data_codecs", json_of(data_codecs)}});
}

CodecSpec completed(CodecSpec spec, std::size_t item_size) {
  if (spec.name != "blosc") return spec;
  if (!spec.configuration.contains("typesize")) spec.configuration.set("typesize", item_size);
  if (!spec.configuration.contains("shuffle"))
    spec.configuration.set("shuffle", item_size == 1 ? "bitshuffle" : "shuffle");
  return spec;
}

}  // namespace zarrive::codecs
