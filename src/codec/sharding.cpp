#include "codec/sharding.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/partial.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/executor.hpp"

namespace zarrive {
namespace {

// Whether inner chunk `a` comes before `b` along the Z-order curve: the dimension whose positions differ in the highest bit decides, the last
// of several. (In zarr-python bits are interleaved likewise, the first dimension's lowest.)
bool morton_less(const Index& a, const Index& b) {
  std::uint64_t highest = 0;
  std::size_t decides = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const std::uint64_t differs = a[d] ^ b[d];
    if (differs != 0 && std::bit_width(differs) >= std::bit_width(highest)) {
      highest = differs;
      decides = d;
    }
  }
  return !a.empty() && a[decides] < b[decides];
}

}  // namespace

std::shared_ptr<const ArrayToBytesCodec> ShardingCodec::bind(const ArraySpec& decoded) const {
  const Shape& chunk = parameters_.chunk_shape;
  bool divides = chunk.size() == decoded.shape.size();
  for (std::size_t d = 0; divides && d < chunk.size(); ++d) divides = decoded.shape[d] % chunk[d] == 0;
  if (!divides)
    fail_codec(*this, ErrorCode::invalid_metadata,
               "inner chunks of shape " + to_string(chunk) + " do not divide a shard of shape " +
                   to_string(decoded.shape));
  auto bound = std::make_shared<ShardingCodec>(*this);
  bound->shard_ = decoded;
  bound->grid_ = ChunkGrid::regular(chunk);
  bound->grid_shape_ = bound->grid_.grid_shape(decoded.shape);
  const std::uint64_t count = element_count(bound->grid_shape_);
  multiply(count, sizeof(ShardIndex::Entry), "the index of a shard");
  bound->inner_count_ = static_cast<std::size_t>(count);
  bound->inner_ =
      CodecChain::create(parameters_.codecs, decoded.type, decoded.fill, parameters_.options).bind(chunk);
  const DataType u64(TypeId::uint64);
  Shape index_shape = bound->grid_shape_;
  index_shape.push_back(2);
  bound->index_ = CodecChain::create(parameters_.index_codecs, u64, FillValue::zero(u64), parameters_.options)
                      .bind(index_shape);
  if (!bound->index_->encoded_size())
    fail_codec(*this, ErrorCode::invalid_metadata,
               "'index_codecs' must make an index of a fixed size; leave compression out of them");
  bound->index_size_ = *bound->index_->encoded_size();
  return bound;
}

Index ShardingCodec::inner_index(std::size_t i) const {
  Index index(grid_shape_.size());
  std::uint64_t rest = i;
  for (std::size_t d = index.size(); d-- > 0;) {
    index[d] = rest % grid_shape_[d];
    rest /= grid_shape_[d];
  }
  return index;
}

std::size_t ShardingCodec::number_of(std::span<const std::uint64_t> index) const {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < index.size(); ++d) number = number * grid_shape_[d] + index[d];
  return static_cast<std::size_t>(number);
}

ArrayView ShardingCodec::inner_view(const ArrayView& shard, std::size_t i) const {
  ArrayView view = shard;
  std::uint64_t rest = i;
  for (std::size_t d = grid_shape_.size(); d-- > 0;) {
    const std::uint64_t at = rest % grid_shape_[d];
    rest /= grid_shape_[d];
    view.shape[d] = parameters_.chunk_shape[d];
    view.data += static_cast<std::int64_t>(at * parameters_.chunk_shape[d]) * shard.strides[d];
  }
  return view;
}

std::vector<DimensionCut> ShardingCodec::cuts() const { return cuts_of(grid_); }

// --- the index ---

ByteRange ShardingCodec::index_range() const {
  return parameters_.index_at_end ? ByteRange::suffix(index_size_) : ByteRange::range(0, index_size_);
}

std::shared_ptr<ShardIndex> ShardingCodec::decode_index(const Buffer& encoded, const Context& context) const {
  if (encoded.size() != index_size_)
    fail_chunk(*this, "found " + std::to_string(encoded.size()) + " bytes of the shard's index of " +
                          std::to_string(index_size_));
  auto index = std::make_shared<ShardIndex>(inner_count_);
  Context own;
  own.node = context.node;
  own.key = context.key;
  try {
    index_->decode(encoded, ArrayView(index->data(), index_->decoded().type, index_->decoded().shape), own);
  } catch (const Error& error) {
    throw Error(error.code(), "codec '" + name() + "': the shard's index: " + error.message(), error.place());
  }
  return index;
}

