#include "metadata/support.hpp"

namespace zarrive {
namespace {

using namespace zarrive::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ArrayV3, PackedFloatsDocument) {
  const ArrayMetadata array = ArrayMetadata::from_v3(
      Json::parse(
          R"({"zarr_format":3,"node_type":"array","shape":[6],"data_type":"float64","chunk_grid":{"name":"regular","configuration":)"
          R"({"chunk_shape":[3]}},"chunk_key_encoding":{"name":"default"},"fill_value":"NaN","codecs":[{"name":"scale_offset",)"
          R"("configuration":{"offset":273.15,"scale":100.0}},{"name":"cast_value","configuration":{"data_type":"int16","scalar_map":)"
          R"({"encode":[["NaN",-32768]],"decode":[[-32768,"NaN"]]}}},{"name":"bytes","configuration":{"endian":"little"}},)"
          R"({"name":"zstd","configuration":{"level":3}}]})"),
      {.strict = true});
  EXPECT_EQ(array.data_type, DataType(TypeId::float64));
  EXPECT_EQ(array.fill_value.to_v3(), Json("NaN"));
  ASSERT_EQ(array.codecs.size(), 4u);
  EXPECT_EQ(array.codecs[0].name, "scale_offset");
  EXPECT_EQ(array.codecs[1].configuration.find("scalar_map")->find("encode")->dump(), R"([["NaN", -32768]])");
  EXPECT_EQ(array.codecs[3], (CodecSpec{.name = "zstd", .configuration = {{"level", 3}}}));
  EXPECT_EQ(array.chunk_count(), 2u);
  EXPECT_EQ(array.chunk_key_encoding.key(Index{0}), "c/0");
  EXPECT_EQ(array.chunk_key_encoding.key(Index{1}), "c/1");
  EXPECT_EQ(*array.to_v3().find("codecs")->as_array()[0].find("configuration"),
            Json::parse(R"({"offset":273.15,"scale":100.0})"));
  expect_equal(rewritten(array), array);
}

// The text that zarr-python 3.4 stores for create_array(shape=(10, 4), chunks=(3, 2), dtype="float32", dimension_names=["t", None],
// attributes={"q": nan, "e": "é"}).
TEST(ArrayV3, WritesAsZarrPythonDoes) {
  const std::string text = R"({
  "shape": [
    10,
    4
  ],
  "data_type": "float32",
  "chunk_grid": {
    "name": "regular",
    "configuration": {
      "chunk_shape": [
        3,
        2
      ]
    }
  },
  "chunk_key_encoding": {
    "name": "default",
    "configuration": {
      "separator": "/"
    }
  },
  "fill_value": 0.0,
  "codecs": [
    {
      "name": "bytes",
      "configuration": {
        "endian": "little"
      }
    },
    {
      "name": "zstd",
      "configuration": {
        "level": 0,
        "checksum": false
      }
    }
  ],
  "attributes": {
    "q": NaN,
    "e": "\u00e9"
  },
  "dimension_names": [
    "t",
    null
  ],
  "zarr_format": 3,
  "node_type": "array",
  "storage_transformers": []
})";
  const ArrayMetadata array = ArrayMetadata::from_v3(Json::parse(text), {.strict = true});
  EXPECT_EQ(document_text(array.to_v3(), ZarrFormat::v3), text);
  EXPECT_EQ(array.dimension_names.at(0), "t");
  EXPECT_EQ(array.dimension_names.at(1), std::nullopt);
  const auto documents = array.to_documents();
  ASSERT_EQ(documents.size(), 1u);
  EXPECT_EQ(documents[0].first, "zarr.json");
}

