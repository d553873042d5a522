#include "metadata/support.hpp"

namespace zarrive {
namespace {

using namespace zarrive::testing;
using ::testing::ElementsAre;

std::vector<std::string> names(const JsonObject& object) {
  std::vector<std::string> names;
  for (const auto& member : object) names.push_back(member.first);
  return names;
}
std::vector<std::string> paths(const ConsolidatedMetadata& consolidated) {
  std::vector<std::string> paths;
  for (const auto& node : consolidated.nodes) paths.push_back(node.first);
  return paths;
}
ConsolidatedMetadata read_v2(const std::string& entries) {
  return ConsolidatedMetadata::from_v2(
      Json::parse(R"({"zarr_consolidated_format": 1, "metadata": )" + entries + "}"));
}
ConsolidatedMetadata read_v3(const std::string& entries) {
  return ConsolidatedMetadata::from_v3(
      Json::parse(R"({"kind": "inline", "must_understand": false, "metadata": )" + entries + "}"));
}
const std::string group_v3 = R"({"attributes": {}, "zarr_format": 3, "node_type": "group"})";
const std::string array_v3 = R"({"shape": [1], "zarr_format": 3, "node_type": "array"})";

TEST(ConsolidatedV2, ReadsNodesAndAttributes) {
  const ConsolidatedMetadata consolidated = read_v2(R"({
    ".zgroup": {"zarr_format": 2}, ".zattrs": {"title": "x"},
    "a/.zgroup": {"zarr_format": 2, "consolidated_metadata": {"metadata": {}, "must_understand": false, "kind": "inline"}},
    "a/b/.zarray": {"zarr_format": 2, "shape": [1]}, "a/b/.zattrs": {"_ARRAY_DIMENSIONS": ["t"]},
    "c/.zarray": {"zarr_format": 2}, "c/.zgroup": {"zarr_format": 2}, "lonely/.zattrs": {"x": 1}, ".nczattrs": 3, "d/other": "text"})");
  EXPECT_EQ(consolidated.format, ZarrFormat::v2);
  EXPECT_THAT(paths(consolidated), ElementsAre("", "a", "a/b", "c"));
  EXPECT_EQ(consolidated.nodes.at("").type, NodeType::group);
  EXPECT_EQ(consolidated.nodes.at("").attributes, Json::parse(R"({"title": "x"})"));
  EXPECT_EQ(consolidated.nodes.at("a").document, Json::parse(R"({"zarr_format": 2})"));
  EXPECT_TRUE(consolidated.nodes.at("a").attributes.is_null());
  EXPECT_EQ(consolidated.nodes.at("a/b").type, NodeType::array);
  EXPECT_EQ(*consolidated.nodes.at("a/b").attributes.find("_ARRAY_DIMENSIONS"), Json(JsonArray{"t"}));
  EXPECT_EQ(consolidated.nodes.at("c").type, NodeType::array);

  const Json written = consolidated.to_v2();
  EXPECT_EQ(*written.find("zarr_consolidated_format"), Json(1));
  EXPECT_THAT(names(written.find("metadata")->as_object()),
              ElementsAre(".zgroup", ".zattrs", "a/.zgroup", "a/b/.zarray", "a/b/.zattrs", "c/.zarray"));
  const ConsolidatedMetadata again = ConsolidatedMetadata::from_v2(written);
  EXPECT_EQ(paths(again), paths(consolidated));
  EXPECT_EQ(again.to_v2(), written);
  expect_error(ErrorCode::invalid_argument, ".zmetadata", [&] { consolidated.to_v3(); });
}

TEST(ConsolidatedV2, NodesOpen) {
  const ConsolidatedMetadata consolidated = read_v2(std::string(R"({"x/.zarray": )") + sound_v2 +
                                                    R"(, "x/.zattrs": {"_ARRAY_DIMENSIONS": ["t", "u"]}})");
  const NodeDocuments& node = consolidated.nodes.find(std::string_view("x"))->second;
  EXPECT_THAT(ArrayMetadata::from_v2(node.document, node.attributes).dimension_names, ElementsAre("t", "u"));
}

TEST(ConsolidatedV2, Refuses) {
  const auto from = [](const char* text) { ConsolidatedMetadata::from_v2(Json::parse(text)); };
  for (const char* text :
       {"1", "[]", "{}", R"({"metadata": {}})", R"({"zarr_consolidated_format": 1})",
        R"({"zarr_consolidated_format": 2, "metadata": {}})",
        R"({"zarr_consolidated_format": "1", "metadata": {}})",
        R"({"zarr_consolidated_format": 1, "metadata": []})",
        R"({"zarr_consolidated_format": 1, "metadata": {".zgroup": "{}"}})",
        R"({"zarr_consolidated_format": 1, "metadata": {"a/.zattrs": null}})",
        R"({"zarr_consolidated_format": 1, "metadata": {"../.zgroup": {}}})",
        R"({"zarr_consolidated_format": 1, "metadata": {"a/./.zgroup": {}}})",
        R"({"zarr_consolidated_format": 1, "metadata": {"a/.zgroup": {}, "/a/.zgroup": {}}})"}) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::invalid_metadata, "", [&] { from(text); });
  }
}

