#include "metadata/support.hpp"

namespace zarrive {
namespace {

using namespace zarrive::testing;

TEST(Names, NormalizePath) {
  for (const auto& [path, normal] :
       std::initializer_list<std::pair<const char*, const char*>>{{"", ""},
                                                                  {"/", ""},
                                                                  {"a", "a"},
                                                                  {"/a/b/", "a/b"},
                                                                  {"a//b", "a/b"},
                                                                  {"\\a\\b", "a/b"},
                                                                  {"//a\\/b//", "a/b"},
                                                                  {"é/ü", "é/ü"},
                                                                  {"...", "..."},
                                                                  {"a.b/.c", "a.b/.c"},
                                                                  {" a /b", " a /b"}})
    EXPECT_EQ(normalize_path(path), normal) << path;
  for (const char* path : {".", "..", "a/..", "../a", "a/./b", "a\\..\\b", "/.", "a/../.."})
    expect_error(ErrorCode::invalid_argument, "segment", [&] { normalize_path(path); });
  expect_error(ErrorCode::invalid_argument, "NUL", [] { normalize_path(std::string_view("a\0b", 3)); });
}

TEST(Names, CheckNodeName) {
  for (const char* name : {"a", "A-b_c.d", "é", "a b", "_a", ".a", "c", "0", "zarr.json2"}) {
    EXPECT_NO_THROW(check_node_name(name, ZarrFormat::v3)) << name;
    EXPECT_NO_THROW(check_node_name(name, ZarrFormat::v2)) << name;
  }
  for (const char* name : {"", ".", "..", "a/b", "/", "a\\b"})
    for (ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
      SCOPED_TRACE(name);
      expect_error(ErrorCode::invalid_argument, "node name", [&] { check_node_name(name, format); });
    }
  expect_error(ErrorCode::invalid_argument, "NUL",
               [] { check_node_name(std::string_view("a\0", 2), ZarrFormat::v3); });
  for (const char* name : {"...", "__a", "__", "zarr.json"}) {
    SCOPED_TRACE(name);
    expect_error(ErrorCode::invalid_argument, "node name", [&] { check_node_name(name, ZarrFormat::v3); });
    EXPECT_NO_THROW(check_node_name(name, ZarrFormat::v2));
  }
  for (const char* name : {".zarray", ".zgroup", ".zattrs", ".zmetadata"}) {
    SCOPED_TRACE(name);
    expect_error(ErrorCode::invalid_argument, "document", [&] { check_node_name(name, ZarrFormat::v2); });
  }
}

TEST(Names, JoinKey) {
  EXPECT_EQ(join_key("a/b", "zarr.json"), "a/b/zarr.json");
  EXPECT_EQ(join_key("", "zarr.json"), "zarr.json");
}

TEST(Names, DocumentText) {
  const Json document =
      Json::parse(R"({"b": [], "a": {"z": {}, "y": "\u00e9\ud83d\ude00"}, "n": [NaN, -Infinity, Infinity]})");
  EXPECT_EQ(document_text(document, ZarrFormat::v3),
            "{\n  \"b\": [],\n  \"a\": {\n    \"z\": {},\n    \"y\": \"\\u00e9\\ud83d\\ude00\"\n  },\n  "
            "\"n\": [\n    NaN,\n    -Infinity,\n    Infinity\n  ]\n}");
  EXPECT_EQ(document_text(document, ZarrFormat::v2),
            "{\n    \"a\": {\n        \"y\": \"\\u00e9\\ud83d\\ude00\",\n        \"z\": {}\n    },\n    "
            "\"b\": [],\n    \"n\": [\n        NaN,\n        "
            "-Infinity,\n        Infinity\n    ]\n}");
}

}  // namespace
}  // namespace zarrive
