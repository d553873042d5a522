#include "support/random_array.hpp"

#include <algorithm>
#include <cstring>

#include "support/type_names.hpp"
#include "zarrive/codecs.hpp"

namespace zarrive::testing_support {

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = exchanged_type_names();
    std::erase(all, "|O");  // objects are no random bytes
    for (const char* more :
         {">c16", "|V5", ">U2", ">m8[10us]", "float8_e5m2", "uint2", "optional[int16]",
          "optional[optional[float64]]", R"([["a", "|u1"], ["b", ">i2"], ["c", "<f8", [2]]])",
          R"([["x", "<f4"], ["y", [["z", "<i4"], ["s", "|S2"]]]])"})
      all.emplace_back(more);
    return all;
  }();
  return names;
}

// Types that only one format can say.
bool expressible(const DataType& type, ZarrFormat format) {
  try {
    format == ZarrFormat::v2 ? type.to_v2() : type.to_v3();
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string random_element(Random& random, const DataType& type) {
  if (type.is_variable()) {
    std::string text(pick(random, 6), '\0');
    for (char& c : text) c = static_cast<char>('a' + pick(random, 26));
    if (pick(random, 5) == 0) text += "\xc3\xa9";
    return text;
  }
  std::string bytes(type.item_size(), '\0');
  for (char& c : bytes) c = static_cast<char>(pick(random, 256));
  if (type.id() == TypeId::fixed_utf32) {  // any code points that are characters
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
      const auto point = static_cast<std::uint32_t>(pick(random, 0xD800));
      std::memcpy(bytes.data() + at, &point, 4);
    }
  }
  if (type.id() == TypeId::boolean) bytes[0] = static_cast<char>(pick(random, 2));
  if (type.id() == TypeId::int4) bytes[0] = static_cast<char>(static_cast<int>(pick(random, 16)) - 8);
  if (type.id() == TypeId::uint2) bytes[0] = static_cast<char>(pick(random, 4));
  if (type.id() == TypeId::optional) {  // flags are 0 or 1, an absent value is zeros
    auto* element = reinterpret_cast<std::byte*>(bytes.data());
    element[0] = static_cast<std::byte>(pick(random, 2));
    element[1] = static_cast<std::byte>(pick(random, 2));
    element_from_json(type, element_to_json(type, element), element);
  }
  return bytes;
}

// A view of the given shape over memory with random order of dimensions, gaps and directions. Fixed-size types only.
ArrayView random_layout(Random& random, const DataType& type, const Shape& shape,
                        std::vector<std::byte>& memory) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::shuffle(order.begin(), order.end(), random);
  Strides strides(shape.size());
  std::int64_t reach = static_cast<std::int64_t>(type.item_size());
  std::int64_t offset = 0;
  for (std::size_t d : order) {
    strides[d] = reach + static_cast<std::int64_t>(pick(random, 2) * type.item_size());
    const std::int64_t span = strides[d] * static_cast<std::int64_t>(shape[d] > 0 ? shape[d] : 1);
    if (pick(random, 3) == 0 && shape[d] > 0) {
      offset += strides[d] * static_cast<std::int64_t>(shape[d] - 1);
      strides[d] = -strides[d];
    }
    reach = span;
  }
  memory.assign(static_cast<std::size_t>(reach) + 64, std::byte{0xCD});
  return ArrayView(memory.data() + offset, type, shape, strides);
}

// --- chains of codecs: one function a format. What is added here is covered by the whole model test. ---

