#include "codec/byte_codec_suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "zarrive/json.hpp"

namespace zarrive::testing {

std::string to_string(const ByteCodecCase& test) {
  return (test.format == ZarrFormat::v2 ? "v2 " : "v3 ") + test.name + " " + test.configuration +
         " item size " + std::to_string(test.item_size);
}

std::shared_ptr<const BytesToBytesCodec> make_byte_codec(ZarrFormat format, const std::string& name,
                                                         std::string_view configuration,
                                                         std::size_t item_size) {
  CodecSpec spec;
  spec.name = name;
  spec.configuration = Json::parse(configuration).as_object();
  CodecOptions options;
  options.format = format;
  options.strict = true;
  const auto codec =
      std::dynamic_pointer_cast<const BytesToBytesCodec>(CodecRegistry::global().make(spec, options));
  if (!codec) throw std::logic_error(name + " is no bytes-to-bytes codec");
  BytesSpec bytes;
  bytes.item_size = item_size;
  return codec->bind(bytes);
}
std::shared_ptr<const BytesToBytesCodec> make_byte_codec(const ByteCodecCase& test) {
  return make_byte_codec(test.format, test.name, test.configuration, test.item_size);
}

Bytes to_bytes(std::string_view text) {
  Bytes bytes;
  for (const char character : text) bytes.push_back(static_cast<std::byte>(character));
  return bytes;
}
Bytes from_hex(std::string_view digits) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return bytes;
}
std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[std::to_integer<int>(byte) >> 4];
    text += "0123456789abcdef"[std::to_integer<int>(byte) & 0xF];
  }
  return text;
}
Bytes random_bytes(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFF);
  return bytes;
}
Bytes constant_bytes(std::size_t size) { return Bytes(size, std::byte{0x2A}); }
Bytes ramp_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i / 4) >> (8 * (i % 4)) & 0xFF);
  return bytes;
}
Bytes mixed_bytes(std::size_t size) {
  Bytes bytes = ramp_bytes(size / 2);
  const Bytes tail = random_bytes(size / 4, 7);
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  bytes.resize(size, std::byte{0x11});
  return bytes;
}

Bytes encode(const BytesToBytesCodec& codec, std::span<const std::byte> decoded) {
  const Buffer buffer = codec.encode(decoded, Context());
  const auto bytes = buffer.host_span();
  return Bytes(bytes.begin(), bytes.end());
}
Bytes decode_fixed(const BytesToBytesCodec& codec, std::span<const std::byte> encoded, std::size_t size) {
  Bytes bytes(size, std::byte{0xEE});
  ByteOutput output{std::span<std::byte>(bytes)};
  codec.decode(encoded, output, Context());
  EXPECT_EQ(output.bytes().size(), size);
  return bytes;
}
Bytes decode_growing(const BytesToBytesCodec& codec, std::span<const std::byte> encoded, std::uint64_t limit,
                     std::optional<std::uint64_t> expected) {
  ByteOutput output(expected, limit);
  codec.decode(encoded, output, Context());
  const auto bytes = output.bytes();
  EXPECT_LE(bytes.size(), limit);
  return Bytes(bytes.begin(), bytes.end());
}

