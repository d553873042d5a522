#include "zarrive/codec_chain.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "codec/array_filter_on_bytes.hpp"
#include "codec/bytes.hpp"
#include "memory/scratch.hpp"

namespace zarrive {
namespace {

// Chains bound to more shapes than this (rectilinear grids with many edges) are bound again when needed.
constexpr std::size_t kKeptShapes = 64;
// Rows shorter than this are copied element by element from a chunk decoded whole.
constexpr std::size_t kMinRun = 64;

std::string quoted(const Codec& codec) { return "'" + codec.name() + "'"; }

std::span<std::byte> dense_bytes(const ArrayView& view) { return {view.data, view.nbytes()}; }

[[noreturn]] void fail_size(const std::string& what, std::uint64_t found, std::uint64_t expected) {
  throw Error(ErrorCode::corrupt_chunk, what + " gives " + std::to_string(found) + " bytes where " +
                                            std::to_string(expected) + " are expected");
}

}  // namespace

// --- BoundChain: decoding ---

// How many bytes an intermediate value may have whose size nothing states. Fixed-size chunks: what a compressor may add at worst; strings:
// their count, and a compression ratio that real data does not exceed.
std::uint64_t BoundChain::decoded_limit(std::uint64_t encoded_size) const {
  constexpr std::uint64_t kSlack = 1 << 20;
  if (!encoded_array_.type.is_variable())
    return add(multiply(encoded_array_.nbytes(), 2, "a chunk"), kSlack, "a chunk");
  const std::uint64_t prefixes = multiply(encoded_array_.size(), 4, "a chunk");
  const std::uint64_t content = std::max<std::uint64_t>(256 << 20, multiply(encoded_size, 1024, "a chunk"));
  return std::min<std::uint64_t>(add(prefixes, content, "a chunk"), std::uint64_t{1} << 32);
}

void BoundChain::check_encoded_size(std::uint64_t size) const {
  if (encoded_size_ && size != *encoded_size_)
    throw Error(ErrorCode::corrupt_chunk, "the stored chunk has " + std::to_string(size) + " bytes where " +
                                              std::to_string(*encoded_size_) + " are expected");
}

void BoundChain::finish_in_place(const ArrayView& decoded) const { bytes_codec_->finish_in_place(decoded); }

bool BoundChain::finishes_in_place() const { return bytes_codec_->finishes_in_place(encoded_array_); }

// Narrows `bytes` to what codec i decodes them to, when that is a part of them.
bool BoundChain::decode_to_view(std::span<const std::byte>& bytes, std::size_t i,
                                const Context& context) const {
  const auto view = byte_codecs_[i]->decode_view(bytes, context);
  if (!view) return false;
  if (byte_sizes_[i] && view->size() != *byte_sizes_[i])
    fail_size("codec " + quoted(*byte_codecs_[i]), view->size(), *byte_sizes_[i]);
  bytes = *view;
  return true;
}

// Runs the bytes-to-bytes codecs [first, last) backwards. `bytes` comes out as what they give; the buffer returned keeps that alive
// when it is not part of what `bytes` was.
Buffer BoundChain::decode_bytes(std::span<const std::byte>& bytes, std::size_t first, std::size_t last,
                                const Context& context) const {
  Buffer kept;
  for (std::size_t i = last; i-- > first;) {
    if (decode_to_view(bytes, i, context)) continue;
    ByteOutput output(byte_sizes_[i], byte_sizes_[i] ? *byte_sizes_[i] : decoded_limit(bytes.size()));
    byte_codecs_[i]->decode(bytes, output, context);
    Buffer next = output.take();
    bytes = next.host_span();
    kept = std::move(next);
  }
  return kept;
}

// The last step for chunks whose bytes are the dense array, when their place is not dense: rows are written as they are decoded.
void BoundChain::decode_rows(std::span<const std::byte> encoded, const ArrayView& target,
                             const Context& context) const {
  const std::size_t count = byte_codecs_.size();
  Buffer kept = decode_bytes(encoded, std::min<std::size_t>(count, 1), count, context);
  std::function<void(const ArrayView&)> finish;
  if (finishes_in_place()) finish = [this](const ArrayView& part) { bytes_codec_->finish_in_place(part); };
  ByteSink sink(target, std::move(finish));
  if (count == 0 || !byte_codecs_[0]->decode_in_order(encoded, sink, context)) {
    Buffer dense = decode_bytes(encoded, 0, std::min<std::size_t>(count, 1), context);
    sink.write(encoded);
  }
  sink.close();
}

// From the encoded value to the array that the array-to-bytes codec knows.
void BoundChain::decode_array(std::span<const std::byte> encoded, const ArrayView& target,
                              const Context& context) const {
  const bool dense = target.is_contiguous();
  const bool memory_layout = bytes_codec_->is_memory_layout(encoded_array_);
  if (memory_layout && !dense && ByteSink::run_size(target) >= kMinRun)
    return decode_rows(encoded, target, context);
  if (!dense && !bytes_codec_->capabilities().strided) {
    NDArray scratch = scratch_array(encoded_array_.type, encoded_array_.shape);
    decode_array(encoded, scratch.view(), context);
    copy(scratch.view(), target);
    return;
  }
  const std::size_t count = byte_codecs_.size();
  Buffer kept = decode_bytes(encoded, std::min<std::size_t>(count, 1), count, context);
  Buffer last;
  if (count != 0 && !(memory_layout && dense)) {
    last = decode_bytes(encoded, 0, 1, context);
  } else if (count != 0 && !decode_to_view(encoded, 0, context)) {
    ByteOutput output(dense_bytes(target));
    byte_codecs_[0]->decode(encoded, output, context);
    bytes_codec_->finish_in_place(target);
    return;
  }
  bytes_codec_->decode(encoded, encoded_array_, target, context);
}

void BoundChain::decode(const Buffer& encoded, const ArrayView& destination, const Context& context) const {
  check_encoded_size(encoded.size());
  // The views that each array codec decodes to: the destination seen through codecs that only rename indices, else scratch.
  struct Step {
    const ArrayToArrayCodec* codec;
    NDArray scratch;
    ArrayView decoded;
  };
  std::vector<Step> steps;
  ArrayView target = destination;
  for (std::size_t k = 0; k < array_codecs_.size(); ++k) {
    const ArrayToArrayCodec& codec = *array_codecs_[k];
    if (auto view = codec.view_as_encoded(target)) {
      target = *view;
      continue;
    }
    const ArraySpec& made = k + 1 < array_specs_.size() ? array_specs_[k + 1] : encoded_array_;
    Step step{&codec, scratch_array(made.type, made.shape), target};
    target = step.scratch.view();
    steps.push_back(std::move(step));
  }
  decode_array(encoded.host_span(), target, context);
  for (std::size_t k = steps.size(); k-- > 0;) {
    const Step& step = steps[k];
    if (step.decoded.is_contiguous() || step.codec->capabilities().strided) {
      step.codec->decode(step.scratch.view(), step.decoded, context);
    } else {
      NDArray dense = scratch_array(step.decoded.type, step.decoded.shape);
      step.codec->decode(step.scratch.view(), dense.view(), context);
      copy(dense.view(), step.decoded);
    }
  }
}

// --- BoundChain: encoding ---

// Whether what the array-to-bytes codec makes of this array is its memory.
bool BoundChain::lies_encoded(const ArrayView& encoded_array) const {
  return encoded_array.is_contiguous() && bytes_codec_->is_memory_layout(encoded_array_) &&
         !finishes_in_place();
}

std::optional<std::span<const std::byte>> BoundChain::encoded_view(const ArrayView& chunk) const {
  if (!byte_codecs_.empty()) return std::nullopt;
  ArrayView current = chunk;
  for (const auto& codec : array_codecs_) {
    const auto view = codec->view_as_encoded(current);
    if (!view) return std::nullopt;
    current = *view;
  }
  if (!lies_encoded(current)) return std::nullopt;
  return dense_bytes(current);
}

Buffer BoundChain::encode(const ArrayView& chunk, const Context& context) const {
  NDArray kept;  // keeps `current` alive once it is scratch
  ArrayView current = chunk;
  auto make_dense = [&](bool strided) {
    if (strided || current.is_contiguous()) return;
    NDArray dense = scratch_array(current.type, current.shape);
    copy(current, dense.view());
    current = dense.view();
    kept = std::move(dense);
  };
  for (std::size_t k = 0; k < array_codecs_.size(); ++k) {
    const ArrayToArrayCodec& codec = *array_codecs_[k];
    if (auto view = codec.view_as_encoded(current)) {
      current = *view;
      continue;
    }
    make_dense(codec.capabilities().strided);
    const ArraySpec& made = k + 1 < array_specs_.size() ? array_specs_[k + 1] : encoded_array_;
    NDArray encoded = scratch_array(made.type, made.shape);
    codec.encode(current, encoded.view(), context);
    current = encoded.view();
    kept = std::move(encoded);
  }
  make_dense(bytes_codec_->capabilities().strided);
  // What byte codecs only read need not be copied.
  Buffer bytes = !byte_codecs_.empty() && lies_encoded(current)
                     ? Buffer::borrow(dense_bytes(current))
                     : bytes_codec_->encode(current, encoded_array_, context);
  for (const auto& codec : byte_codecs_) bytes = codec->encode(bytes.host_span(), context);
  return bytes;
}

// --- CodecChain ---

struct CodecChain::Cache {
  std::mutex mutex;
  std::map<Shape, std::shared_ptr<const BoundChain>> bound;
};

CodecChain::CodecChain(const DataType& type, const FillValue& fill)
    : type_(type), fill_(fill), cache_(std::make_shared<Cache>()) {}

// v3: array-to-array codecs, one array-to-bytes codec, bytes-to-bytes codecs, in this order.
void CodecChain::add(std::shared_ptr<const Codec> codec) {
  if (codec->kind() == CodecKind::array_to_array) {
    if (bytes_codec_)
      throw Error(ErrorCode::invalid_metadata,
                  "codec " + quoted(*codec) + " takes arrays, but stands after " + quoted(*bytes_codec_) +
                      ", which makes bytes; array-to-array codecs come first");
    array_codecs_.push_back(std::static_pointer_cast<const ArrayToArrayCodec>(codec));
  } else if (codec->kind() == CodecKind::array_to_bytes) {
    if (bytes_codec_)
      throw Error(ErrorCode::invalid_metadata,
                  "codecs " + quoted(*bytes_codec_) + " and " + quoted(*codec) +
                      " both turn arrays into bytes; a chain has exactly one such codec");
    bytes_codec_ = std::static_pointer_cast<const ArrayToBytesCodec>(codec);
  } else {
    if (!bytes_codec_)
      throw Error(ErrorCode::invalid_metadata,
                  "codec " + quoted(*codec) +
                      " takes bytes, but no codec before it turns the array into bytes; put one "
                      "such as 'bytes' before it");
    byte_codecs_.push_back(std::static_pointer_cast<const BytesToBytesCodec>(codec));
  }
}

// v2: any order. The array becomes bytes at the first filter that wants bytes; array filters after that see those bytes as a flat array.
void CodecChain::add_v2(std::shared_ptr<const Codec> codec) {
  if (codec->kind() == CodecKind::bytes_to_bytes && !bytes_codec_) bytes_codec_ = make_v2_bytes_codec();
  if (codec->kind() == CodecKind::array_to_array && bytes_codec_) {
    auto filter = std::static_pointer_cast<const ArrayToArrayCodec>(codec);
    byte_codecs_.push_back(make_array_filter_on_bytes(filter, codec->spec()));
    return;
  }
  add(std::move(codec));
}

CodecChain CodecChain::create(const std::vector<CodecSpec>& codecs, const DataType& type,
                              const FillValue& fill, const MetadataOptions& options) {
  CodecChain chain(type, fill);
  const CodecRegistry& registry = CodecRegistry::global();
  for (const CodecSpec& spec : codecs) {
    if (!spec.must_understand && !registry.contains(spec.name, ZarrFormat::v3)) {
      if (options.warn)
        options.warn("codec '" + spec.name + "' is not known and skipped, as its must_understand is false");
      continue;
    }
    chain.add(registry.make(spec, {ZarrFormat::v3, options.strict, options.warn}));
  }
  if (!chain.bytes_codec_)
    throw Error(ErrorCode::invalid_metadata,
                "no codec turns the array into bytes; a chain has exactly one such codec, e.g. 'bytes'");
  return chain;
}

CodecChain CodecChain::create(const ArrayMetadata& metadata, const MetadataOptions& options) {
  if (metadata.format == ZarrFormat::v3)
    return create(metadata.codecs, metadata.data_type, metadata.fill_value, options);
  CodecChain chain(metadata.data_type, metadata.fill_value);
  const CodecRegistry& registry = CodecRegistry::global();
  if (metadata.order == 'F' && metadata.shape.size() > 1) {
    JsonArray reversed;
    for (std::size_t d = metadata.shape.size(); d-- > 0;) reversed.emplace_back(d);
    CodecSpec spec;
    spec.name = "transpose";
    spec.configuration.set("order", Json(std::move(reversed)));
    chain.add_v2(registry.make(spec, {ZarrFormat::v3, options.strict, options.warn}));
  }
  const CodecOptions v2{ZarrFormat::v2, options.strict, options.warn};
  for (const CodecSpec& spec : metadata.filters) chain.add_v2(registry.make(spec, v2));
  if (metadata.compressor) chain.add_v2(registry.make(*metadata.compressor, v2));
  if (!chain.bytes_codec_) chain.bytes_codec_ = make_v2_bytes_codec();
  return chain;
}

std::shared_ptr<const BoundChain> CodecChain::bind(const Shape& chunk_shape) const {
  {
    std::lock_guard lock(cache_->mutex);
    if (auto found = cache_->bound.find(chunk_shape); found != cache_->bound.end()) return found->second;
  }
  std::shared_ptr<BoundChain> bound(new BoundChain());
  ArraySpec spec{type_, chunk_shape, fill_};
  bound->decoded_ = spec;
  if (!type_.is_variable()) spec.nbytes();  // throws when a chunk does not fit in memory's address space
  for (const auto& codec : array_codecs_) {
    bound->array_codecs_.push_back(codec->bind(spec));
    bound->array_specs_.push_back(spec);
    spec = bound->array_codecs_.back()->encoded_spec(spec);
  }
  bound->encoded_array_ = spec;
  bound->bytes_codec_ = bytes_codec_->bind(spec);
  bound->memory_layout_ =
      array_codecs_.empty() && byte_codecs_.empty() && bound->bytes_codec_->is_memory_layout(spec);
  BytesSpec bytes{bound->bytes_codec_->encoded_size(spec),
                  spec.type.is_variable() ? 1 : spec.type.item_size()};
  for (const auto& codec : byte_codecs_) {
    bound->byte_codecs_.push_back(codec->bind(bytes));
    bound->byte_sizes_.push_back(bytes.size);
    if (bytes.size) bytes.size = bound->byte_codecs_.back()->encoded_size(*bytes.size);
  }
  bound->encoded_size_ = bytes.size;
  std::lock_guard lock(cache_->mutex);
  if (cache_->bound.size() >= kKeptShapes) cache_->bound.clear();
  return cache_->bound.emplace(chunk_shape, std::move(bound)).first->second;
}

}  // namespace zarrive