TEST(ConsolidatedV3, ReadsFlatDocuments) {
  const ConsolidatedMetadata consolidated = read_v3(
      R"({"a": {"attributes": {"k": 1}, "zarr_format": 3, "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}, "node_type": "group"},
          "a/x": )" +
      array_v3 + R"(, "/b/": )" + group_v3 + R"(, "": )" + group_v3 + "}");
  EXPECT_EQ(consolidated.format, ZarrFormat::v3);
  EXPECT_THAT(paths(consolidated), ElementsAre("a", "a/x", "b"));
  EXPECT_EQ(consolidated.nodes.at("a").document,
            Json::parse(R"({"attributes": {"k": 1}, "zarr_format": 3, "node_type": "group"})"));
  EXPECT_EQ(consolidated.nodes.at("a/x").type, NodeType::array);
  EXPECT_TRUE(consolidated.nodes.at("a/x").attributes.is_null());
  expect_error(ErrorCode::invalid_argument, ".zmetadata", [&] { consolidated.to_v2(); });
  EXPECT_TRUE(ConsolidatedMetadata::from_v3(Json()).nodes.empty());
  // must_understand need not be there
  EXPECT_TRUE(
      ConsolidatedMetadata::from_v3(Json::parse(R"({"kind": "inline", "metadata": {}})")).nodes.empty());
}

TEST(ConsolidatedV3, WritesInTheOrderOfZarrPython) {
  const ConsolidatedMetadata consolidated = read_v3(
      R"({"b/c/d": )" + array_v3 + R"(, "Z": )" + array_v3 + R"(, "b/c": )" + group_v3 + R"(, "B": )" +
      array_v3 + R"(, "b": )" + group_v3 + R"(, "a": )" + array_v3 + R"(, "a_": )" + array_v3 + "}");
  const Json written = consolidated.to_v3();
  EXPECT_THAT(names(written.as_object()), ElementsAre("kind", "must_understand", "metadata"));
  EXPECT_THAT(names(written.find("metadata")->as_object()),
              ElementsAre("a", "a_", "B", "b", "Z", "b/c", "b/c/d"));
  EXPECT_EQ(
      written.find("metadata")->find("b")->dump(),
      R"({"attributes": {}, "zarr_format": 3, "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}, "node_type": "group"})");
  EXPECT_EQ(written.find("metadata")->find("a")->find("consolidated_metadata"), nullptr);
  const ConsolidatedMetadata again = ConsolidatedMetadata::from_v3(written);
  EXPECT_EQ(paths(again), paths(consolidated));
  EXPECT_EQ(again.to_v3().dump(), written.dump());
}

TEST(ConsolidatedV3, NestedNodesAreKept) {
  const std::string inner = R"({"kind": "inline", "must_understand": false, "metadata": {"x": )" + array_v3 +
                            R"(, "y": )" + array_v3 + "}}";
  const ConsolidatedMetadata consolidated =
      read_v3(R"({"a": {"zarr_format": 3, "node_type": "group", "consolidated_metadata": )" + inner +
              R"(}, "a/x": )" + group_v3 +
              R"(, "n": {"zarr_format": 3, "node_type": "group", "consolidated_metadata": null}})");
  EXPECT_THAT(paths(consolidated), ElementsAre("a", "a/x", "a/y", "n"));
  EXPECT_EQ(consolidated.nodes.at("a/x").type, NodeType::group);  // the outer entry wins
  EXPECT_EQ(consolidated.nodes.at("n").document.find("consolidated_metadata"), nullptr);
}