std::vector<ByteCodecCase> byte_codec_cases() {
  std::vector<ByteCodecCase> cases;
  const auto v2 = [&](std::string name, std::string configuration, ByteCodecCase more = {}) {
    more.format = ZarrFormat::v2;
    more.name = std::move(name);
    more.configuration = std::move(configuration);
    cases.push_back(more);
    // The same under its name in v3.
    if (more.name.rfind("imagecodecs", 0) == 0) return;
    more.format = ZarrFormat::v3;
    more.name = "numcodecs." + more.name;
    cases.push_back(more);
  };
  const auto v3 = [&](std::string name, std::string configuration, ByteCodecCase more = {}) {
    more.format = ZarrFormat::v3;
    more.name = std::move(name);
    more.configuration = std::move(configuration);
    cases.push_back(more);
  };
  ByteCodecCase sure;
  sure.detects_damage = true;
  ByteCodecCase slow = sure;
  slow.slow = true;
  ByteCodecCase plain_slow;
  plain_slow.slow = true;

  v2("zstd", R"({})");
  v2("zstd", R"({"level": 0})");
  v2("zstd", R"({"level": -7, "checksum": true})", sure);
  v2("zstd", R"({"level": 100, "checksum": false})", plain_slow);
  v3("zstd", R"({"level": 0, "checksum": false})");
  v3("zstd", R"({"level": 3, "checksum": true})", sure);
  v3("zstd", R"({"level": 22})", plain_slow);
  v3("zstd", R"({"level": -131072})");
  v2("imagecodecs_zstd", R"({"level": 1})");

  v2("gzip", R"({})", sure);
  for (const char* level : {"-1", "0", "5"}) v2("gzip", std::string(R"({"level": )") + level + "}", sure);
  v3("gzip", R"({"level": 0})", sure);
  v3("gzip", R"({"level": 5})", sure);
  v3("gzip", R"({"level": 9})", slow);
  v2("zlib", R"({})", sure);
  for (const char* level : {"-1", "0", "5"}) v2("zlib", std::string(R"({"level": )") + level + "}", sure);
  v2("zlib", R"({"level": 9})", slow);
  v2("imagecodecs_zlib", R"({"level": 6})", sure);

  v2("bz2", R"({})", slow);
  v2("bz2", R"({"level": 9})", slow);

  v2("lzma", R"({"format": 1, "check": -1, "preset": null, "filters": null})", slow);
  v2("lzma", R"({"format": 1, "check": 0, "preset": 1})", plain_slow);
  v2("lzma", R"({"format": 1, "check": 1, "preset": 2147483649})", slow);
  v2("lzma",
     R"({"format": 1, "check": 10, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 0, "dict_size": 65536}]})",
     slow);
  v2("lzma",
     R"({"format": 1, "filters": [{"id": 4}, {"id": 5}, {"id": 9, "start_offset": 0}, {"id": 33, "preset": 1}]})",
     slow);
  v2("lzma", R"({"format": 2})", plain_slow);
  v2("lzma", R"({"format": 2, "check": -1, "preset": 9})", plain_slow);
  v2("lzma",
     R"({"format": 2, "filters": [{"id": 4611686018427387905, "lc": 2, "lp": 1, "pb": 0, "mode": 1, "nice_len": 32, "mf": 4, "depth": 8}]})",
     plain_slow);
  v2("lzma", R"({"format": 3, "filters": [{"id": 33, "preset": 1}]})", plain_slow);
  v2("lzma", R"({"format": 3, "filters": [{"id": 3}, {"id": 7}, {"id": 4611686018427387905, "preset": 3}]})",
     plain_slow);
  v2("imagecodecs_lzma", R"({"level": 1})", slow);

  v2("lz4", R"({"acceleration": 1})");
  v2("lz4", R"({"acceleration": -5})");
  v2("lz4", R"({"acceleration": 1000000})");

  for (const char* cname : {"lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"})
    for (const char* shuffle : {"0", "1", "2"})
      v2("blosc", std::string(R"({"cname": ")") + cname + R"(", "clevel": 5, "shuffle": )" + shuffle +
                      R"(, "blocksize": 0})");
  v2("blosc", R"({})");
  ByteCodecCase one_byte;
  one_byte.item_size = 1;
  v2("blosc", R"({"cname": "zstd", "shuffle": -1, "clevel": 1})", one_byte);
  v2("blosc", R"({"cname": "zstd", "shuffle": -1, "clevel": 1})");
  v2("blosc", R"({"cname": "lz4", "shuffle": 1, "clevel": 0})");
  v2("blosc", R"({"cname": "lz4", "shuffle": 1, "clevel": 9, "blocksize": 256})");
  ByteCodecCase wide;
  wide.item_size = 300;
  v2("blosc", R"({"cname": "lz4", "shuffle": 1})", wide);
  wide.item_size = 24;
  v2("blosc", R"({"cname": "blosclz", "shuffle": 1, "typesize": null})", wide);
  for (const char* cname : {"lz4", "zstd"})
    for (const char* shuffle : {"noshuffle", "shuffle", "bitshuffle"})
      v3("blosc", std::string(R"({"typesize": 8, "cname": ")") + cname + R"(", "clevel": 5, "shuffle": ")" +
                      shuffle + R"(", "blocksize": 0})");
  v3("blosc", R"({"cname": "snappy", "clevel": 3})");
  v3("blosc", R"({"cname": "snappy", "clevel": 3})", one_byte);

  for (const char* name : {"crc32", "adler32", "crc32c"}) {
    v2(name, R"({})", sure);
    v2(name, R"({"location": "start"})", sure);
    v2(name, R"({"location": "end"})", sure);
  }
  v3("crc32c", R"({})", sure);
  v2("fletcher32", R"({})", sure);
  v3("https://codec.zarrs.dev/bytes_to_bytes/fletcher32", R"({})", sure);
  v2("jenkins_lookup3", R"({})", sure);
  v2("jenkins_lookup3", R"({"initval": 4294967295, "prefix": null})", sure);
  v2("jenkins_lookup3", R"({"initval": 1, "prefix": "abc"})", sure);
  v2("jenkins_lookup3", R"({"initval": 1, "prefix": [0, 255]})", sure);

  v2("base64", R"({})");

  ByteCodecCase shuffled;
  for (const std::size_t size : {2, 3, 4, 8, 16}) {
    shuffled.multiple = size;
    v2("shuffle", R"({"elementsize": )" + std::to_string(size) + "}", shuffled);
  }
  v2("shuffle", R"({"elementsize": 0})");
  v2("shuffle", R"({"elementsize": 1})");
  shuffled.multiple = 4;
  v2("shuffle", R"({})", shuffled);
  shuffled.multiple = shuffled.item_size = 6;
  v3("numcodecs.shuffle", R"({})", shuffled);
  v3("numcodecs.shuffle", R"({"elementsize": null})", shuffled);

  v3("conditional", R"({"codecs": []})");
  v3("conditional", R"({"codecs": ["crc32c"]})");
  v3("conditional",
     R"({"codecs": [{"name": "zstd", "configuration": {"level": 1}}, {"name": "crc32c"}], "header_bits": 16})");
  v3("conditional",
     R"({"codecs": ["crc32c", {"name": "gzip", "configuration": {"level": 1}}, {"name": "numcodecs.base64"}, "numcodecs.lz4", "crc32c"]})");
  v3("conditional",
     R"({"codecs": [{"name": "conditional", "configuration": {"codecs": [{"name": "blosc", "configuration": {}}]}}]})");
  return cases;
}

