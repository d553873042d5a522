// Codecs: what a codec is, and the registry of those that are known.
//
// Three kinds, as in Zarr v3: array-to-array, array-to-bytes, bytes-to-bytes. v2 filters and compressors are the same classes under their v2 ids.
// A codec is made from its metadata (CodecSpec) by the registry, then bound to what a chunk looks like at its place in the chain; the
// bound codec is immutable, shared and used by many threads at once. Every call gets the Context of the chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "zarrive/byte_sink.hpp"
#include "zarrive/chunk_part.hpp"
#include "zarrive/context.hpp"
#include "zarrive/error.hpp"
#include "zarrive/export.hpp"
#include "zarrive/fill_value.hpp"
#include "zarrive/memory.hpp"
#include "zarrive/metadata.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

enum class CodecKind : std::uint8_t { array_to_array, array_to_bytes, bytes_to_bytes };

struct CodecCapabilities {
  bool fixed_size = false;      // the encoded size follows from the decoded one
  bool partial_decode = false;  // part of a chunk can be had from part of its bytes
  bool partial_encode = false;  // part of a chunk can be replaced, keeping most of the bytes as they are
  bool strided = false;         // takes and fills views of any strides; without it views are dense C order
  bool elementwise =
      false;  // array-to-array: element i of the output depends on element i of the input alone
  bool device_decode = false;  // can decode in GPU memory
};

// What a codec sees of a chunk: an array of this type and shape, with this fill value.
struct ArraySpec {
  DataType type = {};
  Shape shape = {};
  FillValue fill = {};
  std::uint64_t size() const { return element_count(shape); }
  std::size_t nbytes() const { return byte_count(shape, type.item_size()); }  // of fixed-size types
};

// What a bytes-to-bytes codec sees of a chunk.
struct BytesSpec {
  std::optional<std::uint64_t> size = {};  // when it is fixed
  std::size_t item_size = 1;               // of the array that became these bytes
};

// Where a bytes-to-bytes codec puts what it decodes: memory of a size known beforehand, or memory that grows up to a limit.
class ZARRIVE_API ByteOutput {
 public:
  // Exactly these bytes.
  explicit ByteOutput(std::span<std::byte> destination);
  // Grows in pooled memory; `expected` when the size is known, never more than `limit`.
  ByteOutput(std::optional<std::uint64_t> expected, std::uint64_t limit);

  std::optional<std::uint64_t> expected_size() const noexcept { return expected_; }
  std::uint64_t limit() const noexcept { return limit_; }

  // Room for `size` bytes; what was written before stays. Error(corrupt_chunk) when that is more than expected, Error(resource_limit) above the limit.
  std::span<std::byte> reserve(std::uint64_t size);
  // The whole decoded value is the first `size` bytes. Error(corrupt_chunk) when another size was expected.
  void finish(std::uint64_t size);
  // reserve, copy, finish.
  void assign(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes() const noexcept;  // after finish
  Buffer take();  // the same as a buffer (borrowed when the destination was given)

 private:
  std::optional<std::uint64_t> expected_;
  std::uint64_t limit_;
  std::span<std::byte> destination_;
  Buffer buffer_;
  std::uint64_t size_ = 0;
  bool fixed_ = false;
};

struct DeviceSteps;
enum class DeviceContainer : std::uint8_t;

class ZARRIVE_API Codec : public std::enable_shared_from_this<Codec> {
 public:
  virtual ~Codec() = default;
  virtual CodecKind kind() const noexcept = 0;
  virtual CodecCapabilities capabilities() const noexcept { return {}; }
  // Of a bound codec: adds what a GPU has to do to undo it to the steps of its chain (src/codec/device_steps.hpp; codecs are asked from the
  // last one on). `spec` is what the codec decodes to; of bytes-to-bytes codecs, the array that became their bytes. False: the host decodes such
  // chunks. Default.
  virtual bool add_device_steps(const ArraySpec& spec, DeviceSteps& steps) const;

  // As the metadata names it (spelling kept). Set by the registry.
  const CodecSpec& spec() const noexcept { return spec_; }
  const std::string& name() const noexcept { return spec_.name; }

 private:
  friend class CodecRegistry;
  CodecSpec spec_;
};

class ZARRIVE_API ArrayToArrayCodec : public Codec {
 public:
  CodecKind kind() const noexcept final { return CodecKind::array_to_array; }
  // Ready for decoded arrays like `decoded`: parameters that depend on the type filled in. Error(invalid_metadata) or
  // Error(unsupported_data_type) when it cannot be. Default: this codec as it is.
  virtual std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const;
  // What it turns `decoded` into; the fill value is encoded too. Default: unchanged.
  virtual ArraySpec encoded_spec(const ArraySpec& decoded) const;

