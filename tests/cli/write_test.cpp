// zarrive create and write: from every kind of input, into new arrays and parts of old ones.
#include "cli/npy.hpp"
#include "cli/run_command.hpp"
#include "zarrive/zarrive.hpp"

namespace zarrive::cli {
namespace {

class Write : public CommandTest {
 protected:
  // A .npy file of int16 0, 1, 2, ...
  std::string npy(const std::string& name, const Shape& shape, bool fortran_order = false,
                  const std::string& descr = "<i2") const {
    std::string header = npy_header(DataType(TypeId::int16), shape);
    if (fortran_order) header.replace(header.find("False"), 5, "True ");
    header.replace(header.find("<i2"), 3, descr);
    std::string data;
    for (std::uint64_t i = 0; i < element_count(shape); ++i) {
      const char bytes[2] = {static_cast<char>(i & 0xff), static_cast<char>(i >> 8)};
      data += descr[0] == '>' ? std::string{bytes[1], bytes[0]} : std::string{bytes[0], bytes[1]};
    }
    write_file(path(name), header + data);
    return path(name);
  }
  std::string json(const std::string& store, const std::string& node = {}) const {
    return output_of({"read", store, node, "--json"});
  }
};

TEST_F(Write, CreatesArraysOfBothFormats) {
  EXPECT_EQ(output_of({"create", path("a.zarr"), "x/speed", "--shape", "4,6", "--dtype", "float32",
                       "--chunks", "2,3", "--fill", "NaN", "--dimension-names", "lat,lon", "--attributes",
                       R"({"units": "m/s"})", "--codecs",
                       R"(["bytes", {"name": "gzip", "configuration": {"level": 1}}, "crc32c"])"}),
            "");
  const Array v3 = open_array(path("a.zarr"), "x/speed");
  EXPECT_EQ(v3.metadata().chunk_grid.chunk_shape(), (Shape{2, 3}));
  EXPECT_EQ(v3.metadata().codecs.size(), 3u);
  EXPECT_EQ(v3.metadata().dimension_names[1], "lon");
  EXPECT_EQ(v3.attributes().find("units")->as_string(), "m/s");
  EXPECT_EQ(v3.metadata().fill_value.to_v3(), Json("NaN"));
  EXPECT_EQ(open_group(path("a.zarr"), "x").format(), ZarrFormat::v3);

  EXPECT_EQ(output_of({"create", path("b.zarr"), "--format", "2", "--shape", "(5,)", "--dtype", ">i4",
                       "--filters", R"([{"id": "delta", "dtype": ">i4"}])", "--compressor",
                       R"({"id": "zlib", "level": 1})", "--fill", "-1", "--order", "F"}),
            "");
  const Array v2 = open_array(path("b.zarr"));
  EXPECT_EQ(v2.metadata().format, ZarrFormat::v2);
  EXPECT_EQ(v2.data_type().byte_order(), ByteOrder::big);
  EXPECT_EQ(v2.metadata().compressor->name, "zlib");
  EXPECT_EQ(v2.metadata().filters.at(0).name, "delta");
  EXPECT_EQ(json(path("b.zarr")), "[-1, -1, -1, -1, -1]\n");
}

TEST_F(Write, CreatesShards) {
  EXPECT_EQ(output_of({"create", path("a.zarr"), "--shape", "4,6", "--dtype", "int16", "--chunks", "2,3",
                       "--shards", "4,6", "--compressor", "none"}),
            "");
  const Array array = open_array(path("a.zarr"));
  EXPECT_EQ(array.metadata().chunk_grid.chunk_shape(), (Shape{4, 6}));
  EXPECT_EQ(array.inner_chunk_shape(), (Shape{2, 3}));

  const auto refused = [&](const std::string& shards, const std::string& format) {
    return run_command({"create", path("b.zarr"), "--shape", "4,6", "--dtype", "int16", "--chunks", "2,3",
                        "--shards", shards, "--format", format})
        .err;
  };
  EXPECT_NE(refused("4,6", "2").find("--shards is for --format 3"), std::string::npos);
  EXPECT_NE(refused("3,6", "3").find("do not divide a shard"), std::string::npos) << refused("3,6", "3");
  EXPECT_FALSE(std::filesystem::exists(path("b.zarr")));
}

TEST_F(Write, CompressorsByName) {
  for (const char* format : {"2", "3"}) {
    for (const char* compressor : {"zstd", "gzip", "blosc", "none"}) {
      const std::string store = path(std::string(compressor) + format);
      EXPECT_EQ(output_of({"create", store, "--shape", "3", "--dtype", "int16", "--format", format,
                           "--compressor", compressor}),
                "");
      EXPECT_EQ(output_of({"write", store, "--value", "7"}), "");
      EXPECT_EQ(json(store), "[7, 7, 7]\n");
      const ArrayMetadata metadata = open_array(store).metadata();
      const std::string last = format[0] == '2' ? (metadata.compressor ? metadata.compressor->name : "none")
                                                : metadata.codecs.back().name;
      EXPECT_EQ(last, std::string(compressor) == "none" && format[0] == '3' ? "bytes" : compressor);
    }
  }
}

TEST_F(Write, CreatesGroupsAndScalars) {
  EXPECT_EQ(output_of({"create", path("a.zarr"), "g", "--group", "--attributes", R"({"title": "x"})",
                       "--format", "2"}),
            "");
  EXPECT_EQ(open_group(path("a.zarr"), "g").attributes().find("title")->as_string(), "x");
  EXPECT_EQ(output_of({"create", path("a.zarr"), "s", "--shape", "", "--dtype", "int8", "--format", "2",
                       "--fill", "3"}),
            "");
  EXPECT_EQ(output_of({"read", path("a.zarr"), "s"}), "3\n");
  EXPECT_EQ(output_of({"create", path("a.zarr"), "names", "--shape", "2,1", "--dtype", "string", "--format",
                       "2", "--dimension-names", R"(["a", "b"])", "--fill", "none yet"}),
            "");
  EXPECT_EQ(json(path("a.zarr"), "names"), "[\"none yet\", \"none yet\"]\n");
}

TEST_F(Write, CreateRefusesWhatCannotBe) {
  const std::string store = path("a.zarr");
  const auto create = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"create", store});
    return run_command(more);
  };
  expect_failure(create({}), 2, "--shape and --dtype");
  expect_failure(create({"--group", "--shape", "1"}), 2, "--shape");
  expect_failure(create({"--shape", "x", "--dtype", "int8"}), 2, "--shape takes");
  expect_failure(create({"--shape", "1", "--dtype", "int9"}), 1, "int9");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--format", "4"}), 2, "--format");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--codecs", "[}"}), 2, "--codecs takes JSON");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--codecs", "{}"}), 2, "JSON list");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--codecs", "[{}]"}), 2, "\"name\"");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--codecs", R"(["nonsense"])"}), 1,
                 "[unsupported_codec]");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--codecs", "[]", "--compressor", "gzip"}), 2,
                 "exclude");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--filters", "[]"}), 2, "--format 2");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--format", "2", "--codecs", "[]"}), 2,
                 "--format 3");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--format", "2", "--filters", "[{}]"}), 2,
                 "\"id\"");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--attributes", "[]"}), 2, "JSON object");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--fill", "300"}), 1, "300");
  expect_failure(create({"--shape", "1", "--dtype", "int8", "--order", "X"}), 2, "--order");
  EXPECT_TRUE(names_in_folder().empty());
  EXPECT_EQ(create({"--shape", "1", "--dtype", "int8"}).code, 0);
  expect_failure(create({"--shape", "1", "--dtype", "int8"}), 1, "[already_exists]");
  EXPECT_EQ(create({"--shape", "2", "--dtype", "int8", "--overwrite"}).code, 0);
  EXPECT_EQ(json(store), "[0, 0]\n");
}