namespace {

using ::testing::AnyOf;
using ::testing::Eq;

constexpr std::uint64_t kLimit = 8 << 20;

// What an altered value may end in, besides bytes.
bool is_clean(ErrorCode code) {
  return code == ErrorCode::corrupt_chunk || code == ErrorCode::resource_limit ||
         code == ErrorCode::unsupported_codec;
}

class ByteCodecSuite : public ::testing::TestWithParam<ByteCodecCase> {
 protected:
  void SetUp() override {
    codec_ = make_byte_codec(GetParam());
    SCOPED_TRACE(to_string(GetParam()));
  }
  std::vector<Bytes> inputs() const {
    std::vector<Bytes> result;
    for (std::size_t size : {0, 1, 2, 127, 128, 1000, 65536, 1 << 20}) {
      size -= size % GetParam().multiple;
      result.push_back(ramp_bytes(size));
      if (GetParam().slow && size > 1000) continue;
      result.push_back(random_bytes(size, static_cast<std::uint32_t>(size)));
      result.push_back(constant_bytes(size));
    }
    return result;
  }
  Bytes mixed(std::size_t size) const { return mixed_bytes(size - size % GetParam().multiple); }
  std::shared_ptr<const BytesToBytesCodec> codec_;
};

TEST_P(ByteCodecSuite, RoundTrip) {
  for (const Bytes& input : inputs()) {
    SCOPED_TRACE(std::to_string(input.size()) + " bytes");
    const Bytes encoded = encode(*codec_, input);
    if (const auto size = codec_->encoded_size(input.size())) {
      EXPECT_EQ(*size, encoded.size());
    }
    EXPECT_EQ(codec_->capabilities().fixed_size, codec_->encoded_size(input.size()).has_value());
    ASSERT_TRUE(decode_fixed(*codec_, encoded, input.size()) == input);
    ASSERT_TRUE(decode_growing(*codec_, encoded, kLimit) == input);
    ASSERT_TRUE(decode_growing(*codec_, encoded, kLimit, input.size()) == input);
    if (const auto view = codec_->decode_view(encoded, Context())) {
      ASSERT_TRUE(std::equal(view->begin(), view->end(), input.begin(), input.end()));
      ASSERT_TRUE(view->empty() || (view->data() >= encoded.data() &&
                                    view->data() + view->size() <= encoded.data() + encoded.size()));
    }
  }
}

TEST_P(ByteCodecSuite, AnotherSizeThanExpectedIsCorrupt) {
  for (const std::size_t size : {std::size_t{120}, std::size_t{4800}}) {
    const Bytes input = mixed(size);
    const Bytes encoded = encode(*codec_, input);
    for (const std::size_t wrong :
         {std::size_t{0}, std::size_t{1}, input.size() - 1, input.size() + 1, 10 * input.size()}) {
      SCOPED_TRACE(std::to_string(wrong) + " for " + std::to_string(input.size()));
      std::string message;
      EXPECT_EQ(error_of([&] { decode_fixed(*codec_, encoded, wrong); }, &message), ErrorCode::corrupt_chunk);
      EXPECT_NE(message, "");
      EXPECT_EQ(error_of([&] { decode_growing(*codec_, encoded, kLimit, wrong); }), ErrorCode::corrupt_chunk);
    }
  }
}

TEST_P(ByteCodecSuite, TheLimitHolds) {
  const Bytes input = constant_bytes(240000);
  const Bytes encoded = encode(*codec_, input);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{239999}})
    EXPECT_EQ(error_of([&] { decode_growing(*codec_, encoded, limit); }), ErrorCode::resource_limit) << limit;
  EXPECT_TRUE(decode_growing(*codec_, encoded, input.size()) == input);
}

