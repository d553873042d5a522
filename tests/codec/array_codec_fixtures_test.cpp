// Chunks that numcodecs encoded: those kept under tests/data, and all of the shared fixtures when they are there.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "codec/array_codec_suite.hpp"
#include "support/paths.hpp"
#include "support/sha256.hpp"
#include "zarrive/codec_chain.hpp"

namespace zarrive {
namespace {

namespace fs = std::filesystem;
using namespace testing;

const std::set<std::string> kCodecs = {"delta",      "fixedscaleoffset", "quantize", "packbits",
                                       "astype",     "categorize",       "bitround", "vlen-utf8",
                                       "vlen-bytes", "vlen-array",       "json2",    "json",
                                       "msgpack2",   "msgpack",          "zfpy"};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A v2 array of one chunk with one filter, as the line of expected.json describes it.
ArrayMetadata metadata_of(const Json& line, const Json& configuration) {
  JsonObject zarray;
  zarray.set("zarr_format", 2);
  zarray.set("shape", *line.find("shape"));
  zarray.set("chunks", *line.find("shape"));
  zarray.set("dtype", *line.find("data_type"));
  zarray.set("compressor", Json());
  zarray.set("fill_value", Json());
  zarray.set("order", *line.find("order"));
  zarray.set("filters", Json(JsonArray{configuration}));
  return ArrayMetadata::from_v2(Json(std::move(zarray)), Json());
}

// The array's memory in its own order: of F the transposed array in C order.
ArrayView in_memory_order(const ArrayView& view, const std::string& order) {
  if (order == "C") return view;
  std::vector<std::size_t> reversed(view.ndim());
  for (std::size_t d = 0; d < reversed.size(); ++d) reversed[d] = reversed.size() - 1 - d;
  return view.transposed(reversed);
}

// What values_sha256 is taken of: Python's json.dumps of the flat list.
std::string values_text(const ArrayView& dense) {
  JsonArray list;
  const auto* strings = reinterpret_cast<const std::string*>(dense.data);
  for (std::uint64_t i = 0; i < dense.size(); ++i) {
    if (dense.type.id() == TypeId::object) list.push_back(Json::parse(strings[i]));
    else if (dense.type.id() == TypeId::bytes)
      list.emplace_back(base64_encode(std::as_bytes(std::span(strings[i]))));
    else list.emplace_back(strings[i]);
  }
  return Json(std::move(list)).dump({.sort_keys = true, .spaces = false});
}

void check_line(const Json& line, const fs::path& folder) {
  const fs::path file = folder / line.find("path")->as_string().substr(std::string("numcodecs/").size()) /
                        line.find("node")->as_string();
  SCOPED_TRACE(file.string());
  const Json configuration = Json::parse(read_file(file.parent_path() / "config.json"));
  const ArrayMetadata metadata = metadata_of(line, configuration);
  const auto chain = CodecChain::create(metadata).bind(metadata.shape);
  const std::string encoded = read_file(file);
  const NDArray decoded = NDArray::allocate(metadata.data_type, metadata.shape);
  chain->decode(Buffer::from_string(encoded), decoded.view(), {});

  const NDArray dense = NDArray::allocate(
      metadata.data_type, in_memory_order(decoded.view(), line.find("order")->as_string()).shape);
  copy(in_memory_order(decoded.view(), line.find("order")->as_string()), dense.view());
  if (const Json* digest = line.find("values_sha256")) {
    const std::string text = values_text(dense.view());
    EXPECT_EQ(sha256(std::as_bytes(std::span(text))), digest->as_string()) << text.substr(0, 200);
  } else {
    EXPECT_EQ(sha256(std::span<const std::byte>(dense.view().data, dense.view().nbytes())),
              line.find("sha256")->as_string())
        << elements_of(dense.view()).substr(0, 200);
  }

  // What we encode from that we decode again; codecs without choices in their output give the same bytes.
  const Buffer again = chain->encode(decoded.view(), {});
  const NDArray back = NDArray::allocate(metadata.data_type, metadata.shape);
  chain->decode(again, back.view(), {});
  const std::string id = configuration.find("id")->as_string();
  EXPECT_TRUE(same_elements(decoded.view(), back.view()));
  static const std::set<std::string> kSameBytes = {"delta",     "fixedscaleoffset", "quantize",
                                                   "packbits",  "astype",           "categorize",
                                                   "vlen-utf8", "vlen-bytes",       "vlen-array"};
  if (kSameBytes.contains(id)) {
    EXPECT_TRUE(again.text() == encoded);
  }
}

int check_all(const fs::path& list, const fs::path& folder) {
  int checked = 0;
  const Json lines = Json::parse(read_file(list));
  for (const Json& line : lines.as_array()) {
    if (line.find("kind")->as_string() != "codec") continue;
    std::string codec = line.find("path")->as_string().substr(std::string("numcodecs/").size());
    codec = codec.substr(0, codec.find('/'));
    if (!kCodecs.contains(codec)) continue;
    if (codec == "zfpy" && !CodecRegistry::global().contains("zfpy", ZarrFormat::v2)) continue;
    check_line(line, folder);
    ++checked;
  }
  return checked;
}

TEST(ArrayCodecFixtures, CopiesUnderTestData) {
  const fs::path folder = test_data_dir() / "numcodecs";
  EXPECT_GE(check_all(folder / "array_codecs.json", folder), 25);
}

TEST(ArrayCodecFixtures, SharedFixtures) {
  const auto fixtures = fixtures_dir();
  if (!fixtures) GTEST_SKIP() << "no shared fixtures beside the source tree";
  EXPECT_GE(check_all(*fixtures / "expected.json", *fixtures / "numcodecs"), 150);
}

}  // namespace
}  // namespace zarrive