  // Whole chunks. Views are dense C order unless capabilities().strided. Neither aliases the other.
  virtual void encode(const ArrayView& decoded, const ArrayView& encoded, const Context& context) const = 0;
  virtual void decode(const ArrayView& encoded, const ArrayView& decoded, const Context& context) const = 0;

  // For codecs that only rename indices (transpose): the encoded array as a view of the decoded one's memory, so that nothing is copied.
  virtual std::optional<ArrayView> view_as_encoded(const ArrayView& decoded) const;
  // Of the same codecs: dimension i of the encoded array is dimension order[i] of the decoded one, of rank `ndim`.
  virtual std::optional<std::vector<std::size_t>> transposition(std::size_t ndim) const;
};

// What was learned about one state of an encoded value and can spare a later partial decode its first round.
class ZARRIVE_API PartialMemo {
 public:
  virtual ~PartialMemo() = default;
  virtual std::size_t nbytes() const noexcept = 0;  // of memory
};

// Bytes of an encoded value that a partial decode needs.
struct WantedBytes {
  ByteRange range = {};
  // Memory that a store may put exactly these bytes into; the buffer received then borrows it. Empty: none.
  std::span<std::byte> destination = {};
  // Bytes that they decode to, when that is the work of receiving them: so it can be shared out evenly. 0: as many as they are.
  std::uint64_t decoded_size = 0;
};

// Takes what it needs out of one encoded value, in rounds: it says which bytes it wants, gets them, and then wants more (data, after an
// index) or nothing. So the reads of many keys go to the store together, round by round.
class ZARRIVE_API PartialDecode {
 public:
  virtual ~PartialDecode() = default;
  // What is needed next, in no particular order; nothing means done. Called once a round.
  virtual std::vector<WantedBytes> wanted() = 0;
  // The bytes of item `i` of the round, cut off where the value ends, and the size of the whole value when it is known. Called for
  // each item once, from any thread, several at the same time. Error(corrupt_chunk) when the value turns out to be broken.
  virtual void receive(std::size_t i, const Buffer& bytes, std::optional<std::uint64_t> value_size) = 0;
  // A shard's index, say, once its round is over; null when there is nothing to keep.
  virtual std::shared_ptr<const PartialMemo> memo() const { return nullptr; }
};

// Puts new elements into part of an encoded value, in rounds likewise, reading what has to stay.
class ZARRIVE_API PartialEncode : public PartialDecode {
 public:
  // Nothing is stored: called in place of all rounds.
  virtual void missing() = 0;
  // After the last round: the whole new value; nullopt when nothing but the fill value is left.
  virtual std::optional<Buffer> finish() = 0;
};

// What a partial decode or encode is to do.
struct PartialRequest {
  ChunkPart part = {};
  ArrayView output =
      {};  // the memory of the whole read (or write); the part says where its elements are. Of the array's type
  std::shared_ptr<const PartialMemo> memo = {};  // of an earlier one, of the same state of the value
};

class ZARRIVE_API ArrayToBytesCodec : public Codec {
 public:
  CodecKind kind() const noexcept final { return CodecKind::array_to_bytes; }
  virtual std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const;
  virtual std::optional<std::uint64_t> encoded_size(const ArraySpec& decoded) const;  // when it is fixed

  virtual Buffer encode(const ArrayView& decoded, const ArraySpec& spec, const Context& context) const = 0;
  // `decoded` has spec's shape and type. Error(corrupt_chunk) unless the bytes are exactly one such array.
  virtual void decode(std::span<const std::byte> encoded, const ArraySpec& spec, const ArrayView& decoded,
                      const Context& context) const = 0;

  // Of a codec whose encoded value consists of chunks in turn (sharding): their shape.
  virtual std::optional<Shape> inner_chunk_shape() const;

  // True when the encoded bytes are the dense decoded array, up to what finish_in_place does: earlier decoders may then write there.
  virtual bool is_memory_layout(const ArraySpec& spec) const;
  // Turns encoded bytes that lie in the array `decoded` (any strides) into its elements (byte order).
  virtual void finish_in_place(const ArrayView& decoded) const;
  // False when finish_in_place has nothing to do. Default: true.
  virtual bool finishes_in_place(const ArraySpec& spec) const;

  // Decodes part of the array from byte ranges; only when capabilities().partial_decode. Codec, spec and context outlive what is returned.
  virtual std::unique_ptr<PartialDecode> decode_partial(PartialRequest request, const ArraySpec& spec,
                                                        const Context& context) const;
  // Replaces part of the array; only when capabilities().partial_encode.
  virtual std::unique_ptr<PartialEncode> encode_partial(PartialRequest request, const ArraySpec& spec,
                                                        const Context& context) const;
};

class ZARRIVE_API BytesToBytesCodec : public Codec {
 public:
  CodecKind kind() const noexcept final { return CodecKind::bytes_to_bytes; }
  virtual std::shared_ptr<const BytesToBytesCodec> bind(const BytesSpec& decoded) const;
  virtual std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const;  // when it is fixed