ShardIndex::Entry ShardingCodec::entry(const ShardIndex& index, std::size_t i) const {
  const ShardIndex::Entry entry = index[i];
  if (entry.is_empty()) return entry;
  const std::string where = "its entry in the shard's index says " + std::to_string(entry.nbytes) +
                            " bytes from " + std::to_string(entry.offset) + " on";
  if (entry.offset == ShardIndex::kEmpty || entry.nbytes == ShardIndex::kEmpty)
    fail_inner(i, where + ": an empty chunk has 2^64 - 1 for both");
  const auto end = checked_add(entry.offset, entry.nbytes);
  if (!end) fail_inner(i, where + ", which ends behind 2^64");
  if (!parameters_.index_at_end && entry.nbytes > 0 && entry.offset < index_size_)
    fail_inner(i,
               where + ", inside the index, which has the first " + std::to_string(index_size_) + " bytes");
  if (!index.shard_size) return entry;
  if (*end > *index.shard_size)
    fail_inner(i, where + ", the shard has " + std::to_string(*index.shard_size) + " bytes");
  if (parameters_.index_at_end && entry.nbytes > 0 && *end > *index.shard_size - index_size_)
    fail_inner(i, where + ", inside the index, which has the last " + std::to_string(index_size_) +
                      " of the shard's " + std::to_string(*index.shard_size) + " bytes");
  return entry;
}

void ShardingCodec::fail_inner(std::size_t i, const std::string& message) const {
  fail_chunk(*this, "inner chunk " + to_string(inner_index(i)) + ": " + message);
}

void ShardingCodec::naming_inner(std::size_t i, const std::function<void()>& body) const {
  try {
    body();
  } catch (const Error& error) {
    throw Error(error.code(), "inner chunk " + to_string(inner_index(i)) + ": " + error.message(),
                error.place());
  }
}

// --- whole shards ---

Context ShardingCodec::inner_context(const Context& shard) const {
  Context context;
  context.prototype = shard.prototype;
  context.key = shard.key;
  context.node = shard.node;
  context.array = shard.array;
  context.chunk_shape = parameters_.chunk_shape;
  context.codec_parameters = shard.codec_parameters;
  context.shard = &shard;
  context.verify_checksums = shard.verify_checksums;
  context.write_empty_chunks = shard.write_empty_chunks;
  context.shard_order = shard.shard_order;
  context.device_read = shard.device_read;
  return context;
}

void ShardingCodec::for_each_inner(std::size_t count, const std::function<std::size_t(std::size_t)>& number,
                                   const Context& shard,
                                   const std::function<void(std::size_t, const Context&)>& body) const {
  // Contexts are made once for a run of inner chunks: making one costs as much as decoding a small chunk.
  const std::size_t runs = std::min<std::size_t>(count, 16 * Executor::global().compute_threads());
  Executor::global().parallel_for(runs, [&](std::size_t run) {
    Context context = inner_context(shard);
    for (std::size_t i = count * run / runs; i < count * (run + 1) / runs; ++i) {
      context.chunk_index = inner_index(number(i));
      body(i, context);
    }
  });
}

void ShardingCodec::decode(std::span<const std::byte> encoded, const ArraySpec& spec,
                           const ArrayView& decoded, const Context& context) const {
  const Buffer whole = Buffer::borrow(encoded);
  const ByteRange::Resolved at = cut_to(index_range(), encoded.size());
  auto index = decode_index(
      whole.slice(static_cast<std::size_t>(at.offset), static_cast<std::size_t>(at.length)), context);
  index->shard_size = encoded.size();
  for_each_inner(
      inner_count_, [](std::size_t i) { return i; }, context,
      [&](std::size_t i, const Context& inner_context) {
        const ArrayView view = inner_view(decoded, i);
        const ShardIndex::Entry at_entry = entry(*index, i);
        if (at_entry.is_empty()) return fill(view, spec.fill);
        naming_inner(i, [&] {
          inner_->decode(whole.slice(static_cast<std::size_t>(at_entry.offset),
                                     static_cast<std::size_t>(at_entry.nbytes)),
                         view, inner_context);
        });
      });
}

