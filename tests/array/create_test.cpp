// make_metadata and create_array: the defaults are those of zarr-python 3; and convert_format.
#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/group.hpp"
#include "zarrive/memory_store.hpp"

namespace zarrive {
namespace {

CreateOptions basic(const char* type, ZarrFormat format = ZarrFormat::v3) {
  CreateOptions options;
  options.shape = {10, 4};
  options.chunks = {5, 4};
  options.data_type = type;
  options.format = format;
  return options;
}

std::string codec_names(const ArrayMetadata& metadata) {
  std::string names;
  for (const CodecSpec& spec : metadata.codecs) names += (names.empty() ? "" : " ") + spec.name;
  return names;
}

TEST(Create, V3DefaultsAreZarrPythons) {
  const Json document = make_metadata(basic("float32")).to_v3();
  EXPECT_EQ(
      document.dump(),
      R"({"shape": [10, 4], "data_type": "float32", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 4]}}, )"
      R"("chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0.0, )"
      R"("codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 0, "checksum": false}}], )"
      R"("attributes": {}, "zarr_format": 3, "node_type": "array", "storage_transformers": []})");
  EXPECT_EQ(codec_names(make_metadata(basic("string"))), "vlen-utf8 zstd");
  EXPECT_EQ(codec_names(make_metadata(basic("bytes"))), "vlen-bytes zstd");
  EXPECT_TRUE(make_metadata(basic("uint8")).codecs[0].configuration.empty());
}

TEST(Create, V2DefaultsAreZarrPythons) {
  const ArrayMetadata metadata = make_metadata(basic("<i4", ZarrFormat::v2));
  EXPECT_EQ(
      Json(metadata.to_v2_zarray()).dump({-1, true}),
      R"({"chunks": [5, 4], "compressor": {"id": "zstd", "level": 0}, "dimension_separator": ".", "dtype": "<i4", "fill_value": 0, )"
      R"("filters": null, "order": "C", "shape": [10, 4], "zarr_format": 2})");
  EXPECT_EQ(make_metadata(basic("string", ZarrFormat::v2)).filters[0].name, "vlen-utf8");
  EXPECT_EQ(make_metadata(basic("bytes", ZarrFormat::v2)).filters[0].name, "vlen-bytes");
  CreateOptions none = basic("int8", ZarrFormat::v2);
  none.compressor = CodecSpec{};
  EXPECT_FALSE(make_metadata(none).compressor);
}

TEST(Create, SerializerIsPutIntoItsPlace) {
  CreateOptions options = basic(">i4");
  options.codecs = {codecs::transpose({1, 0}), codecs::crc32c()};
  ArrayMetadata metadata = make_metadata(options);
  EXPECT_EQ(codec_names(metadata), "transpose bytes crc32c");
  EXPECT_EQ(metadata.codecs[1].configuration.find("endian")->as_string(), "big");
  options.codecs = {codecs::bytes(ByteOrder::big)};
  EXPECT_EQ(codec_names(make_metadata(options)), "bytes");
}

TEST(Create, BloscIsWrittenWithItsTypesizeAndShuffle) {
  CreateOptions options = basic("float32");
  options.codecs = {codecs::blosc("lz4")};
  const CodecSpec blosc = make_metadata(options).codecs.back();
  EXPECT_EQ(blosc.configuration.find("typesize")->to_int64(), 4);
  EXPECT_EQ(blosc.configuration.find("shuffle")->as_string(), "shuffle");
}

TEST(Create, DefaultChunksAreAboutAMebibyte) {
  CreateOptions options;
  options.shape = {1000, 1000, 1000};
  options.data_type = "float64";
  const Shape chunks = make_metadata(options).chunk_grid.chunk_shape();
  EXPECT_LE(byte_count(chunks, 8), std::size_t{1} << 20);
  EXPECT_GE(byte_count(chunks, 8), std::size_t{1} << 18);
  options.shape = {0, 3};
  EXPECT_EQ(make_metadata(options).chunk_grid.chunk_shape(), (Shape{1, 3}));
  options.shape = {};
  EXPECT_EQ(make_metadata(options).chunk_grid.chunk_shape(), Shape{});
  options.shape = {std::uint64_t{1} << 60, std::uint64_t{1} << 60};
  EXPECT_NO_THROW(make_metadata(options));
}

