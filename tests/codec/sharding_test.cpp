// sharding_indexed by itself: every form of it, parts against the whole, and shards that are broken.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "array_codec_suite.hpp"
#include "support/errors.hpp"
#include "zarrive/codec_chain.hpp"
#include "zarrive/codecs.hpp"

namespace zarrive::testing {
namespace {

std::shared_ptr<const BoundChain> chain_of(const std::vector<CodecSpec>& codecs, const ArraySpec& spec) {
  return CodecChain::create(codecs, spec.type, spec.fill).bind(spec.shape);
}

CodecSpec named_codec(const char* name, JsonObject configuration = {}) {
  return {name, std::move(configuration)};
}

// Forms of one chunk of shape {8, 12}: bare, compressed, nested, transposed before and inside, checksummed as a whole, index anywhere.
std::vector<std::vector<CodecSpec>> forms() {
  using namespace codecs;
  const std::vector<CodecSpec> plain = {bytes()};
  const std::vector<CodecSpec> packed = {bytes(), zstd(1)};
  return {
      {sharding({4, 4}, plain)},
      {sharding({4, 4}, packed)},
      {sharding({8, 12}, packed)},
      {sharding({1, 1}, plain)},
      {sharding({2, 6}, plain, {bytes()}, "start")},
      {sharding({2, 6}, packed, {bytes(ByteOrder::big)}, "end")},
      {sharding({2, 6}, packed, {bytes(ByteOrder::big), crc32c()}, "start")},
      {sharding({4, 6}, {sharding({2, 3}, packed), crc32c()})},
      {sharding({4, 6}, {sharding({2, 3}, plain, {bytes()}, "start")})},
      {sharding({4, 6}, {transpose({1, 0}), sharding({3, 2}, packed)})},
      {transpose({1, 0}), sharding({6, 4}, {transpose({1, 0}), bytes(), gzip(1)})},
      {sharding({4, 4}, packed), crc32c()},
      {sharding({4, 4}, plain), zstd(1)},
      {named_codec("bitround", {{"keepbits", 23}}), sharding({4, 4}, packed)},
  };
}

ChunkPart random_part(const Shape& shape, std::mt19937_64& random, Shape& extent) {
  std::vector<PartDimension> dimensions(shape.size());
  extent.assign(shape.size(), 0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    PartDimension& part = dimensions[d];
    part.step = static_cast<std::int64_t>(1 + random() % 3);
    part.start = random() % shape[d];
    part.count = 1 + random() % ((shape[d] - part.start - 1) / static_cast<std::uint64_t>(part.step) + 1);
    if (random() % 3 == 0) {
      part.start += (part.count - 1) * static_cast<std::uint64_t>(part.step);
      part.step = -part.step;
    }
    extent[d] = part.count;
  }
  return ChunkPart(std::move(dimensions));
}

TEST(Sharding, EveryFormWholeAndInParts) {
  std::mt19937_64 random(5);
  for (const auto& codecs : forms()) {
    SCOPED_TRACE(Json(to_json(codecs[0])).dump());
    const ArraySpec spec = spec_of("float32", {8, 12});
    const auto chain = chain_of(codecs, spec);
    for (int filled = 0; filled < 3; ++filled) {
      NDArray chunk = random_array(spec.type, spec.shape, random, true);
      if (filled == 1)
        fill(chunk.view().box(Index{0, 0}, Shape{4, 12}), spec.fill);  // some inner chunks are empty
      if (filled == 2) fill(chunk.view(), spec.fill);
      const Buffer encoded = chain->encode(chunk.view(), {});
      const NDArray back = NDArray::allocate(spec.type, spec.shape);
      chain->decode(encoded, back.view(), {});
      EXPECT_TRUE(same_elements(chunk.view(), back.view()));
      for (int repeat = 0; repeat < 20; ++repeat) {
        Shape extent;
        const ChunkPart part = random_part(spec.shape, random, extent);
        const NDArray expected = NDArray::allocate(spec.type, extent);
        gather(chunk.view(), part, expected.view());
        const Strided target = strided(spec.type, extent);
        const Context context;
        chain->decode_part(encoded, part, target.view, context);
        EXPECT_TRUE(same_elements(expected.view(), target.view));
        // From parts of the bytes, where that is possible.
        const NDArray own = NDArray::allocate(spec.type, extent);
        if (auto decode = chain->decode_partial({part, own.view(), nullptr}, context)) {
          decode_from_memory(*decode, encoded, false);
          EXPECT_TRUE(same_elements(expected.view(), own.view()));
        }
        // Changing a part gives the same shard as writing the changed chunk.
        if (auto encode = chain->encode_partial({part, expected.view(), nullptr}, context)) {
          NDArray changed = random_array(spec.type, extent, random, true);
          encode = chain->encode_partial({part, changed.view(), nullptr}, context);
          decode_from_memory(*encode, encoded, false);
          const std::optional<Buffer> shard = encode->finish();
          NDArray whole = NDArray::allocate(spec.type, spec.shape);
          copy(chunk.view(), whole.view());
          scatter(changed.view(), part, whole.view());
          ASSERT_TRUE(shard);
          chain->decode(*shard, back.view(), {});
          EXPECT_TRUE(same_elements(whole.view(), back.view()));
        }
      }
    }
  }
}

// A shard of four inner chunks of two uint16, without compression: 16 bytes of data, an index of 64 (and 4 of its checksum).
struct Toy {
  ArraySpec spec = spec_of("uint16", {8});
  std::shared_ptr<const BoundChain> chain;
  Buffer bytes;
  std::size_t index_at;
  explicit Toy(const std::string& location = "end") {
    chain = chain_of({codecs::sharding({2}, {codecs::bytes()}, {codecs::bytes()}, location)}, spec);
    const NDArray chunk = NDArray::allocate(spec.type, spec.shape);
    for (std::uint16_t i = 0; i < 8; ++i) chunk.span<std::uint16_t>()[i] = static_cast<std::uint16_t>(i + 1);
    bytes = chain->encode(chunk.view(), {});
    index_at = location == "end" ? 16 : 0;
  }
  void set(std::size_t chunk, std::uint64_t offset, std::uint64_t nbytes) {
    std::memcpy(bytes.mutable_data() + index_at + 16 * chunk, &offset, 8);
    std::memcpy(bytes.mutable_data() + index_at + 16 * chunk + 8, &nbytes, 8);
  }
  std::vector<std::uint16_t> decode() const {
    const NDArray out = NDArray::allocate(spec.type, spec.shape);
    chain->decode(bytes, out.view(), {});
    return {out.span<std::uint16_t>().begin(), out.span<std::uint16_t>().end()};
  }
  std::vector<std::uint16_t> decode_second() const {
    const NDArray out = NDArray::allocate(spec.type, {2});
    PartDimension second;
    second.start = 2;
    second.count = 2;
    const Context context;
    decode_from_memory(*chain->decode_partial({ChunkPart({second}), out.view(), nullptr}, context), bytes,
                       false);
    return {out.span<std::uint16_t>().begin(), out.span<std::uint16_t>().end()};
  }
};

constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

TEST(Sharding, InnerChunksMayLieAnywhere) {
  Toy toy;
  EXPECT_EQ(toy.bytes.size(), 16u + 64u);
  toy.set(0, 12, 4);  // shared with chunk 3, and overlapping nothing else
  toy.set(1, 2, 4);   // overlaps its neighbours
  toy.set(2, kEmpty, kEmpty);
  EXPECT_EQ(toy.decode(), (std::vector<std::uint16_t>{7, 8, 2, 3, 0, 0, 7, 8}));
  EXPECT_EQ(toy.decode_second(), (std::vector<std::uint16_t>{2, 3}));
}

TEST(Sharding, BrokenEntriesNameTheInnerChunk) {
  struct Broken {
    std::uint64_t offset, nbytes;
    const char* what;
  };
  for (const char* location : {"end", "start"})
    for (const Broken& broken :
         {Broken{kEmpty, 4, "for both"}, Broken{4, kEmpty, "for both"}, Broken{kEmpty - 2, 8, "behind 2^64"},
          Broken{1000, 4, "the shard has"}, Broken{66, 400, "the shard has"}}) {
      Toy toy(location);
      toy.set(1, broken.offset, broken.nbytes);
      EXPECT_ERROR(toy.decode(), ErrorCode::corrupt_chunk, broken.what);
      EXPECT_ERROR(toy.decode_second(), ErrorCode::corrupt_chunk, broken.what);
      EXPECT_ERROR(toy.decode_second(), ErrorCode::corrupt_chunk, "inner chunk [1]");
    }
  Toy end;
  end.set(1, 14, 4);
  EXPECT_ERROR(end.decode(), ErrorCode::corrupt_chunk, "inside the index");
  EXPECT_ERROR(end.decode_second(), ErrorCode::corrupt_chunk, "inside the index");
  Toy start("start");
  start.set(1, 62, 4);
  EXPECT_ERROR(start.decode(), ErrorCode::corrupt_chunk, "inside the index");
  Toy wrong;
  wrong.set(1, 4, 3);
  EXPECT_ERROR(wrong.decode(), ErrorCode::corrupt_chunk, "inner chunk [1]");
  EXPECT_ERROR(wrong.decode_second(), ErrorCode::corrupt_chunk, "inner chunk [1]");
  for (const std::size_t size : {0, 10, 63}) {
    Toy cut;
    cut.bytes = cut.bytes.slice(0, size);
    EXPECT_ERROR(cut.decode(), ErrorCode::corrupt_chunk, "index");
    EXPECT_ERROR(cut.decode_second(), ErrorCode::corrupt_chunk, "index");
  }
}

TEST(Sharding, EveryAlteredByteIsAnErrorOrADifferentValue) {
  std::mt19937_64 random(9);
  const ArraySpec spec = spec_of("uint16", {4, 4});
  const auto chain =
      chain_of({codecs::sharding({2, 2}, {codecs::bytes(), codecs::zstd(1), codecs::crc32c()})}, spec);
  const NDArray chunk = random_array(spec.type, spec.shape, random, false);
  const Buffer encoded = chain->encode(chunk.view(), {});
  const NDArray back = NDArray::allocate(spec.type, spec.shape);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    Buffer altered = Buffer::copy_of(encoded.host_span());
    altered.mutable_data()[i] ^= std::byte{0x40};
    EXPECT_ERROR(chain->decode(altered, back.view(), {}), ErrorCode::corrupt_chunk,
                 "");  // all of it is checksummed
  }
}

TEST(Sharding, Configurations) {
  const ArraySpec spec = spec_of("uint16", {8, 8});
  const auto with = [&](const char* json) {
    CodecSpec codec{"sharding_indexed", Json::parse(json).as_object()};
    return chain_of({codec}, spec);
  };
  EXPECT_ERROR(with(R"({"codecs": []})"), ErrorCode::invalid_metadata, "'chunk_shape' is missing");
  EXPECT_ERROR(with(R"({"chunk_shape": [0, 2], "codecs": ["bytes"]})"), ErrorCode::invalid_metadata,
               "positive");
  EXPECT_ERROR(with(R"({"chunk_shape": [-1, 2], "codecs": ["bytes"]})"), ErrorCode::invalid_metadata,
               "positive");
  EXPECT_ERROR(with(R"({"chunk_shape": [3, 2], "codecs": ["bytes"]})"), ErrorCode::invalid_metadata,
               "do not divide");
  EXPECT_ERROR(with(R"({"chunk_shape": [2], "codecs": ["bytes"]})"), ErrorCode::invalid_metadata,
               "do not divide");
  EXPECT_ERROR(with(R"({"chunk_shape": [2, 2], "codecs": 5})"), ErrorCode::invalid_metadata, "no list");
  EXPECT_ERROR(with(R"({"chunk_shape": [2, 2], "index_location": "middle"})"), ErrorCode::invalid_metadata,
               "index_location");
  // The usual codecs stand in for those that are missing, with a warning.
  std::vector<std::string> warnings;
  MetadataOptions options;
  options.warn = [&](const std::string& message) { warnings.push_back(message); };
  const CodecSpec bare{"sharding_indexed", Json::parse(R"({"chunk_shape": [2, 2]})").as_object()};
  const std::vector<CodecSpec> codecs = {bare};
  CodecChain::create(codecs, spec.type, spec.fill, options);
  EXPECT_EQ(warnings.size(), 2u);
  options.strict = true;
  EXPECT_ERROR(CodecChain::create(codecs, spec.type, spec.fill, options), ErrorCode::invalid_metadata,
               "missing");
  // An index that no memory could hold is refused before anything is allocated.
  ArraySpec huge = spec_of("uint16", {std::uint64_t{1} << 40, std::uint64_t{1} << 40});
  EXPECT_ANY_THROW(chain_of({codecs::sharding({1, 1}, {codecs::bytes()})}, huge));
}

TEST(Sharding, UnverifiedChecksumsLetPartsThrough) {
  const ArraySpec spec = spec_of("uint8", {100, 100});
  const auto chain = chain_of({codecs::bytes(), codecs::crc32c()}, spec);
  NDArray chunk = NDArray::allocate(spec.type, spec.shape);
  for (std::size_t i = 0; i < 10000; ++i) chunk.span<std::uint8_t>()[i] = static_cast<std::uint8_t>(i % 251);
  const Buffer encoded = chain->encode(chunk.view(), {});
  const NDArray row = NDArray::allocate(spec.type, {1, 100});
  Context context;
  PartialRequest request{box_part({7, 0}, {1, 100}), row.view(), nullptr};
  EXPECT_EQ(chain->decode_partial(request, context), nullptr);
  context.verify_checksums = false;
  const auto decode = chain->decode_partial(request, context);
  ASSERT_TRUE(decode);
  decode_from_memory(*decode, encoded, false);
  EXPECT_EQ(row.span<std::uint8_t>()[5], 705 % 251);
}

}  // namespace
}  // namespace zarrive::testing
