#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "codec/byte_codec_suite.hpp"
#include "zarrive/codec.hpp"
#include "zarrive/codecs.hpp"

namespace zarrive {
namespace {

using testing::Bytes;
using testing::error_of;
using ::testing::HasSubstr;

CodecRegistry& registry() { return CodecRegistry::global(); }

CodecSpec named(std::string name) {
  CodecSpec spec;
  spec.name = std::move(name);
  return spec;
}
CodecOptions of(ZarrFormat format) {
  CodecOptions options;
  options.format = format;
  return options;
}

// Adds a number to each byte.
class Plus final : public BytesToBytesCodec {
 public:
  Plus() = default;
  explicit Plus(const CodecSpec& spec) {
    if (const Json* by = spec.configuration.find("by")) by_ = static_cast<unsigned>(by->to_uint64().value());
  }
  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    Buffer buffer = Buffer::copy_of(decoded);
    for (std::byte& byte : buffer.mutable_host_span())
      byte = static_cast<std::byte>((std::to_integer<unsigned>(byte) + by_) & 0xFF);
    return buffer;
  }
  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    decoded.assign(encoded);
  }
  unsigned by() const { return by_; }

 private:
  unsigned by_ = 1;
};

struct PlusDefault final : BytesToBytesCodec {
  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    return Buffer::copy_of(decoded);
  }
  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    decoded.assign(encoded);
  }
};

TEST(CodecRegistry, KnowsTheNamesOfBothFormats) {
  for (const char* id : {"zstd", "gzip", "zlib", "bz2", "lzma", "lz4", "blosc", "base64", "shuffle", "crc32",
                         "crc32c", "adler32", "fletcher32", "jenkins_lookup3"}) {
    EXPECT_TRUE(registry().contains(id, ZarrFormat::v2)) << id;
    EXPECT_TRUE(registry().contains(std::string("numcodecs.") + id, ZarrFormat::v3)) << id;
  }
  for (const char* name : {"blosc", "zstd", "gzip", "crc32c", "conditional"})
    EXPECT_TRUE(registry().contains(name, ZarrFormat::v3)) << name;
  EXPECT_FALSE(registry().contains("zlib", ZarrFormat::v3));
  EXPECT_FALSE(registry().contains("conditional", ZarrFormat::v2));
  EXPECT_FALSE(registry().contains("pickle", ZarrFormat::v2));
  EXPECT_FALSE(registry().contains("", ZarrFormat::v3));
}

TEST(CodecRegistry, UnknownCodecIsNamed) {
  std::string message;
  EXPECT_EQ(error_of([] { registry().make(named("zipzap"), of(ZarrFormat::v3)); }, &message),
            ErrorCode::unsupported_codec);
  EXPECT_THAT(message, HasSubstr("'zipzap'"));
  EXPECT_THAT(message, HasSubstr("Zarr v3"));
  EXPECT_EQ(error_of([] { registry().make(named("zipzap"), of(ZarrFormat::v2)); }, &message),
            ErrorCode::unsupported_codec);
  EXPECT_THAT(message, HasSubstr("Zarr v2"));
}

TEST(CodecRegistry, RefusedCodecsSayWhy) {
  const std::pair<ZarrFormat, const char*> refused[] = {
      {ZarrFormat::v2, "pickle"},
      {ZarrFormat::v2, "pcodec"},
      {ZarrFormat::v2, "imagecodecs_tiff"},
      {ZarrFormat::v2, "n5_wrapper"},
      {ZarrFormat::v2, "grib"},
      {ZarrFormat::v3, "numcodecs.pickle"},
      {ZarrFormat::v3, "numcodecs.pcodec"},
      {ZarrFormat::v3, "https://codec.zarrs.dev/array_to_bytes/pcodec"},
      {ZarrFormat::v3, "zarrs.gdeflate"}};
  const std::vector<CodecInfo> list = registry().list();
  for (const auto& [format, name] : refused) {
    std::string message;
    EXPECT_EQ(error_of([&, f = format, n = name] { registry().make(named(n), of(f)); }, &message),
              ErrorCode::unsupported_codec)
        << name;
    const auto info = std::find_if(list.begin(), list.end(), [f = format, n = name](const CodecInfo& i) {
      return i.format == f && i.name == n;
    });
    ASSERT_NE(info, list.end()) << name;
    EXPECT_NE(info->refused, "") << name;
    EXPECT_THAT(message, HasSubstr(info->refused));
    EXPECT_THAT(message, HasSubstr(std::string("'") + name + "'"));
  }
}