TEST(ArrayV3, WritesConfigurationsAsZarrPythonDoes) {
  const auto codecs = [](const std::string& changes) {
    return read_v3(changes).to_v3().find("codecs")->dump();
  };
  EXPECT_EQ(codecs(R"({"data_type": "string", "fill_value": "", "codecs": ["vlen-utf8"]})"),
            R"([{"name": "vlen-utf8", "configuration": {}}])");
  EXPECT_EQ(codecs(R"({"data_type": "bytes", "fill_value": "", "codecs": ["vlen-bytes"]})"),
            R"([{"name": "vlen-bytes", "configuration": {}}])");
  EXPECT_EQ(codecs(R"({"data_type": "uint8", "codecs": [{"name": "bytes", "configuration": {}}, "crc32c"]})"),
            R"([{"name": "bytes"}, {"name": "crc32c"}])");
  EXPECT_EQ(
      codecs(R"({"data_type": "uint8", "codecs": ["bytes", {"name": "crc32c", "must_understand": false}]})"),
      R"([{"name": "bytes"}, {"name": "crc32c", "must_understand": false}])");
}

TEST(ArrayV3, EveryMemberIsRequired) {
  for (const char* member :
       {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value"}) {
    SCOPED_TRACE(member);
    expect_error(ErrorCode::invalid_metadata, std::string("\"") + member + "\" is missing from zarr.json",
                 [&] { ArrayMetadata::from_v3(testing::without(sound_v3, member)); });
  }
}

TEST(ArrayV3, NamesAloneAreExtensionsToo) {
  const ArrayMetadata array = read_v3(
      R"({"data_type": {"name": "int32"}, "chunk_key_encoding": "v2", "codecs": ["bytes", "crc32c"]})",
      {.strict = true});
  EXPECT_EQ(array.chunk_key_encoding, (ChunkKeyEncoding{ChunkKeyEncoding::Kind::v2, '.'}));
  EXPECT_EQ(array.codecs[1], CodecSpec{.name = "crc32c"});
  expect_equal(rewritten(array), array);
}

TEST(ArrayV3, UnknownCodecsStayInspectable) {
  const ArrayMetadata array = read_v3(
      R"({"codecs": [{"name": "https://codec.zarrs.dev/array_to_bytes/zfp", "configuration": {"x": [1]}},
                                         {"name": "my.codec", "must_understand": false}]})",
      {.strict = true});
  EXPECT_EQ(array.codecs[0].name, "https://codec.zarrs.dev/array_to_bytes/zfp");
  EXPECT_FALSE(array.codecs[1].must_understand);
  expect_equal(rewritten(array), array);
}

TEST(ArrayV3, LenientCasesWarnAndAreErrorsWhenStrict) {
  const struct {
    const char* changes;
    const char* warning;
  } cases[] = {
      {R"({"dimension_names": null})", "dimension_names"},
      {R"({"storage_transformers": null})", "storage_transformers"},
      {R"({"attributes": null})", "attributes"},
      {R"({"chunk_key_encoding": {"name": "default", "separator": "."}})", "outside of \"configuration\""},
      {R"({"chunk_key_encoding": {"name": "default", "configuration": {"x": 1}}})", "unknown members"},
      {R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1], "y": 1}}})",
       "unknown members"},
      {R"({"chunk_grid": {"name": "rectangular", "configuration": {"chunk_shape": [[10, 10], 5]}}})",
       "rectangular"},
      {R"({"codecs": [{"name": "endian", "configuration": {"endian": "big"}}]})", "endian"},
      {R"({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}, "id": 1}]})", "\"id\""},
      {R"({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "Upper Case"]})",
       "Upper Case"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.changes);
    Warnings warnings;
    const ArrayMetadata array = read_v3(c.changes, warnings.options());
    EXPECT_THAT(warnings.sentences, ElementsAre(HasSubstr(c.warning)));
    expect_equal(read_v3(c.changes), array);
    expect_error(ErrorCode::invalid_metadata, "strict", [&] { read_v3(c.changes, {.strict = true}); });
  }
  EXPECT_EQ(read_v3(R"({"codecs": [{"name": "endian", "configuration": {"endian": "big"}}]})").codecs[0],
            (CodecSpec{.name = "bytes", .configuration = {{"endian", "big"}}}));
}

