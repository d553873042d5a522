#include "metadata/support.hpp"

namespace zarrive {
namespace {

using namespace zarrive::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ArrayV2, BigEndianFortranOrderDocument) {
  const Json zarray = Json::parse(
      R"({"zarr_format":2,"shape":[5,4],"chunks":[2,4],"dtype":">i2","compressor":{"id":"zlib","level":1},"fill_value":-1,"order":"F",)"
      R"("filters":[{"id":"delta","dtype":">i2","astype":">i2"}],"dimension_separator":"/"})");
  const ArrayMetadata array = ArrayMetadata::from_v2(zarray, {}, {.strict = true});
  EXPECT_EQ(array.format, ZarrFormat::v2);
  EXPECT_THAT(array.shape, ElementsAre(5, 4));
  EXPECT_EQ(array.data_type, DataType(TypeId::int16));
  EXPECT_EQ(array.data_type.byte_order(), ByteOrder::big);
  EXPECT_EQ(array.order, 'F');
  EXPECT_EQ(array.fill_value.to_v2(), Json(-1));
  ASSERT_EQ(array.filters.size(), 1u);
  EXPECT_EQ(array.filters[0].name, "delta");
  EXPECT_EQ(array.filters[0].configuration, (JsonObject{{"dtype", ">i2"}, {"astype", ">i2"}}));
  ASSERT_TRUE(array.compressor);
  EXPECT_EQ(*array.compressor, (CodecSpec{.name = "zlib", .configuration = {{"level", 1}}}));
  EXPECT_EQ(array.chunk_count(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i)
    EXPECT_EQ(array.chunk_key_encoding.key(Index{i, 0}), std::to_string(i) + "/0");
  expect_equal(rewritten(array), array);
  EXPECT_EQ(array.to_v2_zarray(), zarray);
}

TEST(ArrayV2, WritesAsZarrPythonDoes) {
  const ArrayMetadata array = read_v2(R"({"shape": [], "chunks": [], "_NCZARR_ARRAY": {}, "unknown": 1})");
  EXPECT_EQ(document_text(array.to_v2_zarray(), ZarrFormat::v2), R"({
    "chunks": [],
    "compressor": null,
    "dimension_separator": ".",
    "dtype": "<i4",
    "fill_value": 7,
    "filters": null,
    "order": "C",
    "shape": [],
    "zarr_format": 2
})");
  EXPECT_EQ(array.to_documents().size(), 1u);
  EXPECT_EQ(array.chunk_count(), 1u);
  EXPECT_EQ(array.chunk_key_encoding.key({}), "0");
}

TEST(ArrayV2, EveryMemberIsRequired) {
  for (const char* member :
       {"zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters"}) {
    SCOPED_TRACE(member);
    expect_error(ErrorCode::invalid_metadata, std::string("\"") + member + "\" is missing from .zarray",
                 [&] { ArrayMetadata::from_v2(testing::without(sound_v2, member), {}); });
  }
}

TEST(ArrayV2, DimensionSeparator) {
  EXPECT_EQ(read_v2("{}").chunk_key_encoding.separator, '.');
  EXPECT_EQ(read_v2("{}", {.missing_separator_is_slash = true}).chunk_key_encoding.separator, '/');
  EXPECT_EQ(read_v2(R"({"dimension_separator": "."})", {.missing_separator_is_slash = true})
                .chunk_key_encoding.separator,
            '.');
  EXPECT_EQ(read_v2(R"({"dimension_separator": "/"})").chunk_key_encoding.separator, '/');
}

TEST(ArrayV2, LenientCasesWarnAndAreErrorsWhenStrict) {
  const struct {
    const char* changes;
    const char* warning;
  } cases[] = {
      {R"({"filters": []})", "empty list"},
      {R"({"shape": [0, 10], "chunks": [0, 10]})", "edge of 0 for dimension 0"},
      {R"({"dimension_separator": null})", "dimension_separator"},
      {R"({"fill_value": 0.0})", "0.0"},
      {R"({"dtype": "|S4", "fill_value": 0})", "0"},
      {R"({"dtype": "<U4", "fill_value": 0})", "0"},
      {R"({"dtype": "|V4", "fill_value": 0})", "0"},
      {R"({"dtype": "|O", "fill_value": 0, "filters": [{"id": "vlen-utf8"}]})", "0"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.changes);
    Warnings warnings;
    const ArrayMetadata array = read_v2(c.changes, warnings.options());
    EXPECT_THAT(warnings.sentences, ElementsAre(HasSubstr(c.warning)));
    expect_equal(read_v2(c.changes), array);  // without anyone to warn
    expect_error(ErrorCode::invalid_metadata, "strict", [&] { read_v2(c.changes, {.strict = true}); });
    expect_equal(rewritten(array), array);  // what we write needs no leniency
  }
  EXPECT_THAT(read_v2(R"({"shape": [0, 10], "chunks": [0, 10]})").chunk_grid.chunk_shape(),
              ElementsAre(1, 10));
  EXPECT_THAT(read_v2(R"({"filters": []})").filters, IsEmpty());
}

TEST(ArrayV2, NullFillIsUndefinedAndStays) {
  const ArrayMetadata array = read_v2(R"({"fill_value": null})", {.strict = true});
  EXPECT_TRUE(array.fill_value.is_undefined());
  EXPECT_TRUE(array.fill_value.is_zero());
  EXPECT_TRUE(array.to_v2_zarray().find("fill_value")->is_null());
}

TEST(ArrayV2, UnknownMembersAreIgnoredAndNotWritten) {
  Warnings warnings;
  const ArrayMetadata array = read_v2(R"({"_NCZARR_ARRAY": 3, "x": null})", warnings.options());
  EXPECT_THAT(warnings.sentences, IsEmpty());
  EXPECT_TRUE(array.extra_members.empty());
  EXPECT_EQ(array.to_v2_zarray().find("x"), nullptr);
}

TEST(ArrayV2, ObjectCodecTellsTheType) {
  const struct {
    const char* id;
    TypeId type;
  } cases[] = {{"vlen-utf8", TypeId::string},  {"vlen-bytes", TypeId::bytes},
               {"categorize", TypeId::string}, {"json2", TypeId::object},
               {"json", TypeId::object},       {"msgpack2", TypeId::object},
               {"msgpack", TypeId::object},    {"vlen-array", TypeId::object},
               {"pickle", TypeId::object},     {"fill_hdf_strings", TypeId::object}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.id);
    const std::string codec = std::string(R"({"id": ")") + c.id + "\"}";
    const ArrayMetadata filter = read_v2(
        R"({"dtype": "|O", "fill_value": null, "compressor": {"id": "zstd"}, "filters": [)" + codec + "]}");
    EXPECT_EQ(filter.data_type.id(), c.type);
    EXPECT_EQ(*filter.to_v2_zarray().find("dtype"), Json("|O"));
    expect_equal(rewritten(filter), filter);
    const ArrayMetadata compressor =
        read_v2(R"({"dtype": "|O", "fill_value": null, "compressor": )" + codec + "}");
    EXPECT_EQ(compressor.data_type.id(), c.type);
  }
  // the first object codec counts; others may stand before it
  EXPECT_EQ(
      read_v2(
          R"({"dtype": "|O", "fill_value": "", "filters": [{"id": "delta"}, {"id": "vlen-bytes"}, {"id": "json2"}]})")
          .data_type.id(),
      TypeId::bytes);
}

