#include "metadata/support.hpp"

namespace zarrive {
namespace {

using namespace zarrive::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GroupMetadata read(const std::string& text, const MetadataOptions& options = {}) {
  return GroupMetadata::from_v3(Json::parse(text), options);
}

TEST(GroupV2, ReadsAndWrites) {
  const GroupMetadata bare =
      GroupMetadata::from_v2(Json::parse(R"({"zarr_format": 2})"), {}, {.strict = true});
  EXPECT_EQ(bare.format, ZarrFormat::v2);
  ASSERT_EQ(bare.to_documents().size(), 1u);
  EXPECT_EQ(bare.to_documents()[0].first, ".zgroup");
  EXPECT_EQ(document_text(bare.to_documents()[0].second, ZarrFormat::v2), "{\n    \"zarr_format\": 2\n}");

  const Json zattrs = Json::parse(R"({"b": 1, "a": [NaN]})");
  const GroupMetadata group = GroupMetadata::from_v2(
      Json::parse(
          R"({"zarr_format": 2, "_NCZARR_GROUP": {}, "consolidated_metadata": {"metadata": {}, "must_understand": false, "kind": "inline"}})"),
      zattrs, {.strict = true});
  EXPECT_FALSE(group.consolidated);
  EXPECT_TRUE(group.extra_members.empty());
  ASSERT_EQ(group.to_documents().size(), 2u);
  EXPECT_EQ(group.to_documents()[0].second, Json::parse(R"({"zarr_format": 2})"));
  EXPECT_EQ(group.to_documents()[1].first, ".zattrs");
  EXPECT_EQ(group.to_documents()[1].second.dump(), zattrs.dump());
  expect_error(ErrorCode::invalid_argument, "zarr.json", [&] { group.to_v3(); });
}

TEST(GroupV2, Refuses) {
  const auto from = [](const char* zgroup, const char* zattrs) {
    GroupMetadata::from_v2(Json::parse(zgroup), Json::parse(zattrs));
  };
  expect_error(ErrorCode::invalid_metadata, ".zgroup", [&] { from("[]", "null"); });
  expect_error(ErrorCode::invalid_metadata, "missing from .zgroup", [&] { from("{}", "null"); });
  expect_error(ErrorCode::invalid_metadata, "found 3, expected 2",
               [&] { from(R"({"zarr_format": 3})", "null"); });
  expect_error(ErrorCode::invalid_metadata, "found \"2\"", [&] { from(R"({"zarr_format": "2"})", "null"); });
  expect_error(ErrorCode::invalid_metadata, ".zattrs", [&] { from(R"({"zarr_format": 2})", "3"); });
}

TEST(GroupV3, WritesAsZarrPythonDoes) {
  const std::string text = R"({
  "attributes": {
    "b": 1,
    "a": "\u00e9"
  },
  "zarr_format": 3,
  "consolidated_metadata": {
    "kind": "inline",
    "must_understand": false,
    "metadata": {
      "sub": {
        "attributes": {},
        "zarr_format": 3,
        "consolidated_metadata": {
          "kind": "inline",
          "must_understand": false,
          "metadata": {}
        },
        "node_type": "group"
      }
    }
  },
  "node_type": "group"
})";
  const GroupMetadata group = read(text, {.strict = true});
  EXPECT_EQ(document_text(group.to_v3(), ZarrFormat::v3), text);
  ASSERT_EQ(group.to_documents().size(), 1u);
  EXPECT_EQ(group.to_documents()[0].first, "zarr.json");
  GroupMetadata plain = group;
  plain.consolidated.reset();
  plain.attributes = {};
  EXPECT_EQ(plain.to_v3().dump(), R"({"attributes": {}, "zarr_format": 3, "node_type": "group"})");
}

TEST(GroupV3, NullsAreLenient) {
  Warnings warnings;
  const char* text =
      R"({"zarr_format": 3, "node_type": "group", "attributes": null, "consolidated_metadata": null})";
  const GroupMetadata group = read(text, warnings.options());
  EXPECT_FALSE(group.consolidated);
  EXPECT_THAT(warnings.sentences, ElementsAre(HasSubstr("attributes"), HasSubstr("consolidated_metadata")));
  expect_error(ErrorCode::invalid_metadata, "strict", [&] { read(text, {.strict = true}); });
  expect_error(ErrorCode::invalid_metadata, "consolidated_metadata", [] {
    read(R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": null})", {.strict = true});
  });
}

TEST(GroupV3, ExtraMembers) {
  const char* text = R"({"zarr_format": 3, "node_type": "group", "ext": {"must_understand": false, "x": 1}})";
  const GroupMetadata group = read(text, {.strict = true});
  EXPECT_EQ(group.to_v3().find("ext")->dump(), R"({"must_understand": false, "x": 1})");
  EXPECT_EQ(read(group.to_v3().dump()).extra_members, group.extra_members);
  expect_error(ErrorCode::unsupported, "ext",
               [] { read(R"({"zarr_format": 3, "node_type": "group", "ext": {}})"); });
  expect_error(ErrorCode::invalid_metadata, "shape",
               [] { read(R"({"zarr_format": 3, "node_type": "group", "shape": [1]})"); });
}

TEST(GroupV3, Refuses) {
  for (const char* text :
       {"3", "[]", "null", "{}", R"({"zarr_format": 3})", R"({"node_type": "group"})",
        R"({"zarr_format": 2, "node_type": "group"})", R"({"zarr_format": 3.0, "node_type": "group"})",
        R"({"zarr_format": "3", "node_type": "group"})", R"({"zarr_format": 3, "node_type": "array"})",
        R"({"zarr_format": 3, "node_type": 1})",
        R"({"zarr_format": 3, "node_type": "group", "attributes": []})",
        R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": 1})"}) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::invalid_metadata, "", [&] { read(text); });
  }
}

}  // namespace
}  // namespace zarrive