TEST(ArrayV3, ManyUnknownMembersAreOneWarning) {
  Warnings warnings;
  read_v3(
      R"({"chunk_key_encoding": {"name": "default", "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}})",
      warnings.options());
  EXPECT_THAT(warnings.sentences, ElementsAre(HasSubstr("\"e\" and 2 more")));
}

TEST(ArrayV3, MissingCodecsAreLittleEndianBytes) {
  Warnings warnings;
  const ArrayMetadata array =
      ArrayMetadata::from_v3(testing::without(sound_v3, "codecs"), warnings.options());
  EXPECT_THAT(warnings.sentences, ElementsAre(HasSubstr("\"codecs\" is missing")));
  EXPECT_THAT(array.codecs, ElementsAre(CodecSpec{.name = "bytes", .configuration = {{"endian", "little"}}}));
  expect_error(ErrorCode::invalid_metadata, "codecs",
               [] { ArrayMetadata::from_v3(testing::without(sound_v3, "codecs"), {.strict = true}); });
  Json text = testing::without(sound_v3, "codecs");
  text.as_object().set("data_type", "string");
  text.as_object().set("fill_value", "");
  expect_error(ErrorCode::invalid_metadata, "\"codecs\" is missing", [&] { ArrayMetadata::from_v3(text); });
}

TEST(ArrayV3, ExtraMembersThatMayBeIgnoredAreKept) {
  const ArrayMetadata array = read_v3(
      R"({"ext": {"must_understand": false, "b": [1, {"c": 1e2}], "a": 2}, "other": {"must_understand": false}})",
      {.strict = true});
  EXPECT_EQ(array.extra_members.size(), 2u);
  EXPECT_EQ(array.to_v3().find("ext")->dump(), R"({"must_understand": false, "b": [1, {"c": 1e2}], "a": 2})");
  expect_equal(rewritten(array), array);
}

TEST(ArrayV3, OtherExtraMembersAreRefused) {
  const struct {
    const char* changes;
    ErrorCode code;
  } cases[] = {{R"({"ext": 1})", ErrorCode::invalid_metadata},
               {R"({"ext": null})", ErrorCode::invalid_metadata},
               {R"({"ext": []})", ErrorCode::invalid_metadata},
               {R"({"ext": "must_understand"})", ErrorCode::invalid_metadata},
               {R"({"ext": {}})", ErrorCode::unsupported},
               {R"({"ext": {"must_understand": true}})", ErrorCode::unsupported},
               {R"({"ext": {"must_understand": null}})", ErrorCode::invalid_metadata},
               {R"({"ext": {"must_understand": 0}})", ErrorCode::invalid_metadata}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.changes);
    expect_error(c.code, "ext", [&] { read_v3(c.changes); });
  }
}

TEST(ArrayV3, StorageTransformers) {
  EXPECT_TRUE(read_v3(R"({"storage_transformers": []})", {.strict = true}).extra_members.empty());
  expect_error(ErrorCode::unsupported, "chunk-manifest-json", [] {
    read_v3(
        R"({"storage_transformers": [{"name": "chunk-manifest-json", "configuration": {"manifest": "./m"}}]})");
  });
  expect_error(ErrorCode::unsupported, "other", [] {
    read_v3(R"({"storage_transformers": [{"name": "one", "must_understand": false}, "other"]})");
  });
  expect_error(ErrorCode::invalid_metadata, "storage_transformers",
               [] { read_v3(R"({"storage_transformers": {}})"); });
  expect_error(ErrorCode::invalid_metadata, "storage_transformers[0]",
               [] { read_v3(R"({"storage_transformers": [1]})"); });
  const ArrayMetadata array =
      read_v3(R"({"storage_transformers": [{"name": "hint", "must_understand": false}]})", {.strict = true});
  EXPECT_EQ(array.to_v3().find("storage_transformers")->dump(),
            R"([{"name": "hint", "must_understand": false}])");
  expect_equal(rewritten(array), array);
}

