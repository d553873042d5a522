#include "zarrive/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <random>
#include <thread>

#include "support/errors.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

using testing::code_of;

ErrorCode parse_error(std::string_view text, const JsonParseOptions& options = {},
                      std::string* message = nullptr) {
  try {
    Json::parse(text, options);
  } catch (const Error& e) {
    if (message) *message = e.message();
    return e.code();
  }
  ADD_FAILURE() << "parsed: " << text.substr(0, 60);
  return ErrorCode::internal;
}

std::string again(std::string_view text) { return Json::parse(text).dump(); }

TEST(Json, EveryTypeIsReadAndWritten) {
  const std::string text = R"({"a": null, "b": [true, false], "c": -1.50e+3, "d": "x\"y", "e": {}, "f": []})";
  EXPECT_EQ(again(text), text);
  const Json json = Json::parse(text);
  EXPECT_TRUE(json.find("a")->is_null());
  EXPECT_TRUE(json.find("b")->as_array()[0].as_bool());
  EXPECT_EQ(json.find("c")->as_double(), -1500.0);
  EXPECT_EQ(json.find("c")->number_text(), "-1.50e+3");
  EXPECT_EQ(json.find("d")->as_string(), "x\"y");
  EXPECT_TRUE(json.find("e")->as_object().empty());
  EXPECT_EQ(json.find("none"), nullptr);
  EXPECT_EQ(json.find("a")->find("x"), nullptr);
}

TEST(Json, ScalarsAndSpaceAroundTheDocument) {
  for (std::string text : {"null", "true", "false", "0", "-0", "1", "\"\"", "[]", "{}"}) {
    EXPECT_EQ(again(text), text);
    EXPECT_EQ(again(" \t\r\n" + text + "\n\n "), text);
  }
}

TEST(Json, NumbersKeepTheirText) {
  for (std::string text : {"18446744073709551615", "18446744073709551616", "-9223372036854775808", "-0.0",
                           "1E5", "1e400", "-1e400", "1e-400", "0.1000000000000000055511151231257827", "3.0",
                           "1.7976931348623157e308", "1e99999999999999999999", "1e-99999999999999999999"}) {
    EXPECT_EQ(again(text), text);
    EXPECT_EQ(again("[" + text + "," + text + "]"), "[" + text + ", " + text + "]");
    EXPECT_EQ(again("{\"a\": [" + text + ", 1]}"), "{\"a\": [" + text + ", 1]}");
  }
  const std::string digits(5000, '7');
  EXPECT_EQ(again(digits), digits);
  EXPECT_EQ(again("-" + digits + ".5"), "-" + digits + ".5");
  EXPECT_TRUE(std::isinf(Json::parse(digits).as_double()));
}

TEST(Json, NumbersBeyondDoubleDoNotDisturbTheirNeighbours) {
  const std::string text =
      R"({"1e400": "2e500 \" 3e600", "n": [-1e400, 12345.678, -1, 1e400], "s": "\\", "t": 1e999})";
  EXPECT_EQ(again(text), text);
  EXPECT_EQ(parse_error("[1e400, 01e400]"), ErrorCode::invalid_metadata);
  EXPECT_EQ(parse_error("[1e400, \"abc"), ErrorCode::invalid_metadata);
  EXPECT_EQ(parse_error("[1e400, \"abc\\"), ErrorCode::invalid_metadata);
  std::string many = "[";
  for (int i = 0; i < 50000; ++i) many += "1e400,";
  many += "0]";
  EXPECT_EQ(Json::parse(many).as_array().size(), 50001u);  // one second pass, not one a number
}

