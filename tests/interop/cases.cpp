#include "interop/cases.hpp"

#include <cstring>

#include "zarrive/codecs.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive::exchange {
namespace {

CodecSpec spec(std::string name, JsonObject configuration = {}) {
  return {std::move(name), std::move(configuration)};
}

// Filters and object codecs of numcodecs, with their v2 configuration.
std::vector<CodecSpec> numcodecs_filters(const DataType& stored, ZarrFormat format) {
  // v3 arrays have no byte order; filters see this machine's
  const DataType type = format == ZarrFormat::v3 ? stored.with_byte_order(ByteOrder::little) : stored;
  std::vector<CodecSpec> out;
  Json dtype;
  try {
    dtype = type.to_v2();
  } catch (const Error&) {
    return out;
  }
  const bool numeric = type.is_integer() || type.is_float();
  if (numeric) out.push_back(spec("delta", {{"dtype", dtype}}));
  if (type.id() == TypeId::float32 || type.id() == TypeId::float64) {
    out.push_back(
        spec("fixedscaleoffset", {{"offset", 1}, {"scale", 100}, {"dtype", dtype}, {"astype", "<i4"}}));
    out.push_back(spec("quantize", {{"digits", 2}, {"dtype", dtype}}));
    out.push_back(spec(
        "astype", {{"encode_dtype", type.id() == TypeId::float64 ? "<f4" : "<f8"}, {"decode_dtype", dtype}}));
  }
  if (type.id() == TypeId::float16 || type.id() == TypeId::float32 || type.id() == TypeId::float64)
    out.push_back(spec("bitround", {{"keepbits", 5}}));
  if (type.id() == TypeId::boolean) out.push_back(spec("packbits"));
  return out;
}

bool lossy(const std::string& name) {
  return name == "fixedscaleoffset" || name == "quantize" || name == "bitround" || name == "astype";
}

std::vector<CodecSpec> numcodecs_byte_codecs(const DataType& type) {
  std::vector<CodecSpec> out = {spec("zlib", {{"level", 1}}), spec("bz2", {{"level", 1}}), spec("lzma"),
                                spec("lz4", {{"acceleration", 1}})};
  for (const char* name : {"crc32", "adler32", "fletcher32", "jenkins_lookup3"}) out.push_back(spec(name));
  if (!type.is_variable()) out.push_back(spec("shuffle", {{"elementsize", type.item_size()}}));
  return out;
}

std::vector<CodecCase> v2_cases(const DataType& type) {
  std::vector<CodecCase> out;
  const std::vector<CodecSpec> object = type.id() == TypeId::string  ? std::vector{spec("vlen-utf8")}
                                        : type.id() == TypeId::bytes ? std::vector{spec("vlen-bytes")}
                                                                     : std::vector<CodecSpec>{};
  auto compressed = [&](std::string name, CodecSpec compressor) {
    out.push_back({std::move(name), ZarrFormat::v2, object, std::move(compressor)});
  };
  compressed("none", CodecSpec{});
  compressed("zstd", spec("zstd", {{"level", 1}}));
  compressed("gzip", spec("gzip", {{"level", 1}}));
  for (const char* cname : {"blosclz", "lz4", "lz4hc", "zlib", "zstd"})
    compressed(std::string("blosc ") + cname,
               spec("blosc", {{"cname", cname}, {"clevel", 5}, {"shuffle", 1}, {"blocksize", 0}}));
  compressed("blosc bitshuffle",
             spec("blosc", {{"cname", "lz4"}, {"clevel", 5}, {"shuffle", 2}, {"blocksize", 0}}));
  compressed("base64", spec("base64"));
  compressed("crc32c", spec("crc32c"));
  for (CodecSpec& codec : numcodecs_byte_codecs(type)) compressed(codec.name, codec);
  out.push_back({"order F", ZarrFormat::v2, object, spec("zstd"), 'F'});
  for (CodecSpec& filter : numcodecs_filters(type, ZarrFormat::v2)) {
    const std::string name = filter.name;
    out.push_back({name, ZarrFormat::v2, {filter}, spec("zlib", {{"level", 1}}), 'C', !lossy(name)});
  }
  if (type.id() == TypeId::string) {
    out.push_back({"categorize",
                   ZarrFormat::v2,
                   {spec("categorize", {{"labels", Json::parse(R"(["", "a", "bc", "d\u00e9"])")},
                                        {"dtype", "|O"},
                                        {"astype", "|u1"}})},
                   spec("zstd")});
  }
  if (type.id() == TypeId::object) {
    for (const char* name : {"json2", "msgpack2"})
      out.push_back({name, ZarrFormat::v2, {spec(name)}, spec("zstd")});
  }
  if (type.id() == TypeId::float32 || type.id() == TypeId::float64)
    out.push_back({"zfpy",
                   ZarrFormat::v2,
                   {},
                   spec("zfpy", {{"mode", 4}, {"tolerance", 0.001}, {"rate", -1}, {"precision", -1}}),
                   'C',
                   false});
  return out;
}

std::vector<CodecCase> v3_cases(const DataType& type) {
  std::vector<CodecCase> out;
  auto chain = [&](std::string name, std::vector<CodecSpec> codecs, bool lossless = true) {
    out.push_back({std::move(name), ZarrFormat::v3, std::move(codecs), {}, 'C', lossless});
  };
  chain("none", {});
  chain("zstd", {codecs::zstd(1)});
  chain("zstd checksum", {codecs::zstd(1, true)});
  chain("gzip", {codecs::gzip(1)});
  for (const char* cname : {"blosclz", "lz4", "lz4hc", "zlib", "zstd"})
    chain(std::string("blosc ") + cname, {codecs::blosc(cname)});
  chain("blosc bitshuffle", {codecs::blosc("lz4", 5, "bitshuffle")});
  chain("crc32c", {codecs::crc32c()});
  chain("transpose", {codecs::transpose({1, 0})});
  if (!type.is_variable() && type.swap_unit() > 1) chain("bytes big", {codecs::bytes(ByteOrder::big)});
  // The last shard along the first dimension reaches past the array's end.
  const CodecSpec little_index = codecs::bytes();
  chain("sharded", {codecs::sharding({2, 5}, {codecs::zstd(1)})});
  chain("sharded, index at start",
        {codecs::sharding({2, 1}, {codecs::gzip(1)}, {little_index, codecs::crc32c()}, "start")});
  chain("sharded, big-endian index", {codecs::sharding({4, 1}, {}, {codecs::bytes(ByteOrder::big)})});
  chain("sharded twice", {codecs::sharding({2, 5}, {codecs::sharding({1, 5}, {codecs::crc32c()})})});
  chain("sharded, transposed",
        {codecs::transpose({1, 0}), codecs::sharding({1, 1}, {codecs::transpose({1, 0}), codecs::zstd(1)})});
  for (CodecSpec& codec : numcodecs_byte_codecs(type))
    chain("numcodecs." + codec.name, {spec("numcodecs." + codec.name, codec.configuration)});
  for (CodecSpec& filter : numcodecs_filters(type, ZarrFormat::v3))
    chain("numcodecs." + filter.name, {spec("numcodecs." + filter.name, filter.configuration)},
          !lossy(filter.name));
  if (type.id() == TypeId::float32 || type.id() == TypeId::float64) {
    chain("bitround", {spec("bitround", {{"keepbits", 5}})}, false);
    chain("scale_offset", {spec("scale_offset", {{"offset", 1.0}, {"scale", 4.0}})});
    chain("cast_value", {spec("cast_value", {{"data_type", "int16"}, {"rounding", "nearest-even"}})}, false);
  }
  if (type.id() == TypeId::boolean || type.id() == TypeId::int16) chain("packbits", {spec("packbits")});
  return out;
}

}  // namespace

