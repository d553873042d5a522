// Creating arrays: from options to metadata, with the defaults that zarr-python 3 has.
#include <algorithm>

#include "array/nodes.hpp"
#include "array/transfer.hpp"
#include "codec/configuration.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"

namespace zarrive {
namespace {

// Chunks of about this many bytes when the caller does not say: large enough for fast storage, small enough to read a part.
constexpr std::uint64_t kDefaultChunkBytes = 1 << 20;

// Halves the longest edge until a chunk is small enough.
Shape default_chunks(const Shape& shape, const DataType& type) {
  Shape chunks = shape;
  for (std::uint64_t& edge : chunks) edge = std::max<std::uint64_t>(edge, 1);
  auto too_large = [&] {
    std::uint64_t size = type.item_size();
    for (std::uint64_t edge : chunks) {
      const auto product = checked_multiply(size, edge);
      if (!product || *product > kDefaultChunkBytes) return true;
      size = *product;
    }
    return false;
  };
  while (too_large()) {
    auto longest = std::max_element(chunks.begin(), chunks.end());
    if (longest == chunks.end() || *longest == 1) break;
    *longest = ceil_divide(*longest, 2);
  }
  return chunks;
}

// The array-to-bytes codec that a type needs in v3.
CodecSpec default_serializer(const DataType& type) {
  if (type.id() == TypeId::string) return codecs::vlen_utf8();
  if (type.id() == TypeId::bytes) return codecs::vlen_bytes();
  if (type.id() == TypeId::optional)
    return codecs::optional({CodecSpec{"packbits"}}, {default_serializer(type.fields()[1].type)});
  const auto& leaves = type.leaves();
  const bool has_order = std::any_of(leaves.begin(), leaves.end(),
                                     [](const auto& leaf) { return leaf.order != ByteOrder::none; });
  if (!has_order) return CodecSpec{"bytes"};
  return codecs::bytes(type.byte_order() == ByteOrder::big ? ByteOrder::big : ByteOrder::little);
}

void complete_inner(CodecSpec& spec, const Codec& made, const ArraySpec& shard,
                    const MetadataOptions& options);

// The caller's v3 codecs for such chunks, with an array-to-bytes codec put between array and bytes codecs when there is none, and what
// was left to the data type filled in.
std::vector<CodecSpec> complete_chain(std::vector<CodecSpec> chain, const ArraySpec& chunk,
                                      const MetadataOptions& options) {
  const CodecOptions codec_options{ZarrFormat::v3, options.strict, options.warn};
  std::vector<std::shared_ptr<const Codec>> made;
  made.reserve(chain.size());
  for (const CodecSpec& spec : chain) made.push_back(CodecRegistry::global().make(spec, codec_options));
  // What the serialiser sees: the chunk as the array codecs leave it.
  ArraySpec seen = chunk;
  std::size_t at = 0;
  for (; at < made.size() && made[at]->kind() == CodecKind::array_to_array; ++at)
    seen = std::static_pointer_cast<const ArrayToArrayCodec>(made[at])->bind(seen)->encoded_spec(seen);
  const bool has_serializer = std::any_of(
      made.begin(), made.end(), [](const auto& codec) { return codec->kind() == CodecKind::array_to_bytes; });
  if (!has_serializer)
    chain.insert(chain.begin() + static_cast<std::ptrdiff_t>(at), default_serializer(seen.type));
  const std::size_t item_size = seen.type.is_variable() ? 1 : seen.type.item_size();
  for (CodecSpec& spec : chain) spec = codecs::completed(std::move(spec), item_size);
  for (std::size_t i = 0; i < made.size(); ++i) complete_inner(chain[i], *made[i], seen, options);
  return chain;
}

// Likewise the inner chunks' codecs of a sharding codec.
void complete_inner(CodecSpec& spec, const Codec& made, const ArraySpec& shard,
                    const MetadataOptions& options) {
  const auto* codec = dynamic_cast<const ArrayToBytesCodec*>(&made);
  const auto inner_shape = codec ? codec->inner_chunk_shape() : std::nullopt;
  const Json* inner = spec.configuration.find("codecs");
  if (!inner_shape || !inner || !inner->is_array()) return;
  const Configuration configuration(spec, {});
  std::vector<CodecSpec> codecs;
  for (const Json& entry : inner->as_array()) codecs.push_back(configuration.codec(entry));
  JsonArray completed;
  for (const CodecSpec& one :
       complete_chain(std::move(codecs), {shard.type, *inner_shape, shard.fill}, options))
    completed.push_back(to_json(one));
  spec.configuration.set("codecs", Json(std::move(completed)));
}

Shape first_chunk_shape(const ArrayMetadata& metadata) {
  const ChunkGrid& grid = metadata.chunk_grid;
  return grid.is_regular() ? grid.chunk_shape() : grid.chunk_shape(Index(grid.ndim(), 0));
}

void set_v2_codecs(ArrayMetadata& metadata, const CreateOptions& options) {
  metadata.order = options.order;
  if (options.filters) {
    metadata.filters = *options.filters;
  } else if (metadata.data_type.id() == TypeId::string) {
    metadata.filters = {CodecSpec{"vlen-utf8"}};
  } else if (metadata.data_type.id() == TypeId::bytes) {
    metadata.filters = {CodecSpec{"vlen-bytes"}};
  }
  if (!options.compressor) {
    metadata.compressor = CodecSpec{"zstd"};
    metadata.compressor->configuration.set("level", 0);
  } else if (!options.compressor->name.empty()) {
    metadata.compressor = *options.compressor;
  }
  if (options.codecs)
    throw Error(ErrorCode::invalid_argument, "v2 arrays have `filters` and a `compressor`, not `codecs`");
}

void set_v3_codecs(ArrayMetadata& metadata, const CreateOptions& options) {
  if (options.filters || options.compressor)
    throw Error(ErrorCode::invalid_argument, "v3 arrays have `codecs`, not `filters` and `compressor`");
  if (options.order != 'C')
    throw Error(ErrorCode::invalid_argument, "v3 arrays have no order; put a transpose codec into `codecs`");
  std::vector<CodecSpec> chain = options.codecs ? *options.codecs : std::vector<CodecSpec>{codecs::zstd(0)};
  if (!options.shards.empty()) chain = {codecs::sharding(options.chunks, std::move(chain))};
  const ArraySpec chunk{metadata.data_type, first_chunk_shape(metadata), metadata.fill_value};
  metadata.codecs = complete_chain(std::move(chain), chunk, options.metadata);
}

void set_dimension_names(ArrayMetadata& metadata, const CreateOptions& options) {
  metadata.dimension_names = options.dimension_names;
  if (options.format != ZarrFormat::v2 || options.dimension_names.empty()) return;
  JsonArray names;
  for (const auto& name : options.dimension_names) {
    if (!name)
      throw Error(ErrorCode::invalid_argument, "v2 arrays need a name for every dimension, or none at all");
    names.emplace_back(*name);
  }
  metadata.attributes.set("_ARRAY_DIMENSIONS", Json(std::move(names)));
}

}  // namespace

ArrayMetadata make_metadata(const CreateOptions& options) {
  ArrayMetadata metadata;
  metadata.format = options.format;
  metadata.shape = options.shape;
  metadata.data_type = options.data_type.type;
  metadata.attributes = options.attributes;
  const bool v2 = options.format == ZarrFormat::v2;
  if (!options.shards.empty() && (v2 || options.chunks.empty() || options.chunk_grid))
    throw Error(ErrorCode::invalid_argument,
                v2 ? "v2 arrays have no shards"
                   : "shards need `chunks`, the shape of the chunks in them, and no `chunk_grid`");
  if (options.chunk_grid) {
    metadata.chunk_grid = *options.chunk_grid;
  } else if (!options.shards.empty()) {
    metadata.chunk_grid = ChunkGrid::regular(options.shards);
  } else {
    metadata.chunk_grid = ChunkGrid::regular(
        options.chunks.empty() ? default_chunks(options.shape, metadata.data_type) : options.chunks);
  }
  metadata.chunk_key_encoding = options.chunk_key_encoding.value_or(
      v2 ? ChunkKeyEncoding{ChunkKeyEncoding::Kind::v2, '.'} : ChunkKeyEncoding{});
  if (!options.fill_value) {
    metadata.fill_value = FillValue::zero(metadata.data_type);
  } else {
    metadata.fill_value =
        v2 ? FillValue::from_v2(*options.fill_value, metadata.data_type, options.metadata.warn)
           : FillValue::from_v3(*options.fill_value, metadata.data_type, options.metadata.warn);
  }
  v2 ? set_v2_codecs(metadata, options) : set_v3_codecs(metadata, options);
  if (!v2)
    metadata.data_type =
        metadata.data_type.with_byte_order(ByteOrder::little);  // stored order is the serialiser's now
  set_dimension_names(metadata, options);
  metadata.validate();
  // Everything that can be wrong with the codecs is wrong now, not at the first write.
  CodecChain::create(metadata, options.metadata).bind(first_chunk_shape(metadata));
  return metadata;
}

Array create_array(std::shared_ptr<Store> store, std::string_view path, ArrayMetadata metadata,
                   bool overwrite) {
  const std::string at = normalize_path(path);
  with_place({store->name(), at, {}}, [&] {
    if (!at.empty()) check_node_name(std::string_view(at).substr(at.rfind('/') + 1), metadata.format);
    metadata.validate();
    make_room(*store, at, overwrite);
    create_parents(*store, at, metadata.format);
    write_documents(*store, at, metadata.to_documents(), metadata.format);
  });
  return Array(std::move(store), at, std::move(metadata));
}

Array create_array(std::shared_ptr<Store> store, std::string_view path, const CreateOptions& options) {
  ArrayMetadata metadata =
      with_place({store->name(), std::string(path), {}}, [&] { return make_metadata(options); });
  return create_array(std::move(store), path, std::move(metadata), options.overwrite);
}

}  // namespace zarrive