TEST(Json, BareNaNAndInfinities) {
  EXPECT_EQ(again("[NaN, Infinity, -Infinity]"), "[NaN, Infinity, -Infinity]");
  const Json json = Json::parse("[NaN,Infinity,-Infinity]");
  EXPECT_TRUE(std::isnan(json.as_array()[0].as_double()));
  EXPECT_EQ(json.as_array()[1].as_double(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(json.as_array()[2].as_double(), -std::numeric_limits<double>::infinity());
  for (const char* text : {"Inf", "-Inf", "-NaN", "+NaN", "nan", "NAN", "infinity", "Infinit", "N", "NaNa",
                           "[NaN1]", "--Infinity", "-"})
    EXPECT_EQ(parse_error(text), ErrorCode::invalid_metadata) << text;
  for (const char* text : {"NaN", "[Infinity]", "{\"a\": -Infinity}"})
    EXPECT_EQ(parse_error(text, {.allow_nan = false}), ErrorCode::invalid_metadata) << text;
}

TEST(Json, WhatIsNotJsonIsRefused) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "tru",
                           "01",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "+1",
                           "0x10",
                           "'a'",
                           "[1,]",
                           "{\"a\":1,}",
                           "[,1]",
                           "[1 2]",
                           "{\"a\" 1}",
                           "{a:1}",
                           "{1:1}",
                           "{\"a\":}",
                           "{\"a\"}",
                           "[",
                           "]",
                           "{",
                           "}",
                           "[}",
                           "{]",
                           "1 2",
                           "[] []",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"tab\tinside\"",
                           "// c\n1",
                           "/* c */ 1",
                           "\"\\",
                           "[1]x",
                           "\xef\xbb\xbf{}"})
    EXPECT_EQ(parse_error(text), ErrorCode::invalid_metadata) << text;
  EXPECT_EQ(parse_error(std::string_view("1\0", 2)), ErrorCode::invalid_metadata);
  EXPECT_EQ(parse_error(std::string_view("{}\0{}", 5)), ErrorCode::invalid_metadata);
  EXPECT_EQ(parse_error(std::string_view("\"a\0b\"", 5)), ErrorCode::invalid_metadata);
  EXPECT_EQ(parse_error(std::string_view("\0", 1)), ErrorCode::invalid_metadata);
}

TEST(Json, TrailingCommasOnlyWhenAsked) {
  const JsonParseOptions options{.allow_trailing_commas = true};
  EXPECT_EQ(Json::parse("[1, 2,]", options).dump(), "[1, 2]");
  EXPECT_EQ(Json::parse("{\"a\": [1,],}", options).dump(), "{\"a\": [1]}");
  EXPECT_EQ(parse_error("[,]", options), ErrorCode::invalid_metadata);
  EXPECT_EQ(parse_error("[1,,]", options), ErrorCode::invalid_metadata);
}

TEST(Json, StringsAreUtf8) {
  EXPECT_EQ(Json::parse("\"\\u00e9\\ud83d\\ude00\\u0000\\/\"").as_string(), std::string("é😀\0/", 8));
  EXPECT_EQ(Json::parse("\"\xed\x9f\xbf\"").as_string(), "\xed\x9f\xbf");
  for (const char* text : {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
                           "\"\xe2\x82\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"", "\"\\ud800x\"",
                           "\"\xc3\"", "{\"\xff\": 1}", "{\"a\\udc00\": 1}"})
    EXPECT_EQ(parse_error(text), ErrorCode::invalid_metadata);
}

TEST(Json, DuplicateNames) {
  std::string message;
  EXPECT_EQ(parse_error("{\"a\": 1, \"b\": {\"a\": 1},\n \"a\": 2}", {}, &message),
            ErrorCode::invalid_metadata);
  EXPECT_NE(message.find("\"a\" occurs twice"), std::string::npos) << message;
  EXPECT_NE(message.find("line 2"), std::string::npos) << message;
  EXPECT_EQ(Json::parse("{\"a\": 1, \"b\": 2, \"a\": [3]}", {.reject_duplicate_names = false}).dump(),
            "{\"a\": [3], \"b\": 2}");
}

TEST(Json, ErrorsTellLineAndColumn) {
  std::string message;
  parse_error("{\n  \"é\": 1,\n  \"b\": tru\n}", {}, &message);
  EXPECT_NE(message.find("line 3"), std::string::npos) << message;
  parse_error("[\"éé\", x]", {}, &message);
  EXPECT_NE(message.find("line 1, column 8"), std::string::npos) << message;
  parse_error("[1, -NaN]", {}, &message);
  EXPECT_NE(message.find("line 1, column 5"), std::string::npos) << message;
  EXPECT_NE(message.find("'-NaN'"), std::string::npos) << message;
}

