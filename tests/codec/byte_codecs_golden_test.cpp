// Bytes that other implementations write: golden vectors, and numcodecs' own fixtures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "codec/byte_codec_suite.hpp"
#include "codec/checksum.hpp"
#include "support/paths.hpp"
#include "support/sha256.hpp"

namespace zarrive {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::from_hex;
using testing::make_byte_codec;
using testing::to_bytes;
using testing::to_hex;

Bytes encoded_by(ZarrFormat format, const char* name, const char* configuration, const Bytes& decoded,
                 std::size_t item_size = 1) {
  const auto codec = make_byte_codec(format, name, configuration, item_size);
  Bytes encoded = testing::encode(*codec, decoded);
  EXPECT_EQ(testing::decode_fixed(*codec, encoded, decoded.size()), decoded);
  return encoded;
}

TEST(Checksums, KnownValues) {
  const Bytes digits = to_bytes("123456789");
  EXPECT_EQ(crc32(digits), 0xCBF43926U);
  EXPECT_EQ(adler32(digits), 0x091E01DEU);
  EXPECT_EQ(crc32c(digits), 0xE3069283U);
  EXPECT_EQ(crc32c_portable(digits), 0xE3069283U);
  EXPECT_EQ(fletcher32(digits), 0x09DF09D5U);
  EXPECT_EQ(jenkins_lookup3(digits, 0), 0x845D9A96U);
  EXPECT_EQ(jenkins_lookup3({}, 0), 0xDEADBEEFU);
  EXPECT_EQ(jenkins_lookup3({}, 0xDEADBEEFU), 0xBD5B7DDEU);
  const Bytes gettysburg = to_bytes("Four score and seven years ago");
  EXPECT_EQ(jenkins_lookup3(gettysburg, 0), 0x17770551U);
  EXPECT_EQ(jenkins_lookup3(gettysburg, 1), 0xCD628161U);
  EXPECT_EQ(crc32({}), 0U);
  EXPECT_EQ(adler32({}), 1U);
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(fletcher32({}), 0U);
}

TEST(Checksums, BothWaysOfCrc32cAreEqual) {
  for (std::size_t size = 0; size < 300; ++size) {
    const Bytes bytes = testing::random_bytes(size, static_cast<std::uint32_t>(size));
    ASSERT_EQ(crc32c(bytes), crc32c_portable(bytes)) << size;
    const auto inner = std::span<const std::byte>(bytes).subspan(size / 3);  // any alignment
    ASSERT_EQ(crc32c(inner), crc32c_portable(inner)) << size;
  }
}

TEST(Checksums, FletcherFoldsAsHdf5Does) {
  // Sums that are zero modulo 65535 stay 0xFFFF.
  EXPECT_EQ(fletcher32(from_hex("ffff")), 0xFFFFFFFFU);
  EXPECT_EQ(fletcher32(from_hex("00010000")), 0x00020001U);
  EXPECT_EQ(fletcher32(from_hex("80")), 0x80008000U);
  // Longer than one block of 360 words, against sums in 64 bits.
  const Bytes bytes = testing::random_bytes(5001, 3);
  std::uint64_t sum1 = 0;
  std::uint64_t sum2 = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum1 += std::to_integer<std::uint64_t>(bytes[i]) << 8 |
            (i + 1 < bytes.size() ? std::to_integer<std::uint64_t>(bytes[i + 1]) : 0);
    sum1 %= 65535;
    sum2 = (sum2 + sum1) % 65535;
  }
  EXPECT_EQ(fletcher32(bytes) % 65536 % 65535, sum1);
  EXPECT_EQ((fletcher32(bytes) >> 16) % 65535, sum2);
}

