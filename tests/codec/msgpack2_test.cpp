// msgpack2: every form of MessagePack, and bytes that are none.
#include <cmath>

#include "codec/array_codec_values.hpp"
#include "codec/msgpack.hpp"

namespace zarrive {
namespace {

using namespace testing;

TEST(MsgPack, EveryFormReadsBack) {
  for (const char* text : {"null",
                           "true",
                           "false",
                           "0",
                           "127",
                           "128",
                           "255",
                           "256",
                           "65535",
                           "65536",
                           "4294967295",
                           "4294967296",
                           "18446744073709551615",
                           "-1",
                           "-32",
                           "-33",
                           "-128",
                           "-129",
                           "-32768",
                           "-32769",
                           "-2147483648",
                           "-2147483649",
                           "-9223372036854775808",
                           "1.5",
                           "-0.0",
                           "1e300",
                           "\"\"",
                           "\"text\"",
                           "[]",
                           "{}",
                           R"({"a":[1,{"b":null}],"c":"d"})",
                           "[[[[1]]]]"}) {
    const Json value = Json::parse(text);
    EXPECT_EQ(read_msgpack(write_msgpack(value, false)), value) << text;
  }
  for (const std::size_t length : {31U, 32U, 255U, 256U, 65535U, 65536U}) {
    const Json text(std::string(length, 'x'));
    EXPECT_EQ(read_msgpack(write_msgpack(text, false)), text);
    const Json list(JsonArray(length, Json(1)));
    EXPECT_EQ(read_msgpack(write_msgpack(list, false)), list);
    if (length > 300) continue;
    JsonObject members;
    for (std::size_t k = 0; k < length; ++k) members.set("k" + std::to_string(k), Json(k));
    const Json map(std::move(members));
    EXPECT_EQ(read_msgpack(write_msgpack(map, false)), map);
  }
  EXPECT_EQ(write_msgpack(Json(1.5), true), to_bytes({0xCA, 0x3F, 0xC0, 0, 0}));
  EXPECT_EQ(write_msgpack(Json(-33), false), to_bytes({0xD0, 0xDF}));
  EXPECT_ERROR(write_msgpack(Json::parse("18446744073709551616"), false), ErrorCode::invalid_argument,
               "64 bits");
  EXPECT_TRUE(std::isnan(read_msgpack(write_msgpack(Json(std::nan("")), false)).as_double()));
}

TEST(MsgPack, BinaryAndLongForms) {
  EXPECT_EQ(read_msgpack(to_bytes({0xC4, 3, 'f', 'o', 'o'})), Json("Zm9v"));
  EXPECT_EQ(read_msgpack(to_bytes({0xC5, 0, 1, 'f'})), Json("Zg=="));
  EXPECT_EQ(read_msgpack(to_bytes({0xC6, 0, 0, 0, 1, 'f'})), Json("Zg=="));
  EXPECT_EQ(read_msgpack(to_bytes({0xDF, 0, 0, 0, 1, 0xA1, 'k', 0xDD, 0, 0, 0, 1, 5})),
            Json::parse(R"({"k":[5]})"));
  EXPECT_EQ(read_msgpack(to_bytes({0xDE, 0, 1, 0xA1, 'k', 0xD9, 1, 'v'})), Json::parse(R"({"k":"v"})"));
}

TEST(MsgPack, BadBytes) {
  EXPECT_ERROR(read_msgpack({}), ErrorCode::corrupt_chunk, "needs 1 more");
  EXPECT_ERROR(read_msgpack(to_bytes({1, 2})), ErrorCode::corrupt_chunk, "1 bytes follow");
  EXPECT_ERROR(read_msgpack(to_bytes({0xC1})), ErrorCode::corrupt_chunk, "0xC1");
  EXPECT_ERROR(read_msgpack(to_bytes({0xD4, 1, 2})), ErrorCode::corrupt_chunk, "extension");
  EXPECT_ERROR(read_msgpack(to_bytes({0xA1, 0xFF})), ErrorCode::corrupt_chunk, "UTF-8");
  EXPECT_ERROR(read_msgpack(to_bytes({0x81, 1, 2})), ErrorCode::corrupt_chunk, "key");
  // Counts of four thousand million with nothing behind them: an error at once, not an allocation.
  EXPECT_ERROR(read_msgpack(to_bytes({0xDD, 0xFF, 0xFF, 0xFF, 0xFF})), ErrorCode::corrupt_chunk,
               "needs 1 more");
  EXPECT_ERROR(read_msgpack(to_bytes({0xDF, 0xFF, 0xFF, 0xFF, 0xFF})), ErrorCode::corrupt_chunk,
               "needs 1 more");
  EXPECT_ERROR(read_msgpack(to_bytes({0xDB, 0xFF, 0xFF, 0xFF, 0xFF, 'x'})), ErrorCode::corrupt_chunk,
               "4294967295");
  EXPECT_ERROR(read_msgpack(std::vector<std::byte>(100000, std::byte{0x91})), ErrorCode::resource_limit,
               "nested deeper");
}

}  // namespace
}  // namespace zarrive
