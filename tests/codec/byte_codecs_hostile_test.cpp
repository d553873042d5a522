// Encoded values that lie about themselves, and unusual ones that are right.
#include <blosc.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <array>

#include "codec/byte_codec_suite.hpp"
#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using testing::Bytes;
using testing::decode_fixed;
using testing::decode_growing;
using testing::error_of;
using testing::from_hex;
using ::testing::HasSubstr;
using testing::make_byte_codec;
using testing::to_bytes;

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Bytes le32(std::uint32_t value) {
  Bytes bytes(4);
  bytes_to_bytes::store_le32(bytes.data(), value);
  return bytes;
}
Bytes encode(const char* id, const char* configuration, const Bytes& decoded) {
  return testing::encode(*make_byte_codec(ZarrFormat::v2, id, configuration, 4), decoded);
}
std::shared_ptr<const BytesToBytesCodec> codec(const char* id, const char* configuration = "{}") {
  return make_byte_codec(ZarrFormat::v2, id, configuration, 4);
}
// The error that decoding ends in, for a known size and for an unknown one.
std::optional<ErrorCode> fixed_error(const char* id, const Bytes& encoded, std::size_t size,
                                     std::string* message = nullptr) {
  return error_of([&] { decode_fixed(*codec(id), encoded, size); }, message);
}
std::optional<ErrorCode> growing_error(const char* id, const Bytes& encoded, std::uint64_t limit,
                                       std::string* message = nullptr) {
  return error_of([&] { decode_growing(*codec(id), encoded, limit); }, message);
}

TEST(AllCompressors, EmptyValueIsCorrupt) {
  for (const char* id : {"zstd", "gzip", "zlib", "bz2", "lzma", "lz4", "blosc", "crc32c", "fletcher32"}) {
    std::string message;
    EXPECT_EQ(fixed_error(id, {}, 0, &message), ErrorCode::corrupt_chunk) << id;
    EXPECT_NE(message, "");
    EXPECT_EQ(growing_error(id, {}, 100), ErrorCode::corrupt_chunk) << id;
  }
}

// --- zstd ---

// A frame by the streaming interface: does not state its size.
Bytes streamed_zstd(const Bytes& decoded, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  Bytes encoded(ZSTD_compressBound(decoded.size()) + 64);
  ZSTD_inBuffer in{decoded.data(), decoded.size(), 0};
  ZSTD_outBuffer out{encoded.data(), encoded.size(), 0};
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) != 0) {
  }
  ZSTD_freeCCtx(context);
  encoded.resize(out.pos);
  return encoded;
}

TEST(Zstd, FramesWithoutTheirSize) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{1000}, std::size_t{1} << 20}) {
    const Bytes input = testing::mixed_bytes(size);
    const Bytes encoded = streamed_zstd(input);
    ASSERT_TRUE(size == 0 ||
                ZSTD_getFrameContentSize(encoded.data(), encoded.size()) == ZSTD_CONTENTSIZE_UNKNOWN);
    EXPECT_TRUE(decode_growing(*codec("zstd"), encoded, size) == input);
    EXPECT_TRUE(decode_growing(*codec("zstd"), encoded, 1 << 22) == input);
    EXPECT_TRUE(decode_fixed(*codec("zstd"), encoded, size) == input);
  }
}

TEST(Zstd, SeveralFrames) {
  const Bytes a = testing::random_bytes(1000, 1);
  const Bytes b = testing::ramp_bytes(3000);
  const Bytes skippable = from_hex("5f2a4d1803000000616263");
  const Bytes stated = encode("zstd", "{}", a) + skippable + encode("zstd", "{}", b);
  EXPECT_TRUE(decode_fixed(*codec("zstd"), stated, 4000) == a + b);
  EXPECT_TRUE(decode_growing(*codec("zstd"), stated, 1 << 20) == a + b);
  const Bytes unstated =
      skippable + streamed_zstd(a) + encode("zstd", "{}", b) + skippable + streamed_zstd(b);
  EXPECT_TRUE(decode_fixed(*codec("zstd"), unstated, 7000) == a + b + b);
  EXPECT_TRUE(decode_growing(*codec("zstd"), unstated, 7000) == a + b + b);
  // Only half of the second frame.
  const Bytes half(unstated.begin(), unstated.begin() + 11 + 1000 + 40);
  EXPECT_EQ(growing_error("zstd", half, 1 << 20), ErrorCode::corrupt_chunk);
  EXPECT_EQ(fixed_error("zstd", half, 7000), ErrorCode::corrupt_chunk);
}

