#include "zarrive/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zarrive {
namespace {

using ::testing::ElementsAre;

Context context(const std::string& node) {
  Context c;
  c.node = node;
  return c;
}

TEST(Context, EveryMemberIsOptional) {
  const Context c;
  EXPECT_EQ(c.version, 1);
  EXPECT_FALSE(c.prototype || c.key || c.array || c.chunk_index || c.chunk_shape || c.chunk_selection ||
               c.output_selection || c.destination || c.expected_size);
  EXPECT_TRUE(c.codec_parameters.is_null());
  EXPECT_TRUE(c.node.empty());
}

TEST(Context, BoxesCompare) {
  EXPECT_EQ((Box{{1}, {2}}), (Box{{1}, {2}}));
  EXPECT_NE((Box{{1}, {2}}), (Box{{1}, {3}}));
}

TEST(ConstantMap, GivesOneContextToEachOfItsKeys) {
  const std::vector<std::string> keys{"b", "a", "c/0", "b"};
  const ConstantMap map(keys, context("n"));
  EXPECT_THAT(map.keys(), ElementsAre("a", "b", "c/0"));
  EXPECT_EQ(map.size(), 3u);
  for (const auto& key : keys) EXPECT_EQ(map.find(key), &map.constant());
  EXPECT_EQ(map.find("c/0")->node, "n");
  for (const char* absent : {"", "c", "c/00", "d", "A"}) EXPECT_EQ(map.find(absent), nullptr) << absent;
}

TEST(ConstantMap, FromAListAndEmpty) {
  const ConstantMap map({"x", "y"}, context("n"));
  EXPECT_NE(map.find("x"), nullptr);
  EXPECT_EQ(map.find("z"), nullptr);
  const ConstantMap none(std::span<const std::string>{}, Context{});
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.find(""), nullptr);
}

TEST(MapOfContexts, FindsByKey) {
  MapOfContexts map;
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.find("a"), nullptr);
  map.set("a", context("1"));
  map.set("b", context("2"));
  map.set("a", context("3"));
  EXPECT_EQ(map.size(), 2u);
  ASSERT_NE(map.find("a"), nullptr);
  EXPECT_EQ(map.find("a")->node, "3");
  EXPECT_EQ(map.find(std::string_view("bc").substr(0, 1))->node, "2");
  const MapOfContexts made({{"k", context("v")}});
  EXPECT_EQ(made.find("k")->node, "v");
}

TEST(ContextsRef, RefersToOrHolds) {
  EXPECT_EQ(ContextsRef().find("a"), nullptr);
  const ConstantMap map({"a"}, context("n"));
  const ContextsRef reference = map;
  EXPECT_EQ(reference.find("a"), &map.constant());
  EXPECT_EQ(reference.find("b"), nullptr);
  const ContextsRef held = ConstantMap({"a"}, context("moved"));
  ASSERT_NE(held.find("a"), nullptr);
  EXPECT_EQ(held.find("a")->node, "moved");
  MapOfContexts contexts;
  contexts.set("b", context("m"));
  const ContextsRef held_too = std::move(contexts);
  EXPECT_EQ(held_too.find("b")->node, "m");
}

}  // namespace
}  // namespace zarrive