TEST_F(Write, OverwriteDoesNotEmptyOtherFolders) {
  write_file(path("home/letter.txt"), "dear");
  expect_failure(run_command({"create", path("home"), "--shape", "1", "--dtype", "int8", "--overwrite"}), 1,
                 "would delete");
  EXPECT_EQ(file_text(path("home/letter.txt")), "dear");
  EXPECT_EQ(output_of({"create", path("home"), "a", "--shape", "1", "--dtype", "int8", "--overwrite"}), "");
  EXPECT_EQ(file_text(path("home/letter.txt")), "dear");
}

TEST_F(Write, NpyIntoNewArrays) {
  EXPECT_EQ(output_of({"write", path("a.zarr"), "x", "-i", npy("a.npy", {2, 3}), "--chunks", "1,2"}), "");
  EXPECT_EQ(output_of({"read", path("a.zarr"), "x"}), "[[0 1 2]\n [3 4 5]]\n");
  EXPECT_EQ(output_of({"write", path("b.zarr"), "--format", "2"}, file_text(path("a.npy"))), "");
  EXPECT_EQ(json(path("b.zarr")), "[0, 1, 2, 3, 4, 5]\n");
  EXPECT_EQ(output_of({"write", path("a.zarr"), "x", "--overwrite", "-i", npy("b.npy", {1})}), "");
  EXPECT_EQ(json(path("a.zarr"), "x"), "[0]\n");
  EXPECT_EQ(output_of({"write", path("z.zarr"), "-i", npy("zero.npy", {0, 3})}), "");
  EXPECT_EQ(open_array(path("z.zarr")).shape(), (Shape{0, 3}));
}