TEST(Zstd, SaysHowFarItCame) {
  std::string message;
  EXPECT_EQ(fixed_error("zstd", encode("zstd", "{}", testing::ramp_bytes(812)), 4096, &message),
            ErrorCode::corrupt_chunk);
  EXPECT_EQ(message, "zstd data ends after 812 of 4096 bytes");
  EXPECT_EQ(fixed_error("zstd", encode("zstd", "{}", testing::ramp_bytes(5000)), 4096, &message),
            ErrorCode::corrupt_chunk);
  EXPECT_THAT(message, HasSubstr("more than the expected 4096 bytes"));
}

TEST(Zstd, BombsAreStopped) {
  const Bytes zeros(32 << 20);
  for (const Bytes& bomb : {encode("zstd", "{}", zeros), streamed_zstd(zeros)}) {
    ASSERT_LT(bomb.size(), 10000U);
    EXPECT_EQ(growing_error("zstd", bomb, 1 << 20), ErrorCode::resource_limit);
    EXPECT_EQ(fixed_error("zstd", bomb, 1 << 20), ErrorCode::corrupt_chunk);
  }
}

TEST(Zstd, AStatedSizeIsNotBelievedBlindly) {
  // A frame of one raw block of 1 byte that states 2^62 bytes (single segment, 8-byte size).
  const Bytes lie = from_hex(
      "28b52ffde0"
      "0000000000000040"
      "090000"
      "61");
  std::string message;
  EXPECT_EQ(growing_error("zstd", lie, std::uint64_t{1} << 40, &message), ErrorCode::resource_limit);
  EXPECT_THAT(message, HasSubstr("window"));
  EXPECT_EQ(fixed_error("zstd", lie, 1), ErrorCode::corrupt_chunk);
  // 1 MiB is stated, 1 byte is there.
  const Bytes small_lie = from_hex(
      "28b52ffda0"
      "00001000"
      "090000"
      "61");
  EXPECT_EQ(growing_error("zstd", small_lie, 1 << 24), ErrorCode::corrupt_chunk);
}

TEST(Zstd, LargeWindows) {
  // 2^28: above zstd's bound for streams, harmless when the size is known.
  const Bytes input = testing::ramp_bytes(1000);
  const Bytes encoded = streamed_zstd(input, 28);
  EXPECT_EQ(growing_error("zstd", encoded, 1 << 20), ErrorCode::resource_limit);
  EXPECT_TRUE(decode_fixed(*codec("zstd"), encoded, 1000) == input);
}

// --- gzip and zlib ---

TEST(Gzip, MembersFollowEachOther) {
  const Bytes a = testing::random_bytes(1000, 1);
  const Bytes b = testing::ramp_bytes(300000);
  const Bytes empty = encode("gzip", "{}", {});
  const Bytes encoded =
      encode("gzip", "{}", a) + empty + encode("gzip", "{}", b) + Bytes(7) + encode("gzip", "{}", a) + empty;
  const Bytes expected = a + b + a;
  EXPECT_TRUE(decode_fixed(*codec("gzip"), encoded, expected.size()) == expected);
  EXPECT_TRUE(decode_growing(*codec("gzip"), encoded, 1 << 20) == expected);
  EXPECT_TRUE(decode_growing(*codec("gzip"), encoded, expected.size()) == expected);
  EXPECT_EQ(growing_error("gzip", encoded, expected.size() - 1), ErrorCode::resource_limit);
  EXPECT_EQ(fixed_error("gzip", encoded, 1000), ErrorCode::corrupt_chunk);
}

