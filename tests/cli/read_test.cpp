// zarrive read and conformance: every form of output, against what was written.
#include <cmath>
#include <cstring>

#include "cli/npy.hpp"
#include "cli/run_command.hpp"
#include "zarrive/zarrive.hpp"

namespace zarrive::cli {
namespace {

class Read : public CommandTest {
 protected:
  // int32 0, 1, 2, ... in both formats, chunks that do not divide the shape.
  void SetUp() override {
    for (const ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
      Group group =
          create_group(path(format == ZarrFormat::v2 ? "v2.zarr" : "v3.zarr"), "", {.format = format});
      Array array = group.create_array("a/b", {.shape = {6, 5}, .data_type = "int32", .chunks = {4, 2}});
      std::vector<std::int32_t> values(30);
      for (std::int32_t i = 0; i < 30; ++i) values[static_cast<std::size_t>(i)] = i;
      array.write({}, values);
    }
  }

  // An array of one chunk with these elements.
  template <class T>
  std::string array_of(const std::string& name, const DataType& type, const Shape& shape,
                       const std::vector<T>& elements, CreateOptions options = {}) {
    options.shape = shape;
    options.data_type = type;
    Array array = create_array(path(name), "", options);
    array.write({}, ArrayView(reinterpret_cast<std::byte*>(const_cast<T*>(elements.data())), type, shape));
    return path(name);
  }
};

TEST_F(Read, TextOfBothFormats) {
  for (const char* store : {"v2.zarr", "v3.zarr"}) {
    EXPECT_EQ(output_of({"read", path(store), "a/b"}),
              "[[ 0  1  2  3  4]\n [ 5  6  7  8  9]\n [10 11 12 13 14]\n [15 16 17 18 19]\n [20 21 22 23 "
              "24]\n [25 26 27 28 29]]\n");
    EXPECT_EQ(output_of({"read", path(store), "a/b", "--select", "1:3, ::-2"}),
              "[[ 9  7  5]\n [14 12 10]]\n");
    EXPECT_EQ(output_of({"read", path(store), "/a/b/", "-s", "-1"}), "[25 26 27 28 29]\n");
    EXPECT_EQ(output_of({"read", path(store), "a/b", "--select", "2, 3"}), "13\n");
    EXPECT_EQ(output_of({"read", path(store), "a/b", "--select", "[5, 0, -1], [3, 1]"}),
              "[[28 26]\n [ 3  1]\n [28 26]]\n");
    EXPECT_EQ(output_of({"read", path(store), "a/b", "--select", "3:3"}), "[]\n");
    EXPECT_EQ(output_of({"read", path(store), "a/b", "--select", "0", "--as", "float32"}),
              "[0. 1. 2. 3. 4.]\n");
  }
}

TEST_F(Read, LargeArraysAreCutShortAndOnlyTheirEdgesAreRead) {
  Array array = create_array(path("large.zarr"), "",
                             {.shape = {3, 1000, 1000}, .data_type = "int32", .chunks = {1, 100, 100}});
  std::vector<std::int32_t> row(1000);
  for (std::int32_t i = 0; i < 1000; ++i) row[static_cast<std::size_t>(i)] = i;
  array.write("0, 0", row);
  // A chunk in the middle that cannot be decoded is not in the way.
  write_file(path("large.zarr/c/0/5/5"), "nonsense");
  EXPECT_EQ(
      output_of({"read", path("large.zarr"), "--select", "0"}),
      "[[  0   1   2 ... 997 998 999]\n [  0   0   0 ...   0   0   0]\n [  0   0   0 ...   0   0   0]\n ...\n"
      " [  0   0   0 ...   0   0   0]\n [  0   0   0 ...   0   0   0]\n [  0   0   0 ...   0   0   0]]\n");
  EXPECT_EQ(output_of({"read", path("large.zarr"), "--select", "0, 0:2, ::-1"}),
            "[[999 998 997 ...   2   1   0]\n [  0   0   0 ...   0   0   0]]\n");
  const std::string whole = output_of({"read", path("large.zarr")});
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 3 * 7 + 2 * 1);
  const Outcome json = run_command({"read", path("large.zarr"), "--json"});
  EXPECT_EQ(json.code, 1);
  EXPECT_NE(json.err.find("[corrupt_chunk]"), std::string::npos) << json.err;
}

TEST_F(Read, LongRowsAreWrapped) {
  std::vector<std::int32_t> values(50, 1000000);
  const std::string text = output_of({"read", array_of("row.zarr", DataType(TypeId::int32), {50}, values)});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 76u);
  EXPECT_TRUE(text.starts_with("[1000000 1000000 "));
  EXPECT_NE(text.find("\n 1000000"), std::string::npos);
}