TEST_P(ByteCodecSuite, TruncatedValuesAreErrors) {
  for (const std::size_t size : {std::size_t{48}, std::size_t{4800}}) {
    const Bytes input = mixed(size);
    const Bytes encoded = encode(*codec_, input);
    const std::size_t step = std::max<std::size_t>(1, encoded.size() / 150);
    for (std::size_t cut = 0; cut < encoded.size(); cut += step) {
      // A copy of its own, so that AddressSanitizer sees a read beyond it.
      const Bytes part(encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(cut));
      const auto code = error_of([&] { decode_fixed(*codec_, part, input.size()); });
      ASSERT_TRUE(code && is_clean(*code)) << cut << " of " << encoded.size();
      const auto growing = error_of([&] { decode_growing(*codec_, part, kLimit); });
      ASSERT_TRUE(!growing || is_clean(*growing)) << cut << " of " << encoded.size();
    }
    // So is anything that follows.
    Bytes longer = encoded;
    longer.insert(longer.end(), {std::byte{0x5A}, std::byte{0xA5}, std::byte{0x5A}, std::byte{0xA5}});
    const auto code = error_of([&] { decode_fixed(*codec_, longer, input.size()); });
    ASSERT_TRUE(code && is_clean(*code));
  }
}

TEST_P(ByteCodecSuite, DamagedValuesNeverCrash) {
  std::mt19937 random(20240607);
  for (const std::size_t size : {std::size_t{240}, std::size_t{4800}}) {
    const Bytes input = mixed(size);
    const Bytes encoded = encode(*codec_, input);
    for (int trial = 0; trial < 200; ++trial) {
      Bytes damaged = encoded;
      // Headers are small and matter most: half of the damage goes there.
      const std::size_t range = trial % 2 == 0 ? std::min<std::size_t>(damaged.size(), 40) : damaged.size();
      const int flips = trial % 4 == 3 && !GetParam().detects_damage ? 4 : 1;
      for (int flip = 0; flip < flips; ++flip) damaged[random() % range] ^= std::byte{1} << (random() % 8);
      const auto check = [&](auto&& decode) {
        Bytes output;
        const auto code = error_of([&] { output = decode(); });
        if (code) {
          ASSERT_TRUE(is_clean(*code)) << zarrive::to_string(*code) << " in trial " << trial;
        } else if (GetParam().detects_damage) {
          ASSERT_TRUE(output == input) << "unnoticed damage in trial " << trial;
        }
      };
      check([&] { return decode_fixed(*codec_, damaged, input.size()); });
      check([&] { return decode_growing(*codec_, damaged, 1 << 20); });
    }
  }
}

TEST_P(ByteCodecSuite, RandomBytesNeverCrash) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Bytes bytes = random_bytes(seed * 3, seed);
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}}) {
      const auto code = error_of([&] { decode_fixed(*codec_, bytes, size); });
      ASSERT_TRUE(!code || is_clean(*code)) << seed;
    }
    const auto code = error_of([&] { decode_growing(*codec_, bytes, 1 << 20); });
    ASSERT_TRUE(!code || is_clean(*code)) << seed;
  }
}

TEST_P(ByteCodecSuite, ManyThreadsAtOnce) {
  const Bytes input = mixed(9600);
  std::vector<int> equal(4);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < equal.size(); ++i)
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 5; ++repeat)
        equal[i] += decode_fixed(*codec_, encode(*codec_, input), input.size()) == input ? 1 : 0;
    });
  threads.clear();
  EXPECT_THAT(equal, ::testing::Each(Eq(5)));
}

INSTANTIATE_TEST_SUITE_P(All, ByteCodecSuite, ::testing::ValuesIn(byte_codec_cases()),
                         [](const ::testing::TestParamInfo<ByteCodecCase>& info) {
                           std::string name = info.param.format == ZarrFormat::v2 ? "v2_" : "v3_";
                           for (const char character : info.param.name)
                             name +=
                                 std::isalnum(static_cast<unsigned char>(character)) != 0 ? character : '_';
                           return name + "_" + std::to_string(info.index);
                         });

TEST(ByteCodecSuiteList, NoBuiltInCodecIsLeftOut) {
  std::set<std::pair<ZarrFormat, std::string>> tested;
  for (const ByteCodecCase& test : byte_codec_cases()) tested.emplace(test.format, test.name);
  for (const CodecInfo& info : CodecRegistry::global().list()) {
    if (info.kind != CodecKind::bytes_to_bytes || !info.refused.empty() || info.name.rfind("test.", 0) == 0)
      continue;
    EXPECT_TRUE(tested.contains({info.format, info.name})) << info.name;
  }
}

}  // namespace

void PrintTo(const ByteCodecCase& test, std::ostream* stream) { *stream << to_string(test); }

}  // namespace zarrive::testing