TEST(Create, WhatCannotBeIsRefusedBeforeAnythingIsWritten) {
  auto store = std::make_shared<MemoryStore>();
  auto refuse = [&](const CreateOptions& options, ErrorCode code, const char* part) {
    EXPECT_ERROR(create_array(store, "a", options), code, part);
    EXPECT_TRUE(store->list().empty());
  };
  CreateOptions options = basic("int32");
  options.chunks = {5};
  refuse(options, ErrorCode::invalid_metadata, "");
  options = basic("int32");
  options.chunks = {0, 4};
  refuse(options, ErrorCode::invalid_metadata, "");
  options = basic("int32");
  options.fill_value = "x";
  refuse(options, ErrorCode::invalid_metadata, "");
  options = basic("int32");
  options.codecs = {CodecSpec{"acme"}};
  refuse(options, ErrorCode::unsupported_codec, "acme");
  options = basic("int32");
  options.codecs = {codecs::zstd(), codecs::bytes()};
  refuse(options, ErrorCode::invalid_metadata, "zstd");
  options = basic("int32");
  options.codecs = {codecs::bytes(), codecs::bytes()};
  refuse(options, ErrorCode::invalid_metadata, "exactly one");
  options = basic("int32");
  options.codecs = {codecs::bytes(), codecs::transpose({1, 0})};
  refuse(options, ErrorCode::invalid_metadata, "transpose");
  options = basic("int32");
  options.codecs = {codecs::transpose({0, 0})};
  refuse(options, ErrorCode::invalid_metadata, "transpose");
  options = basic("int32");
  options.order = 'F';
  refuse(options, ErrorCode::invalid_argument, "transpose");
  options = basic("int32");
  options.compressor = CodecSpec{"zstd"};
  refuse(options, ErrorCode::invalid_argument, "codecs");
  options = basic("int32", ZarrFormat::v2);
  options.codecs = {codecs::zstd()};
  refuse(options, ErrorCode::invalid_argument, "compressor");
  options = basic("int32");
  options.dimension_names = {"x"};
  refuse(options, ErrorCode::invalid_metadata, "dimension names");
  options = basic("int32", ZarrFormat::v2);
  options.dimension_names = {"x", std::nullopt};
  refuse(options, ErrorCode::invalid_argument, "every dimension");
  options = basic("int32", ZarrFormat::v2);
  options.chunk_grid = ChunkGrid::rectilinear({{{{5, 2}}, false}, {{{4, 1}}, false}});
  refuse(options, ErrorCode::invalid_metadata, "");
}

TEST(Create, DimensionNames) {
  CreateOptions options = basic("int32", ZarrFormat::v2);
  options.dimension_names = {"y", "x"};
  auto store = std::make_shared<MemoryStore>();
  create_array(store, "a", options);
  EXPECT_EQ(open_array(store, "a").attributes().find("_ARRAY_DIMENSIONS")->dump(), R"(["y", "x"])");
  EXPECT_EQ(open_array(store, "a").metadata().dimension_names[1], "x");
  options.format = ZarrFormat::v3;
  options.dimension_names = {std::nullopt, "x"};
  create_array(store, "b", options);
  EXPECT_EQ(open_array(store, "b").metadata().dimension_names,
            (std::vector<std::optional<std::string>>{std::nullopt, "x"}));
}

// --- convert_format ---

// Writes an array, converts its metadata, and reads the very same chunks through it.
void expect_chunks_stay(const CreateOptions& options) {
  auto from = std::make_shared<MemoryStore>();
  Array array = create_array(from, "a", options);
  std::vector<double> values(40);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  WriteOptions convert_values;
  convert_values.convert = true;
  array.write("...", values, convert_values);
  bool stay = false;
  const ZarrFormat other = options.format == ZarrFormat::v2 ? ZarrFormat::v3 : ZarrFormat::v2;
  const ArrayMetadata converted = convert_format(array.metadata(), other, &stay);
  ASSERT_TRUE(stay);
  Array copy = create_array(std::make_shared<MemoryStore>(), "b", converted);
  for (std::uint64_t i = 0; i < 2; ++i)
    copy.write_encoded_chunk(Index{i, 0}, *array.read_encoded_chunk(Index{i, 0}));
  ReadOptions as_double;
  as_double.convert = true;
  EXPECT_EQ(copy.read<double>("...", as_double).to_vector(), values) << codec_names(converted);
  // and back again
  EXPECT_EQ(convert_format(converted, options.format).shape, array.shape());
}

