// zarrive info, tree, ls, attrs, consolidate and codecs.
#include "cli/run_command.hpp"
#include "zarrive/zarrive.hpp"

namespace zarrive::cli {
namespace {

class Look : public CommandTest {
 protected:
  void SetUp() override {
    for (const ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
      const bool v2 = format == ZarrFormat::v2;
      Group root = create_group(path(v2 ? "v2.zarr" : "v3.zarr"), "",
                                {.format = format, .attributes = {{"title", Json("Weather")}}});
      root.create_group("empty");
      CreateOptions options{.shape = {4, 6},
                            .data_type = "float32",
                            .chunks = {2, 6},
                            .fill_value = Json("NaN"),
                            .dimension_names = {"time", "x"},
                            .attributes = {{"units", Json("K")}}};
      if (v2) options.compressor = CodecSpec{};
      else options.codecs = std::vector<CodecSpec>{codecs::bytes()};
      Array array = root.create_array("surface/t2m", options);
      array.write("0:2", std::vector<float>(12, 1));
    }
  }
};

TEST_F(Look, InfoOfArrays) {
  EXPECT_EQ(output_of({"info", path("v3.zarr"), "surface/t2m"}),
            "array       /surface/t2m\nformat      Zarr v3\ntype        float32\nshape       (4, "
            "6)\ndimensions  time, x\n"
            "chunks      (2, 6), grid (2, 1)\ncodecs      bytes(endian=little)\nfill        \"NaN\"\n"
            "size        24 elements, 96 bytes\nstored      1 of 2 chunks, 48 bytes\nattributes  1\n  units: "
            "\"K\"\n");
  const std::string v2 = output_of({"info", path("v2.zarr"), "surface/t2m"});
  EXPECT_NE(v2.find("format      Zarr v2\n"), std::string::npos) << v2;
  EXPECT_NE(v2.find("codecs      none\n"), std::string::npos) << v2;
  EXPECT_NE(v2.find("stored      1 of 2 chunks, 48 bytes\n"), std::string::npos) << v2;
}

TEST_F(Look, InfoOfLargerThings) {
  Array array = create_array(path("a.zarr"), "",
                             {.shape = {1024, 1024},
                              .data_type = "int16",
                              .chunks = {1024, 1024},
                              .format = ZarrFormat::v2,
                              .order = 'F'});
  array.write_value({}, Json(7));
  array.set_attributes({{"long", Json(std::string(498, 'a') + "ääää")}, {"\x1b[2J", Json(1)}});
  const std::string info = output_of({"info", path("a.zarr")});
  EXPECT_NE(info.find("size        1,048,576 elements, 2.0 MiB (2,097,152 bytes)\n"), std::string::npos)
      << info;
  EXPECT_NE(info.find("order       F\n"), std::string::npos) << info;
  EXPECT_NE(info.find("1 of 1 chunk, "), std::string::npos) << info;
  EXPECT_NE(info.find(", ratio "), std::string::npos) << info;
  EXPECT_NE(info.find("...\n"), std::string::npos) << info;
  EXPECT_NE(info.find("\\x1b[2J: 1"), std::string::npos) << info;

  create_array(path("s.zarr"), "", {.shape = {2}, .data_type = "string"});
  EXPECT_NE(output_of({"info", path("s.zarr")}).find("size        2 elements\n"), std::string::npos);
  create_array(path("u.zarr"), "",
               {.shape = {2}, .data_type = "int8", .format = ZarrFormat::v2, .fill_value = Json()});
  EXPECT_NE(output_of({"info", path("u.zarr")}).find("fill        null (reads as zeros)\n"),
            std::string::npos);
}

TEST_F(Look, InfoOfRectilinearGrids) {
  CreateOptions options{.shape = {10, 20}, .data_type = "int8"};
  options.chunk_grid = ChunkGrid::rectilinear(
      {{.runs = {{3, 2}, {4, 1}}, .repeat = false}, {.runs = {{5, 1}}, .repeat = true}});
  create_array(path("a.zarr"), "", options);
  const std::string info = output_of({"info", path("a.zarr")});
  EXPECT_NE(info.find("chunks      ([3 x 2, 4], 5), grid (3, 4)\n"), std::string::npos) << info;
}

TEST_F(Look, InfoOfShards) {
  Array array = create_array(path("a.zarr"), "",
                             {.shape = {10, 20}, .data_type = "int8", .chunks = {2, 5}, .shards = {4, 10}});
  array.write_value("0, 0", 3);
  const std::string info = output_of({"info", path("a.zarr")});
  EXPECT_NE(info.find("shards      (4, 10), grid (3, 2)\nchunks      (2, 5) in each shard\n"),
            std::string::npos)
      << info;
  EXPECT_NE(info.find("stored      1 of 6 shards, "), std::string::npos) << info;
}

TEST_F(Look, InfoOfGroups) {
  EXPECT_EQ(output_of({"info", path("v3.zarr")}),
            "group       /\nformat      Zarr v3\nchildren    0 arrays, 2 groups\nattributes  1\n  title: "
            "\"Weather\"\n");
  EXPECT_EQ(output_of({"consolidate", path("v3.zarr")}), "");
  EXPECT_NE(output_of({"info", path("v3.zarr")}).find("format      Zarr v3, consolidated\n"),
            std::string::npos);
  EXPECT_EQ(output_of({"info", path("v3.zarr"), "empty"}),
            "group       /empty\nformat      Zarr v3\nchildren    0 arrays, 0 groups\n");
}

TEST_F(Look, InfoJson) {
  const Json v3 = Json::parse(output_of({"info", path("v3.zarr"), "surface/t2m", "--json"}));
  EXPECT_EQ(v3,
            Json::parse(R"({"zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "float32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 6]}},
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "fill_value": "NaN",
    "dimension_names": ["time", "x"], "attributes": {"units": "K"}})"));
  const Json v2 = Json::parse(output_of({"info", path("v2.zarr"), "surface/t2m", "--json"}));
  EXPECT_EQ(*v2.find("zarr_format"), Json(2));
  EXPECT_EQ(*v2.find("data_type"), Json("float32"));
  EXPECT_EQ(*v2.find("chunk_grid"), *v3.find("chunk_grid"));
  EXPECT_EQ(*v2.find("codecs"), *v3.find("codecs"));
  EXPECT_EQ(*v2.find("fill_value"), Json("NaN"));
  EXPECT_EQ(*v2.find("dimension_names"), *v3.find("dimension_names"));
  EXPECT_EQ(*v2.find("v2")->find("dtype"), Json("<f4"));
  EXPECT_EQ(Json::parse(output_of({"info", path("v3.zarr"), "--json"})),
            Json::parse(R"({"zarr_format": 3, "node_type": "group", "attributes": {"title": "Weather"}})"));
  EXPECT_EQ(
      Json::parse(output_of({"info", path("v2.zarr"), "--json"})),
      Json::parse(
          R"({"zarr_format": 2, "node_type": "group", "attributes": {"title": "Weather"}, "v2": {"zarr_format": 2}})"));
}

TEST_F(Look, InfoOfWhatCannotBeDecoded) {
  write_file(
      path("a.zarr/.zarray"),
      R"({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "compressor": {"id": "mystery", "level": 3},
    "fill_value": null, "order": "C", "filters": null})");
  const std::string info = output_of({"info", path("a.zarr")});
  EXPECT_NE(info.find("codecs      mystery(level=3)\n"), std::string::npos) << info;
  const Json json = Json::parse(output_of({"info", path("a.zarr"), "--json"}));
  EXPECT_TRUE(json.find("codecs")->is_null());
  EXPECT_TRUE(json.find("fill_value")->is_null());
  EXPECT_TRUE(json.find("dimension_names")->is_null());
  EXPECT_EQ(*json.find("v2")->find("compressor")->find("id"), Json("mystery"));
  write_file(path("a.zarr/0"), "x");
  expect_failure(run_command({"read", path("a.zarr")}), 1, "[unsupported_codec]");
}

TEST_F(Look, Tree) {
  for (const char* store : {"v2.zarr", "v3.zarr"}) {
    EXPECT_EQ(output_of({"tree", path(store)}), "/\n├── empty\n└── surface\n    └── t2m  (4, 6) float32\n");
    EXPECT_EQ(output_of({"tree", path(store), "--depth", "1"}), "/\n├── empty\n└── surface\n");
    EXPECT_EQ(output_of({"tree", path(store), "surface"}), "surface\n└── t2m  (4, 6) float32\n");
    EXPECT_EQ(output_of({"tree", path(store), "surface/t2m"}), "surface/t2m  (4, 6) float32\n");
    EXPECT_EQ(Json::parse(output_of({"tree", path(store), "--json"})),
              Json::parse(R"({"name": "", "node_type": "group", "children": [
      {"name": "empty", "node_type": "group", "children": []},
      {"name": "surface", "node_type": "group", "children": [{"name": "t2m", "node_type": "array", "children": []}]}]})"));
    EXPECT_EQ(Json::parse(output_of({"tree", path(store), "surface/t2m", "--json", "--depth", "0"})),
              Json::parse(R"({"name": "t2m", "node_type": "array", "children": []})"));
  }
}

