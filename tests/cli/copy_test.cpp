// zarrive copy: between stores and formats, and what happens when it does not get to its end.
#include <numeric>

#include "cli/run_command.hpp"
#include "zarrive/zarrive.hpp"

namespace zarrive::cli {
namespace {

class Copy : public CommandTest {
 protected:
  void make(const std::string& name, ZarrFormat format) const {
    Group root = create_group(path(name), "", {.format = format, .attributes = {{"title", Json("Weather")}}});
    std::vector<std::int32_t> values(70);
    std::iota(values.begin(), values.end(), 0);
    CreateOptions options{.shape = {7, 10},
                          .data_type = "int32",
                          .chunks = {3, 4},
                          .fill_value = Json(-1),
                          .dimension_names = {"y", "x"},
                          .attributes = {{"units", Json("K")}}};
    root.create_array("surface/t2m", options)
        .write("0:4", std::vector<std::int32_t>(values.begin(), values.begin() + 40));
    root.create_array("names", {.shape = {2}, .data_type = "string"})
        .write({}, std::vector<std::string>{"north", "süd"});
    root.create_group("empty", {{"a", Json(1)}});
  }
  // Everything that a reader sees of a store.
  std::string contents(const std::string& name) const {
    std::string text = output_of({"tree", path(name)});
    for (const char* node : {"surface/t2m", "names"}) text += output_of({"read", path(name), node, "--json"});
    for (const char* node : {"", "surface", "empty"}) text += output_of({"attrs", path(name), node});
    text += output_of({"attrs", path(name), "surface/t2m", "get", "units"});
    return text;
  }
};

TEST_F(Copy, BetweenStoresAndFormats) {
  make("v2.zarr", ZarrFormat::v2);
  make("v3.zarr", ZarrFormat::v3);
  for (const char* from : {"v2.zarr", "v3.zarr"}) {
    for (const std::string to : {"copy.zarr", "copy.zip"}) {
      for (const char* format : {"0", "2", "3"}) {
        std::vector<std::string> arguments = {"copy", path(from), path(to), "--overwrite"};
        if (*format != '0') arguments.insert(arguments.end(), {"--format", format});
        EXPECT_EQ(output_of(arguments), "") << from << " " << to << " " << format;
        EXPECT_EQ(contents(to), contents(from)) << from << " " << to << " " << format;
        const ZarrFormat expected =
            *format == '0' ? open_group(path(from)).format() : static_cast<ZarrFormat>(*format - '0');
        EXPECT_EQ(open_group(path(to)).format(), expected);
        const Array array = open_array(path(to), "surface/t2m");
        EXPECT_EQ(array.metadata().format, expected);
        EXPECT_EQ(array.metadata().chunk_grid.chunk_shape(), (Shape{3, 4}));
        EXPECT_EQ(array.metadata().dimension_names.at(1), "x");
        EXPECT_EQ(array.stored_chunk_count(), 6u);
      }
    }
  }
  EXPECT_EQ(names_in_folder(), (std::vector<std::string>{"copy.zarr", "copy.zip", "v2.zarr", "v3.zarr"}));
}

TEST_F(Copy, EncodedChunksAreCopiedAsTheyAre) {
  make("v3.zarr", ZarrFormat::v3);
  // A chunk that cannot be decoded is copied all the same when its codecs stay.
  write_file(path("v3.zarr/surface/t2m/c/0/0"), "nonsense");
  EXPECT_EQ(output_of({"copy", path("v3.zarr"), path("v2.zarr"), "--format", "2"}), "");
  const Array array = open_array(path("v2.zarr"), "surface/t2m");
  EXPECT_EQ(file_text(path("v2.zarr/") + array.chunk_key(Index{0, 0})), "nonsense");
  EXPECT_EQ(file_text(path("v2.zarr/") + array.chunk_key(Index{1, 1})),
            file_text(path("v3.zarr/surface/t2m/c/1/1")));
}

TEST_F(Copy, ChunksAreEncodedAnewWhereTheFormatsDiffer) {
  // Fields of both byte orders: v3 has one for all.
  create_array(path("a.zarr"), "",
               {.shape = {5},
                .data_type = DataType::parse(R"([["a", ">i2"], ["b", "<i4"]])"),
                .chunks = {2},
                .format = ZarrFormat::v2})
      .write_value("1:3", Json::parse(R"({"a": 1, "b": 2})"));
  EXPECT_EQ(output_of({"copy", path("a.zarr"), path("b.zarr"), "--format", "3"}), "");
  EXPECT_EQ(output_of({"read", path("b.zarr"), "--raw"}), output_of({"read", path("a.zarr"), "--raw"}));
  EXPECT_EQ(open_array(path("b.zarr")).stored_chunk_count(), 2u);
  EXPECT_NE(file_text(path("a.zarr/0")), file_text(path("b.zarr/c/0")));
}

TEST_F(Copy, PartsOfStores) {
  make("a.zarr", ZarrFormat::v3);
  EXPECT_EQ(output_of({"copy", path("a.zarr"), path("b.zarr"), "--from", "surface/t2m", "--to", "x/y"}), "");
  EXPECT_EQ(output_of({"tree", path("b.zarr")}), "/\n└── x\n    └── y  (7, 10) int32\n");
  EXPECT_EQ(output_of({"copy", path("b.zarr"), path("b.zarr"), "--from", "x/y", "--to", "x/z"}), "");
  EXPECT_EQ(output_of({"read", path("b.zarr"), "x/z", "--json"}),
            output_of({"read", path("a.zarr"), "surface/t2m", "--json"}));
  EXPECT_EQ(output_of({"copy", path("a.zarr"), path("c.zarr"), "--from", "surface/t2m"}), "");
  EXPECT_EQ(output_of({"tree", path("c.zarr")}), "/  (7, 10) int32\n");
}

TEST_F(Copy, ConsolidatedStoresStayConsolidated) {
  for (const ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
    make("a.zarr", format);
    EXPECT_EQ(output_of({"consolidate", path("a.zarr")}), "");
    EXPECT_EQ(output_of({"copy", path("a.zarr"), path("b.zarr")}), "");
    EXPECT_TRUE(open_group(path("b.zarr")).is_consolidated());
    EXPECT_FALSE(open_group(path("b.zarr"), "surface").is_consolidated());
    const Outcome outcome =
        run_command({"copy", path("a.zarr"), path("b.zarr"), "--from", "empty", "--to", "more/empty"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("zarrive consolidate"), std::string::npos) << outcome.err;
    for (const char* store : {"a.zarr", "b.zarr"}) std::filesystem::remove_all(path(store));
  }
}

TEST_F(Copy, ArraysOfOneElementAndOfNone) {
  create_array(path("a.zarr"), "scalar", {.shape = {}, .data_type = "int8"}).write_value({}, Json(5));
  create_array(path("a.zarr"), "none", {.shape = {0, 3}, .data_type = "int8"});
  for (const char* format : {"2", "3"}) {
    EXPECT_EQ(output_of({"copy", path("a.zarr"), path("b.zarr"), "--overwrite", "--format", format}), "");
    EXPECT_EQ(output_of({"read", path("b.zarr"), "scalar"}), "5\n");
    EXPECT_EQ(open_array(path("b.zarr"), "none").shape(), (Shape{0, 3}));
  }
}

TEST_F(Copy, MoreChunksThanAreHeldAtOnce) {
  create_array(path("a.zarr"), "",
               {.shape = {5000}, .data_type = "int8", .chunks = {1}, .codecs = std::vector<CodecSpec>{}})
      .write_value({}, Json(5));
  const Outcome outcome = run_command({"copy", path("a.zarr"), "memory://many"}, {.err_is_terminal = true});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(open_array(open_store("memory://many")).stored_chunk_count(), 5000u);
  forget_memory_store("many");
}

TEST_F(Copy, UnknownMembersOfGroupsAreKept) {
  write_file(path("a.zarr/zarr.json"),
             R"({"zarr_format": 3, "node_type": "group", "extra": {"must_understand": false, "x": 1}})");
  EXPECT_EQ(output_of({"copy", path("a.zarr"), path("b.zarr")}), "");
  EXPECT_EQ(Json::parse(file_text(path("b.zarr/zarr.json"))).find("extra")->find("x")->to_int64(), 1);
}

TEST_F(Copy, Refuses) {
  make("a.zarr", ZarrFormat::v3);
  make("b.zarr", ZarrFormat::v3);
  const std::string before = contents("a.zarr");
  expect_failure(run_command({"copy", path("a.zarr"), path("b.zarr")}), 1, "[already_exists]");
  EXPECT_EQ(contents("b.zarr"), before);
  expect_failure(run_command({"copy", path("a.zarr"), path("c.zarr"), "--format", "1"}), 2, "--format");
  for (const char* to : {"a.zarr", "./b.zarr/../a.zarr", "a.zarr/surface"})
    expect_failure(run_command({"copy", path("a.zarr"), path(to), "--overwrite"}), 1, "within each other");
  expect_failure(run_command({"copy", path("a.zarr"), path("a.zarr"), "--to", "surface/new"}), 1,
                 "within each other");
  expect_failure(
      run_command({"copy", path("a.zarr"), path("a.zarr"), "--from", "surface/t2m", "--overwrite"}), 1,
      "within each other");
  EXPECT_EQ(contents("a.zarr"), before);
  write_file(path("home/letter.txt"), "dear");
  expect_failure(run_command({"copy", path("a.zarr"), path("home"), "--overwrite"}), 1, "would delete");
  EXPECT_EQ(file_text(path("home/letter.txt")), "dear");
}

TEST_F(Copy, NothingStaysOfACopyThatFailed) {
  make("a.zarr", ZarrFormat::v3);
  create_array(path("a.zarr"), "zz", {.shape = {2}, .data_type = "bfloat16"});  // v2 has no such type
  expect_failure(run_command({"copy", path("a.zarr"), path("b.zarr"), "--format", "2"}), 1, "[unsupported");
  EXPECT_TRUE(std::filesystem::is_empty(path("b.zarr")));
  expect_failure(run_command({"copy", path("a.zarr"), path("c.zarr"), "--to", "x", "--format", "2"}), 1,
                 "[unsupported");
  EXPECT_EQ(output_of({"ls", path("c.zarr"), "-r"}).find("x/"), std::string::npos);
  // What else is in the folder stays.
  write_file(path("home/letter.txt"), "dear");
  expect_failure(run_command({"copy", path("a.zarr"), path("home"), "--format", "2"}), 1, "[unsupported");
  EXPECT_EQ(file_text(path("home/letter.txt")), "dear");
}

TEST_F(Copy, StopsWhenAsked) {
  make("a.zarr", ZarrFormat::v3);
  std::stop_source stop;
  stop.request_stop();
  expect_failure(run_command({"copy", path("a.zarr"), path("b.zarr")}, {.stop = stop.get_token()}), 130,
                 "interrupted");
  EXPECT_TRUE(std::filesystem::is_empty(path("b.zarr")));
}

TEST_F(Copy, FromAStoreThatCannotList) {
  class Unlisted : public StoreWrapper {
   public:
    using StoreWrapper::StoreWrapper;
    StoreCapabilities capabilities() const override {
      StoreCapabilities capabilities = StoreWrapper::capabilities();
      capabilities.listable = false;
      return capabilities;
    }
  };
  register_store_scheme("unlisted",
                        [](std::string_view url, const OpenStoreOptions& options) -> std::shared_ptr<Store> {
                          return std::make_shared<Unlisted>(
                              open_store(url.substr(std::string_view("unlisted://").size()), options));
                        });
  create_array(path("a.zarr"), "", {.shape = {5, 3}, .data_type = "int8", .chunks = {2, 2}})
      .write_value("3:", Json(5));
  create_array(path("none.zarr"), "", {.shape = {0}, .data_type = "int8"});
  const std::string url = "unlisted://" + path("a.zarr");
  EXPECT_EQ(output_of({"copy", url, path("b.zarr")}), "");
  EXPECT_EQ(output_of({"copy", "unlisted://" + path("none.zarr"), path("c.zarr")}), "");
  EXPECT_EQ(output_of({"read", path("b.zarr"), "--json"}), output_of({"read", path("a.zarr"), "--json"}));
  EXPECT_EQ(open_array(path("b.zarr")).stored_chunk_count(), 4u);
  EXPECT_NE(output_of({"info", url}).find("stored      unknown number of 6 chunks"), std::string::npos);
  EXPECT_EQ(output_of({"create", "unlisted://" + path("d.zarr"), "--shape", "1", "--dtype", "int8"}), "");
}

}  // namespace
}  // namespace zarrive::cli
