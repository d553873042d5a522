// Groups and the hierarchy in both formats: creating, opening, walking, erasing, consolidating.
#include "zarrive/group.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

class GroupTest : public ::testing::TestWithParam<ZarrFormat> {
 protected:
  ZarrFormat format() const { return GetParam(); }
  bool v2() const { return format() == ZarrFormat::v2; }
  Group make_root(JsonObject attributes = {}) {
    return create_group(store_, "", {format(), std::move(attributes), false});
  }
  CreateOptions small() const {
    CreateOptions options;
    options.shape = {4};
    options.chunks = {2};
    options.data_type = "int16";
    return options;
  }
  void put(const std::string& key, const std::string& text) { store_->set(key, Buffer::from_string(text)); }

  std::shared_ptr<CountingStore> store_ =
      std::make_shared<CountingStore>(std::make_shared<MemoryStore>("mem"));
};

std::vector<std::string> names(const std::vector<NodeInfo>& nodes) {
  std::vector<std::string> out;
  for (const NodeInfo& node : nodes) out.push_back(node.name + (node.type == NodeType::array ? "" : "/"));
  return out;
}

std::vector<std::string> walked(const Group& group) {
  std::vector<std::string> out;
  group.walk([&](const NodeInfo& node) { out.push_back(node.path); });
  return out;
}

TEST_P(GroupTest, CreateOpenAndChildren) {
  Group root = make_root({{"title", "all"}});
  root.create_group("b").create_array("y", small());
  root.create_array("a", small());
  root.create_group("c/d/e", {{"k", 1}});
  const Group opened = open_group(store_);
  EXPECT_EQ(opened.format(), format());
  EXPECT_EQ(opened.attributes().find("title")->as_string(), "all");
  EXPECT_EQ(names(opened.children()), (std::vector<std::string>{"a", "b/", "c/"}));
  EXPECT_EQ(walked(opened), (std::vector<std::string>{"a", "b", "b/y", "c", "c/d", "c/d/e"}));
  EXPECT_EQ(opened.open_group("c").open_group("d/e").attributes().find("k")->to_int64(), 1);
  EXPECT_EQ(opened.open_array("b/y").path(), "b/y");
  EXPECT_EQ(open_array(store_, "b/y").metadata().format, format());
  EXPECT_TRUE(opened.contains("b/y"));
  EXPECT_TRUE(opened.contains(""));
  EXPECT_FALSE(opened.contains("b/z"));
  EXPECT_TRUE(std::holds_alternative<Group>(opened.open("/b/")));
}

TEST_P(GroupTest, ParentsAreMadeAndArraysHaveNoChildren) {
  CreateOptions options = small();
  options.format = format();
  create_array(store_, "x/y/z", options);
  EXPECT_EQ(walked(open_group(store_)), (std::vector<std::string>{"x", "x/y", "x/y/z"}));
  EXPECT_ERROR(create_array(store_, "x/y/z/w", options), ErrorCode::invalid_argument, "is an array");
  EXPECT_ERROR(create_group(store_, "x/y/z/v/w", {format(), {}, false}), ErrorCode::invalid_argument,
               "is an array");
}

TEST_P(GroupTest, ExistingNodesAreKeptUnlessOverwritten) {
  Group root = make_root();
  Array array = root.create_array("a", small());
  array.write("...", std::vector<std::int16_t>{1, 2, 3, 4});
  EXPECT_ERROR(root.create_array("a", small()), ErrorCode::already_exists, "an array");
  EXPECT_ERROR(root.create_group("a"), ErrorCode::already_exists, "an array");
  EXPECT_ERROR(make_root(), ErrorCode::already_exists, "a group");
  CreateOptions options = small();
  options.overwrite = true;
  EXPECT_EQ(root.create_array("a", options).read<std::int16_t>()[0], 0);
  root.create_group("a", {}, true);
  EXPECT_EQ(names(root.children()), (std::vector<std::string>{"a/"}));
}