TEST_F(Look, ABrokenNodeDoesNotHideTheOthers) {
  write_file(path("v3.zarr/broken/zarr.json"),
             R"({"zarr_format": 3, "node_type": "array", "shape": "round"})");
  write_file(path("v3.zarr/broken_group/zarr.json"),
             R"({"zarr_format": 3, "node_type": "group", "attributes": 7})");
  for (const char* form : {"", "--json"}) {
    std::vector<std::string> arguments = {"tree", path("v3.zarr")};
    if (*form) arguments.emplace_back(form);
    const Outcome outcome = run_command(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("zarrive: [invalid_metadata]"), std::string::npos) << outcome.err;
    if (!*form) {
      EXPECT_EQ(outcome.out,
                "/\n├── broken  (invalid_metadata)\n├── broken_group  (invalid_metadata)\n├── empty\n└── "
                "surface\n    └── t2m  (4, 6) float32\n");
    }
  }
}

TEST_F(Look, Ls) {
  EXPECT_EQ(output_of({"ls", path("v3.zarr")}), "empty/\nsurface/\nzarr.json\n");
  EXPECT_EQ(output_of({"ls", path("v3.zarr"), "surface/t2m"}), "c/\nzarr.json\n");
  EXPECT_EQ(output_of({"ls", path("v3.zarr"), "surface/t2m/c", "-r", "-l"}), "48  0/0\n");
  EXPECT_EQ(output_of({"ls", path("v3.zarr"), "/surface/t2m/c/0/0", "-l"}), "48  surface/t2m/c/0/0\n");
  EXPECT_EQ(output_of({"ls", path("v2.zarr"), "-r"}),
            ".zattrs\n.zgroup\nempty/.zgroup\nsurface/.zgroup\nsurface/t2m/.zarray\nsurface/t2m/"
            ".zattrs\nsurface/t2m/0.0\n");
  const std::string listed = output_of({"ls", path("v2.zarr"), "-l"});
  EXPECT_NE(listed.find("  .zgroup\n"), std::string::npos);
  EXPECT_NE(listed.find("    empty/\n"), std::string::npos) << listed;
  expect_failure(run_command({"ls", path("v3.zarr"), "nothing"}), 1, "[not_found]");
  expect_failure(run_command({"ls", path("v3.zarr"), "../v2.zarr"}), 1, "[invalid_argument]");
}

