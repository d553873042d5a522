// Documents that no writer should have written: each ends in an error that names the member, in bounded time and memory.
#include "metadata/support.hpp"

namespace zarrive {
namespace {

using namespace zarrive::testing;

struct Case {
  const char* changes;
  const char* part = "";
  ErrorCode code = ErrorCode::invalid_metadata;
};

const Case v2_cases[] = {
    {R"({"zarr_format": 3})", "zarr_format"},
    {R"({"zarr_format": 2.0})", "zarr_format"},
    {R"({"zarr_format": "2"})", "zarr_format"},
    {R"({"zarr_format": -2})", "zarr_format"},
    {R"({"zarr_format": null})", "zarr_format"},
    {R"({"zarr_format": [2]})", "zarr_format"},
    {R"({"shape": null})", "shape"},
    {R"({"shape": 20})", "shape"},
    {R"({"shape": "20,10"})", "shape"},
    {R"({"shape": {"0": 20}})", "shape"},
    {R"({"shape": [-20, 10]})", "shape[0]"},
    {R"({"shape": [20.0, 10]})", "shape[0]"},
    {R"({"shape": [2e1, 10]})", "shape[0]"},
    {R"({"shape": [true, 10]})", "shape[0]"},
    {R"({"shape": [null, 10]})", "shape[0]"},
    {R"({"shape": [NaN, 10]})", "shape[0]"},
    {R"({"shape": ["20", 10]})", "shape[0]"},
    {R"({"shape": [[20], 10]})", "shape[0]"},
    {R"({"shape": [20, 18446744073709551616]})", "shape[1]"},
    {R"({"shape": [20, 9223372036854775808]})", "shape[1]"},
    {R"({"shape": [20, 1e400]})", "shape[1]"},
    {R"({"shape": [20, 99999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999]})",
     "shape[1]"},
    {R"({"shape": [20]})", "chunks"},
    {R"({"shape": []})", "chunks"},
    {R"({"chunks": [10]})", "chunks"},
    {R"({"chunks": [10, 10, 10]})", "chunks"},
    {R"({"chunks": null})", "chunks"},
    {R"({"chunks": true})", "chunks"},
    {R"({"chunks": [0, 10]})", "chunks"},
    {R"({"chunks": [10, -10]})", "chunks[1]"},
    {R"({"chunks": [10, 10.5]})", "chunks[1]"},
    {R"({"chunks": [4294967296, 4294967296]})", "", ErrorCode::resource_limit},
    {R"({"chunks": [9223372036854775807, 1]})", "", ErrorCode::resource_limit},
    {R"({"dtype": null})"},
    {R"({"dtype": 4})"},
    {R"({"dtype": ""})"},
    {R"({"dtype": "<"})"},
    {R"({"dtype": "<i3"})", "", ErrorCode::unsupported_data_type},
    {R"({"dtype": "<i99999999999999999999"})"},
    {R"({"dtype": "!i4"})"},
    {R"({"dtype": {}})"},
    {R"({"dtype": []})"},
    {R"({"dtype": [["a", "<i4"], ["a", "<i4"]]})"},
    {R"({"dtype": [["a"]]})"},
    {R"({"dtype": "|O", "fill_value": null})", "object codec"},
    {R"({"fill_value": "seven"})"},
    {R"({"fill_value": 2147483648})"},
    {R"({"fill_value": 0.5})"},
    {R"({"fill_value": []})"},
    {R"({"fill_value": {}})"},
    {R"({"order": "K"})", "order"},
    {R"({"order": "c"})", "order"},
    {R"({"order": "CF"})", "order"},
    {R"({"order": null})", "order"},
    {R"({"order": ["C"]})", "order"},
    {R"({"filters": {}})", "filters"},
    {R"({"filters": "delta"})", "filters"},
    {R"({"filters": [null]})", "filters[0]"},
    {R"({"filters": ["delta"]})", "filters[0]"},
    {R"({"filters": [{}]})", "filters[0]"},
    {R"({"filters": [{"id": 1}]})", "filters[0]"},
    {R"({"filters": [{"id": "delta"}, {"id": ""}]})", "filters[1]"},
    {R"({"compressor": "zlib"})", "compressor"},
    {R"({"compressor": []})", "compressor"},
    {R"({"compressor": {"level": 1}})", "compressor"},
    {R"({"compressor": {"id": null}})", "compressor"},
    {R"({"dimension_separator": ""})", "dimension_separator"},
    {R"({"dimension_separator": "-"})", "dimension_separator"},
    {R"({"dimension_separator": "./"})", "dimension_separator"},
    {R"({"dimension_separator": 1})", "dimension_separator"},
};

const Case v3_cases[] = {
    {R"({"zarr_format": 2})", "zarr_format"},
    {R"({"zarr_format": 3.0})", "zarr_format"},
    {R"({"zarr_format": 4})", "zarr_format"},
    {R"({"zarr_format": "3"})", "zarr_format"},
    {R"({"zarr_format": 18446744073709551619})", "zarr_format"},
    {R"({"node_type": "group"})", "node_type"},
    {R"({"node_type": "ARRAY"})", "node_type"},
    {R"({"node_type": null})", "node_type"},
    {R"({"node_type": ["array"]})", "node_type"},
    {R"({"shape": null})", "shape"},
    {R"({"shape": [20, -10]})", "shape[1]"},
    {R"({"shape": [20, 10.0]})", "shape[1]"},
    {R"({"shape": [20, 1e1]})", "shape[1]"},
    {R"({"shape": [20, 36893488147419103232]})", "shape[1]"},
    {R"({"shape": [20]})", "chunk_shape"},
    {R"({"shape": [20, 10, 1]})", "chunk_shape"},
    {R"({"shape": [20, "x"]})", "shape[1]"},
    {R"({"data_type": null})"},
    {R"({"data_type": 32})"},
    {R"({"data_type": []})"},
    {R"({"data_type": {}})"},
    {R"({"data_type": ""})"},
    {R"({"data_type": {"name": 1}})"},
    {R"({"data_type": "r7"})"},
    {R"({"data_type": {"name": "struct", "configuration": {"fields": []}}})"},
    {R"({"data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 0}}})"},
    {R"({"chunk_grid": null})", "chunk_grid"},
    {R"({"chunk_grid": {"name": "regular"}})", "chunk_shape"},
    {R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 0]}}})", "chunk_shape[1]"},
    {R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}}})", "chunk_shape"},
    {R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4611686018427387904, 4611686018427387904]}}})",
     "", ErrorCode::resource_limit},
    {R"({"chunk_key_encoding": null})", "chunk_key_encoding"},
    {R"({"chunk_key_encoding": {"name": "default", "configuration": {"separator": "_"}}})", "separator"},
    {R"({"fill_value": null})"},
    {R"({"fill_value": "7"})"},
    {R"({"fill_value": 7.5})"},
    {R"({"fill_value": -2147483649})"},
    {R"({"fill_value": true})"},
    {R"({"data_type": "float32", "fill_value": "0x7fc0"})"},
    {R"({"data_type": "float32", "fill_value": "nope"})"},
    {R"({"data_type": "bool", "fill_value": 2})"},
    {R"({"data_type": "complex64", "fill_value": [1]})"},
    {R"({"data_type": "r16", "fill_value": [1, 256]})"},
    {R"({"codecs": null})", "codecs"},
    {R"({"codecs": []})", "codecs"},
    {R"({"codecs": {}})", "codecs"},
    {R"({"codecs": "bytes"})", "codecs"},
    {R"({"codecs": [null]})", "codecs[0]"},
    {R"({"codecs": [1]})", "codecs[0]"},
    {R"({"codecs": [[]]})", "codecs[0]"},
    {R"({"codecs": [{}]})", "codecs[0]"},
    {R"({"codecs": [""]})", "codecs[0]"},
    {R"({"codecs": ["by\u0000tes"]})", "codecs[0]"},
    {R"({"codecs": ["bytes", {"name": null}]})", "codecs[1]"},
    {R"({"codecs": [{"name": "bytes", "configuration": null}]})", "codecs[0].configuration"},
    {R"({"codecs": [{"name": "bytes", "configuration": []}]})", "codecs[0].configuration"},
    {R"({"codecs": [{"name": "bytes", "must_understand": "no"}]})", "codecs[0].must_understand"},
    {R"({"attributes": []})", "attributes"},
    {R"({"attributes": "x"})", "attributes"},
    {R"({"dimension_names": ["x"]})", "dimension_names"},
    {R"({"dimension_names": []})", "dimension_names"},
    {R"({"dimension_names": ["x", 1]})", "dimension_names"},
    {R"({"dimension_names": "xy"})", "dimension_names"},
    {R"({"dimension_names": {"x": 1, "y": 2}})", "dimension_names"},
    {R"({"storage_transformers": "none"})", "storage_transformers"},
    {R"({"consolidated_metadata": {"kind": "inline", "must_understand": true, "metadata": {}}})",
     "consolidated_metadata", ErrorCode::unsupported},
};