std::optional<Buffer> ShardingCodec::encode_inner(const ArrayView& chunk, const Context& context) const {
  if (!context.write_empty_chunks && all_equal(chunk, shard_.fill)) return std::nullopt;
  return inner_->encode(chunk, context);
}

Buffer ShardingCodec::encode(const ArrayView& decoded, const ArraySpec&, const Context& context) const {
  std::vector<std::optional<Buffer>> chunks(inner_count_);
  for_each_inner(
      inner_count_, [](std::size_t i) { return i; }, context,
      [&](std::size_t i, const Context& inner_context) {
        naming_inner(i, [&] { chunks[i] = encode_inner(inner_view(decoded, i), inner_context); });
      });
  return assemble(std::move(chunks), context);
}

Buffer ShardingCodec::assemble(std::vector<std::optional<Buffer>> chunks, const Context& context) const {
  std::vector<std::size_t> order(inner_count_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (context.shard_order == ShardOrder::morton)
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return morton_less(inner_index(a), inner_index(b)); });
  else if (context.shard_order == ShardOrder::f_order)
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Index first = inner_index(a);
      const Index second = inner_index(b);
      return std::lexicographical_compare(first.rbegin(), first.rend(), second.rbegin(), second.rend());
    });
  ShardIndex index(inner_count_);
  std::uint64_t end = parameters_.index_at_end ? 0 : index_size_;
  for (const std::size_t i : order) {
    if (!chunks[i]) continue;
    index[i] = {end, chunks[i]->size()};
    end = add(end, chunks[i]->size(), "the size of a shard");
  }
  const Buffer index_bytes =
      index_->encode(ArrayView(index.data(), index_->decoded().type, index_->decoded().shape), Context{});
  const std::uint64_t size = parameters_.index_at_end ? add(end, index_size_, "the size of a shard") : end;
  Buffer shard = allocate_encoded(static_cast<std::size_t>(size));
  std::memcpy(shard.mutable_data() + (parameters_.index_at_end ? end : 0), index_bytes.data(),
              index_bytes.size());
  for (const std::size_t i : order) {
    if (!chunks[i] || chunks[i]->empty()) continue;
    std::memcpy(shard.mutable_data() + index[i].offset, chunks[i]->data(), chunks[i]->size());
    chunks[i].reset();
  }
  return shard;
}

// --- from metadata ---

std::shared_ptr<Codec> make_sharding(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  ShardingCodec::Parameters parameters;
  parameters.options = {.strict = options.strict, .warn = options.warn};
  const Json* shape = configuration.find("chunk_shape");
  if (!shape || !shape->is_array())
    configuration.fail("'chunk_shape' is missing or no list: expected the shape of the inner chunks");
  for (const Json& entry : shape->as_array()) {
    const std::optional<std::uint64_t> edge = entry.to_uint64();
    if (!edge || *edge == 0 || *edge > max_extent)
      configuration.fail("'chunk_shape' is " + shape->dump() + ", expected positive integers");
    parameters.chunk_shape.push_back(*edge);
  }
  const auto chain = [&](const char* member, std::vector<CodecSpec> otherwise) {
    const Json* list = configuration.find(member);
    if (!list) {
      const std::string message = std::string("'") + member + "' is missing";
      if (options.strict) configuration.fail(message);
      if (options.warn) options.warn("codec '" + spec.name + "': " + message + "; the usual ones are taken");
      return otherwise;
    }
    if (!list->is_array()) configuration.fail(std::string("'") + member + "' is no list of codecs");
    std::vector<CodecSpec> codecs;
    for (const Json& entry : list->as_array()) codecs.push_back(configuration.codec(entry));
    return codecs;
  };
  parameters.codecs = chain("codecs", {codecs::bytes()});
  parameters.index_codecs = chain("index_codecs", {codecs::bytes(), codecs::crc32c()});
  parameters.index_at_end = configuration.choice("index_location", "end", {"start", "end"}) == "end";
  configuration.finish();
  return std::make_shared<ShardingCodec>(std::move(parameters));
}

}  // namespace zarrive
