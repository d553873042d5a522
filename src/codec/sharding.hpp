// `sharding_indexed`: a chunk (the shard) that holds chunks (the inner ones) and an index of where they lie. (Zarr v3 codec "sharding_indexed".)
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/shard_index.hpp"
#include "indexing/projection.hpp"
#include "zarrive/chunk_grid.hpp"
#include "zarrive/codec.hpp"
#include "zarrive/codec_chain.hpp"

namespace zarrive {

class ShardingCodec final : public ArrayToBytesCodec {
 public:
  struct Parameters {
    Shape chunk_shape = {};
    std::vector<CodecSpec> codecs = {};
    std::vector<CodecSpec> index_codecs = {};
    bool index_at_end = true;
    MetadataOptions options = {};
  };
  explicit ShardingCodec(Parameters parameters) : parameters_(std::move(parameters)) {}

  CodecCapabilities capabilities() const noexcept override {
    return {.partial_decode = true, .partial_encode = true, .strided = true};
  }
  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override;
  std::optional<Shape> inner_chunk_shape() const override { return parameters_.chunk_shape; }

  Buffer encode(const ArrayView& decoded, const ArraySpec& spec, const Context& context) const override;
  void decode(std::span<const std::byte> encoded, const ArraySpec& spec, const ArrayView& decoded,
              const Context& context) const override;
  std::unique_ptr<PartialDecode> decode_partial(PartialRequest request, const ArraySpec& spec,
                                                const Context& context) const override;
  std::unique_ptr<PartialEncode> encode_partial(PartialRequest request, const ArraySpec& spec,
                                                const Context& context) const override;

  // --- of a bound codec ---
  const std::shared_ptr<const BoundChain>& inner() const noexcept { return inner_; }
  const std::vector<CodecSpec>& inner_codecs() const noexcept { return parameters_.codecs; }
  const ChunkGrid& grid() const noexcept { return grid_; }
  std::size_t inner_count() const noexcept { return inner_count_; }
  Index inner_index(std::size_t i) const;                             // in C order
  std::size_t number_of(std::span<const std::uint64_t> index) const;  // the reverse
  ArrayView inner_view(const ArrayView& shard, std::size_t i) const;
  std::vector<DimensionCut> cuts() const;

  ByteRange index_range() const;
  std::uint64_t index_size() const noexcept { return index_size_; }
  // Error(corrupt_chunk) unless the bytes are an index.
  std::shared_ptr<ShardIndex> decode_index(const Buffer& encoded, const Context& context) const;
  // Entry `i`, checked: inside the shard, apart from the index. Error(corrupt_chunk) that names the inner chunk.
  ShardIndex::Entry entry(const ShardIndex& index, std::size_t i) const;
  [[noreturn]] void fail_inner(std::size_t i, const std::string& message) const;
  // Calls body(); its errors name inner chunk `i`.
  void naming_inner(std::size_t i, const std::function<void()>& body) const;

  // A whole shard of these encoded inner chunks; nullopt for empty ones.
  Buffer assemble(std::vector<std::optional<Buffer>> chunks, const Context& context) const;
  // The encoded inner chunk; nullopt when it holds nothing but fill and may be left out.
  std::optional<Buffer> encode_inner(const ArrayView& chunk, const Context& context) const;
  // What an inner chunk inherits of its shard's context; which chunk it is stays open.
  Context inner_context(const Context& shard) const;
  // Calls body(i, context of inner chunk number(i)) for all of them, in parallel.
  void for_each_inner(std::size_t count, const std::function<std::size_t(std::size_t)>& number,
                      const Context& shard,
                      const std::function<void(std::size_t, const Context&)>& body) const;

 private:
  const Parameters parameters_;
  ArraySpec shard_;
  ChunkGrid grid_;
  Shape grid_shape_;
  std::size_t inner_count_ = 0;
  std::shared_ptr<const BoundChain> inner_;
  std::shared_ptr<const BoundChain> index_;
  std::uint64_t index_size_ = 0;
};

}  // namespace zarrive