TEST(GoldenBytes, Checksums) {
  const Bytes digits = to_bytes("123456789");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v3, "crc32c", "{}", digits)), "313233343536373839839206e3");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "crc32c", "{}", digits)), "313233343536373839839206e3");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "crc32c", R"({"location": "start"})", digits)),
            "839206e3313233343536373839");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "crc32", "{}", digits)), "2639f4cb313233343536373839");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "crc32", R"({"location": "end"})", digits)),
            "3132333435363738392639f4cb");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "adler32", "{}", digits)), "de011e09313233343536373839");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "fletcher32", "{}", digits)), "313233343536373839d509df09");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "jenkins_lookup3", "{}", digits)),
            "313233343536373839969a5d84");
  // A shard's index: one inner chunk of 5 bytes at 0, one that is empty.
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v3, "crc32c", "{}",
                              from_hex("00000000000000000500000000000000ffffffffffffffffffffffffffffffff")))
                .substr(64),
            "04c5667f");
}

TEST(GoldenBytes, JenkinsPrefixIsHashedToo) {
  const Bytes whole = to_bytes("Four score and seven years ago");
  const Bytes rest = to_bytes(" score and seven years ago");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "jenkins_lookup3", R"({"initval": 1, "prefix": "Four"})", rest))
                .substr(2 * rest.size()),
            "618162cd");
}

TEST(GoldenBytes, Lz4AndShuffleAndBase64) {
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "lz4", "{}", from_hex("0102"))), "02000000200102");
  EXPECT_EQ(
      to_hex(encoded_by(ZarrFormat::v2, "shuffle", R"({"elementsize": 2})", from_hex("0001020304050607"))),
      "0002040601030507");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v2, "shuffle", "{}", from_hex("0001020304050607"))),
            "0004010502060307");
  EXPECT_EQ(to_hex(encoded_by(ZarrFormat::v3, "numcodecs.shuffle", "{}", from_hex("0001020304050607"), 2)),
            "0002040601030507");
  EXPECT_EQ(encoded_by(ZarrFormat::v2, "base64", "{}", to_bytes("foobar")), to_bytes("Zm9vYmFy"));
  EXPECT_EQ(encoded_by(ZarrFormat::v2, "base64", "{}", to_bytes("fooba")), to_bytes("Zm9vYmE="));
  EXPECT_EQ(encoded_by(ZarrFormat::v2, "base64", "{}", to_bytes("foob")), to_bytes("Zm9vYg=="));
  EXPECT_EQ(encoded_by(ZarrFormat::v2, "base64", "{}", to_bytes("")), to_bytes(""));
  EXPECT_EQ(encoded_by(ZarrFormat::v2, "base64", "{}", from_hex("fbff")), to_bytes("+/8="));
}

TEST(GoldenBytes, ShuffleOfHdf5SizesIsRefused) {
  const auto codec = make_byte_codec(ZarrFormat::v2, "shuffle", R"({"elementsize": 4})");
  std::string message;
  EXPECT_EQ(testing::error_of([&] { testing::encode(*codec, Bytes(6)); }, &message),
            ErrorCode::invalid_argument);
  EXPECT_THAT(message, ::testing::HasSubstr("6 bytes"));
  EXPECT_EQ(testing::error_of([&] { testing::decode_fixed(*codec, Bytes(6), 6); }, &message),
            ErrorCode::corrupt_chunk);
}

TEST(GoldenBytes, BloscOfZarrJava) {
  // An inner chunk of its shard: 1024 bytes stored as they are.
  Bytes chunk = from_hex("02012204000400000004000010040000");
  const Bytes values = testing::ramp_bytes(1024);
  chunk.insert(chunk.end(), values.begin(), values.end());
  const auto codec =
      make_byte_codec(ZarrFormat::v3, "blosc", R"({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle"})");
  EXPECT_EQ(testing::decode_fixed(*codec, chunk, 1024), values);
  EXPECT_EQ(testing::decode_growing(*codec, chunk, 2000), values);
}

TEST(GoldenBytes, EncodersAreDeterministic) {
  // No time stamp in gzip; the same bytes from every thread and call.
  const Bytes input = testing::mixed_bytes(3000);
  const Bytes encoded = encoded_by(ZarrFormat::v3, "gzip", "{}", input);
  EXPECT_EQ(to_hex(encoded).substr(0, 16), "1f8b080000000000");
  for (const testing::ByteCodecCase& test : testing::byte_codec_cases()) {
    const auto codec = make_byte_codec(test);
    EXPECT_EQ(testing::encode(*codec, Bytes(480)), testing::encode(*codec, Bytes(480)))
        << testing::to_string(test);
  }
}