namespace {

CodecSpec v2_codec(const char* id, JsonObject configuration = {}) { return {id, std::move(configuration)}; }

void choose_v2_codecs(Random& random, CreateOptions& options) {
  const DataType& type = options.data_type.type;
  static const char* kCompressors[] = {"zstd", "blosc", "zlib", "gzip", "lz4", "bz2", "lzma", ""};
  options.compressor = v2_codec(kCompressors[pick(random, 8)]);
  options.order = pick(random, 3) == 0 ? 'F' : 'C';
  options.chunk_key_encoding = ChunkKeyEncoding{ChunkKeyEncoding::Kind::v2, pick(random, 2) ? '/' : '.'};
  if (type.is_variable()) return;
  std::vector<CodecSpec> filters;
  if (type.is_integer() && type.item_size() > 1 && pick(random, 3) == 0)
    filters.push_back(v2_codec("delta", {{"dtype", type.to_v2()}}));
  if (pick(random, 4) == 0) filters.push_back(v2_codec("shuffle", {{"elementsize", type.item_size()}}));
  if (pick(random, 5) == 0) filters.push_back(v2_codec("crc32"));
  options.filters = filters;
}

void choose_v3_codecs(Random& random, CreateOptions& options) {
  std::vector<CodecSpec> chain;
  if (options.shape.size() > 1 && pick(random, 3) == 0) {
    std::vector<std::size_t> order(options.shape.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
    std::shuffle(order.begin(), order.end(), random);
    chain.push_back(codecs::transpose(order));
  }
  const DataType& type = options.data_type.type;
  if (!type.is_variable() && pick(random, 3) == 0 && type.id() != TypeId::structured &&
      type.id() != TypeId::optional)
    chain.push_back(type.swap_unit() > 1 ? codecs::bytes(pick(random, 2) ? ByteOrder::big : ByteOrder::little)
                                         : CodecSpec{"bytes"});
  switch (pick(random, 6)) {
    case 0: chain.push_back(codecs::zstd(3, pick(random, 2))); break;
    case 1: chain.push_back(codecs::gzip(1)); break;
    case 2: chain.push_back(codecs::blosc(pick(random, 2) ? "lz4" : "zstd")); break;
    case 3: chain.push_back(codecs::crc32c()); break;
    case 4: chain.push_back(codecs::zstd(1)), chain.push_back(codecs::crc32c()); break;
    default: break;
  }
  options.codecs = chain;
}

ChunkGrid random_rectilinear(Random& random, const Shape& shape) {
  std::vector<ChunkGrid::Dimension> dimensions;
  for (std::uint64_t extent : shape) {
    ChunkGrid::Dimension dimension;
    if (pick(random, 3) == 0) {
      dimension.repeat = true;
      dimension.runs.push_back({1 + pick(random, 4), 1});
    } else {
      for (std::uint64_t covered = 0; covered < extent || dimension.runs.empty();) {
        const ChunkGrid::Run run{1 + pick(random, 4), 1 + pick(random, 2)};
        dimension.runs.push_back(run);
        covered += run.edge * run.count;
      }
    }
    dimensions.push_back(std::move(dimension));
  }
  return ChunkGrid::rectilinear(std::move(dimensions));
}

// Puts the chain into shards of the options' chunks, sometimes twice: the chunks then are the shards.
void choose_sharding(Random& random, CreateOptions& options) {
  std::vector<CodecSpec> chain = *options.codecs;
  // A transposition may stay outside; inside, and for the shape of the inner chunks, dimensions are in its order.
  std::vector<CodecSpec> outside;
  std::vector<std::size_t> order(options.shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  if (!chain.empty() && chain[0].name == "transpose" && pick(random, 2)) {
    for (std::size_t d = 0; d < order.size(); ++d)
      order[d] =
          static_cast<std::size_t>(chain[0].configuration.find("order")->as_array()[d].to_uint64().value());
    outside.push_back(chain[0]);
    chain.erase(chain.begin());
  }
  Shape inner(order.size());
  for (std::uint64_t& edge : inner) edge = 1 + pick(random, 3);
  const std::vector<CodecSpec> index_codecs =
      pick(random, 2)
          ? std::vector<CodecSpec>{codecs::bytes(), codecs::crc32c()}
          : std::vector<CodecSpec>{codecs::bytes(pick(random, 2) ? ByteOrder::big : ByteOrder::little)};
  chain = {codecs::sharding(inner, chain, index_codecs, pick(random, 2) ? "end" : "start")};
  Shape shard = inner;
  for (int level = static_cast<int>(pick(random, 3)); level >= 0; --level) {
    for (std::uint64_t& edge : shard) edge *= 1 + pick(random, 2);
    if (level > 0 && pick(random, 2)) chain = {codecs::sharding(shard, chain, index_codecs)};
  }
  for (std::size_t d = 0; d < order.size(); ++d) options.chunks[order[d]] = shard[d];
  if (pick(random, 8) == 0) chain.push_back(codecs::crc32c());
  outside.insert(outside.end(), chain.begin(), chain.end());
  options.codecs = outside;
}

}  // namespace

CreateOptions random_array(Random& random, const DataType& type, ZarrFormat format) {
  CreateOptions options;
  options.format = format;
  options.data_type = type;
  const std::size_t ndim = pick(random, 5);
  for (std::size_t d = 0; d < ndim; ++d) {
    options.shape.push_back(pick(random, 12) == 0 ? 0 : 1 + pick(random, ndim > 2 ? 6 : 14));
    options.chunks.push_back(1 + pick(random, 6));
  }
  if (ndim == 0) options.chunks = {};
  if (format == ZarrFormat::v3 && ndim > 0 && pick(random, 4) == 0)
    options.chunk_grid = random_rectilinear(random, options.shape);
  format == ZarrFormat::v2 ? choose_v2_codecs(random, options) : choose_v3_codecs(random, options);
  if (format == ZarrFormat::v3 && !options.chunk_grid && pick(random, 2)) choose_sharding(random, options);
  return options;
}

}  // namespace zarrive::testing_support