TEST(HostileMetadata, V2Documents) {
  EXPECT_NO_THROW(read_v2("{}"));
  for (const Case& c : v2_cases) {
    SCOPED_TRACE(c.changes);
    expect_error(c.code, c.part, [&] { read_v2(c.changes); });
  }
}

TEST(HostileMetadata, V3Documents) {
  EXPECT_NO_THROW(read_v3("{}"));
  for (const Case& c : v3_cases) {
    SCOPED_TRACE(c.changes);
    expect_error(c.code, c.part, [&] { read_v3(c.changes); });
  }
}

TEST(HostileMetadata, DocumentsThatAreNoObjects) {
  for (const char* text : {"null", "true", "2", "\"zarr\"", "[]", "[{}]", "{}"}) {
    SCOPED_TRACE(text);
    const Json document = Json::parse(text);
    expect_error(ErrorCode::invalid_metadata, ".zarray", [&] { ArrayMetadata::from_v2(document, {}); });
    expect_error(ErrorCode::invalid_metadata, "zarr.json", [&] { ArrayMetadata::from_v3(document); });
  }
}

// The type of every member of both documents replaced by every other type.
TEST(HostileMetadata, EveryMemberOfEveryType) {
  const char* values[] = {"null",   "true",
                          "-1",     "1.5",
                          "NaN",    "\"\"",
                          "\"x\"",  "[]",
                          "[null]", "[{}]",
                          "{}",     "{\"name\": null}",
                          "1e999",  "18446744073709551616"};
  const auto survives = [](const std::function<ArrayMetadata()>& read) {
    try {
      const ArrayMetadata array = read();
      expect_equal(rewritten(array), array);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
      EXPECT_NE(error.code(), ErrorCode::invalid_argument) << error.what();
    }
  };
  const Json v2 = Json::parse(sound_v2), v3 = Json::parse(sound_v3);
  for (const char* value : values) {
    const auto change = [&](const std::string& name) { return "{\"" + name + "\": " + value + "}"; };
    for (const auto& member : v2.as_object()) survives([&] { return read_v2(change(member.first)); });
    for (const auto& member : v3.as_object()) survives([&] { return read_v3(change(member.first)); });
    for (const char* name : {"attributes", "dimension_names", "storage_transformers", "other"})
      survives([&] { return read_v3(change(name)); });
    survives([&] { return read_v2(change("dimension_separator")); });
  }
}