TEST(Gzip, PaddingIsFineGarbageIsNot) {
  const Bytes input = testing::ramp_bytes(1000);
  for (const char* id : {"gzip", "zlib"}) {
    const Bytes encoded = encode(id, "{}", input);
    EXPECT_TRUE(decode_fixed(*codec(id), encoded + Bytes(500), 1000) == input) << id;
    EXPECT_TRUE(decode_growing(*codec(id), encoded + Bytes(1), 1000) == input) << id;
    std::string message;
    EXPECT_EQ(fixed_error(id, encoded + to_bytes("garbage"), 1000, &message), ErrorCode::corrupt_chunk) << id;
    EXPECT_EQ(fixed_error(id, encoded + Bytes(8) + to_bytes("x"), 1000), ErrorCode::corrupt_chunk) << id;
  }
  EXPECT_EQ(fixed_error("gzip", Bytes(20), 0), ErrorCode::corrupt_chunk);
}

TEST(Gzip, HeaderWithNameAndComment) {
  // RFC 1952 optional fields: extra, name, comment, header CRC are of no interest, but legal.
  const Bytes plain = encode("gzip", R"({"level": 0})", to_bytes("hello"));
  Bytes fancy = from_hex("1f8b081c000000000003") + from_hex("0200") + to_bytes("xy") + to_bytes("name") +
                Bytes(1) + to_bytes("comment") + Bytes(1);
  fancy.insert(fancy.end(), plain.begin() + 10, plain.end());
  EXPECT_EQ(decode_fixed(*codec("gzip"), fancy, 5), to_bytes("hello"));
}

TEST(Gzip, BombsAreStopped) {
  const Bytes zeros(32 << 20);
  for (const char* id : {"gzip", "zlib"}) {
    const Bytes bomb = encode(id, R"({"level": 9})", zeros);
    ASSERT_LT(bomb.size(), 100000U);
    EXPECT_EQ(growing_error(id, bomb, 1 << 20), ErrorCode::resource_limit) << id;
    EXPECT_EQ(fixed_error(id, bomb, 1 << 20), ErrorCode::corrupt_chunk) << id;
    EXPECT_EQ(growing_error(id, bomb, (32 << 20) - 1), ErrorCode::resource_limit) << id;
    EXPECT_EQ(decode_growing(*codec(id), bomb, 32 << 20).size(), zeros.size()) << id;
  }
}

TEST(Gzip, AWrongHintOfTheSizeIsHarmless) {
  // The size of the last member says nothing about the first.
  const Bytes big(200000, std::byte{1});
  const Bytes encoded = encode("gzip", "{}", big) + encode("gzip", "{}", to_bytes("a"));
  EXPECT_TRUE(decode_growing(*codec("gzip"), encoded, 1 << 20) == big + to_bytes("a"));
  Bytes lie = encode("gzip", "{}", to_bytes("a"));
  std::fill(lie.end() - 4, lie.end(), std::byte{0xFF});
  EXPECT_EQ(growing_error("gzip", lie, std::uint64_t{1} << 40), ErrorCode::corrupt_chunk);
}

// --- bzip2 ---

TEST(Bz2, StreamsFollowEachOther) {
  const Bytes a = testing::random_bytes(1000, 1);
  const Bytes b = testing::ramp_bytes(20000);
  const Bytes encoded =
      encode("bz2", "{}", a) + encode("bz2", R"({"level": 9})", b) + encode("bz2", "{}", {});
  EXPECT_TRUE(decode_fixed(*codec("bz2"), encoded, a.size() + b.size()) == a + b);
  EXPECT_TRUE(decode_growing(*codec("bz2"), encoded, 1 << 20) == a + b);
  EXPECT_EQ(fixed_error("bz2", encoded + Bytes(4), a.size() + b.size()), ErrorCode::corrupt_chunk);
}