TEST(Json, DepthIsBounded) {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(again(nested(200)), nested(200));
  std::string message;
  EXPECT_EQ(parse_error(nested(201), {}, &message), ErrorCode::resource_limit);
  EXPECT_NE(message.find("200 levels"), std::string::npos) << message;
  EXPECT_EQ(parse_error(std::string(1000000, '[')), ErrorCode::resource_limit);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_EQ(parse_error(objects), ErrorCode::resource_limit);
  const JsonParseOptions deep{.max_depth = std::numeric_limits<std::size_t>::max()};
  EXPECT_EQ(parse_error(nested(1000000), deep), ErrorCode::resource_limit);
  EXPECT_EQ(Json::parse(nested(2000), deep).dump(), nested(2000));
  EXPECT_EQ(parse_error("[]", {.max_depth = 0}), ErrorCode::resource_limit);
  EXPECT_EQ(Json::parse("1", {.max_depth = 0}).to_int64(), 1);
}

TEST(Json, EveryTruncationIsAnError) {
  const std::string text =
      R"({"zarr_format": 3, "a": [1.5e3, -0, NaN, "é\u00e9\n", {"b": null}], "c": true})";
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_EQ(parse_error(text.substr(0, n)), ErrorCode::invalid_metadata) << n;
}

TEST(Json, RandomDamageNeverGetsThroughAsMoreThanAnError) {
  const std::string text =
      R"({"zarr_format": 3, "a": [1.5e3, -0, NaN, 1e400, "é\u00e9\n", {"b": null}], "c": true, "d": {"e": [[], {}]}})";
  std::mt19937 random(7);
  int parsed = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 1 + i % 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const Json json = Json::parse(damaged);
      EXPECT_EQ(Json::parse(json.dump()), json) << damaged;
      ++parsed;
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == ErrorCode::invalid_metadata) << e.what();
    }
  }
  EXPECT_GT(parsed, 0);
}

TEST(Json, ExactIntegers) {
  EXPECT_EQ(Json::parse("9223372036854775807").to_int64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Json::parse("9223372036854775808").to_int64(), std::nullopt);
  EXPECT_EQ(Json::parse("-9223372036854775808").to_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Json::parse("-9223372036854775809").to_int64(), std::nullopt);
  EXPECT_EQ(Json::parse("18446744073709551615").to_uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Json::parse("18446744073709551616").to_uint64(), std::nullopt);
  EXPECT_EQ(Json::parse("18446744073709551620").to_uint64(), std::nullopt);
  EXPECT_EQ(Json::parse("-1").to_uint64(), std::nullopt);
  EXPECT_EQ(Json::parse("-0").to_uint64(), 0u);
  EXPECT_EQ(Json::parse("-0").to_int64(), 0);
  EXPECT_EQ(Json::parse("-5").to_int64(), -5);
  for (const char* text : {"3.0", "1e3", "NaN", "Infinity", "\"3\"", "true", "null"}) {
    EXPECT_EQ(Json::parse(text).to_int64(), std::nullopt) << text;
    EXPECT_EQ(Json::parse(text).to_uint64(), std::nullopt) << text;
    EXPECT_FALSE(Json::parse(text).is_integer()) << text;
  }
  EXPECT_TRUE(Json::parse("123456789012345678901234567890").is_integer());
}