TEST_F(Look, AttrsAreShownAndChanged) {
  for (const char* name : {"v2.zarr", "v3.zarr"}) {
    const std::string store = path(name);
    EXPECT_EQ(output_of({"attrs", store}), "{\n  \"title\": \"Weather\"\n}\n");
    EXPECT_EQ(output_of({"attrs", store, "get", "title"}), "\"Weather\"\n");
    EXPECT_EQ(output_of({"attrs", store, "surface/t2m", "get", "units"}), "\"K\"\n");
    EXPECT_EQ(output_of({"attrs", store, "surface/t2m", "set", "units", "\"degC\"", "valid_min", "-5.50",
                         "big", "18446744073709551615"}),
              "");
    EXPECT_EQ(output_of({"attrs", store, "surface/t2m", "get", "valid_min"}), "-5.50\n");
    EXPECT_EQ(output_of({"attrs", store, "surface/t2m", "get", "big"}), "18446744073709551615\n");
    EXPECT_EQ(output_of({"attrs", store, "surface/t2m", "delete", "units", "big"}), "");
    EXPECT_EQ(Json::parse(output_of({"attrs", store, "surface/t2m"})).find("units"), nullptr);
    EXPECT_EQ(output_of({"attrs", store, "set", "title", "{\"a\": [1, null]}"}), "");
    EXPECT_EQ(output_of({"attrs", store, "/", "get", "title"}), "{\n  \"a\": [\n    1,\n    null\n  ]\n}\n");
  }
}

