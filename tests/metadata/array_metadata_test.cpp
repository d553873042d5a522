// The checks of the model itself, as a program that fills it in meets them.
#include "metadata/support.hpp"

namespace zarrive {
namespace {

using namespace zarrive::testing;

void expect_invalid(const ArrayMetadata& sound, const std::function<void(ArrayMetadata&)>& change,
                    const std::string& part, ErrorCode code = ErrorCode::invalid_metadata) {
  ArrayMetadata array = sound;
  change(array);
  expect_error(code, part, [&] { array.validate(); });
  expect_error(code, part, [&] { array.to_documents(); });
}

TEST(ArrayMetadata, ValidateBoth) {
  for (const ArrayMetadata& sound : {read_v2("{}"), read_v3("{}")}) {
    EXPECT_NO_THROW(sound.validate());
    expect_invalid(
        sound, [](auto& a) { a.shape = {1}; }, "1 dimensions, its chunk grid has 2");
    expect_invalid(
        sound,
        [](auto& a) {
          a.shape = {1, max_extent + 1};
        },
        "2^63");
    expect_invalid(
        sound, [](auto& a) { a.shape.resize(65); }, "at most 64", ErrorCode::resource_limit);
    expect_invalid(
        sound, [](auto& a) { a.dimension_names = {"x"}; }, "1 dimension names, expected 2");
    expect_invalid(
        sound, [](auto& a) { a.fill_value = FillValue::zero(DataType(TypeId::int16)); },
        "int16, expected int32");
    expect_invalid(
        sound, [](auto& a) { a.data_type = DataType(TypeId::float64); }, "int32, expected float64");
    expect_invalid(
        sound, [](auto& a) { a.chunk_key_encoding.separator = '-'; }, "separator");
    expect_invalid(
        sound,
        [](auto& a) {
          a.chunk_grid = ChunkGrid::regular({max_extent, max_extent});
        },
        "", ErrorCode::resource_limit);
    expect_invalid(
        sound,
        [](auto& a) {
          a.chunk_grid = ChunkGrid::regular({max_extent, 1});
        },
        "", ErrorCode::resource_limit);
  }
}

TEST(ArrayMetadata, ValidateV2) {
  const ArrayMetadata sound = read_v2("{}");
  expect_invalid(
      sound, [](auto& a) { a.order = 'K'; }, "order");
  expect_invalid(
      sound, [](auto& a) { a.codecs = {{.name = "bytes"}}; }, "codecs");
  expect_invalid(
      sound, [](auto& a) { a.extra_members.set("x", 1); }, "\"x\"");
  expect_invalid(
      sound, [](auto& a) { a.chunk_key_encoding = {}; }, "chunk key encoding");
  expect_invalid(
      sound,
      [](auto& a) {
        a.chunk_grid = ChunkGrid::rectilinear({{.runs = {{20, 1}}}, {.runs = {{10, 1}}}});
      },
      "regular");
  expect_invalid(
      sound, [](auto& a) { a.filters = {{}}; }, "without a name");
  expect_invalid(
      sound, [](auto& a) { a.compressor = CodecSpec{}; }, "without an id");
}

TEST(ArrayMetadata, ValidateV3) {
  const ArrayMetadata sound = read_v3("{}");
  expect_invalid(
      sound, [](auto& a) { a.order = 'F'; }, "transpose");
  expect_invalid(
      sound, [](auto& a) { a.codecs.clear(); }, "at least one codec");
  expect_invalid(
      sound, [](auto& a) { a.codecs = {{}}; }, "without a name");
  expect_invalid(
      sound, [](auto& a) { a.filters = {{.name = "delta"}}; }, "no filters");
  expect_invalid(
      sound, [](auto& a) { a.compressor = {{.name = "zlib"}}; }, "no compressor");
  expect_invalid(
      sound, [](auto& a) { a.fill_value = FillValue::undefined(a.data_type); }, "null");
  expect_invalid(
      sound,
      [](auto& a) {
        a.chunk_grid = ChunkGrid::rectilinear({{.runs = {{4, 2}, {9, 1}}}, {.runs = {{10, 1}}}});
      },
      "sum up to 17");
  ArrayMetadata rectilinear = sound;
  rectilinear.chunk_grid = ChunkGrid::rectilinear({{.runs = {{max_extent, 1}}}, {.runs = {{2, 1}, {8, 1}}}});
  expect_error(ErrorCode::resource_limit, "", [&] { rectilinear.validate(); });
}

TEST(ArrayMetadata, ChunkCount) {
  EXPECT_EQ(read_v3("{}").chunk_count(), 2u);
  EXPECT_EQ(read_v3(R"({"shape": [0, 9223372036854775807]})").chunk_count(), 0u);
  const char* ones =
      R"({"shape": [9223372036854775807, 2, 2], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1, 1]}}})";
  expect_error(ErrorCode::resource_limit, "", [&] { read_v3(ones).chunk_count(); });
  EXPECT_EQ(read_v3(R"({"shape": [9223372036854775807, 2]})").chunk_count(), 922337203685477581u);
}

TEST(ArrayMetadata, DefaultsAreAScalarWithoutCodecs) {
  ArrayMetadata array;
  expect_error(ErrorCode::invalid_metadata, "codec", [&] { array.validate(); });
  array.codecs = {{.name = "bytes"}};
  EXPECT_NO_THROW(array.validate());
  EXPECT_EQ(array.chunk_count(), 1u);
  expect_equal(rewritten(array), array);
}

}  // namespace
}  // namespace zarrive