TEST(Bz2, BombsAreStopped) {
  const Bytes bomb = encode("bz2", R"({"level": 9})", Bytes(16 << 20));
  ASSERT_LT(bomb.size(), 1000U);
  EXPECT_EQ(growing_error("bz2", bomb, 1 << 20), ErrorCode::resource_limit);
  EXPECT_EQ(fixed_error("bz2", bomb, 1 << 20), ErrorCode::corrupt_chunk);
}

// --- lzma ---

TEST(Lzma, StreamsFollowEachOther) {
  const Bytes a = testing::random_bytes(1000, 1);
  const Bytes b = testing::ramp_bytes(20000);
  const Bytes encoded = encode("lzma", "{}", a) + Bytes(4) + encode("lzma", R"({"check": 0})", b);
  EXPECT_TRUE(decode_fixed(*codec("lzma"), encoded, a.size() + b.size()) == a + b);
  EXPECT_TRUE(decode_growing(*codec("lzma"), encoded, 1 << 20) == a + b);
}

TEST(Lzma, AutoReadsXzAndAlone) {
  const Bytes input = testing::mixed_bytes(5000);
  const auto any = codec("lzma", R"({"format": 0})");
  EXPECT_TRUE(decode_fixed(*any, encode("lzma", "{}", input), 5000) == input);
  EXPECT_TRUE(decode_fixed(*any, encode("lzma", R"({"format": 2})", input), 5000) == input);
  EXPECT_EQ(error_of([&] { testing::encode(*any, input); }), ErrorCode::unsupported);
  std::string message;
  EXPECT_EQ(error_of([&] { decode_fixed(*any, to_bytes("neither of them"), 5000); }, &message),
            ErrorCode::corrupt_chunk);
  EXPECT_EQ(error_of([&] { decode_fixed(*codec("lzma"), encode("lzma", R"({"format": 2})", input), 5000); },
                     &message),
            ErrorCode::corrupt_chunk);
  EXPECT_THAT(message, HasSubstr("not of this format"));
}

TEST(Lzma, BytesAfterTheEnd) {
  const Bytes input = testing::ramp_bytes(100);
  const char* raw = R"({"format": 3, "filters": [{"id": 33}]})";
  EXPECT_EQ(error_of([&] { decode_fixed(*codec("lzma", raw), encode("lzma", raw, input) + Bytes(3), 100); }),
            ErrorCode::corrupt_chunk);
}

TEST(Lzma, DictionariesTheDataDoesNotNeedAreRefused) {
  // An .lzma header that asks for a dictionary of 4 GiB less 1.
  const Bytes alone = from_hex(
      "5d"
      "ffffffff"
      "ffffffffffffffff"
      "0000000000");
  const char* format2 = R"({"format": 2})";
  std::string message;
  EXPECT_EQ(error_of([&] { decode_growing(*codec("lzma", format2), alone, 1000); }, &message),
            ErrorCode::resource_limit);
  EXPECT_THAT(message, HasSubstr("limit"));
  EXPECT_EQ(error_of([&] { decode_fixed(*codec("lzma", format2), alone, 1000); }), ErrorCode::resource_limit);
  const char* raw = R"({"format": 3, "filters": [{"id": 33, "dict_size": 1610612736}]})";
  const Bytes input = testing::ramp_bytes(100);
  const Bytes encoded = encode("lzma", raw, input);  // the encoder takes no more than it needs
  EXPECT_EQ(error_of([&] { decode_fixed(*codec("lzma", raw), encoded, 100); }), ErrorCode::resource_limit);
  const char* large = R"({"format": 1, "filters": [{"id": 33, "preset": 9}]})";
  EXPECT_TRUE(decode_fixed(*codec("lzma", large), encode("lzma", large, input), 100) == input);
}