std::vector<CodecCase> codec_cases(const DataType& type, ZarrFormat format) {
  return format == ZarrFormat::v2 ? v2_cases(type) : v3_cases(type);
}

CreateOptions cell_options(const DataType& type, const CodecCase& codec) {
  CreateOptions options;
  options.shape = {7, 5};
  options.chunks = {4, 5};
  options.data_type = type;
  options.format = codec.format;
  options.order = codec.order;
  if (codec.format == ZarrFormat::v2) {
    options.filters = codec.codecs;
    options.compressor = codec.compressor;
  } else {
    options.codecs = codec.codecs;
  }
  return options;
}

NDArray cell_values(const DataType& type, const Shape& shape) {
  NDArray values = NDArray::allocate(type, shape);
  const std::uint64_t count = values.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    std::byte* at = values.view().data + i * type.item_size();
    const auto n = static_cast<std::int64_t>(i);
    static const char* kWords[] = {"", "a", "bc", "d\u00e9"};
    Json value;
    if (type.id() == TypeId::string) value = kWords[i % 4];
    else if (type.id() == TypeId::object) value = i % 3 ? Json(n) : Json(kWords[i % 4]);
    else if (type.id() == TypeId::optional && i % 3 == 0) value = nullptr;
    else if (type.id() == TypeId::optional) {
      const NDArray inner = cell_values(type.fields()[1].type, {count});
      value = JsonArray{element_to_json(inner.type(), inner.view().data + i * inner.type().item_size())};
    } else if (type.id() == TypeId::boolean) value = i % 3 == 1;
    else if (type.id() == TypeId::int4) value = n % 8 - 4;
    else if (type.is_integer()) value = type.is_signed() ? n * 3 - 50 : n * 3;
    else if (type.is_float()) value = static_cast<double>(n - 17) * 0.25;
    else if (type.is_complex()) value = JsonArray{static_cast<double>(n) * 0.5, static_cast<double>(-n)};
    else if (type.id() == TypeId::datetime64 || type.id() == TypeId::timedelta64) value = n * 86400 - 1000;
    else if (type.id() == TypeId::fixed_utf32) value = kWords[i % 4];
    else if (type.id() == TypeId::bytes || type.id() == TypeId::fixed_bytes || type.id() == TypeId::raw) {
      std::string text = type.id() == TypeId::raw ? std::string(type.item_size(), static_cast<char>(i))
                                                  : std::string(kWords[i % 4]);
      value = base64_encode(std::as_bytes(std::span(text)));
      if (type.id() == TypeId::raw) {
        std::memcpy(at, text.data(), text.size());
        continue;
      }
    } else {  // structured: bytes of a ramp, strings zero padded
      std::memset(at, 0, type.item_size());
      for (const StructField& field : type.fields()) {
        NDArray part = cell_values(field.type, {count});
        std::memcpy(at + field.offset, part.view().data + i * field.type.item_size(), field.type.item_size());
      }
      continue;
    }
    element_from_json(type, value, at);
  }
  return values;
}

}  // namespace zarrive::exchange