TEST(ArrayV2, ObjectsWithoutObjectCodecAreRefused) {
  expect_error(ErrorCode::invalid_metadata, "found none", [] { read_v2(R"({"dtype": "|O"})"); });
  expect_error(ErrorCode::invalid_metadata, "only \"delta\", \"zlib\"", [] {
    read_v2(R"({"dtype": "|O", "filters": [{"id": "delta"}], "compressor": {"id": "zlib"}})");
  });
  expect_error(ErrorCode::unsupported_data_type, "variable length", [] {
    read_v2(
        R"({"dtype": [["a", "<i4"], ["b", "|O"]], "fill_value": null, "filters": [{"id": "vlen-utf8"}]})");
  });
}

TEST(ArrayV2, ObjectFillValues) {
  const auto fill = [](const std::string& id, const std::string& value) {
    return read_v2(R"({"dtype": "|O", "filters": [{"id": ")" + id + R"("}], "fill_value": )" + value + "}")
        .fill_value;
  };
  EXPECT_EQ(fill("vlen-utf8", "\"é\"").string(), "é");
  EXPECT_EQ(fill("vlen-utf8", "null").string(), "");
  EXPECT_EQ(fill("vlen-utf8", "0").string(), "");
  EXPECT_TRUE(fill("vlen-bytes", "null").is_undefined());
  EXPECT_EQ(fill("json2", "{\"a\": 1}").to_v2(), Json::parse("{\"a\": 1}"));
}

