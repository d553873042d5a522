// Hostile stores: whatever metadata and chunks say, opening and reading ends in an Error, in bounded memory.
#include <gtest/gtest.h>

#include <random>

#include "base/sanitizers.hpp"
#include "support/peak_memory.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/group.hpp"
#include "zarrive/memory_store.hpp"

namespace zarrive {
namespace {

using testing_support::peak_memory;

#if ZARRIVE_ASAN || ZARRIVE_TSAN
constexpr std::size_t kMayGrow = std::size_t{3} << 30;  // the sanitizers' own memory counts too
#else
constexpr std::size_t kMayGrow = std::size_t{1} << 30;
#endif

// One element of every kind of selection that a user might try first.
void read_something(const std::shared_ptr<Store>& store) {
  Node node = open_node(store, "");
  if (const auto* group = std::get_if<Group>(&node)) {
    group->children();
    return;
  }
  const Array array = std::get<Array>(node);
  array.read(Selection(std::vector<SelectionItem>(array.ndim(), SelectionItem{std::int64_t{0}})));
  array.read();
}

void expect_error(const std::map<std::string, std::string>& store, const std::string& what) {
  auto memory = std::make_shared<MemoryStore>();
  for (const auto& [key, value] : store) memory->set(key, Buffer::from_string(value));
  const std::size_t before = peak_memory();
  try {
    read_something(memory);
    ADD_FAILURE() << what << ": was read";
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::internal) << what << ": " << error.what();
    EXPECT_FALSE(error.message().empty());
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": not an Error but " << error.what();
  }
  EXPECT_LT(peak_memory() - before, kMayGrow) << what;
}

// A v3 array document; the arguments replace members of a sound one.
std::string v3(const std::map<std::string, std::string>& changes) {
  JsonObject document;
  const std::pair<const char*, const char*> sound[] = {
      {"zarr_format", "3"},
      {"node_type", "\"array\""},
      {"shape", "[4]"},
      {"data_type", "\"uint8\""},
      {"chunk_grid", R"({"name": "regular", "configuration": {"chunk_shape": [4]}})"},
      {"chunk_key_encoding", R"({"name": "default"})"},
      {"fill_value", "0"},
      {"codecs", R"([{"name": "bytes"}])"}};
  for (const auto& [name, value] : sound) document.set(name, Json::parse(value));
  for (const auto& [name, value] : changes)
    value.empty() ? void(document.erase(name)) : void(document.set(name, Json::parse(value)));
  return Json(std::move(document)).dump();
}

std::string v2(const std::map<std::string, std::string>& changes) {
  JsonObject document;
  const std::pair<const char*, const char*> sound[] = {
      {"zarr_format", "2"},   {"shape", "[4]"},    {"chunks", "[4]"},  {"dtype", "\"|u1\""},
      {"compressor", "null"}, {"fill_value", "0"}, {"order", "\"C\""}, {"filters", "null"}};
  for (const auto& [name, value] : sound) document.set(name, Json::parse(value));
  for (const auto& [name, value] : changes)
    value.empty() ? void(document.erase(name)) : void(document.set(name, Json::parse(value)));
  return Json(std::move(document)).dump();
}

const char* kHuge = "18446744073709551615";

std::string grid(const std::string& chunk_shape) {
  return R"({"name": "regular", "configuration": {"chunk_shape": )" + chunk_shape + "}}";
}
std::string chain(const std::string& codecs) { return R"([{"name": "bytes"}, )" + codecs + "]"; }

TEST(Hostile, SoundDocumentsOfThisTestAreRead) {
  for (const auto& [key, text] :
       {std::pair<std::string, std::string>{"zarr.json", v3({})}, {".zarray", v2({})}}) {
    auto memory = std::make_shared<MemoryStore>();
    memory->set(key, Buffer::from_string(text));
    EXPECT_NO_THROW(read_something(memory));
  }
}

TEST(Hostile, V3Documents) {
  const std::vector<std::map<std::string, std::string>> cases = {
      {{"shape", "[-1]"}},
      {{"shape", "[1.5]"}},
      {{"shape", "[\"4\"]"}},
      {{"shape", "[18446744073709551616]"}},
      {{"shape", "4"}},
      {{"shape", "[4, 4]"}},
      {{"shape", "[4294967296, 4294967296]"}, {"chunk_grid", grid("[4294967296, 4294967296]")}},
      {{"shape", "[4611686018427387904, 8]"}, {"chunk_grid", grid("[1, 1]")}},
      {{"shape", std::string("[") + kHuge + "]"}, {"chunk_grid", grid(std::string("[") + kHuge + "]")}},
      {{"chunk_grid", grid("[0]")}},
      {{"chunk_grid", grid("[-4]")}},
      {{"chunk_grid", grid("[]")}},
      {{"chunk_grid", R"({"name": "hexagonal"})"}},
      {{"chunk_grid",
        R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 1]]}})"}},
      {{"chunk_grid",
        R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[1, 18446744073709551615], [1, 18446744073709551615]]]}})"}},
      {{"chunk_grid",
        R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[0, 4]]}})"}},
      {{"data_type", "\"uint7\""}},
      {{"data_type", "\"r7\""}},
      {{"data_type", "\"r99999999999999999999\""}},
      {{"data_type", "\"r8589934592\""}, {"fill_value", "[0]"}},
      {{"data_type", R"({"name": "fixed_length_utf32", "configuration": {"length_bytes": 5}})"},
       {"fill_value", "\"\""}},
      {{"data_type",
        R"({"name": "null_terminated_bytes", "configuration": {"length_bytes": 9223372036854775807}})"},
       {"fill_value", "\"\""}},
      {{"data_type", R"({"name": "struct", "configuration": {"fields": []}})"}, {"fill_value", "{}"}},
      {{"fill_value", "256"}},
      {{"fill_value", "-1"}},
      {{"fill_value", "\"NaN\""}},
      {{"fill_value", "null"}},
      {{"fill_value", ""}},
      {{"codecs", "[]"}},
      {{"codecs", R"([{"name": "bytes"}, {"name": "bytes"}])"}},
      {{"codecs", R"([{"name": "zstd"}])"}},
      {{"codecs", R"([{"name": "bytes"}, {"name": "transpose", "configuration": {"order": [0]}}])"}},
      {{"codecs", R"([{"name": "transpose", "configuration": {"order": [1]}}, {"name": "bytes"}])"}},
      {{"codecs",
        R"([{"name": "transpose", "configuration": {"order": [18446744073709551615]}}, {"name": "bytes"}])"}},
      {{"codecs", chain(R"({"name": "gzip", "configuration": {"level": 99}})")}},
      {{"codecs",
        chain(
            R"({"name": "blosc", "configuration": {"cname": "acme", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0}})")}},
      {{"codecs",
        chain(
            R"({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": -1, "blocksize": 0}})")}},
      {{"codecs", chain(R"({"name": "nowhere"})")}},
      {{"codecs", chain(R"({"name": "numcodecs.pcodec"})")}},
      {{"codecs", chain("7")}},
      {{"node_type", "\"shelf\""}},
      {{"node_type", ""}},
      {{"zarr_format", "4"}},
      {{"chunk_key_encoding", R"({"name": "default", "configuration": {"separator": "//"}})"}},
      {{"chunk_key_encoding", R"({"name": "acme"})"}},
      {{"storage_transformers", R"([{"name": "acme"}])"}},
      {{"dimension_names", "[\"x\", \"y\"]"}},
      {{"attributes", "7"}},
      {{"acme_extension", R"({"name": "x"})"}},
  };
  for (const auto& changes : cases)
    expect_error({{"zarr.json", v3(changes)}}, changes.begin()->first + " " + changes.begin()->second);
}