TEST_P(GroupTest, WrongKindAndMissing) {
  Group root = make_root();
  root.create_array("a", small());
  EXPECT_ERROR(root.open_group("a"), ErrorCode::invalid_argument, "an array, not a group");
  EXPECT_ERROR(open_array(store_), ErrorCode::invalid_argument, "a group, not an array");
  EXPECT_ERROR(root.open("nope"), ErrorCode::not_found, "nope");
  EXPECT_ERROR(open_array(store_, "nope"), ErrorCode::not_found, ".zarray");
  EXPECT_ERROR(open_node(store_, "../a"), ErrorCode::invalid_argument, "..");
  OpenOptions only;
  only.format = v2() ? ZarrFormat::v3 : ZarrFormat::v2;
  EXPECT_ERROR(open_array(store_, "a", only), ErrorCode::not_found, v2() ? "zarr.json" : ".zarray");
}

TEST_P(GroupTest, Erase) {
  Group root = make_root();
  root.create_array("a/b", small()).write("...", std::vector<std::int16_t>(4, 1));
  root.create_array("ab", small());
  root.erase("a");
  EXPECT_EQ(names(root.children()), (std::vector<std::string>{"ab"}));
  EXPECT_EQ(store_->list("a").size(), 0u);
  EXPECT_ERROR(root.erase("a"), ErrorCode::not_found, "a");
  EXPECT_ERROR(root.erase(""), ErrorCode::invalid_argument, "itself");
}

TEST_P(GroupTest, AttributesAreReplaced) {
  Group root = make_root({{"old", 1}});
  root.set_attributes({{"new", Json::parse("[1, NaN, 12345678901234567890]")}});
  EXPECT_EQ(open_group(store_).attributes().find("new")->dump(), "[1, NaN, 12345678901234567890]");
  EXPECT_FALSE(open_group(store_).attributes().contains("old"));
}

TEST_P(GroupTest, ConsolidatedMetadataSavesAllFurtherRequests) {
  Group root = make_root({{"title", "all"}});
  root.create_group("g", {{"k", "v"}}).create_array("y", small());
  root.create_array("a", small()).set_attributes({{"units", "K"}});
  EXPECT_FALSE(root.is_consolidated());
  const Group consolidated = consolidate_metadata(store_);
  EXPECT_TRUE(consolidated.is_consolidated());
  const Group opened = open_group(store_);
  ASSERT_TRUE(opened.is_consolidated());
  store_->reset();
  EXPECT_EQ(names(opened.children()), (std::vector<std::string>{"a", "g/"}));
  EXPECT_EQ(walked(opened), (std::vector<std::string>{"a", "g", "g/y"}));
  EXPECT_EQ(names(opened.open_group("g").children()), (std::vector<std::string>{"y"}));
  EXPECT_EQ(opened.open_group("g").open_array("y").shape(), Shape{4});
  EXPECT_EQ(opened.open_group("g").attributes().find("k")->as_string(), "v");
  EXPECT_EQ(opened.open_array("a").attributes().find("units")->as_string(), "K");
  EXPECT_TRUE(opened.contains("g/y"));
  EXPECT_FALSE(opened.contains("g/z"));
  EXPECT_EQ(store_->counts().get_requests, 0u);
  EXPECT_EQ(store_->counts().lists, 0u);
  // stale metadata says so, and can be gone around
  Group plain = open_group(store_, "", {{}, {}, Consolidated::never});
  plain.create_array("later", small());
  EXPECT_ERROR(opened.open("later"), ErrorCode::not_found, "consolidate again");
  EXPECT_TRUE(plain.contains("later"));
  EXPECT_TRUE(consolidate_metadata(store_).contains("later"));
}

TEST_P(GroupTest, ConsolidatedCanBeRequired) {
  make_root();
  EXPECT_ERROR(open_group(store_, "", {{}, {}, Consolidated::require}), ErrorCode::not_found,
               "consolidate_metadata");
}

TEST_P(GroupTest, SettingAttributesKeepsConsolidatedMetadata) {
  make_root().create_array("a", small());
  Group root = consolidate_metadata(store_);
  root.set_attributes({{"x", 1}});
  const Group opened = open_group(store_);
  EXPECT_TRUE(opened.is_consolidated());
  EXPECT_TRUE(opened.contains("a"));
  EXPECT_EQ(opened.attributes().find("x")->to_int64(), 1);
}