TEST(Lzma, BombsAreStopped) {
  const Bytes bomb = encode("lzma", R"({"preset": 1})", Bytes(16 << 20));
  ASSERT_LT(bomb.size(), 10000U);
  EXPECT_EQ(growing_error("lzma", bomb, 1 << 20), ErrorCode::resource_limit);
  EXPECT_EQ(fixed_error("lzma", bomb, 1 << 20), ErrorCode::corrupt_chunk);
}

// --- lz4 ---

TEST(Lz4, StatedSizes) {
  const Bytes block = from_hex("200102");
  EXPECT_EQ(decode_growing(*codec("lz4"), le32(2) + block, 10), from_hex("0102"));
  std::string message;
  EXPECT_EQ(growing_error("lz4", le32(3) + block, 10, &message), ErrorCode::corrupt_chunk);
  EXPECT_EQ(message, "the lz4 block ends after 2 of 3 bytes");
  EXPECT_EQ(growing_error("lz4", le32(1) + block, 10), ErrorCode::corrupt_chunk);
  for (const std::uint32_t size : {0x80000000U, 0xFFFFFFFFU, 0x7FFFFFFFU, 1000000U})
    EXPECT_EQ(growing_error("lz4", le32(size) + block, std::uint64_t{1} << 33, &message),
              ErrorCode::corrupt_chunk)
        << size;
  EXPECT_THAT(message, HasSubstr("cannot hold"));
  EXPECT_EQ(growing_error("lz4", le32(2), 10), ErrorCode::corrupt_chunk);
  EXPECT_EQ(growing_error("lz4", le32(2) + block, 1), ErrorCode::resource_limit);
}

// --- Blosc ---

TEST(Blosc, HeadersThatLie) {
  const Bytes input = testing::ramp_bytes(40000);
  const Bytes good = encode("blosc", "{}", input);
  ASSERT_LT(good.size(), 30000U);
  const auto with = [&](std::size_t at, const Bytes& bytes) {
    Bytes bad = good;
    std::copy(bytes.begin(), bytes.end(), bad.begin() + static_cast<std::ptrdiff_t>(at));
    return bad;
  };
  const std::pair<Bytes, const char*> bad[] = {
      {with(0, from_hex("05")), "version 5"},
      {with(4, le32(0xFFFFFFFF)), "states 4294967295 decoded bytes"},
      {with(4, le32(1000)), "states 1000 decoded bytes"},
      {with(8, le32(0)), "blocks of 0"},
      {with(8, le32(40001)), "blocks of 40001"},
      {with(12, le32(100)), "states 100 encoded bytes"},
      {with(12, le32(0xFFFFFFFF)), "states 4294967295 encoded bytes"},
      {with(2, from_hex("e0")), "compressor format 7"},
      {with(2, from_hex("02")), "stored as they are"},
      {with(3, from_hex("00")), ""},
      {Bytes(good.begin(), good.begin() + 15), "fewer than its header"},
  };
  for (const auto& [bytes, text] : bad) {
    std::string message;
    EXPECT_EQ(growing_error("blosc", bytes, 1 << 20, &message), ErrorCode::corrupt_chunk) << text;
    EXPECT_THAT(message, HasSubstr(text));
    EXPECT_EQ(fixed_error("blosc", bytes, 40000), ErrorCode::corrupt_chunk) << text;
  }
  // The table of blocks.
  for (const std::uint32_t start :
       {0U, 15U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU, static_cast<std::uint32_t>(good.size())})
    EXPECT_EQ(fixed_error("blosc", with(16, le32(start)), 40000), ErrorCode::corrupt_chunk) << start;
}

TEST(Blosc, AnotherSizeIsSeenInTheHeader) {
  std::string message;
  EXPECT_EQ(fixed_error("blosc", encode("blosc", "{}", testing::ramp_bytes(4000)), 8000, &message),
            ErrorCode::corrupt_chunk);
  EXPECT_EQ(message, "the Blosc header states 4000 decoded bytes, expected are 8000");
}