TEST(ArrayV2, StringTypesNeedTheirObjectCodecToBeWritten) {
  ArrayMetadata array = read_v2(R"({"dtype": "|O", "fill_value": "x", "filters": [{"id": "vlen-utf8"}]})");
  array.filters.clear();
  expect_error(ErrorCode::invalid_metadata, "object codec", [&] { array.to_v2_zarray(); });
  array.filters = {{.name = "vlen-bytes"}};
  expect_error(ErrorCode::invalid_metadata, "holds bytes", [&] { array.to_documents(); });
}

TEST(ArrayV2, StructuredTypes) {
  const ArrayMetadata array = read_v2(
      R"({"dtype": [["a", "|u1"], ["b", [["c", ">i2"], ["d", "<f4", [2, 2]]]]], "fill_value": null})");
  EXPECT_EQ(array.data_type.id(), TypeId::structured);
  EXPECT_EQ(array.data_type.item_size(), 19u);
  EXPECT_EQ(*array.to_v2_zarray().find("dtype"),
            Json::parse(R"([["a", "|u1"], ["b", [["c", ">i2"], ["d", "<f4", [2, 2]]]]])"));
  expect_equal(rewritten(array), array);
}

TEST(ArrayV2, AttributesKeepTheirValues) {
  const Json zattrs = Json::parse(
      R"({"n": NaN, "i": -Infinity, "big": 18446744073709551615, "text": "é", "nested": {"b": 1, "a": [1.0, 1e3]}})");
  const ArrayMetadata array = ArrayMetadata::from_v2(Json::parse(sound_v2), zattrs, {.strict = true});
  EXPECT_EQ(Json(array.attributes).dump(), zattrs.dump());
  const auto documents = array.to_documents();
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].first, ".zarray");
  EXPECT_EQ(documents[1].first, ".zattrs");
  EXPECT_EQ(documents[1].second.dump(), zattrs.dump());
  EXPECT_EQ(document_text(documents[1].second, ZarrFormat::v2), R"({
    "big": 18446744073709551615,
    "i": -Infinity,
    "n": NaN,
    "nested": {
        "a": [
            1.0,
            1e3
        ],
        "b": 1
    },
    "text": "\u00e9"
})");
  expect_error(ErrorCode::invalid_metadata, ".zattrs",
               [] { ArrayMetadata::from_v2(Json::parse(sound_v2), JsonArray{}); });
}