TEST_F(Read, ArraysOfManyDimensionsArePrintedOrRefused) {
  create_array(path("ten.zarr"), "", {.shape = Shape(10, 7), .data_type = "uint8", .chunks = Shape(10, 7)});
  const std::string text = output_of({"read", path("ten.zarr")});
  EXPECT_TRUE(text.starts_with("[[[[[[[[[[0 ... 0]"));
  create_array(path("many.zarr"), "", {.shape = Shape(20, 3), .data_type = "uint8", .chunks = Shape(20, 1)});
  expect_failure(run_command({"read", path("many.zarr")}), 1, "[resource_limit]");
}

TEST_F(Read, Json) {
  EXPECT_EQ(output_of({"read", path("v3.zarr"), "a/b", "--json", "--select", "1:3, ::2"}),
            "[5, 7, 9, 10, 12, 14]\n");
  EXPECT_EQ(output_of({"read", path("v2.zarr"), "a/b", "--json", "--select", "0:0"}), "[]\n");
  EXPECT_EQ(
      output_of({"read", array_of<double>("d.zarr", DataType(TypeId::float64), {4}, {0.1, -0.0, 1e300, NAN}),
                 "--json"}),
      "[0.1, -0.0, 1e+300, \"NaN\"]\n");
  EXPECT_EQ(output_of({"read", array_of<std::uint64_t>("u.zarr", DataType(TypeId::uint64), {1}, {UINT64_MAX}),
                       "--json"}),
            "[18446744073709551615]\n");
  EXPECT_EQ(output_of({"read", array_of<std::int64_t>("i.zarr", DataType(TypeId::int64), {1}, {INT64_MIN}),
                       "--json"}),
            "[-9223372036854775808]\n");
  EXPECT_EQ(
      output_of({"read", array_of<std::string>("s.zarr", DataType(TypeId::string), {2}, {"north", "a\"b"}),
                 "--json"}),
      "[\"north\", \"a\\\"b\"]\n");
  EXPECT_EQ(output_of({"read", array_of<std::string>("by.zarr", DataType(TypeId::bytes), {2}, {"abc", ""}),
                       "--json"}),
            "[\"YWJj\", \"\"]\n");
}

TEST_F(Read, JsonOfEveryIntegerType) {
  const char* const types[] = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};
  for (const char* type : types) {
    create_array(path(std::string(type) + ".zarr"), "",
                 {.shape = {2}, .data_type = type, .fill_value = Json(100)});
    EXPECT_EQ(output_of({"read", path(std::string(type) + ".zarr"), "--json"}), "[100, 100]\n");
  }
}

