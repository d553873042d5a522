// The same array in the other Zarr format (the v2 to v3 rules are those of zarr-python's `zarr migrate`).
#include <algorithm>
#include <array>

#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"

namespace zarrive {
namespace {

constexpr std::array<const char*, 3> kBloscShuffles = {"noshuffle", "shuffle", "bitshuffle"};

[[noreturn]] void fail(const std::string& what, ZarrFormat to) {
  throw Error(ErrorCode::unsupported,
              what + " has no equivalent in Zarr v" + std::to_string(static_cast<int>(to)));
}

// One byte order for all leaves, or nothing. Types without one count as little.
std::optional<ByteOrder> common_order(const DataType& type) {
  std::optional<ByteOrder> order;
  for (const auto& leaf : type.leaves()) {
    if (leaf.order == ByteOrder::none) continue;
    if (order && *order != leaf.order) return std::nullopt;
    order = leaf.order;
  }
  return order.value_or(ByteOrder::little);
}

bool has_order(const DataType& type) {
  const auto& leaves = type.leaves();
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const auto& leaf) { return leaf.order != ByteOrder::none; });
}

// --- v2 to v3 ---

CodecSpec blosc_to_v3(const CodecSpec& v2, const DataType& type) {
  auto member = [&](const char* name, Json otherwise) {
    const Json* found = v2.configuration.find(name);
    return found ? *found : otherwise;
  };
  const std::size_t item_size = type.is_variable() ? 1 : type.item_size();
  std::int64_t shuffle = member("shuffle", 1).to_int64().value_or(1);
  if (shuffle == -1) shuffle = item_size == 1 ? 2 : 1;
  if (shuffle < 0 || shuffle > 2) fail("blosc shuffle " + std::to_string(shuffle), ZarrFormat::v3);
  CodecSpec v3{"blosc"};
  v3.configuration.set("typesize", item_size);
  v3.configuration.set("cname", member("cname", "lz4"));
  v3.configuration.set("clevel", member("clevel", 5));
  v3.configuration.set("shuffle", kBloscShuffles[static_cast<std::size_t>(shuffle)]);
  v3.configuration.set("blocksize", member("blocksize", 0));
  return v3;
}

CodecSpec codec_to_v3(const CodecSpec& v2, const DataType& type) {
  if (v2.name == "blosc") return blosc_to_v3(v2, type);
  if (v2.name == "zstd") {
    const Json* level = v2.configuration.find("level");
    const Json* checksum = v2.configuration.find("checksum");
    return codecs::zstd(static_cast<int>(level ? level->to_int64().value_or(0) : 0),
                        checksum && checksum->is_bool() && checksum->as_bool());
  }
  if (v2.name == "gzip" || v2.name == "vlen-utf8" || v2.name == "vlen-bytes") return v2;
  CodecSpec v3 = v2;
  v3.name = "numcodecs." + v2.name;
  if (!CodecRegistry::global().contains(v3.name, ZarrFormat::v3))
    fail("codec '" + v2.name + "'", ZarrFormat::v3);
  return v3;
}

ArrayMetadata to_v3(const ArrayMetadata& v2, bool& chunks_stay) {
  ArrayMetadata v3 = v2;
  v3.format = ZarrFormat::v3;
  v3.order = 'C';
  v3.filters.clear();
  v3.compressor.reset();
  v3.attributes.erase("_ARRAY_DIMENSIONS");
  if (v2.dimension_names.empty()) v3.attributes = v2.attributes;
  if (v2.fill_value.is_undefined()) v3.fill_value = FillValue::zero(v2.data_type);
  if (v2.order == 'F' && v2.shape.size() > 1) {
    std::vector<std::size_t> reversed;
    for (std::size_t d = v2.shape.size(); d-- > 0;) reversed.push_back(d);
    v3.codecs.push_back(codecs::transpose(reversed));
  }
  const auto order = common_order(v2.data_type);
  if (!order) chunks_stay = false;  // v3 has one byte order for all fields
  std::vector<CodecSpec> list = v2.filters;
  if (v2.compressor) list.push_back(*v2.compressor);
  bool has_bytes = false;
  DataType type = v2.data_type;  // as the filters change it
  auto add_bytes = [&] {
    v3.codecs.push_back(has_order(type) ? codecs::bytes(common_order(type).value_or(ByteOrder::little))
                                        : CodecSpec{"bytes"});
    has_bytes = true;
  };
  for (const CodecSpec& spec : list) {
    const auto codec = CodecRegistry::global().make(spec, {ZarrFormat::v2, false, {}});
    if (codec->kind() == CodecKind::array_to_array) {
      if (has_bytes) fail("filter '" + spec.name + "' after a codec on bytes", ZarrFormat::v3);
      const ArraySpec decoded{type, Shape{8}, FillValue::zero(type)};
      const auto filter = std::static_pointer_cast<const ArrayToArrayCodec>(codec)->bind(decoded);
      type = filter->encoded_spec(decoded).type;
    } else if (codec->kind() == CodecKind::array_to_bytes) {
      has_bytes = true;
    } else if (!has_bytes) {
      add_bytes();
    }
    v3.codecs.push_back(codec_to_v3(spec, type));
  }
  if (!has_bytes) add_bytes();
  v3.data_type = v2.data_type.with_byte_order(ByteOrder::little);
  v3.to_v3();  // throws for a type or fill value that v3 cannot write
  return v3;
}

