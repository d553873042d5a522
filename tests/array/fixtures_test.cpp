// Every array and group of the shared fixtures (real stores by other implementations) against expected.json: values by SHA-256, members,
// attributes, and the inputs that must fail. A smaller set of copies lies in tests/data/stores with its own expected.json.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "support/paths.hpp"
#include "support/sha256.hpp"
#include "zarrive/fill_value.hpp"
#include "zarrive/group.hpp"
#include "zarrive/open_store.hpp"

namespace zarrive {
namespace {

// What is refused by name (pickle and the like), with the word that the error must have.
const std::vector<std::string>& refused_names() {
  static const std::vector<std::string> names = {"imagecodecs_tiff", "pcodec",     "zarrs.",
                                                 "codec.zarrs.dev",  "n5_default", "numcodecs.pcodec"};
  return names;
}

Json load(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return Json::parse(text.str());
}

std::string member(const Json& line, const char* name) {
  const Json* found = line.find(name);
  return found && found->is_string() ? found->as_string() : std::string();
}

std::shared_ptr<Store> open_fixture(const std::filesystem::path& root, const Json& line) {
  OpenStoreOptions options;
  if (member(line, "path").ends_with(".zip"))
    options.zip_folder = "";  // nodes are given from the root of the zip
  return open_store((root / member(line, "path")).string(), options);
}

ZarrFormat format_of(const Json& line) {
  return line.find("zarr_format")->to_int64() == 2 ? ZarrFormat::v2 : ZarrFormat::v3;
}

// Nodes without a document of their own are found through the consolidated metadata of the root.
Node open_line(const std::filesystem::path& root, const Json& line) {
  GroupOpenOptions options;
  options.format = format_of(line);
  auto store = open_fixture(root, line);
  if (line.find("only_consolidated")) return open_group(store, "", options).open(member(line, "node"));
  return open_node(store, member(line, "node"), options);
}

std::string digest(const NDArray& array, bool of_values) {
  if (!of_values) return testing::sha256(array.buffer().host_span().first(array.view().nbytes()));
  JsonArray values;
  for (std::uint64_t i = 0; i < array.size(); ++i)
    values.push_back(element_to_json(array.type(), array.view().data + i * array.type().item_size()));
  const std::string text = Json(std::move(values)).dump({-1, true, false, false});
  return testing::sha256(std::as_bytes(std::span(text)));
}

std::set<std::string> string_set(const Json* list) {
  std::set<std::string> out;
  if (list)
    for (const Json& name : list->as_array()) out.insert(name.as_string());
  return out;
}

struct Tally {
  int equal = 0, refused = 0, failed_as_expected = 0, groups = 0;
};

void check_array(const std::filesystem::path& root, const Json& line, Tally& tally) {
  const std::string expect = member(line, "expect");
  const Json* digest_of_values = line.find("values_sha256");
  const Json* digest_of_bytes = line.find("sha256");
  try {
    const Array array = std::get<Array>(open_line(root, line));
    Shape shape;
    for (const Json& extent : line.find("shape")->as_array()) shape.push_back(*extent.to_uint64());
    const NDArray values = array.read();
    if (expect == "error") {
      ADD_FAILURE() << "was read, but must fail: " << member(line, "why");
      return;
    }
    EXPECT_EQ(array.shape(), shape);
    std::set<std::string> allowed{digest_of_values ? digest_of_values->as_string()
                                                   : digest_of_bytes->as_string()};
    allowed.merge(string_set(line.find("also_sha256")));
    const std::string found = digest(values, digest_of_values != nullptr);
    EXPECT_TRUE(allowed.contains(found))
        << "values differ: first is " << element_to_json(values.type(), values.view().data).dump()
        << ", expected " << line.find("first")->dump();
    ++tally.equal;
  } catch (const Error& error) {
    if (!expect.empty()) {
      ++tally.failed_as_expected;
      return;
    }
    const bool unsupported =
        error.code() == ErrorCode::unsupported_codec || error.code() == ErrorCode::unsupported_data_type;
    bool known = false;
    for (const std::string& name : refused_names())
      known = known || error.message().find(name) != std::string::npos;
    EXPECT_TRUE(unsupported && known) << error.what();
    ++tally.refused;
  }
}

void check_group(const std::filesystem::path& root, const Json& line, Tally& tally) {
  const std::string expect = member(line, "expect");
  try {
    GroupOpenOptions options;
    options.format = format_of(line);
    options.consolidated = line.find("only_consolidated") ? Consolidated::automatic : Consolidated::never;
    const Group group = line.find("only_consolidated")
                            ? std::get<Group>(open_line(root, line))
                            : open_group(open_fixture(root, line), member(line, "node"), options);
    std::set<std::string> children, attributes;
    for (const NodeInfo& child : group.children()) children.insert(child.name);
    for (const auto& [name, value] : group.attributes()) attributes.insert(name);
    EXPECT_EQ(children, string_set(line.find("members")));
    EXPECT_EQ(attributes, string_set(line.find("attributes_keys")));
    if (const Json* names = line.find("members_consolidated")) {
      std::set<std::string> consolidated;
      GroupOpenOptions required = options;
      required.consolidated = Consolidated::require;
      for (const NodeInfo& child :
           open_group(open_fixture(root, line), member(line, "node"), required).children())
        consolidated.insert(child.name);
      EXPECT_EQ(consolidated, string_set(names));
    }
    ++tally.groups;
  } catch (const Error& error) {
    EXPECT_FALSE(expect.empty()) << error.what();
    ++tally.failed_as_expected;
  }
}

Tally check_all(const std::filesystem::path& root) {
  Tally tally;
  const Json lines = load(root / "expected.json");
  for (const Json& line : lines.as_array()) {
    const std::string path = member(line, "path");
    const std::string kind = member(line, "kind");
    if (path.find("kerchunk") != std::string::npos) continue;  // references are a store of their own, to come
    SCOPED_TRACE(path + " : " + member(line, "node"));
    if (kind == "array") check_array(root, line, tally);
    if (kind == "group") check_group(root, line, tally);
  }
  std::printf("fixtures: %d arrays equal, %d refused by name, %d groups, %d failed as they must\n",
              tally.equal, tally.refused, tally.groups, tally.failed_as_expected);
  return tally;
}

TEST(Fixtures, CopiesInTheRepository) {
  const Tally tally = check_all(testing::test_data_dir() / "stores");
  EXPECT_GE(tally.equal, 280);
  EXPECT_GE(tally.groups, 80);
  EXPECT_GE(tally.failed_as_expected, 3);
}

TEST(Fixtures, AllSharedStores) {
  const auto root = testing::fixtures_dir();
  if (!root) GTEST_SKIP() << "../shared/fixtures is not there; the copies in tests/data are checked above";
  const Tally tally = check_all(*root);
  EXPECT_GE(tally.equal, 448);
  EXPECT_GE(tally.groups, 97);
}

}  // namespace
}  // namespace zarrive