TEST(Blosc, ParametersReachTheHeader) {
  const auto header = [](const char* configuration, std::size_t item_size,
                         ZarrFormat format = ZarrFormat::v2) {
    const Bytes encoded = testing::encode(*make_byte_codec(format, "blosc", configuration, item_size),
                                          testing::ramp_bytes(40000));
    struct {
      std::size_t type_size = 0;
      int flags = 0;
      std::string library = {};
    } result;
    blosc_cbuffer_metainfo(encoded.data(), &result.type_size, &result.flags);
    result.flags &= BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE;
    result.library = blosc_cbuffer_complib(encoded.data());
    return result;
  };
  EXPECT_EQ(header("{}", 8).type_size, 8U);
  EXPECT_EQ(header("{}", 8).flags, BLOSC_DOSHUFFLE);
  EXPECT_EQ(header("{}", 8).library, "LZ4");
  EXPECT_EQ(header("{}", 256).type_size, 1U);
  EXPECT_EQ(header(R"({"typesize": 2})", 8).type_size, 2U);
  EXPECT_EQ(header(R"({"shuffle": -1})", 8).flags, BLOSC_DOSHUFFLE);
  EXPECT_EQ(header(R"({"shuffle": -1})", 1).flags, BLOSC_DOBITSHUFFLE);
  EXPECT_EQ(header(R"({"shuffle": 2})", 8).flags, BLOSC_DOBITSHUFFLE);
  EXPECT_EQ(header(R"({"shuffle": 0})", 8).flags, 0);
  EXPECT_EQ(header("{}", 4, ZarrFormat::v3).library, "Zstd");
  EXPECT_EQ(header("{}", 4, ZarrFormat::v3).flags, BLOSC_DOSHUFFLE);
  EXPECT_EQ(header("{}", 1, ZarrFormat::v3).flags, BLOSC_DOBITSHUFFLE);
  EXPECT_EQ(header(R"({"shuffle": "noshuffle"})", 4, ZarrFormat::v3).flags, 0);
  for (const auto& [name, library] : {std::pair{"blosclz", "BloscLZ"},
                                      {"snappy", "Snappy"},
                                      {"zlib", "Zlib"},
                                      {"lz4hc", "LZ4"},
                                      {"zstd", "Zstd"}})
    EXPECT_EQ(header((std::string(R"({"cname": ")") + name + "\"}").c_str(), 4).library, library);
}

TEST(Blosc, WorksUnbound) {
  CodecSpec spec;
  spec.name = "blosc";
  const auto unbound =
      std::dynamic_pointer_cast<const BytesToBytesCodec>(CodecRegistry::global().make(spec, CodecOptions()));
  const Bytes input = testing::ramp_bytes(4000);
  EXPECT_TRUE(decode_fixed(*unbound, testing::encode(*unbound, input), 4000) == input);
}

// Inputs above what 32-bit libraries take: never touched, so they cost no memory.
TEST(Sizes, TooLargeForTheLibrary) {
  const std::size_t size = std::size_t{1} << 31;
  const Buffer large = Buffer::allocate(size);
  for (const char* id : {"blosc", "lz4"}) {
    std::string message;
    EXPECT_EQ(error_of([&] { codec(id)->encode(large.host_span(), Context()); }, &message),
              ErrorCode::resource_limit)
        << id;
    EXPECT_THAT(message, HasSubstr("2147483648"));
  }
}

// --- Base64 ---

TEST(Base64, Text) {
  EXPECT_EQ(decode_growing(*codec("base64"), to_bytes("Zm9v\r\nYmE=\n"), 100), to_bytes("fooba"));
  EXPECT_EQ(decode_growing(*codec("base64"), {}, 100), Bytes());
  for (const char* bad :
       {"Zm9vYmE", "Zm9vY", "Zm9v=", "Zm9vYg==Zg==", "Zm9v====", "Zm-_", "=", "Zm9vYg=a", "Zm\xC3\xA9="})
    EXPECT_EQ(growing_error("base64", to_bytes(bad), 100), ErrorCode::corrupt_chunk) << bad;
}

// --- conditional ---