TEST(Json, IntegralFloats) {
  const auto i = [](const char* text) { return Json::parse(text).to_int64(true); };
  EXPECT_EQ(i("3.0"), 3);
  EXPECT_EQ(i("1e3"), 1000);
  EXPECT_EQ(i("-1.5e1"), -15);
  EXPECT_EQ(i("1500e-2"), 15);
  EXPECT_EQ(i("0.1"), std::nullopt);
  EXPECT_EQ(i("1501e-2"), std::nullopt);
  EXPECT_EQ(i("0e99999999999999999999"), 0);
  EXPECT_EQ(i("-0.000"), 0);
  EXPECT_EQ(i("1e18"), 1000000000000000000);
  EXPECT_EQ(i("1e19"), std::nullopt);
  EXPECT_EQ(i("1e99999999999999999999"), std::nullopt);
  EXPECT_EQ(i("1e-99999999999999999999"), std::nullopt);
  EXPECT_EQ(i("9.223372036854775807E+18"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Json::parse("1e19").to_uint64(true), 10000000000000000000u);
  EXPECT_EQ(Json::parse("18446744073709551615.0").to_uint64(true), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(i("NaN"), std::nullopt);
}

TEST(Json, DoublesOutOfRange) {
  const auto d = [](const char* text) { return Json::parse(text).as_double(); };
  EXPECT_EQ(d("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(d("-1e400"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(d("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(d("-1e-400")));
  EXPECT_EQ(d("0e99999"), 0.0);
  EXPECT_EQ(d("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(d("-0.0")));
  EXPECT_EQ(d("0.1"), 0.1);
  EXPECT_EQ(code_of([&] { d("\"1\""); }), ErrorCode::invalid_metadata);
}

TEST(Json, DoublesAreWrittenAsPythonDoes) {
  const std::pair<double, const char*> cases[] = {{0.0, "0.0"},
                                                  {-0.0, "-0.0"},
                                                  {1.0, "1.0"},
                                                  {0.1, "0.1"},
                                                  {-1.5, "-1.5"},
                                                  {100.0, "100.0"},
                                                  {123456.789, "123456.789"},
                                                  {1e15, "1000000000000000.0"},
                                                  {1e16, "1e+16"},
                                                  {1.5e16, "1.5e+16"},
                                                  {9007199254740993.0, "9007199254740992.0"},
                                                  {1e-4, "0.0001"},
                                                  {1e-5, "1e-05"},
                                                  {1.25e-5, "1.25e-05"},
                                                  {1e100, "1e+100"},
                                                  {5e-324, "5e-324"},
                                                  {1e-100, "1e-100"},
                                                  {1.7976931348623157e308, "1.7976931348623157e+308"},
                                                  {0.30000000000000004, "0.30000000000000004"},
                                                  {std::nan(""), "NaN"},
                                                  {HUGE_VAL, "Infinity"},
                                                  {-HUGE_VAL, "-Infinity"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(Json(value).dump(), text);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, 8);
    if (!std::isfinite(value)) continue;
    const Json json(value);
    EXPECT_EQ(json.as_double(), value) << json.dump();
    EXPECT_EQ(Json::parse(json.dump()).number_text(), json.number_text());
  }
}

TEST(Json, MadeFromCppValues) {
  EXPECT_EQ(Json(-1).dump(), "-1");
  EXPECT_EQ(Json(-1L).dump(), "-1");
  EXPECT_EQ(Json(-1LL).dump(), "-1");
  EXPECT_EQ(Json(1u).dump(), "1");
  EXPECT_EQ(Json(1ul).dump(), "1");
  EXPECT_EQ(Json(std::numeric_limits<unsigned long long>::max()).dump(), "18446744073709551615");
  EXPECT_EQ(Json("x").dump(), "\"x\"");
  EXPECT_EQ(Json(std::string("x")).dump(), "\"x\"");
  EXPECT_EQ(Json(std::string_view("x")).dump(), "\"x\"");
  EXPECT_EQ(Json(nullptr).dump(), "null");
  EXPECT_EQ(Json(true).dump(), "true");
  EXPECT_EQ(Json(JsonNumber{"-1e400"}).dump(), "-1e400");
  EXPECT_EQ(Json(JsonNumber{"NaN"}).dump(), "NaN");
  for (const char* text : {"", "abc", "1 ", " 1", "01", "1.", "Inf", "-NaN", "-", "1e", "1e+"})
    EXPECT_EQ(code_of([&] { Json(JsonNumber{text}); }), ErrorCode::invalid_argument) << text;
  const Json object = JsonObject{{"b", 1}, {"a", JsonArray{1, "two", nullptr}}, {"b", 2}};
  EXPECT_EQ(object.dump(), R"({"b": 2, "a": [1, "two", null]})");
}

// Expected texts from Python 3.11: json.dumps(json.loads(text), ...).
TEST(Json, LayoutsArePythons) {
  const Json json = Json::parse(
      R"({"b": [1, [], {}, {"x": null}], "a": "\u00e9\ud83d\ude00\u007f\u0001\"\\\n\r\t\f\b/", "é": 1.5})");
  EXPECT_EQ(
      json.dump(),
      "{\"b\": [1, [], {}, {\"x\": null}], \"a\": \"é😀\x7f\\u0001\\\"\\\\\\n\\r\\t\\f\\b/\", \"é\": 1.5}");
  EXPECT_EQ(
      json.dump({.sort_keys = true, .ensure_ascii = true}),
      R"({"a": "\u00e9\ud83d\ude00\u007f\u0001\"\\\n\r\t\f\b/", "b": [1, [], {}, {"x": null}], "\u00e9": 1.5})");
  EXPECT_EQ(Json::parse("{\"b\": [1, [], {}], \"a\": {\"x\": null}}").dump({.spaces = false}),
            R"({"b":[1,[],{}],"a":{"x":null}})");
  EXPECT_EQ(Json::parse("{\"b\": [1, [], {}], \"a\": {\"x\": null}}").dump({.indent = 2}),
            "{\n  \"b\": [\n    1,\n    [],\n    {}\n  ],\n  \"a\": {\n    \"x\": null\n  }\n}");
  EXPECT_EQ(Json::parse("[1, {\"x\": 2}]").dump({.indent = 0}), "[\n1,\n{\n\"x\": 2\n}\n]");
  EXPECT_EQ(Json::parse("[1, {\"x\": 2}]").dump({.indent = 1, .spaces = false}),
            "[\n 1,\n {\n  \"x\":2\n }\n]");
}

TEST(Json, StringsThatAreNotUtf8AreNotWritten) {
  for (const char* text : {"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82",
                           "\xf0\x9f", "\xc3", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf8"})
    EXPECT_EQ(code_of([&] { Json(text).dump(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { Json(JsonObject{{"\xff", 1}}).dump(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(Json("\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf").dump({.ensure_ascii = true}),
            "\"\\udbff\\udfff\\ue000\\ud7ff\"");
}

TEST(Json, WrongTypesAreNamed) {
  Json number(1), text("x"), array(JsonArray{}), object(JsonObject{});
  EXPECT_EQ(code_of([&] { number.as_bool(); }), ErrorCode::invalid_metadata);
  EXPECT_EQ(code_of([&] { number.as_string(); }), ErrorCode::invalid_metadata);
  EXPECT_EQ(code_of([&] { number.as_array(); }), ErrorCode::invalid_metadata);
  EXPECT_EQ(code_of([&] { std::as_const(number).as_array(); }), ErrorCode::invalid_metadata);
  EXPECT_EQ(code_of([&] { number.as_object(); }), ErrorCode::invalid_metadata);
  EXPECT_EQ(code_of([&] { text.number_text(); }), ErrorCode::invalid_metadata);
  try {
    std::as_const(array).as_object();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "expected JSON type object, found array");
  }
  EXPECT_EQ(object.type_name(), "object");
  EXPECT_EQ(text.type_name(), "string");
}

TEST(Json, Equality) {
  const auto equal = [](const char* a, const char* b) {
    EXPECT_EQ(Json::parse(a) == Json::parse(b), Json::parse(b) == Json::parse(a));
    return Json::parse(a) == Json::parse(b);
  };
  EXPECT_TRUE(equal("{\"a\": 1, \"b\": [1, {}]}", "{\"b\": [1.0, {}], \"a\": 1e0}"));
  EXPECT_FALSE(equal("{\"a\": 1}", "{\"a\": 1, \"b\": 1}"));
  EXPECT_FALSE(equal("{\"a\": 1}", "{\"b\": 1}"));
  EXPECT_FALSE(equal("{\"a\": 1}", "{\"a\": 2}"));
  EXPECT_FALSE(equal("[1, 2]", "[2, 1]"));
  EXPECT_FALSE(equal("1", "\"1\""));
  EXPECT_FALSE(equal("1", "true"));
  EXPECT_TRUE(equal("null", "null"));
  EXPECT_FALSE(equal("true", "false"));
  EXPECT_TRUE(equal("0", "-0.0"));
  EXPECT_FALSE(equal("1", "-1"));
  EXPECT_TRUE(equal("0.5", "5e-1"));
  EXPECT_TRUE(equal("NaN", "NaN"));
  EXPECT_FALSE(equal("NaN", "1.5"));
  EXPECT_FALSE(equal("9007199254740993", "9007199254740992"));
  EXPECT_FALSE(equal("18446744073709551616", "18446744073709551617"));
  EXPECT_TRUE(equal("1e30", "1000000000000000000000000000000"));
  EXPECT_FALSE(equal("1e400", "2e400"));
  EXPECT_FALSE(equal("1", "1.5"));
}

TEST(Json, CopiesAreIndependent) {
  Json a = Json::parse("{\"x\": [1, 2]}");
  Json b = a;
  b.find("x")->as_array().push_back(3);
  b.as_object().set("y", 1);
  EXPECT_EQ(a.dump(), "{\"x\": [1, 2]}");
  EXPECT_EQ(b.dump(), "{\"x\": [1, 2, 3], \"y\": 1}");
  Json moved = std::move(a);
  EXPECT_EQ(moved.dump(), "{\"x\": [1, 2]}");
  EXPECT_NO_THROW(a.dump());  // moved-from values stay usable
  if (a.is_object()) a.as_object().set("z", 1);
  EXPECT_EQ(moved.dump(), "{\"x\": [1, 2]}");
}

TEST(JsonObject, KeepsOrderThroughSetAndErase) {
  JsonObject object;
  for (int i = 0; i < 100; ++i) object.set("k" + std::to_string(i), i);
  object.set("k5", "five");
  EXPECT_TRUE(object.erase("k7"));
  EXPECT_FALSE(object.erase("k7"));
  EXPECT_EQ(object.size(), 99u);
  EXPECT_EQ(object.find("k7"), nullptr);
  EXPECT_FALSE(object.contains("k100"));
  EXPECT_EQ(object.members()[5].second.as_string(), "five");
  EXPECT_EQ(object.members()[7].first, "k8");
  for (const auto& m : object) EXPECT_EQ(object.find(m.first), &m.second);
  JsonObject copy = object;
  copy.erase("k0");
  EXPECT_TRUE(object.contains("k0"));
  EXPECT_FALSE(copy.contains("k0"));
  copy = object;
  EXPECT_EQ(copy, object);
  const JsonObject& self = copy;
  copy = self;
  EXPECT_EQ(copy, object);
  JsonObject moved = std::move(copy);
  EXPECT_EQ(moved, object);
  EXPECT_TRUE(copy.empty());
  copy.set("again", 1);
  EXPECT_EQ(copy.size(), 1u);
}

TEST(JsonObject, AgreesWithALinearModel) {
  std::mt19937 random(3);
  JsonObject object;
  std::vector<std::pair<std::string, int>> model;
  for (int step = 0; step < 20000; ++step) {
    const std::string name = "n" + std::to_string(random() % 200);
    auto it = std::find_if(model.begin(), model.end(), [&](auto& m) { return m.first == name; });
    if (random() % 2) {
      object.set(name, step);
      if (it != model.end()) it->second = step;
      else model.emplace_back(name, step);
    } else {
      EXPECT_EQ(object.erase(name), it != model.end());
      if (it != model.end()) model.erase(it);
    }
    ASSERT_EQ(object.size(), model.size());
  }
  for (std::size_t i = 0; i < model.size(); ++i) {
    EXPECT_EQ(object.members()[i].first, model[i].first);
    EXPECT_EQ(object.find(model[i].first)->to_int64(), model[i].second);
  }
}

TEST(JsonObject, WideObjectsAreFast) {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i)
    text += (i ? "," : "") + ("\"group/array_" + std::to_string(i)) +
            "/zarr.json\": {\"n\": " + std::to_string(i) + "}";
  text += "}";
  const std::clock_t start = std::clock();  // of the processor: the machine may be busy
  const Json json = Json::parse(text);
  for (int i = 0; i < 100000; ++i)
    ASSERT_EQ(json.find("group/array_" + std::to_string(i) + "/zarr.json")->find("n")->to_int64(), i);
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(took, 20.0);  // about 0.2 s optimised; a quadratic look-up takes minutes
}

TEST(JsonObject, ConstLookupFromManyThreads) {
  Json json = JsonObject{};
  for (int i = 0; i < 1000; ++i) json.as_object().set(std::to_string(i), i);
  const Json& shared = json;
  std::vector<std::thread> threads;
  std::atomic<int> found{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Json mine = shared;
      for (int i = 0; i < 1000; ++i) found += shared.find(std::to_string(i))->to_int64() == i;
      mine.as_object().set("mine", 1);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(found, 4000);
  EXPECT_EQ(json.as_object().size(), 1000u);
}

}  // namespace
}  // namespace zarrive