TEST(Hostile, V2Documents) {
  const std::vector<std::map<std::string, std::string>> cases = {
      {{"shape", "[-4]"}},
      {{"shape", "[4294967296, 4294967296]"}, {"chunks", "[4294967296, 4294967296]"}},
      {{"chunks", "[4, 4]"}},
      {{"dtype", "\"<f16\""}},
      {{"dtype", "\"|V9999999999999\""}},
      {{"dtype", "\"|O\""}},
      {{"dtype", R"([["a", "|u1"], ["a", "|u1"]])"}},
      {{"dtype", R"([["a", "|u1", [4294967296, 4294967296]]])"}},
      {{"dtype", "[]"}},
      {{"dtype", "\"|O\""}, {"filters", R"([{"id": "pickle"}])"}},
      {{"order", "\"Z\""}},
      {{"filters", R"([{"name": "delta"}])"}},
      {{"filters", R"([{"id": "shuffle", "elementsize": -3}])"}},
      {{"compressor", R"({"id": "acme"})"}},
      {{"compressor", "\"zstd\""}},
      {{"dimension_separator", "\"#\""}},
      {{"fill_value", "1e400"}},
      {{"zarr_format", "3"}},
      {{"shape", ""}},
      {{"filters", ""}},
  };
  for (const auto& changes : cases)
    expect_error({{".zarray", v2(changes)}}, changes.begin()->first + " " + changes.begin()->second);
}

