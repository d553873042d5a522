#include "zarrive/chunk_key_encoding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zarrive/error.hpp"

namespace zarrive {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ChunkKeyEncoding read(const char* text) { return ChunkKeyEncoding::from_json(Json::parse(text)); }

constexpr ChunkKeyEncoding default_slash{ChunkKeyEncoding::Kind::default_, '/'};
constexpr ChunkKeyEncoding default_dot{ChunkKeyEncoding::Kind::default_, '.'};
constexpr ChunkKeyEncoding v2_slash{ChunkKeyEncoding::Kind::v2, '/'};
constexpr ChunkKeyEncoding v2_dot{ChunkKeyEncoding::Kind::v2, '.'};

TEST(ChunkKeyEncoding, Keys) {
  const Index index{3, 0, 18446744073709551615u};
  EXPECT_EQ(default_slash.key(index), "c/3/0/18446744073709551615");
  EXPECT_EQ(default_dot.key(index), "c.3.0.18446744073709551615");
  EXPECT_EQ(v2_slash.key(index), "3/0/18446744073709551615");
  EXPECT_EQ(v2_dot.key(index), "3.0.18446744073709551615");
  for (const auto& encoding : {default_slash, default_dot, v2_slash, v2_dot}) {
    EXPECT_EQ(encoding.parse(encoding.key(index), 3), index);
    EXPECT_EQ(encoding.parse(encoding.key({}), 0), Index{});
  }
  EXPECT_EQ(default_slash.key({}), "c");
  EXPECT_EQ(v2_dot.key({}), "0");
}

TEST(ChunkKeyEncoding, ParsesCanonicalKeysOnly) {
  for (const char* key : {"",
                          "c",
                          "c/",
                          "c/1",
                          "c/1/",
                          "c/1/2/3",
                          "c/01/2",
                          "c/1/02",
                          "c/00/0",
                          "c/-1/2",
                          "c/+1/2",
                          "c/ 1/2",
                          "c/1/2 ",
                          "c/1.2",
                          "C/1/2",
                          "/1/2",
                          "1/2",
                          "c1/2",
                          "c/1//2",
                          "c/a/b",
                          "c/0x1/2",
                          "c/18446744073709551616/0",
                          "c/1/2/",
                          "zarr.json",
                          "c/99999999999999999999999999/0"})
    EXPECT_EQ(default_slash.parse(key, 2), std::nullopt) << key;
  for (const char* key : {"", "0", "1.2.3", "01.2", "1.02", "1.", ".1", "1/2", ".zarray", "1.-2", "1..2",
                          "1.2.", "0.18446744073709551616"})
    EXPECT_EQ(v2_dot.parse(key, 2), std::nullopt) << key;
  for (const char* key : {"", "c/", "c/0", "0", "cc"})
    EXPECT_EQ(default_slash.parse(key, 0), std::nullopt) << key;
  for (const char* key : {"", "00", "1", "c", "0.0"}) EXPECT_EQ(v2_dot.parse(key, 0), std::nullopt) << key;
  EXPECT_EQ(default_slash.parse("c/0/10", 2), (Index{0, 10}));
  EXPECT_EQ(v2_dot.parse("0", 1), Index{0});
}

TEST(ChunkKeyEncoding, Reads) {
  EXPECT_EQ(read(R"("default")"), default_slash);
  EXPECT_EQ(read(R"({"name":"default"})"), default_slash);
  EXPECT_EQ(read(R"({"name":"default","configuration":{}})"), default_slash);
  EXPECT_EQ(read(R"({"name":"default","configuration":{"separator":"."}})"), default_dot);
  EXPECT_EQ(read(R"("v2")"), v2_dot);
  EXPECT_EQ(read(R"({"name":"v2","configuration":{"separator":"/"},"must_understand":true})"), v2_slash);
  for (const auto& encoding : {default_slash, default_dot, v2_slash, v2_dot})
    EXPECT_EQ(ChunkKeyEncoding::from_json(encoding.to_json()), encoding);
  EXPECT_EQ(default_slash.to_json().dump(), R"({"name": "default", "configuration": {"separator": "/"}})");
}

TEST(ChunkKeyEncoding, LenientCasesWarn) {
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& sentence) { warnings.push_back(sentence); };
  EXPECT_EQ(ChunkKeyEncoding::from_json(Json::parse(R"({"name":"default","separator":"."})"), warn),
            default_dot);
  EXPECT_EQ(ChunkKeyEncoding::from_json(Json::parse(R"({"name":"v2","configuration":{"x":1}})"), warn),
            v2_dot);
  EXPECT_EQ(ChunkKeyEncoding::from_json(Json::parse(R"({"name":"v2","y":1})"), warn), v2_dot);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("outside"), HasSubstr("\"x\""), HasSubstr("\"y\"")));
  EXPECT_EQ(read(R"({"name":"default","separator":"."})"), default_dot);
}

TEST(ChunkKeyEncoding, HostileDocuments) {
  const struct {
    const char* text;
    ErrorCode code;
  } cases[] = {
      {"1", ErrorCode::invalid_metadata},
      {"[]", ErrorCode::invalid_metadata},
      {"{}", ErrorCode::invalid_metadata},
      {R"("")", ErrorCode::invalid_metadata},
      {R"("suffix")", ErrorCode::unsupported},
      {R"({"name":"fanout","configuration":{"max_children":100}})", ErrorCode::unsupported},
      {R"({"name":"default","must_understand":false})", ErrorCode::invalid_metadata},
      {R"({"name":"default","configuration":{"separator":"//"}})", ErrorCode::invalid_metadata},
      {R"({"name":"default","configuration":{"separator":"-"}})", ErrorCode::invalid_metadata},
      {R"({"name":"default","configuration":{"separator":""}})", ErrorCode::invalid_metadata},
      {R"({"name":"default","configuration":{"separator":null}})", ErrorCode::invalid_metadata},
      {R"({"name":"default","configuration":"/"})", ErrorCode::invalid_metadata},
      {R"({"name":"default","separator":1})", ErrorCode::invalid_metadata},
      {"\"a\\u0000b\"", ErrorCode::invalid_metadata},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    try {
      read(c.text);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), c.code) << error.what();
      EXPECT_THAT(error.message(), HasSubstr("chunk_key_encoding"));
    }
  }
}

}  // namespace
}  // namespace zarrive