TEST_F(Look, AttrsRefuses) {
  const std::string store = path("v3.zarr");
  expect_failure(run_command({"attrs", store, "get", "nothing"}), 1,
                 "[not_found] " + store + ": there is no attribute \"nothing\"");
  expect_failure(run_command({"attrs", store, "empty", "delete", "nothing"}), 1,
                 "[not_found] " + store + ": empty");
  expect_failure(run_command({"attrs", store, "set", "a"}), 2, "NAME JSON");
  expect_failure(run_command({"attrs", store, "set"}), 2, "NAME JSON");
  expect_failure(run_command({"attrs", store, "set", "a", "no json"}), 2, "takes JSON");
  expect_failure(run_command({"attrs", store, "get", "a", "b"}), 2, "one name");
  expect_failure(run_command({"attrs", store, "delete"}), 2, "names");
  expect_failure(run_command({"attrs", store, "empty", "put"}), 2, "get, set or delete");
}

TEST_F(Look, ChangesBelowConsolidatedMetadataWarn) {
  for (const char* name : {"v2.zarr", "v3.zarr"}) {
    const std::string store = path(name);
    EXPECT_EQ(output_of({"consolidate", store}), "");
    EXPECT_TRUE(open_group(store).is_consolidated());
    const Outcome outcome = run_command({"attrs", store, "surface/t2m", "set", "a", "1"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("zarrive: warning: " + store), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("run `zarrive consolidate`"), std::string::npos) << outcome.err;
    EXPECT_EQ(output_of({"consolidate", store}), "");
    EXPECT_EQ(open_group(store).open_array("surface/t2m").attributes().find("a")->to_int64(), 1);
  }
  expect_failure(run_command({"consolidate", path("v3.zarr"), "surface/t2m"}), 1, "[invalid_argument]");
}

TEST(Codecs, ListsTheRegistry) {
  const std::string text = output_of({"codecs"});
  EXPECT_NE(text.find("v3  bytes"), std::string::npos);
  EXPECT_NE(text.find("v2  zlib"), std::string::npos);
  EXPECT_NE(text.find("refused: "), std::string::npos);
  const Json json = Json::parse(output_of({"codecs", "--json"}));
  EXPECT_EQ(json.as_array().size(), CodecRegistry::global().list().size());
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), json.as_array().size());
}

}  // namespace
}  // namespace zarrive::cli