TEST(CodecRegistry, ListIsSortedAndSaysWhatAliasesMean) {
  const std::vector<CodecInfo> list = registry().list();
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const CodecInfo& a, const CodecInfo& b) {
    return std::pair(a.format, a.name) < std::pair(b.format, b.name);
  }));
  const auto info =
      std::find_if(list.begin(), list.end(), [](const CodecInfo& i) { return i.name == "numcodecs.zlib"; });
  ASSERT_NE(info, list.end());
  EXPECT_EQ(info->alias_of, "zlib");
  EXPECT_EQ(info->kind, CodecKind::bytes_to_bytes);
  EXPECT_EQ(info->refused, "");
}

TEST(CodecRegistry, KeepsTheSpellingOfTheMetadata) {
  CodecSpec spec = named("numcodecs.zstd");
  spec.configuration.set("level", 100);  // a v2 configuration: v3's zstd refuses it
  const auto codec = registry().make(spec, of(ZarrFormat::v3));
  EXPECT_EQ(codec->name(), "numcodecs.zstd");
  EXPECT_EQ(codec->spec(), spec);
  spec.name = "zstd";
  EXPECT_EQ(error_of([&] { registry().make(spec, of(ZarrFormat::v3)); }), ErrorCode::invalid_metadata);
}

TEST(CodecRegistry, DuplicatesAreRefused) {
  CodecInfo info;
  info.name = "zstd";
  info.format = ZarrFormat::v3;
  info.refused = "whatever";
  std::string message;
  EXPECT_EQ(error_of([&] { registry().add(info, nullptr); }, &message), ErrorCode::already_exists);
  EXPECT_THAT(message, HasSubstr("'zstd'"));
  EXPECT_EQ(error_of([] { registry().add_alias(ZarrFormat::v2, "zstd", "gzip"); }),
            ErrorCode::already_exists);
  EXPECT_EQ(error_of([] { registry().add_v2_alias("numcodecs.zstd", "gzip"); }), ErrorCode::already_exists);
  EXPECT_TRUE(registry().contains("zstd", ZarrFormat::v3));
}

TEST(CodecRegistry, NeedsANameAndAFactory) {
  CodecInfo info;
  EXPECT_EQ(error_of([&] {
              registry().add(info,
                             [](const CodecSpec&, const CodecOptions&) { return std::make_shared<Plus>(); });
            }),
            ErrorCode::invalid_argument);
  info.name = "test.no_factory";
  EXPECT_EQ(error_of([&] { registry().add(info, nullptr); }), ErrorCode::invalid_argument);
  EXPECT_FALSE(registry().contains("test.no_factory", ZarrFormat::v3));
  registry().add(
      [] {
        CodecInfo made;
        made.name = "test.makes_nothing";
        return made;
      }(),
      [](const CodecSpec&, const CodecOptions&) -> std::shared_ptr<Codec> { return nullptr; });
  EXPECT_EQ(error_of([] { registry().make(named("test.makes_nothing"), of(ZarrFormat::v3)); }),
            ErrorCode::internal);
}