TEST(ConsolidatedV3, FormatTwoDocumentsHoldTheirAttributes) {
  const ConsolidatedMetadata consolidated =
      read_v3(R"({"a": {"zarr_format": 2, "shape": [1], "attributes": {"k": 1}}, "g": {"zarr_format": 2}})");
  EXPECT_EQ(consolidated.nodes.at("a").type, NodeType::array);
  EXPECT_EQ(consolidated.nodes.at("a").document, Json::parse(R"({"zarr_format": 2, "shape": [1]})"));
  EXPECT_EQ(consolidated.nodes.at("a").attributes, Json::parse(R"({"k": 1})"));
  EXPECT_EQ(consolidated.nodes.at("g").type, NodeType::group);
  const ConsolidatedMetadata again = ConsolidatedMetadata::from_v3(consolidated.to_v3());
  EXPECT_EQ(again.nodes.at("a").attributes, consolidated.nodes.at("a").attributes);
  EXPECT_EQ(again.nodes.at("g").document, consolidated.nodes.at("g").document);
}

TEST(ConsolidatedV3, Refuses) {
  const auto from = [](const std::string& text) { ConsolidatedMetadata::from_v3(Json::parse(text)); };
  for (const char* text : {"1", "[]", "{}", R"({"kind": "inline"})", R"({"metadata": {}})",
                           R"({"kind": "file", "metadata": {}})", R"({"kind": 1, "metadata": {}})",
                           R"({"kind": "inline", "metadata": []})", R"({"kind": "inline", "metadata": null})",
                           R"({"kind": "inline", "must_understand": 1, "metadata": {}})"}) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::invalid_metadata, "", [&] { from(text); });
  }
  for (const char* entries :
       {R"({"a": 1})", R"({"a": {}})", R"({"a": {"zarr_format": 3}})",
        R"({"a": {"zarr_format": 4, "node_type": "group"}})",
        R"({"a": {"zarr_format": 3, "node_type": "table"}})", R"({"a": {"zarr_format": 3, "node_type": 1}})",
        R"({"../a": {"zarr_format": 3, "node_type": "group"}})",
        R"({"a/..": {"zarr_format": 3, "node_type": "group"}})",
        R"({"a": {"zarr_format": 3, "node_type": "group"}, "/a": {"zarr_format": 3, "node_type": "group"}})",
        R"({"a": {"zarr_format": 3, "node_type": "group", "consolidated_metadata": 7}})"}) {
    SCOPED_TRACE(entries);
    expect_error(ErrorCode::invalid_metadata, "", [&] { read_v3(entries); });
  }
}

// 10^5 nodes: read, looked up, and written back. A quadratic step anywhere would not end in time.
TEST(Consolidated, ManyNodes) {
  constexpr int groups = 1000, arrays = 99;
  std::string v3 = "{", v2 = "{\".zgroup\": {\"zarr_format\": 2}";
  for (int g = 0; g < groups; ++g) {
    const std::string group = "g" + std::to_string(g);
    v3 += (g ? ",\"" : "\"") + group + "\":" + group_v3;
    v2 += ",\"" + group + "/.zgroup\":{\"zarr_format\":2}";
    for (int a = 0; a < arrays; ++a) {
      const std::string path = group + "/a" + std::to_string(a);
      v3 += ",\"" + path + "\":" + array_v3;
      v2 += ",\"" + path + "/.zarray\":{\"zarr_format\":2,\"shape\":[" + std::to_string(a) + "]}";
    }
  }
  const ConsolidatedMetadata three = read_v3(v3 + "}"), two = read_v2(v2 + "}");
  EXPECT_EQ(three.nodes.size(), 100000u);
  EXPECT_EQ(two.nodes.size(), 100001u);
  for (int g = 0; g < groups; g += 7)
    for (int a = 0; a < arrays; a += 3) {
      const std::string path = "g" + std::to_string(g) + "/a" + std::to_string(a);
      ASSERT_EQ(three.nodes.find(path)->second.type, NodeType::array);
      ASSERT_EQ(*two.nodes.find(path)->second.document.find("shape"), Json(JsonArray{a}));
    }
  EXPECT_EQ(three.to_v3().find("metadata")->as_object().size(), 100000u);
  EXPECT_EQ(two.to_v2().find("metadata")->as_object().size(), 100001u);
}

}  // namespace
}  // namespace zarrive