TEST_P(GroupTest, ConsolidatingBelowTheRoot) {
  make_root().create_group("g").create_array("h/a", small());
  consolidate_metadata(store_, "g");
  const Group group = open_group(store_, "g");
  EXPECT_TRUE(group.is_consolidated());
  EXPECT_EQ(walked(group), (std::vector<std::string>{"g/h", "g/h/a"}));
  EXPECT_EQ(group.open_group("h").open_array("a").path(), "g/h/a");
  EXPECT_EQ(names(group.open_group("h").children()), (std::vector<std::string>{"a"}));
}

TEST_P(GroupTest, BrokenDocumentsSayWhichKey) {
  make_root();
  put(v2() ? "a/.zarray" : "a/zarr.json", "{\"zarr_format\": ");
  EXPECT_ERROR(open_node(store_, "a"), ErrorCode::invalid_metadata, v2() ? "a/.zarray" : "a/zarr.json");
  if (!v2()) {
    EXPECT_ERROR(open_group(store_).children(), ErrorCode::invalid_metadata, "a/zarr.json");
    put("a/zarr.json", R"({"zarr_format": 3})");
    EXPECT_ERROR(open_node(store_, "a"), ErrorCode::invalid_metadata, "node_type");
    put("a/zarr.json", R"({"zarr_format": 3, "node_type": "shelf"})");
    EXPECT_ERROR(open_node(store_, "a"), ErrorCode::invalid_metadata, "shelf");
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, GroupTest, ::testing::Values(ZarrFormat::v2, ZarrFormat::v3),
                         [](const auto& info) { return info.param == ZarrFormat::v2 ? "v2" : "v3"; });

TEST(Hierarchy, BothFormatsOpenAsV3WithAWarning) {
  auto store = std::make_shared<MemoryStore>();
  create_group(store, "", {ZarrFormat::v2, {}, false});
  store->set("zarr.json", Buffer::from_string(R"({"zarr_format": 3, "node_type": "group"})"));
  std::vector<std::string> warnings;
  GroupOpenOptions options;
  options.metadata.warn = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(open_group(store, "", options).format(), ZarrFormat::v3);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("both"), std::string::npos);
}

TEST(Hierarchy, V2MayHaveNothingButConsolidatedMetadata) {
  auto store = std::make_shared<MemoryStore>();
  create_group(store, "", {ZarrFormat::v2, {{"t", 1}}, false});
  CreateOptions options;
  options.format = ZarrFormat::v2;
  options.shape = {1};
  create_array(store, "a", options);
  consolidate_metadata(store);
  for (const char* key : {".zgroup", ".zattrs", "a/.zarray"}) store->erase(key);
  const Group root = open_group(store);
  EXPECT_EQ(root.attributes().find("t")->to_int64(), 1);
  EXPECT_EQ(root.open_array("a").shape(), Shape{1});
  EXPECT_ERROR(open_group(store, "", {{}, {}, Consolidated::never}), ErrorCode::not_found, "");
}

TEST(Hierarchy, NamesThatV3Forbids) {
  auto store = std::make_shared<MemoryStore>();
  for (const char* name : {"__x", "a/__x", "zarr.json"})
    EXPECT_ERROR(create_group(store, name, {ZarrFormat::v3, {}, false}), ErrorCode::invalid_argument, "");
}

TEST(Hierarchy, DraftsOfV3AreRefused) {
  auto store = std::make_shared<MemoryStore>();
  store->set(
      "zarr.json",
      Buffer::from_string(
          R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_encoding": "x"})"));
  EXPECT_ERROR(open_node(store), ErrorCode::invalid_metadata, "draft");
}

TEST(Hierarchy, MetadataErrorsFromTheStoreAreNotMissing) {
  class Failing final : public StoreWrapper {
   public:
    using StoreWrapper::StoreWrapper;

   protected:
    void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions&) override {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        GetResult result;
        result.status = GetStatus::error;
        result.error = std::make_exception_ptr(Error(ErrorCode::unavailable, "connection reset"));
        sink(i, std::move(result));
      }
    }
  };
  auto store = std::make_shared<Failing>(std::make_shared<MemoryStore>("mem"));
  EXPECT_ERROR(open_node(store, "a"), ErrorCode::unavailable, "mem: a: a/");
}

}  // namespace
}  // namespace zarrive