TEST(CodecRegistry, ThirdPartyCodecs) {
  register_codec<Plus>("test.plus");
  CodecSpec spec = named("test.plus");
  spec.configuration.set("by", 3);
  for (const ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
    const auto codec = std::dynamic_pointer_cast<const Plus>(registry().make(spec, of(format)));
    ASSERT_TRUE(codec);
    EXPECT_EQ(codec->by(), 3U);
    EXPECT_EQ(codec->spec(), spec);
    EXPECT_EQ(testing::encode(*codec, testing::to_bytes("abc")), testing::to_bytes("def"));
    EXPECT_FALSE(codec->encoded_size(3));
    EXPECT_FALSE(codec->decode_view({}, Context()));
    EXPECT_EQ(codec->bind(BytesSpec()), codec);
  }
  EXPECT_EQ(error_of([] { register_codec<Plus>("test.plus"); }), ErrorCode::already_exists);
  register_codec<PlusDefault>("test.plus_default");
  EXPECT_EQ(registry().make(named("test.plus_default"), of(ZarrFormat::v2))->kind(),
            CodecKind::bytes_to_bytes);
}

TEST(CodecRegistry, AliasesMayComeFirstAndLeadNowhere) {
  registry().add_alias(ZarrFormat::v3, "test.early", "test.late");
  EXPECT_FALSE(registry().contains("test.early", ZarrFormat::v3));
  EXPECT_EQ(error_of([] { registry().make(named("test.early"), of(ZarrFormat::v3)); }),
            ErrorCode::unsupported_codec);
  const auto find = [] {
    const std::vector<CodecInfo> list = registry().list();
    return *std::find_if(list.begin(), list.end(), [](const CodecInfo& i) { return i.name == "test.early"; });
  };
  EXPECT_THAT(find().refused, HasSubstr("test.late"));
  register_codec<Plus>("test.late");
  EXPECT_TRUE(registry().contains("test.early", ZarrFormat::v3));
  EXPECT_EQ(find().refused, "");
  EXPECT_EQ(registry().make(named("test.early"), of(ZarrFormat::v3))->name(), "test.early");

  registry().add_alias(ZarrFormat::v3, "test.egg", "test.hen");
  registry().add_alias(ZarrFormat::v3, "test.hen", "test.egg");
  EXPECT_EQ(error_of([] { registry().make(named("test.egg"), of(ZarrFormat::v3)); }),
            ErrorCode::unsupported_codec);
}

TEST(CodecRegistry, ManyThreads) {
  static std::atomic<int> runs{0};  // names stay registered when the test is repeated
  const std::string prefix = "test.thread." + std::to_string(runs++) + ".";
  std::atomic<int> made{0};
  std::atomic<int> clashes{0};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        try {
          register_codec<Plus>(prefix + std::to_string(i));
        } catch (const Error&) {
          ++clashes;
        }
        if (registry().make(named(thread % 2 == 0 ? "zstd" : "numcodecs.zlib"), of(ZarrFormat::v3))) ++made;
        if (registry().list().size() > 50) ++made;
      }
    });
  threads.clear();
  EXPECT_EQ(made, 400);
  EXPECT_EQ(clashes, 150);
}

// --- the defaults of the base classes ---

struct BareArrayCodec final : ArrayToArrayCodec {
  void encode(const ArrayView&, const ArrayView&, const Context&) const override {}
  void decode(const ArrayView&, const ArrayView&, const Context&) const override {}
};
struct BareBytesCodec final : ArrayToBytesCodec {
  Buffer encode(const ArrayView&, const ArraySpec&, const Context&) const override { return {}; }
  void decode(std::span<const std::byte>, const ArraySpec&, const ArrayView&, const Context&) const override {
  }
};