TEST(ConvertFormat, ChunksStay) {
  for (const char* compressor : {"zstd", "gzip", "zlib", "blosc", "lz4", "bz2", "lzma", ""}) {
    for (char order : {'C', 'F'}) {
      CreateOptions options = basic(order == 'C' ? "<i4" : ">f8", ZarrFormat::v2);
      options.compressor = CodecSpec{compressor};
      options.order = order;
      expect_chunks_stay(options);
      options.filters = {
          {CodecSpec{"delta", {{"dtype", "<i4"}}}, CodecSpec{"shuffle", {{"elementsize", 4}}}}};
      if (order == 'C') expect_chunks_stay(options);
    }
  }
  for (const CodecSpec& codec : {codecs::zstd(1), codecs::gzip(1), codecs::blosc("lz4"), codecs::crc32c()}) {
    CreateOptions options = basic("float32");
    options.codecs = {codecs::transpose({1, 0}), codecs::bytes(ByteOrder::big), codec};
    expect_chunks_stay(options);
  }
}

TEST(ConvertFormat, SaysWhatTheOtherFormatLacks) {
  CreateOptions options = basic("float64");
  options.codecs = {CodecSpec{"scale_offset", {{"offset", 1.0}, {"scale", 2.0}}}};
  EXPECT_ERROR(convert_format(make_metadata(options), ZarrFormat::v2), ErrorCode::unsupported,
               "scale_offset");
  options = basic("int32");
  options.chunk_grid = ChunkGrid::rectilinear({{{{5, 2}}, false}, {{{4, 1}}, false}});
  EXPECT_ERROR(convert_format(make_metadata(options), ZarrFormat::v2), ErrorCode::unsupported, "rectilinear");
  options = basic("int32");
  options.dimension_names = {std::nullopt, "x"};
  EXPECT_ERROR(convert_format(make_metadata(options), ZarrFormat::v2), ErrorCode::unsupported, "dimension");
}

TEST(ConvertFormat, CarriesNamesFillAndAttributes) {
  CreateOptions options = basic("float32", ZarrFormat::v2);
  options.dimension_names = {"y", "x"};
  options.attributes = {{"units", "K"}};
  options.fill_value = "NaN";
  const ArrayMetadata v3 = convert_format(make_metadata(options), ZarrFormat::v3);
  EXPECT_EQ(v3.dimension_names[0], "y");
  EXPECT_FALSE(v3.attributes.contains("_ARRAY_DIMENSIONS"));
  EXPECT_EQ(v3.attributes.find("units")->as_string(), "K");
  EXPECT_EQ(v3.fill_value.to_v3().dump(), "\"NaN\"");
  EXPECT_EQ(v3.chunk_key_encoding.kind, ChunkKeyEncoding::Kind::v2);
  const ArrayMetadata back = convert_format(v3, ZarrFormat::v2);
  EXPECT_EQ(back.attributes.find("_ARRAY_DIMENSIONS")->dump(), R"(["y", "x"])");
  options.fill_value = Json(nullptr);
  EXPECT_EQ(convert_format(make_metadata(options), ZarrFormat::v3).fill_value.to_v3().dump(), "0.0");
}

TEST(ConvertFormat, MixedByteOrdersNeedNewChunks) {
  CreateOptions options = basic("int8", ZarrFormat::v2);
  options.data_type = R"([["a", "<i2"], ["b", ">i4"]])";
  bool stay = true;
  const ArrayMetadata v3 = convert_format(make_metadata(options), ZarrFormat::v3, &stay);
  EXPECT_FALSE(stay);
  EXPECT_NO_THROW(CodecChain::create(v3).bind(v3.chunk_grid.chunk_shape()));
}

}  // namespace
}  // namespace zarrive
