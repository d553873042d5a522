#include "codec/configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/byte_codec_suite.hpp"

namespace zarrive {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

struct Read {
  explicit Read(const char* json, bool strict = false, ZarrFormat format = ZarrFormat::v3) {
    spec.name = "some";
    spec.configuration = Json::parse(json).as_object();
    options.format = format;
    options.strict = strict;
    options.warn = [this](const std::string& message) { warnings.push_back(message); };
  }
  CodecSpec spec;
  CodecOptions options;
  std::vector<std::string> warnings;
  Configuration configuration{spec, options};
};

// The message of the Error(invalid_metadata) that `call` throws.
template <class Call>
std::string complaint(Call&& call) {
  std::string message;
  EXPECT_EQ(error_of(call, &message), ErrorCode::invalid_metadata);
  return message;
}

TEST(Configuration, ReadsMembersAndDefaults) {
  Read read(R"({"b": true, "i": -3, "d": 2.5, "s": "text", "c": "two"})");
  Configuration& c = read.configuration;
  EXPECT_TRUE(c.boolean("b", false));
  EXPECT_TRUE(c.boolean("absent", true));
  EXPECT_EQ(c.integer("i", 0, -3, 3), -3);
  EXPECT_EQ(c.integer("absent", 7, 0, 3), 7);
  EXPECT_EQ(c.required_integer("i", -3, 3), -3);
  EXPECT_EQ(c.number("d", 0), 2.5);
  EXPECT_EQ(c.number("i", 0), -3.0);
  EXPECT_EQ(c.number("absent", 1.5), 1.5);
  EXPECT_EQ(c.string("s", ""), "text");
  EXPECT_EQ(c.string("absent", "other"), "other");
  EXPECT_EQ(c.choice("c", "", {"one", "two"}), "two");
  EXPECT_EQ(c.choice("absent", "one", {"one", "two"}), "one");
  EXPECT_EQ(c.find("absent"), nullptr);
  ASSERT_NE(c.find("s"), nullptr);
  c.finish();
  EXPECT_THAT(read.warnings, ElementsAre());
}

TEST(Configuration, ComplaintsSayWhatWasFoundAndWhatIsAllowed) {
  Read read(R"({"x": "text", "n": null, "big": 12, "float": 1.5, "nan": NaN, "list": [1, 2, 3]})");
  Configuration& c = read.configuration;
  EXPECT_THAT(
      complaint([&] { c.boolean("x", false); }),
      AllOf(HasSubstr("'some'"), HasSubstr("'x'"), HasSubstr("\"text\""), HasSubstr("true or false")));
  EXPECT_THAT(complaint([&] { c.integer("x", 0, 0, 9); }),
              AllOf(HasSubstr("\"text\""), HasSubstr("from 0 to 9")));
  EXPECT_THAT(complaint([&] { c.integer("big", 0, 0, 9); }), HasSubstr("12"));
  complaint([&] { c.integer("float", 0, 0, 9); });
  complaint([&] { c.integer("n", 0, 0, 9); });
  EXPECT_THAT(complaint([&] { c.required_integer("absent", 1, 9); }), HasSubstr("missing"));
  EXPECT_THAT(complaint([&] { c.number("x", 0); }), HasSubstr("a number"));
  EXPECT_THAT(complaint([&] { c.number("nan", 0); }), HasSubstr("finite"));
  EXPECT_THAT(complaint([&] { c.string("big", ""); }), HasSubstr("a string"));
  EXPECT_THAT(complaint([&] { c.choice("x", "one", {"one", "two"}); }), HasSubstr(R"("one", "two")"));
  EXPECT_THAT(complaint([&] { c.choice("list", "one", {"one", "two"}); }), HasSubstr("[1, 2, 3]"));
  EXPECT_THAT(complaint([&] { c.choice("absent", "", {"one", "two"}); }), HasSubstr("missing"));
}

TEST(Configuration, LongValuesAreCutInMessages) {
  Read read((R"({"x": ")" + std::string(1000, 'a') + R"("})").c_str());
  const std::string message = complaint([&] { read.configuration.boolean("x", false); });
  EXPECT_LT(message.size(), 200U);
  EXPECT_THAT(message, HasSubstr("..."));
}

TEST(Configuration, IntegralFloatsAreLenient) {
  EXPECT_EQ(Read(R"({"x": 3.0})").configuration.integer("x", 0, 0, 9), 3);
  Read strict(R"({"x": 3.0})", true);
  complaint([&] { strict.configuration.integer("x", 0, 0, 9); });
}

TEST(Configuration, NullIsAbsentInV2) {
  Read read(R"({"x": null})", false, ZarrFormat::v2);
  EXPECT_EQ(read.configuration.find("x"), nullptr);
  EXPECT_EQ(read.configuration.integer("x", 5, 0, 9), 5);
  read.configuration.finish();
  EXPECT_THAT(read.warnings, ElementsAre());
}

TEST(Configuration, UnknownMembersWarnOrFail) {
  Read read(R"({"a": 1, "b": 2, "c": 3})");
  read.configuration.integer("a", 0, 0, 9);
  read.configuration.ignore("b");
  read.configuration.finish();
  EXPECT_THAT(read.warnings, ElementsAre(AllOf(HasSubstr("'some'"), HasSubstr("'c'"), HasSubstr("ignored"))));

  Read strict(R"({"a": 1, "b": 2})", true);
  strict.configuration.ignore("b");
  EXPECT_THAT(complaint([&] { strict.configuration.finish(); }), HasSubstr("'a'"));
  EXPECT_THAT(strict.warnings, ElementsAre());

  Read silent(R"({"a": 1})");
  silent.options.warn = nullptr;
  silent.configuration.finish();
}

TEST(Configuration, InnerCodecs) {
  Read read("{}");
  const auto inner = [&](const char* json) { return read.configuration.codec(Json::parse(json)); };
  EXPECT_EQ(inner(R"("crc32c")").name, "crc32c");
  EXPECT_TRUE(inner(R"({"name": "crc32c"})").configuration.empty());
  const CodecSpec spec =
      inner(R"({"name": "zstd", "configuration": {"level": 1}, "must_understand": false})");
  EXPECT_EQ(spec.name, "zstd");
  EXPECT_EQ(spec.configuration.size(), 1U);
  EXPECT_FALSE(spec.must_understand);
  for (const char* bad : {"3", "null", "[]", "{}", R"({"name": 3})", R"({"name": "a", "configuration": 3})",
                          R"({"name": "a", "level": 3})", R"({"name": "a", "must_understand": "no"})"})
    EXPECT_THAT(complaint([&] { inner(bad); }), HasSubstr("'some'")) << bad;
}

// --- the built-in codecs' own rules ---

TEST(CodecConfiguration, WrongOnesAreInvalidMetadata) {
  const std::tuple<ZarrFormat, const char*, const char*> wrong[] = {
      {ZarrFormat::v3, "zstd", R"({"level": 23})"},
      {ZarrFormat::v3, "zstd", R"({"level": -131073})"},
      {ZarrFormat::v3, "zstd", R"({"level": "3"})"},
      {ZarrFormat::v3, "zstd", R"({"checksum": 1})"},
      {ZarrFormat::v3, "zstd", R"({"levle": 1})"},
      {ZarrFormat::v2, "zstd", R"({"level": 99999999999})"},
      {ZarrFormat::v3, "gzip", R"({"level": 10})"},
      {ZarrFormat::v3, "gzip", R"({"level": -1})"},
      {ZarrFormat::v2, "gzip", R"({"level": -2})"},
      {ZarrFormat::v2, "zlib", R"({"level": 10})"},
      {ZarrFormat::v2, "bz2", R"({"level": 0})"},
      {ZarrFormat::v2, "lz4", R"({"acceleration": 1.5})"},
      {ZarrFormat::v2, "blosc", R"({"cname": "lzma"})"},
      {ZarrFormat::v2, "blosc", R"({"clevel": 10})"},
      {ZarrFormat::v2, "blosc", R"({"shuffle": 3})"},
      {ZarrFormat::v2, "blosc", R"({"shuffle": -2})"},
      {ZarrFormat::v2, "blosc", R"({"blocksize": -1})"},
      {ZarrFormat::v3, "blosc", R"({"shuffle": "byteshuffle"})"},
      {ZarrFormat::v3, "blosc", R"({"typesize": -1})"},
      {ZarrFormat::v3, "blosc", R"({"cname": null})"},
      {ZarrFormat::v2, "crc32", R"({"location": "middle"})"},
      {ZarrFormat::v3, "crc32c", R"({"location": "start"})"},
      {ZarrFormat::v2, "fletcher32", R"({"x": 1})"},
      {ZarrFormat::v2, "jenkins_lookup3", R"({"initval": 4294967296})"},
      {ZarrFormat::v2, "jenkins_lookup3", R"({"prefix": 3})"},
      {ZarrFormat::v2, "jenkins_lookup3", R"({"prefix": [256]})"},
      {ZarrFormat::v2, "shuffle", R"({"elementsize": -1})"},
      {ZarrFormat::v2, "lzma", R"({"format": 4})"},
      {ZarrFormat::v2, "lzma", R"({"check": 16})"},
      {ZarrFormat::v2, "lzma", R"({"check": 2})"},
      {ZarrFormat::v2, "lzma", R"({"format": 2, "check": 4})"},
      {ZarrFormat::v2, "lzma", R"({"preset": 10})"},
      {ZarrFormat::v2, "lzma", R"({"preset": 1, "filters": [{"id": 33}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": []})"},
      {ZarrFormat::v2, "lzma", R"({"filters": {"id": 33}})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 33}, {"id": 33}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 3}, {"id": 3}, {"id": 3}, {"id": 3}, {"id": 33}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 3}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [33]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"dist": 3}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 12}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 3, "dist": 0}, {"id": 33}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 3, "dist": 257}, {"id": 33}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 33, "lc": 4, "lp": 4}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 33, "mf": 5}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 33, "preset": 11}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 33, "foo": 1}]})"},
      {ZarrFormat::v2, "lzma", R"({"filters": [{"id": 4611686018427387905}]})"},
      {ZarrFormat::v2, "lzma", R"({"format": 2, "filters": [{"id": 33}]})"},
      {ZarrFormat::v2, "lzma", R"({"format": 2, "filters": [{"id": 3}, {"id": 4611686018427387905}]})"},
      {ZarrFormat::v2, "lzma", R"({"format": 3})"},
      {ZarrFormat::v3, "conditional", R"({})"},
      {ZarrFormat::v3, "conditional", R"({"codecs": "crc32c"})"},
      {ZarrFormat::v3, "conditional", R"({"codecs": ["bytes"]})"},
      {ZarrFormat::v3, "conditional", R"({"codecs": ["crc32c"], "header_bits": 0})"},
      {ZarrFormat::v3, "conditional", R"({"codecs": ["crc32c"], "header_bits": 12})"},
      {ZarrFormat::v3, "conditional", R"({"codecs": [{"name": "zstd", "configuration": {"level": 40}}]})"},
  };
  for (const auto& [format, name, json] : wrong) {
    std::string message;
    EXPECT_EQ(error_of([&, f = format, n = name, j = json] { testing::make_byte_codec(f, n, j); }, &message),
              ErrorCode::invalid_metadata)
        << name << " " << json;
    EXPECT_NE(message, "");
  }
  std::string many = R"({"codecs": ["crc32c")";
  for (int i = 0; i < 1024; ++i) many += R"(, "crc32c")";
  EXPECT_EQ(error_of([&] { testing::make_byte_codec(ZarrFormat::v3, "conditional", many + "]}"); }),
            ErrorCode::invalid_metadata);
  EXPECT_EQ(
      error_of([] { testing::make_byte_codec(ZarrFormat::v3, "conditional", R"({"codecs": ["zipzap"]})"); }),
      ErrorCode::unsupported_codec);
}

}  // namespace
}  // namespace zarrive