TEST(CodecDefaults, AsTheContractSays) {
  ArraySpec spec;
  spec.type = data_type_of<float>();
  spec.shape = {2, 3};
  EXPECT_EQ(spec.size(), 6U);
  EXPECT_EQ(spec.nbytes(), 24U);
  register_codec<BareArrayCodec>("test.bare_array");
  register_codec<BareBytesCodec>("test.bare_bytes");

  const auto array = std::dynamic_pointer_cast<const ArrayToArrayCodec>(
      registry().make(named("test.bare_array"), of(ZarrFormat::v3)));
  ASSERT_TRUE(array);
  EXPECT_EQ(array->kind(), CodecKind::array_to_array);
  EXPECT_EQ(array->bind(spec), array);
  EXPECT_EQ(array->encoded_spec(spec).shape, spec.shape);
  EXPECT_FALSE(array->view_as_encoded(ArrayView()));
  EXPECT_FALSE(array->capabilities().fixed_size);

  const auto bytes = std::dynamic_pointer_cast<const ArrayToBytesCodec>(
      registry().make(named("test.bare_bytes"), of(ZarrFormat::v3)));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->kind(), CodecKind::array_to_bytes);
  EXPECT_EQ(bytes->bind(spec), bytes);
  EXPECT_FALSE(bytes->encoded_size(spec));
  EXPECT_FALSE(bytes->is_memory_layout(spec));
  EXPECT_EQ(error_of([&] { bytes->finish_in_place(ArrayView()); }), ErrorCode::internal);
  EXPECT_EQ(error_of([&] { bytes->decode_partial({}, spec, Context()); }), ErrorCode::internal);
  EXPECT_EQ(error_of([&] { bytes->encode_partial({}, spec, Context()); }), ErrorCode::internal);
}

// --- specs by name ---

TEST(Codecs, SpecsAreValid) {
  CodecOptions strict = of(ZarrFormat::v3);
  strict.strict = true;
  for (const CodecSpec& spec : {codecs::zstd(), codecs::zstd(-5, true), codecs::gzip(), codecs::gzip(9),
                                codecs::blosc(), codecs::blosc("lz4", 9, "bitshuffle", 4), codecs::crc32c()})
    EXPECT_EQ(registry().make(spec, strict)->spec(), spec);
  EXPECT_EQ(Json(codecs::zstd(3, true).configuration).dump(), R"({"level": 3, "checksum": true})");
  EXPECT_EQ(Json(codecs::gzip().configuration).dump(), R"({"level": 5})");
  EXPECT_EQ(Json(codecs::bytes().configuration).dump(), R"({"endian": "little"})");
  EXPECT_EQ(Json(codecs::bytes(ByteOrder::big).configuration).dump(), R"({"endian": "big"})");
  EXPECT_TRUE(codecs::bytes(ByteOrder::none).configuration.empty());
  EXPECT_EQ(Json(codecs::transpose({1, 0}).configuration).dump(), R"({"order": [1, 0]})");
  EXPECT_EQ(codecs::vlen_utf8().name, "vlen-utf8");
  EXPECT_EQ(codecs::vlen_bytes().name, "vlen-bytes");
  EXPECT_EQ(
      Json(codecs::optional({CodecSpec{"packbits"}}, {codecs::bytes(), codecs::crc32c()}).configuration)
          .dump(),
      R"({"mask_codecs": [{"name": "packbits"}], )"
      R"("data_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]})");
}

TEST(Codecs, CompletedFillsInWhatTheTypeDecides) {
  EXPECT_EQ(Json(codecs::completed(codecs::blosc(), 4).configuration).dump({.sort_keys = true}),
            R"({"blocksize": 0, "clevel": 5, "cname": "zstd", "shuffle": "shuffle", "typesize": 4})");
  EXPECT_EQ(codecs::completed(codecs::blosc(), 1).configuration.find("shuffle")->as_string(), "bitshuffle");
  const CodecSpec given = codecs::blosc("lz4", 1, "noshuffle", 2);
  EXPECT_EQ(codecs::completed(given, 8), given);
  EXPECT_EQ(codecs::completed(codecs::zstd(), 8), codecs::zstd());
}

}  // namespace
}  // namespace zarrive