TEST(ArrayV2, DimensionNames) {
  const auto names = [](const std::string& zattrs, const std::string& changes = "{}") {
    std::vector<std::string> found;
    for (const auto& name :
         ArrayMetadata::from_v2(changed(sound_v2, changes), Json::parse(zattrs)).dimension_names)
      found.push_back(name.value());
    return found;
  };
  EXPECT_THAT(names(R"({"_ARRAY_DIMENSIONS": ["lat", "lon"]})"), ElementsAre("lat", "lon"));
  EXPECT_THAT(names(R"({"_ARRAY_DIMENSIONS": ["a/b", ""]})"), ElementsAre("a/b", ""));
  for (const char* zattrs :
       {R"({"_ARRAY_DIMENSIONS": ["lat"]})", R"({"_ARRAY_DIMENSIONS": "lat"})",
        R"({"_ARRAY_DIMENSIONS": ["lat", 1]})", R"({"_ARRAY_DIMENSIONS": ["lat", null]})",
        R"({"_ARRAY_DIMENSIONS": null})", R"({"_nczarr_array": 1})",
        R"({"_nczarr_array": {"dimrefs": ["/a"]}})", R"({"_nczarr_array": {"dimrefs": {}}})", "{}"})
    EXPECT_THAT(names(zattrs), IsEmpty()) << zattrs;
  EXPECT_THAT(
      names(R"({"_nczarr_array": {"dimension_references": ["/g/lat", "/lon"], "storage": "chunked"}})"),
      ElementsAre("lat", "lon"));
  EXPECT_THAT(names(R"({"_nczarr_array": {"dimrefs": ["/g/lat", "lon"]}})"), ElementsAre("lat", "lon"));
  EXPECT_THAT(names("{}", R"({"_NCZARR_ARRAY": {"dimrefs": ["/g/h/lat", "/lon"]}})"),
              ElementsAre("lat", "lon"));
  EXPECT_THAT(names(R"({"_NCZARR_ARRAY": {"dimrefs": ["/g/h/lat", "/lon"]}})"), ElementsAre("lat", "lon"));
  EXPECT_THAT(names(R"({"_ARRAY_DIMENSIONS": ["y", "x"], "_nczarr_array": {"dimrefs": ["/lat", "/lon"]}})"),
              ElementsAre("y", "x"));
  EXPECT_THAT(names(R"({"_ARRAY_DIMENSIONS": ["y"], "_nczarr_array": {"dimrefs": ["/lat", "/lon"]}})"),
              ElementsAre("lat", "lon"));
}

TEST(ArrayV2, DimensionNamesAreWrittenWhereTheyCameFrom) {
  const Json xarray = Json::parse(R"({"_ARRAY_DIMENSIONS": ["lat", "lon"], "units": "K"})");
  ArrayMetadata array = ArrayMetadata::from_v2(Json::parse(sound_v2), xarray);
  EXPECT_EQ(array.to_documents().at(1).second, xarray);
  EXPECT_TRUE(array.attributes.contains("_ARRAY_DIMENSIONS"));
  const Json netcdf = Json::parse(R"({"_nczarr_array": {"dimension_references": ["/lat", "/lon"]}})");
  EXPECT_EQ(ArrayMetadata::from_v2(Json::parse(sound_v2), netcdf).to_documents().at(1).second, netcdf);

  array.dimension_names = {"y", "x"};
  EXPECT_EQ(*array.to_documents().at(1).second.find("_ARRAY_DIMENSIONS"), (Json(JsonArray{"y", "x"})));
  expect_error(ErrorCode::invalid_argument, "dimension 1 has no name", [&] {
    array.dimension_names = {"y", std::nullopt};
    array.to_documents();
  });
  // those of .zarray move to the attributes, as .zarray has no place for them
  const ArrayMetadata old = read_v2(R"({"_NCZARR_ARRAY": {"dimrefs": ["/lat", "/lon"]}})");
  EXPECT_EQ(old.to_documents().at(1).second, Json::parse(R"({"_ARRAY_DIMENSIONS": ["lat", "lon"]})"));
}

TEST(ArrayV2, HasNoV3Document) {
  expect_error(ErrorCode::invalid_argument, "zarr.json", [] { read_v2("{}").to_v3(); });
}

}  // namespace
}  // namespace zarrive