// --- numcodecs' fixtures ---

Bytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return to_bytes(text);
}
Json read_json(const fs::path& path) {
  const Bytes bytes = read_file(path);
  return Json::parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

const std::set<std::string> kOurs{"adler32",    "base64", "blosc",           "bz2", "crc32", "crc32c",
                                  "fletcher32", "gzip",   "jenkins_lookup3", "lz4", "lzma",  "shuffle",
                                  "zlib",       "zstd"};
const std::set<std::string> kDeterministic{"adler32",    "base64",          "crc32",  "crc32c",
                                           "fletcher32", "jenkins_lookup3", "shuffle"};

// Decodes what a line {"path": "numcodecs/zlib", "node": "codec.00/encoded.00.dat", ...} names, by its v2 and
// its v3 name.
void check_line(const fs::path& root, const Json& line) {
  const std::string path = line.find("path")->as_string();
  const std::string id = path.substr(path.find('/') + 1);
  const fs::path file = root / path / line.find("node")->as_string();
  SCOPED_TRACE(file.string());
  const Bytes encoded = read_file(file);

  CodecSpec spec;
  JsonObject configuration = read_json(file.parent_path() / "config.json").as_object();
  spec.name = configuration.find("id")->as_string();
  configuration.erase("id");
  spec.configuration = configuration;
  EXPECT_EQ(spec.name, id);
  CodecOptions options;
  options.strict = true;

  std::uint64_t elements = 1;
  for (const Json& extent : line.find("shape")->as_array()) elements *= extent.to_uint64().value();
  for (const ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
    options.format = format;
    spec.name = format == ZarrFormat::v2 ? id : "numcodecs." + id;
    const auto codec =
        std::dynamic_pointer_cast<const BytesToBytesCodec>(CodecRegistry::global().make(spec, options));
    ASSERT_TRUE(codec);
    const Bytes decoded = testing::decode_growing(*codec, encoded, 1 << 20);
    EXPECT_EQ(testing::sha256(decoded), line.find("sha256")->as_string());
    ASSERT_EQ(decoded.size() % elements, 0U);
    EXPECT_EQ(testing::decode_fixed(*codec, encoded, decoded.size()), decoded);
    BytesSpec bytes;
    bytes.item_size = decoded.size() / elements;
    const Bytes again = testing::encode(*codec->bind(bytes), decoded);
    if (kDeterministic.contains(id)) {
      EXPECT_EQ(to_hex(again), to_hex(encoded));
    }
    EXPECT_EQ(testing::decode_fixed(*codec, again, decoded.size()), decoded);
  }
}

TEST(NumcodecsFixtures, OurCopies) {
  const Json lines = read_json(testing::test_data_dir() / "numcodecs" / "byte_codecs.json");
  EXPECT_GE(lines.as_array().size(), 100U);
  for (const Json& line : lines.as_array()) check_line(testing::test_data_dir(), line);
}

TEST(NumcodecsFixtures, AllOfThem) {
  const auto root = testing::fixtures_dir();
  if (!root) GTEST_SKIP() << "the shared fixtures are not there";
  const Json lines = read_json(*root / "expected.json");
  std::size_t count = 0;
  for (const Json& line : lines.as_array()) {
    const std::string path = line.find("path")->as_string();
    if (line.find("kind")->as_string() != "codec" || !kOurs.contains(path.substr(path.find('/') + 1)))
      continue;
    check_line(*root, line);
    ++count;
  }
  EXPECT_GE(count, 700U);
}

TEST(Sha256, KnownValues) {
  EXPECT_EQ(testing::sha256({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(testing::sha256(to_bytes("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(testing::sha256(to_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

}  // namespace
}  // namespace zarrive