// --- v3 to v2 ---

CodecSpec blosc_to_v2(const CodecSpec& v3) {
  CodecSpec v2{"blosc"};
  for (const char* name : {"cname", "clevel"})
    if (const Json* found = v3.configuration.find(name)) v2.configuration.set(name, *found);
  const Json* shuffle = v3.configuration.find("shuffle");
  const std::string name = shuffle && shuffle->is_string() ? shuffle->as_string() : "noshuffle";
  const auto at = std::find(kBloscShuffles.begin(), kBloscShuffles.end(), name) - kBloscShuffles.begin();
  v2.configuration.set("shuffle", static_cast<std::int64_t>(at));
  const Json* blocksize = v3.configuration.find("blocksize");
  v2.configuration.set("blocksize", blocksize ? *blocksize : Json(0));
  return v2;
}

CodecSpec codec_to_v2(const CodecSpec& v3) {
  constexpr std::string_view kNumcodecs = "numcodecs.";
  CodecSpec v2 = v3;
  if (v3.name.starts_with(kNumcodecs)) {
    v2.name = v3.name.substr(kNumcodecs.size());
  } else if (v3.name == "blosc") {
    return blosc_to_v2(v3);
  } else if (v3.name != "zstd" && v3.name != "gzip" && v3.name != "crc32c" && v3.name != "bitround" &&
             v3.name != "vlen-utf8" && v3.name != "vlen-bytes") {
    fail("codec '" + v3.name + "'", ZarrFormat::v2);
  }
  if (!CodecRegistry::global().contains(v2.name, ZarrFormat::v2))
    fail("codec '" + v3.name + "'", ZarrFormat::v2);
  return v2;
}

bool is_full_reversal(const CodecSpec& transpose, std::size_t ndim) {
  const Json* order = transpose.configuration.find("order");
  if (!order || !order->is_array() || order->as_array().size() != ndim) return false;
  for (std::size_t d = 0; d < ndim; ++d)
    if (order->as_array()[d].to_uint64() != ndim - 1 - d) return false;
  return true;
}

ArrayMetadata to_v2(const ArrayMetadata& v3) {
  ArrayMetadata v2 = v3;
  v2.format = ZarrFormat::v2;
  v2.codecs.clear();
  if (!v3.chunk_grid.is_regular()) fail("a rectilinear chunk grid", ZarrFormat::v2);
  v2.chunk_key_encoding.kind = ChunkKeyEncoding::Kind::v2;
  v2.extra_members = {};
  std::vector<CodecSpec> list;
  for (const CodecSpec& spec : v3.codecs) {
    if (spec.name == "transpose" && list.empty() && is_full_reversal(spec, v3.shape.size())) {
      v2.order = 'F';
    } else if (spec.name == "bytes" || spec.name == "endian") {
      const Json* endian = spec.configuration.find("endian");
      const bool big = endian && endian->is_string() && endian->as_string() == "big";
      v2.data_type = v2.data_type.with_byte_order(big ? ByteOrder::big : ByteOrder::little);
    } else {
      list.push_back(codec_to_v2(spec));
    }
  }
  if (!list.empty()) {
    const CodecKind last = CodecRegistry::global().make(list.back(), {ZarrFormat::v2, false, {}})->kind();
    if (last == CodecKind::bytes_to_bytes) {
      v2.compressor = list.back();
      list.pop_back();
    }
  }
  v2.filters = std::move(list);
  if (!v3.dimension_names.empty()) {
    JsonArray names;
    for (const auto& name : v3.dimension_names) {
      if (!name) fail("a dimension without a name beside named ones", ZarrFormat::v2);
      names.emplace_back(*name);
    }
    v2.attributes.set("_ARRAY_DIMENSIONS", Json(std::move(names)));
  }
  v2.to_v2_zarray();  // throws for a type or fill value that v2 cannot write
  return v2;
}

}  // namespace

ArrayMetadata convert_format(const ArrayMetadata& metadata, ZarrFormat format, bool* chunks_stay) {
  bool stay = true;
  ArrayMetadata converted = metadata;
  if (format != metadata.format)
    converted = format == ZarrFormat::v3 ? to_v3(metadata, stay) : to_v2(metadata);
  converted.validate();
  if (chunks_stay) *chunks_stay = stay;
  return converted;
}

}  // namespace zarrive