TEST(Hostile, Text) {
  for (const char* key : {"zarr.json", ".zarray", ".zgroup"}) {
    expect_error({{key, ""}}, "an empty document");
    expect_error({{key, "{"}}, "an unfinished document");
    expect_error({{key, "[]"}}, "a list");
    expect_error({{key, std::string(1000000, '[')}}, "deep nesting");
    expect_error({{key, "{\"zarr_format\": 2, \"zarr_format\": 2}"}}, "a member twice");
    expect_error({{key, "{\"zarr_format\": \xff}"}}, "no UTF-8");
    expect_error({{key, std::string("\0\0\0", 3)}}, "binary");
  }
  expect_error({{".zgroup", R"({"zarr_format": 2})"}, {".zattrs", "[1]"}}, "attributes that are a list");
  expect_error({{".zgroup", R"({"zarr_format": 2})"},
                {".zmetadata", R"({"zarr_consolidated_format": 2, "metadata": {}})"}},
               "consolidated 2");
  expect_error(
      {{"zarr.json",
        R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "acme", "must_understand": false, "metadata": {}}})"}},
      "consolidated kind");
}

// Chunks that are cut off, altered or too long, through every codec: an Error, or (without a checksum) some values; never more.
TEST(Hostile, AlteredChunks) {
  struct Case {
    const char* type;
    ZarrFormat format;
    std::string codecs;  // v3 codecs, or v2 compressor
  };
  std::vector<Case> cases;
  for (
      const char* codecs :
      {R"({"name": "zstd"})", R"({"name": "gzip", "configuration": {"level": 1}})", R"({"name": "crc32c"})",
       R"({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}})",
       R"({"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0}})",
       R"({"name": "numcodecs.lz4"})", R"({"name": "numcodecs.bz2"})", R"({"name": "numcodecs.lzma"})",
       R"({"name": "numcodecs.zlib"})",
       R"({"name": "gzip", "configuration": {"level": 1}}, {"name": "zstd"}, {"name": "crc32c"})"}) {
    cases.push_back({"int32", ZarrFormat::v3, codecs});
    cases.push_back({"string", ZarrFormat::v3, codecs});
  }
  for (const char* compressor : {"zstd", "zlib", "blosc", "lz4", "base64", "fletcher32"})
    cases.push_back({"int32", ZarrFormat::v2, compressor});
  std::mt19937_64 random(5);
  const std::size_t before = peak_memory();
  std::uint64_t errors = 0;
  for (const Case& c : cases) {
    CreateOptions options;
    options.shape = {1000};
    options.chunks = {1000};
    options.data_type = c.type;
    options.format = c.format;
    if (c.format == ZarrFormat::v2) {
      options.compressor = CodecSpec{c.codecs};
    } else {
      std::vector<CodecSpec> chain;
      const Json list = Json::parse("[" + c.codecs + "]");
      for (const Json& codec : list.as_array()) {
        const Json* configuration = codec.find("configuration");
        chain.push_back(
            {codec.find("name")->as_string(), configuration ? configuration->as_object() : JsonObject{}});
      }
      options.codecs = chain;
    }
    Array array = create_array(std::make_shared<MemoryStore>(), "", options);
    if (array.data_type().is_variable()) {
      array.write_value("...", "some text");
    } else {
      std::vector<std::int32_t> values(1000);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * i);
      array.write("...", values);
    }
    const std::string sound(array.read_encoded_chunk(Index{0})->text());
    auto try_chunk = [&](std::string chunk, bool must_fail) {
      array.write_encoded_chunk(Index{0}, Buffer::from_string(std::move(chunk)));
      try {
        array.read();
        EXPECT_FALSE(must_fail) << c.codecs;
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
        ++errors;
      }
    };
    for (int i = 0; i < 40; ++i) try_chunk(sound.substr(0, random() % sound.size()), true);
    for (int i = 0; i < 80; ++i) {
      std::string altered = sound;
      for (std::uint64_t n = 1 + random() % 4; n > 0; --n)
        altered[random() % altered.size()] ^= static_cast<char>(1 << random() % 8);
      try_chunk(altered, false);
    }
    for (int i = 0; i < 10; ++i) {  // the first bytes hold sizes
      std::string altered = sound;
      for (std::size_t at = 0; at < std::min<std::size_t>(16, altered.size()); ++at)
        if (random() % 2) altered[at] = static_cast<char>(0xFF);
      try_chunk(altered, false);
    }
    try_chunk(std::string(), true);
  }
  EXPECT_GT(errors, cases.size() * 45);
  EXPECT_LT(peak_memory() - before, kMayGrow);
}