TEST_F(Read, JsonOfManyElementsIsInOrder) {
  std::vector<std::int32_t> values(300'000);
  std::string expected = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int32_t>(i * 7919 % 300'007);
    if (i) expected += ", ";
    expected += std::to_string(values[i]);
  }
  expected += "]\n";
  const std::string store =
      array_of("many.zarr", DataType(TypeId::int32), {3, 100'000}, values, {.chunks = {2, 1000}});
  EXPECT_TRUE(output_of({"read", store, "--json"}) == expected);
  EXPECT_TRUE(output_of({"read", store, "--json", "--jobs", "1"}) == expected);
  EXPECT_EQ(output_of({"read", store, "--json", "-o", path("many.json")}), "");
  EXPECT_TRUE(file_text(path("many.json")) == expected);
}

TEST_F(Read, Raw) {
  const std::string raw = output_of({"read", path("v3.zarr"), "a/b", "--raw", "--select", "1, 0:2"});
  EXPECT_EQ(raw, std::string("\x05\0\0\0\x06\0\0\0", 8));
  EXPECT_EQ(output_of({"read", path("v2.zarr"), "a/b", "--raw", "--select", "1, 0:2"}), raw);
  EXPECT_EQ(output_of({"read", path("v2.zarr"), "a/b", "--raw", "--select", "1, 0:2", "--as", "uint8"}),
            "\x05\x06");
  EXPECT_EQ(output_of({"read", path("v2.zarr"), "a/b", "--raw", "-o", path("a.bin")}), "");
  EXPECT_EQ(file_text(path("a.bin")), output_of({"read", path("v2.zarr"), "a/b", "--raw"}));
  EXPECT_EQ(file_text(path("a.bin")).size(), 120u);
}

TEST_F(Read, Npy) {
  EXPECT_EQ(output_of({"read", path("v3.zarr"), "a/b", "-o", path("a.npy"), "-s", "::-1"}), "");
  EXPECT_EQ(file_text(path("a.npy")), npy_header(DataType(TypeId::int32), {6, 5}) +
                                          output_of({"read", path("v3.zarr"), "a/b", "--raw", "-s", "::-1"}));
  EXPECT_EQ(output_of({"read", path("v3.zarr"), "a/b", "--npy", "-s", "::-1"}), file_text(path("a.npy")));
  EXPECT_EQ(output_of({"read", path("v3.zarr"), "a/b", "-o", "-", "--npy", "-s", "::-1"}),
            file_text(path("a.npy")));
  EXPECT_EQ(output_of({"read", path("v3.zarr"), "a/b", "-o", path("zero.npy"), "-s", "0:0"}), "");
  EXPECT_EQ(file_text(path("zero.npy")), npy_header(DataType(TypeId::int32), {0, 5}));
  EXPECT_EQ(output_of({"read", path("v3.zarr"), "a/b", "-o", "/dev/null", "--npy"}), "");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(names_in_folder(), (std::vector<std::string>{"a.npy", "v2.zarr", "v3.zarr", "zero.npy"}));
}

TEST_F(Read, BigEndianAndStructuredElementsComeOutLittleEndian) {
  const DataType type = DataType::parse(R"([["a", ">i2"], ["b", "<f4"]])");
  const std::vector<std::uint8_t> elements = {1, 2, 0, 0, 0x80, 0x3f};  // in memory: little-endian
  const std::string store = array_of("s.zarr", type, {1}, elements, {.format = ZarrFormat::v2});
  EXPECT_EQ(output_of({"read", store, "--raw"}), std::string("\x01\x02\0\0\x80\x3f", 6));
  EXPECT_EQ(output_of({"read", store}), "[(513, 1.)]\n");
  const std::string npy = output_of({"read", store, "--npy"});
  EXPECT_NE(npy.find("[('a', '<i2'), ('b', '<f4')]"), std::string::npos);
}

TEST_F(Read, AFillValueThatCannotBeConvertedMattersOnlyWhereItIsRead) {
  Array array = create_array(
      path("nan.zarr"), "", {.shape = {4}, .data_type = "float32", .chunks = {2}, .fill_value = Json("NaN")});
  array.write(":2", std::vector<float>{1, 2});
  EXPECT_EQ(output_of({"read", path("nan.zarr"), "-s", ":2", "--as", "int16"}), "[1 2]\n");
  expect_failure(run_command({"read", path("nan.zarr"), "--as", "int16"}), 1, "[out_of_bounds]");
}

TEST_F(Read, AFailureLeavesTheOldFile) {
  write_file(path("old.npy"), "old");
  write_file(path("v3.zarr/a/b/c/0/0"), "nonsense");
  for (const std::vector<std::string>& form :
       std::vector<std::vector<std::string>>{{"--npy"}, {"--raw"}, {"--json"}}) {
    std::vector<std::string> arguments = {"read", path("v3.zarr"), "a/b", "-o", path("old.npy")};
    arguments.insert(arguments.end(), form.begin(), form.end());
    expect_failure(run_command(arguments), 1, "[corrupt_chunk] " + path("v3.zarr"));
  }
  EXPECT_EQ(file_text(path("old.npy")), "old");
  EXPECT_EQ(names_in_folder(), (std::vector<std::string>{"old.npy", "v2.zarr", "v3.zarr"}));
}

TEST_F(Read, ReplacesFilesKeepingTheirModeAndLinks) {
  write_file(path("real.npy"), "old");
  std::filesystem::permissions(path("real.npy"), std::filesystem::perms{0600});
  std::filesystem::create_symlink("real.npy", path("link.npy"));
  EXPECT_EQ(output_of({"read", path("v3.zarr"), "a/b", "-o", path("link.npy")}), "");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.npy")));
  EXPECT_EQ(file_text(path("real.npy")).size(), 128u + 120u);
  EXPECT_EQ(std::filesystem::status(path("real.npy")).permissions(), std::filesystem::perms{0600});
}

TEST_F(Read, WrongUsage) {
  expect_failure(run_command({"read", path("v3.zarr"), "a/b", "-o", path("a.bin")}), 2,
                 "--npy, --raw or --json");
  expect_failure(run_command({"read", path("v3.zarr"), "a/b", "--raw"}, {.out_is_terminal = true}), 2,
                 "terminal");
  expect_failure(run_command({"read", path("v3.zarr"), "a/b", "-s", "1:x"}), 1, "[invalid_argument]");
  expect_failure(run_command({"read", path("v3.zarr"), "a/b", "-s", "6"}), 1, "[out_of_bounds]");
  expect_failure(run_command({"read", path("v3.zarr"), "a/b", "--as", "what"}), 1, "what");
  expect_failure(run_command({"read", path("v3.zarr")}), 1, "[invalid_argument]");
  expect_failure(run_command({"read", path("v3.zarr"), "nowhere"}), 1,
                 "[not_found] " + path("v3.zarr") + ": nowhere");
  expect_failure(run_command({"read", path("v3.zarr"), "a/b", "-o", path("no/folder/a.npy")}), 1,
                 "cannot create");
  const std::string strings = array_of<std::string>("s.zarr", DataType(TypeId::string), {1}, {"a"});
  expect_failure(run_command({"read", strings, "--raw"}), 1, "--json");
  expect_failure(run_command({"read", strings, "-o", path("a.npy")}), 1, "--json");
}

TEST_F(Read, Conformance) {
  EXPECT_EQ(output_of({"conformance", "--array_path=" + array_of<double>("d.zarr", DataType(TypeId::float64),
                                                                         {2, 2}, {1, 0.5, NAN, -INFINITY})}),
            "1.0\n0.5\n\"NaN\"\n\"-Infinity\"\n");
  EXPECT_EQ(output_of({"conformance", "--array_path",
                       array_of<std::string>("s.zarr", DataType(TypeId::string), {2}, {"a\nb", ""})}),
            "\"a\\nb\"\n\"\"\n");
  EXPECT_EQ(output_of({"conformance", "--array_path", path("v3.zarr/a/b")}).substr(0, 6), "0\n1\n2\n");
  expect_failure(run_command({"conformance"}), 2, "--array_path");
  expect_failure(run_command({"conformance", "--array_path", path("v3.zarr")}), 1, "[invalid_argument]");
}

}  // namespace
}  // namespace zarrive::cli