std::shared_ptr<const BytesToBytesCodec> conditional(const char* configuration, std::size_t item_size = 4) {
  return make_byte_codec(ZarrFormat::v3, "conditional", configuration, item_size);
}

TEST(Conditional, HeaderSaysWhatWasApplied) {
  const auto both =
      conditional(R"({"codecs": [{"name": "zstd", "configuration": {"level": 1}}, {"name": "crc32c"}]})");
  const Bytes random = testing::random_bytes(1000, 5);
  const Bytes kept = testing::encode(*both, random);
  EXPECT_EQ(kept[0], std::byte{2});  // zstd would only have made it larger
  EXPECT_EQ(kept.size(), 1U + 1000U + 4U);
  const Bytes small = testing::encode(*both, testing::constant_bytes(1000));
  EXPECT_EQ(small[0], std::byte{3});
  EXPECT_LT(small.size(), 100U);

  // Every combination is read.
  const Bytes input = testing::ramp_bytes(400);
  const Bytes zstd = encode("zstd", "{}", input);
  EXPECT_EQ(decode_fixed(*both, from_hex("00") + input, 400), input);
  EXPECT_EQ(decode_fixed(*both, from_hex("01") + zstd, 400), input);
  EXPECT_EQ(decode_fixed(*both, from_hex("02") + encode("crc32c", "{}", input), 400), input);
  EXPECT_EQ(decode_growing(*both, from_hex("03") + encode("crc32c", "{}", zstd), 1000), input);
  EXPECT_EQ(error_of([&] { decode_fixed(*both, from_hex("04") + input, 400); }), ErrorCode::corrupt_chunk);
  EXPECT_EQ(error_of([&] { decode_fixed(*both, {}, 0); }), ErrorCode::corrupt_chunk);
  EXPECT_EQ(error_of([&] { decode_fixed(*both, from_hex("00") + input, 399); }), ErrorCode::corrupt_chunk);
}

TEST(Conditional, WideHeaders) {
  const auto wide = conditional(R"({"codecs": ["crc32c"], "header_bits": 24})");
  const Bytes encoded = testing::encode(*wide, to_bytes("abc"));
  EXPECT_EQ(testing::to_hex(encoded),
            "010000616263" + testing::to_hex(encode("crc32c", "{}", to_bytes("abc"))).substr(6));
  std::string nine = R"({"codecs": ["crc32c")";
  for (int i = 0; i < 8; ++i) nine += R"(, "crc32c")";
  const auto many = conditional((nine + "]}").c_str());
  const Bytes all = testing::encode(*many, to_bytes("abc"));
  EXPECT_EQ(testing::to_hex(all).substr(0, 4), "ff01");
  EXPECT_EQ(all.size(), 2U + 3U + 36U);
  EXPECT_EQ(decode_fixed(*many, all, 3), to_bytes("abc"));
}

TEST(Conditional, InnerCodecsAreBound) {
  const auto codec = conditional(R"({"codecs": [{"name": "numcodecs.shuffle"}]})", 2);
  const Bytes encoded = testing::encode(*codec, from_hex("0001020304050607"));
  EXPECT_EQ(testing::to_hex(encoded), "010002040601030507");
}

TEST(Conditional, BombsInBombsAreStopped) {
  const auto two = conditional(R"({"codecs": [{"name": "zstd"}, {"name": "zstd"}]})");
  const Bytes bomb = from_hex("03") + encode("zstd", "{}", encode("zstd", "{}", Bytes(64 << 20)));
  EXPECT_EQ(error_of([&] { decode_growing(*two, bomb, 1 << 20); }), ErrorCode::resource_limit);
  // The outer codec alone gives more than any encoded megabyte can be.
  const Bytes outer = from_hex("03") + encode("zstd", "{}", Bytes(64 << 20));
  EXPECT_EQ(error_of([&] { decode_growing(*two, outer, 1 << 20); }), ErrorCode::resource_limit);
}

}  // namespace
}  // namespace zarrive