TEST(HostileMetadata, ManyDimensions) {
  const auto list = [](std::size_t n) {
    std::string text = "[1";
    for (std::size_t i = 1; i < n; ++i) text += ",1";
    return text + "]";
  };
  const std::string most = list(max_dimensions), more = list(max_dimensions + 1), huge = list(100000);
  EXPECT_EQ(read_v2(R"({"shape": )" + most + R"(, "chunks": )" + most + "}").shape.size(), 64u);
  const auto grid = [](const std::string& shape) {
    return R"(, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": )" + shape + "}}";
  };
  EXPECT_EQ(read_v3(R"({"shape": )" + most + grid(most) + "}").chunk_count(), 1u);
  for (const std::string& shape : {more, huge}) {
    expect_error(ErrorCode::resource_limit, "at most 64",
                 [&] { read_v2(R"({"shape": )" + shape + R"(, "chunks": )" + shape + "}"); });
    expect_error(ErrorCode::resource_limit, "at most 64",
                 [&] { read_v3(R"({"shape": )" + shape + grid(shape) + "}"); });
    expect_error(ErrorCode::resource_limit, "at most 64",
                 [&] { read_v3(R"({"shape": [1, 1])" + grid(shape) + "}"); });
  }
}

TEST(HostileMetadata, DeepNesting) {
  const std::string deep = std::string(10000, '[') + std::string(10000, ']');
  expect_error(ErrorCode::resource_limit, "", [&] { read_v3(R"({"attributes": {"a": )" + deep + "}}"); });
  std::string group = R"({"zarr_format": 3, "node_type": "group"})";
  for (int i = 0; i < 30; ++i)
    group =
        R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "inline", "metadata": {"g": )" +
        group + "}}}";
  EXPECT_EQ(GroupMetadata::from_v3(Json::parse(group)).consolidated->nodes.size(), 30u);
  std::string type = "\"<i4\"";
  for (int i = 0; i < 60; ++i) type = R"([["f", )" + type + "]]";
  try {
    EXPECT_EQ(read_v2(R"({"fill_value": null, "dtype": )" + type + "}").data_type.item_size(), 4u);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::resource_limit || error.code() == ErrorCode::invalid_metadata)
        << error.what();
  }
}

TEST(HostileMetadata, DuplicateNames) {
  expect_error(ErrorCode::invalid_metadata, "shape", [] {
    ArrayMetadata::from_v3(Json::parse(R"({"zarr_format": 3, "shape": [1], "shape": [2]})"));
  });
}

TEST(HostileMetadata, MessagesAreShort) {
  const std::string wide(1000000, 'x');
  const auto check = [](const std::string& changes) {
    expect_error(ErrorCode::invalid_metadata, "...", [&] { read_v3(changes); });
  };
  check(R"({"dimension_names": ")" + wide + "\"}");
  check(R"({"dimension_names": {")" + wide + "\": 1}}");
  check(R"({"codecs": [{"name": "bytes", "configuration": [")" + wide + "\"]}]}");
  check(R"({")" + wide + "\": 1}");
  std::string list = "[0";
  for (int i = 0; i < 100000; ++i) list += ",0";
  check(R"({"dimension_names": )" + list + "]}");
  std::string text;  // cut within a character of two bytes, whatever the offset
  for (int i = 0; i < 100; ++i) text += "é";
  check(R"({"dimension_names": "a)" + text + "\"}");
  check(R"({"dimension_names": ")" + text + "\"}");
  std::string control;  // six characters each when quoted
  for (int i = 0; i < 60; ++i) control += "\\u0001";
  check(R"({"dimension_names": ")" + control + "\"}");
  check(R"({"dimension_names": ["short", "a text of forty characters and some more", ")" + wide + "\"]}");
  expect_error(ErrorCode::invalid_metadata, "999..., expected",
               [] { read_v3(R"({"shape": [)" + std::string(100000, '9') + "]}"); });
}

}  // namespace
}  // namespace zarrive