  virtual Buffer encode(std::span<const std::byte> decoded, const Context& context) const = 0;
  virtual void decode(std::span<const std::byte> encoded, ByteOutput& decoded,
                      const Context& context) const = 0;
  // When what any encoder of a container makes of the bytes will do in place of encode(): that container, for a GPU to encode
  // (src/codec/device_steps.hpp). Default: nullopt, the host encodes.
  virtual std::optional<DeviceContainer> device_encoding() const;
  // Reads ranges of the decoded bytes (all of Kind::range, within them) out of part of the encoded ones, in rounds; `ready` gets each
  // range once, from any thread. Only when can_decode_ranges() for this context (a checksum that is verified needs every byte).
  using RangeSink = std::function<void(std::size_t i, const Buffer& bytes)>;
  virtual bool can_decode_ranges(const Context& context) const;
  virtual std::unique_ptr<PartialDecode> decode_ranges(std::vector<ByteRange> ranges, RangeSink ready,
                                                       std::optional<std::uint64_t> decoded_size,
                                                       const Context& context) const;
  // Decodes to a place that is not in one piece, without having all the decoded bytes in one piece before: for codecs that work in
  // pieces. Exactly sink.size() bytes are to come, else Error(corrupt_chunk); what comes after sink.done() may be left out. False, before
  // anything is written, when it cannot, or does not for these bytes; the caller then uses decode. Default: false.
  virtual bool decode_in_order(std::span<const std::byte> encoded, ByteSink& sink,
                               const Context& context) const;
  // For codecs whose decoded bytes are part of the encoded ones (checksums): checks them and gives that part, so that nothing is copied.
  virtual std::optional<std::span<const std::byte>> decode_view(std::span<const std::byte> encoded,
                                                                const Context& context) const;
};

// --- the registry ---

struct CodecOptions {
  ZarrFormat format = ZarrFormat::v3;  // whose names and configuration forms the spec uses
  bool strict = false;
  std::function<void(const std::string&)> warn = {};
};

using CodecFactory =
    std::function<std::shared_ptr<Codec>(const CodecSpec& spec, const CodecOptions& options)>;

// A line of the list of codecs.
struct CodecInfo {
  std::string name = {};
  ZarrFormat format = ZarrFormat::v3;
  CodecKind kind = CodecKind::bytes_to_bytes;
  std::string alias_of = {};  // canonical name, when this is another spelling of it
  std::string refused =
      {};  // why it is listed but cannot be used ("pickle runs code when it is read"), empty when it can
};

class ZARRIVE_API CodecRegistry {
 public:
  static CodecRegistry& global();  // with the built-in codecs

  // Error(already_exists) when the format has the name already. Thread-safe.
  void add(CodecInfo info, CodecFactory factory);
  void add_alias(ZarrFormat format, std::string alias, std::string name);
  // v3 name `alias` means the v2 codec `id` with a v2 configuration (numcodecs.*).
  void add_v2_alias(std::string alias, std::string id);

  bool contains(std::string_view name, ZarrFormat format) const;
  // Error(unsupported_codec) naming the codec when it is unknown or refused; Error(invalid_metadata) for a bad configuration.
  std::shared_ptr<const Codec> make(const CodecSpec& spec, const CodecOptions& options) const;
  std::vector<CodecInfo> list() const;  // sorted by format and name

 private:
  CodecRegistry();
  struct State;
  std::shared_ptr<State> state_;
};

// Makes a codec class known under a name in both formats. T is made from (const CodecSpec&) when it can be, else by default.
template <class T>
void register_codec(const std::string& name) {
  static_assert(std::is_base_of_v<Codec, T>);
  auto factory = [](const CodecSpec& spec, const CodecOptions&) -> std::shared_ptr<Codec> {
    if constexpr (std::is_constructible_v<T, const CodecSpec&>) return std::make_shared<T>(spec);
    else return std::make_shared<T>();
  };
  constexpr CodecKind kind = std::is_base_of_v<ArrayToArrayCodec, T>   ? CodecKind::array_to_array
                             : std::is_base_of_v<ArrayToBytesCodec, T> ? CodecKind::array_to_bytes
                                                                       : CodecKind::bytes_to_bytes;
  for (ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
    CodecInfo info;
    info.name = name;
    info.format = format;
    info.kind = kind;
    CodecRegistry::global().add(std::move(info), factory);
  }
}

}  // namespace zarrive