TEST_F(Write, BigEndianAndFortranOrderFiles) {
  EXPECT_EQ(
      output_of({"write", path("a.zarr"), "-i", npy("a.npy", {2, 3, 2}, true, ">i2"), "--chunks", "1,2,1"}),
      "");
  // Element (i, j, k) of a Fortran-order file is at i + 2 (j + 3 k).
  EXPECT_EQ(json(path("a.zarr")), "[0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]\n");
  EXPECT_EQ(
      output_of({"write", path("b.zarr"), "--shape", "2", "--dtype", ">i2"}, std::string("\0\x01\x01\0", 4)),
      "");
  EXPECT_EQ(json(path("b.zarr")), "[1, 256]\n");
}

TEST_F(Write, PartsOfArrays) {
  const std::string store = path("a.zarr");
  EXPECT_EQ(output_of({"create", store, "--shape", "4,5", "--dtype", "int16", "--chunks", "3,2"}), "");
  EXPECT_EQ(output_of({"write", store, "-i", npy("a.npy", {2, 3}), "--select", "1:3, ::-2"}), "");
  EXPECT_EQ(json(store), "[0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 5, 0, 4, 0, 3, 0, 0, 0, 0, 0]\n");
  EXPECT_EQ(output_of({"write", store, "--raw", "-s", "0, 0:2"}, std::string("\x07\0\x08\0", 4)), "");
  EXPECT_EQ(output_of({"write", store, "--value", "-5", "-s", "3"}), "");
  EXPECT_EQ(output_of({"write", store, "--json", "-s", "0, 2:4"}, "[9, 10]"), "");
  EXPECT_EQ(json(store), "[7, 8, 9, 10, 0, 2, 0, 1, 0, 0, 5, 0, 4, 0, 3, -5, -5, -5, -5, -5]\n");
}

TEST_F(Write, StringsAndBooleans) {
  EXPECT_EQ(output_of({"write", path("s.zarr"), "--json", "--shape", "2", "--dtype", "string"},
                      R"(["north", "süd"])"),
            "");
  EXPECT_EQ(json(path("s.zarr")), "[\"north\", \"süd\"]\n");
  EXPECT_EQ(
      output_of({"write", path("b.zarr"), "--shape", "3", "--dtype", "bool"}, std::string("\0\x01\xff", 3)),
      "");
  EXPECT_EQ(json(path("b.zarr")), "[false, true, true]\n");
  EXPECT_EQ(output_of({"write", path("v.zarr"), "--value", "\"x\"", "--shape", "2", "--dtype", "<U3"}), "");
  EXPECT_EQ(json(path("v.zarr")), "[\"x\", \"x\"]\n");
}