// A small array may state enormous chunks: fine as long as none is stored, an error when one is.
TEST(Hostile, EnormousChunks) {
  for (const char* edge : {"1099511627776", "4611686018427387904", "9223372036854775807"}) {
    auto memory = std::make_shared<MemoryStore>();
    memory->set(
        "zarr.json",
        Buffer::from_string(v3({{"shape", "[1]"}, {"chunk_grid", grid(std::string("[") + edge + "]")}})));
    EXPECT_EQ(open_array(memory).read<std::uint8_t>()[0], 0);
    memory->set("c/0", Buffer::from_string("abc"));
    EXPECT_THROW(open_array(memory).read(), Error) << edge;
    EXPECT_THROW(open_array(memory).write("0", std::vector<std::uint8_t>{1}), Error) << edge;
    memory->set("zarr.json", Buffer::from_string(v3({{"shape", "[1]"},
                                                     {"codecs", chain(R"({"name": "zstd"})")},
                                                     {"chunk_grid", grid(std::string("[") + edge + "]")}})));
    EXPECT_THROW(open_array(memory).read(), Error) << edge;
  }
}

// A few bytes that expand without end.
TEST(Hostile, CompressionBombs) {
  // 1 GiB of zeros, compressed twice: a chunk that should have four bytes
  CreateOptions bomb;
  bomb.shape = {std::uint64_t{1} << 26};
  bomb.chunks = bomb.shape;
  bomb.data_type = "uint8";
  bomb.codecs = {codecs::zstd(1), codecs::zstd(1)};
  Array source = create_array(std::make_shared<MemoryStore>(), "", bomb);
  WriteOptions keep;
  keep.write_empty_chunks = true;
  source.write_value("...", 0, keep);
  const Buffer encoded = *source.read_encoded_chunk(Index{0});
  bomb.shape = bomb.chunks = {4};
  for (const char* type : {"uint8", "string"}) {
    bomb.data_type = type;
    Array array = create_array(std::make_shared<MemoryStore>(), "", bomb);
    array.write_encoded_chunk(Index{0}, encoded);
    const std::size_t before = peak_memory();
    EXPECT_THROW(array.read(), Error);
    EXPECT_LT(peak_memory() - before, kMayGrow);
  }
}

TEST(Hostile, PathsThatLeaveTheHierarchy) {
  auto store = std::make_shared<MemoryStore>();
  create_group(store);
  const Group root = open_group(store);
  for (const char* path : {"..", "a/../b", "./a", "a/.", "..\\b"}) {
    EXPECT_THROW(root.open(path), Error) << path;
    EXPECT_THROW(open_array(store, path), Error) << path;
    EXPECT_THROW(create_group(store, path), Error) << path;
  }
}

}  // namespace
}  // namespace zarrive