TEST(ArrayV3, MustUnderstandCannotBeFalseWhereItMatters) {
  for (
      const char* changes :
      {R"({"data_type": {"name": "int32", "must_understand": false}})",
       R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}, "must_understand": false}})",
       R"({"chunk_key_encoding": {"name": "default", "must_understand": false}})",
       R"({"data_type": {"name": "int32", "must_understand": 1}})"}) {
    SCOPED_TRACE(changes);
    expect_error(ErrorCode::invalid_metadata, "must_understand", [&] { read_v3(changes); });
  }
  EXPECT_NO_THROW(read_v3(R"({"data_type": {"name": "int32", "must_understand": true}})", {.strict = true}));
}

TEST(ArrayV3, UnknownExtensionsAreUnsupported) {
  expect_error(ErrorCode::unsupported_data_type, "int128", [] { read_v3(R"({"data_type": "int128"})"); });
  expect_error(ErrorCode::unsupported, "spiral", [] { read_v3(R"({"chunk_grid": {"name": "spiral"}})"); });
  expect_error(ErrorCode::unsupported, "suffix",
               [] { read_v3(R"({"chunk_key_encoding": {"name": "suffix"}})"); });
}

TEST(ArrayV3, DraftsAreRefusedByName) {
  expect_error(ErrorCode::unsupported, "draft of Zarr v3", [] {
    ArrayMetadata::from_v3(Json::parse(R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
      "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_key_suffix": ".json", "extensions": []})"));
  });
  expect_error(ErrorCode::unsupported, "purl.org", [] {
    GroupMetadata::from_v3(Json::parse(R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0"})"));
  });
  expect_error(ErrorCode::unsupported, "chunk_memory_layout", [] {
    ArrayMetadata::from_v3(
        Json::parse(R"({"shape": [1], "data_type": "<f8", "chunk_memory_layout": "C", "extensions": []})"));
  });
}

TEST(ArrayV3, RectilinearGrid) {
  const ArrayMetadata array = read_v3(
      R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[5, 3], 10], 4]}}})",
      {.strict = true});
  EXPECT_EQ(array.chunk_count(), 12u);
  expect_equal(rewritten(array), array);
  expect_error(ErrorCode::invalid_metadata, "sum up to 19", [] {
    read_v3(
        R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[19], 4]}}})");
  });
}

TEST(ArrayV3, DimensionNames) {
  const ArrayMetadata array = read_v3(R"({"dimension_names": ["x", "x"]})", {.strict = true});
  EXPECT_THAT(array.dimension_names, ElementsAre("x", "x"));
  EXPECT_THAT(read_v3("{}").dimension_names, IsEmpty());
  EXPECT_EQ(read_v3("{}").to_v3().find("dimension_names"), nullptr);
  expect_equal(rewritten(array), array);
}

TEST(ArrayV3, FillValuesAreExact) {
  for (const auto& [type, value] : {std::pair{"float32", "\"0x7fa00000\""},
                                    {"float64", "-0.0"},
                                    {"float16", "\"-Infinity\""},
                                    {"int64", "-9223372036854775808"},
                                    {"uint64", "18446744073709551615"},
                                    {"complex64", "[\"NaN\", 1.5]"},
                                    {"bool", "true"},
                                    {"float32", "0.1"}}) {
    SCOPED_TRACE(std::string(type) + " " + value);
    const std::string changes =
        std::string(R"({"data_type": ")") + type + R"(", "fill_value": )" + value + "}";
    const ArrayMetadata array = read_v3(changes, {.strict = true});
    EXPECT_EQ(array.to_v3().find("fill_value")->dump(), value);
    expect_equal(rewritten(array), array);
  }
}

TEST(ArrayV3, HasNoV2Document) {
  expect_error(ErrorCode::invalid_argument, ".zarray", [] { read_v3("{}").to_v2_zarray(); });
}

}  // namespace
}  // namespace zarrive