TEST_F(Write, ConvertsOnlyWhenAsked) {
  const std::string store = path("a.zarr");
  EXPECT_EQ(output_of({"create", store, "--shape", "3", "--dtype", "float64"}), "");
  expect_failure(run_command({"write", store, "-i", npy("a.npy", {3})}), 1, "[invalid_argument]");
  EXPECT_EQ(output_of({"write", store, "-i", path("a.npy"), "--convert"}), "");
  EXPECT_EQ(output_of({"read", store}), "[0. 1. 2.]\n");
}

TEST_F(Write, EmptyChunksAreStoredOnlyWhenAsked) {
  EXPECT_EQ(output_of({"write", path("a.zarr"), "--shape", "1", "--dtype", "int8"}, std::string(1, '\0')),
            "");
  EXPECT_EQ(open_array(path("a.zarr")).stored_chunk_count(), 0u);
  EXPECT_EQ(output_of({"write", path("a.zarr"), "--raw", "--write-empty-chunks"}, std::string(1, '\0')), "");
  EXPECT_EQ(open_array(path("a.zarr")).stored_chunk_count(), 1u);
}

TEST_F(Write, Refuses) {
  const std::string store = path("a.zarr");
  EXPECT_EQ(output_of({"create", store, "--shape", "2,3", "--dtype", "int16"}), "");
  expect_failure(run_command({"write", store, "-i", npy("a.npy", {3, 2})}), 1, "shape (3, 2)");
  expect_failure(run_command({"write", store, "-i", path("missing.npy")}), 1, "[not_found]");
  expect_failure(run_command({"write", store, "-i", npy("b.npy", {2, 3}), "--chunks", "1,1"}), 2,
                 "--overwrite");
  expect_failure(run_command({"write", store, "--select", "0", "--overwrite"}), 2, "--select");
  expect_failure(run_command({"write", store, "--raw", "--json"}), 2, "exclude");
  expect_failure(run_command({"write", store, "--raw"}, {.in = "short"}), 1, "ends too early");
  expect_failure(run_command({"write", store, "--raw"}, {.in = std::string(13, 'x')}), 1,
                 "goes on after 12 bytes");
  expect_failure(run_command({"write", store}, {.in = "no npy"}), 1, "[invalid_metadata] standard input");
  expect_failure(run_command({"write", store, "--json"}, {.in = "[1, 2]"}), 1, "2 elements");
  expect_failure(run_command({"write", store, "--json"}, {.in = "7"}), 1, "list");
  expect_failure(run_command({"write", store, "--json"}, {.in = "[1, 2, 3, 4, 5, \"six\"]"}), 1, "six");
  expect_failure(run_command({"write", store, "--value", "\"x\""}), 1, "[invalid_");
}

TEST_F(Write, NothingStaysOfANewArrayThatFailed) {
  const std::string store = path("a.zarr");
  EXPECT_EQ(output_of({"create", store, "--group"}), "");
  expect_failure(run_command({"write", store, "x", "--shape", "1000,1000", "--dtype", "int32"},
                             {.in = std::string(3'999'999, 'x')}),
                 1, "ends too early");
  EXPECT_EQ(output_of({"tree", store}), "/\n");
  EXPECT_EQ(output_of({"ls", store}), "zarr.json\n");
  expect_failure(run_command({"write", path("b.zarr"), "--shape", "5", "--dtype", "int32"}, {.in = "x"}), 1,
                 "ends too early");
  EXPECT_TRUE(std::filesystem::is_empty(path("b.zarr")));
  expect_failure(run_command({"write", store, "x", "--raw"}, {.in = "x"}), 2, "--shape and --dtype");
  expect_failure(run_command({"write", store, "x", "--value", "1"}), 2, "--shape and --dtype");
  expect_failure(run_command({"write", store, "x", "--raw", "--dtype", "string", "--shape", "1"}), 2,
                 "--json");
  expect_failure(run_command({"write", store, "x", "--select", "0"}, {.in = "x"}), 1, "[not_found]");
}

TEST_F(Write, HostileNpyDoesNotAllocate) {
  std::string header = std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                       "{'descr': '<i2', 'fortran_order': False, 'shape': (1125899906842624,), }";
  header.resize(127, ' ');
  expect_failure(run_command({"write", path("a.zarr")}, {.in = header + "\n"}), 1, "ends too early");
}

}  // namespace
}  // namespace zarrive::cli
