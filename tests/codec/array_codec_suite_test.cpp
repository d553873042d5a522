// Every array codec with every type it takes: round trips over shapes, dense and strided, partial decoding, and hostile bytes.
#include "codec/array_codec_suite.hpp"

namespace zarrive {
namespace {

using namespace testing;

const std::vector<std::string> kIntegers = {"int8",  "int16",  "int32",  "int64",
                                            "uint8", "uint16", "uint32", "uint64"};
const std::vector<std::string> kSmallIntegers = {"int2", "int4", "uint2", "uint4"};
const std::vector<std::string> kFloats = {"float16", "bfloat16", "float32", "float64"};
const std::vector<std::string> kSmallFloats = {
    "float4_e2m1fn", "float6_e2m3fn",   "float6_e3m2fn",   "float8_e3m4",        "float8_e4m3",
    "float8_e5m2",   "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz", "float8_e8m0fnu"};
const std::vector<std::string> kComplex = {"complex64", "complex128"};
const std::vector<std::string> kTimes = {"<M8[ms]", "<m8[10us]"};
const std::vector<std::string> kFixed = {"|S5", "<U3", "|V6",
                                         R"([["a","|u1"],["b",">i4",[2]],["c",[["d","<f8"],["e","|b1"]]]])"};

std::vector<std::string> join(std::initializer_list<std::vector<std::string>> lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

DataType type_named(const std::string& name) {
  if (name == "string") return DataType(TypeId::string);
  if (name == "bytes") return DataType(TypeId::bytes);
  if (name == "object") return DataType(TypeId::object);
  return name[0] == '[' ? DataType::from_v2(Json::parse(name)) : DataType::parse(name);
}

struct Case {
  std::string name;
  std::string configuration;
  ZarrFormat format;
  std::vector<std::string> types;
  bool small = false;  // numbers that this codec keeps
};

constexpr auto v2 = ZarrFormat::v2;
constexpr auto v3 = ZarrFormat::v3;

std::vector<Case> bytes_cases() {
  const auto fixed =
      join({kIntegers, kSmallIntegers, kFloats, kSmallFloats, kComplex, kTimes, kFixed, {"bool"}});
  std::vector<Case> cases = {
      {"bytes", R"({"endian":"little"})", v3, fixed},
      {"bytes", R"({"endian":"big"})", v3, fixed},
      {"bytes", "{}", v3, {"bool", "int8", "uint8", "int4", "|S5", "|V6", "float8_e4m3"}},
      {"endian", R"({"endian":"big"})", v3, {"int16", "float64"}},
      {"packbits", "{}", v3, join({kIntegers, kSmallIntegers, kFloats, kSmallFloats, kComplex, {"bool"}})},
      {"packbits",
       R"({"padding_encoding":"first_byte"})",
       v3,
       {"bool", "int4", "uint2", "float6_e3m2fn", "complex64"}},
      {"packbits", R"({"padding_encoding":"end_byte"})", v3, {"bool", "int4", "uint16"}},
      {"packbits", R"({"first_bit":0,"last_bit":7})", v3, join({kIntegers}), true},
      {"packbits", R"({"start_bit":null,"end_bit":8})", v3, {"int16", "uint64"}, true},
      {"optional",
       R"({"mask_codecs":["packbits"],"data_codecs":[{"name":"bytes","configuration":{"endian":"big"}}]})",
       v3,
       {"optional[uint8]", "optional[int32]", "optional[complex128]", "optional[<U3]"}},
      {"zarrs.optional",
       R"({"mask_codecs":["bytes","crc32c"],"data_codecs":[{"name":"optional","configuration":)"
       R"({"mask_codecs":["packbits"],"data_codecs":["bytes"]}},{"name":"gzip","configuration":{"level":1}},"crc32c"]})",
       v3,
       {"optional[optional[bool]]", "optional[optional[|S5]]"}},
      {"vlen-utf8", "{}", v3, {"string"}},
      {"vlen-utf8", "{}", v2, {"string"}},
      {"vlen-bytes", "{}", v3, {"bytes"}},
      {"vlen-bytes", "{}", v2, {"bytes"}},
      {"vlen-array", R"({"dtype":"<i4"})", v2, {"object"}},
      {"vlen-array", R"({"dtype":">i8"})", v2, {"object"}},
      {"json2", "{}", v2,
       join({kIntegers, {"bool", "float16", "float32", "float64", "string", "object", "<U3"}}), true},
      {"json", R"({"indent":true,"ensure_ascii":false,"separators":[", ",": "]})", v2, {"object", "string"}},
      {"msgpack2", "{}", v2, join({kIntegers, {"bool", "float32", "float64", "string", "object", "<U3"}}),
       true},
      {"msgpack", R"({"use_single_float":true,"raw":false})", v2, {"float32", "float16", "object"}, true},
  };
  if (!CodecRegistry::global().contains("zfp", v3)) return cases;  // built without libzfp
  cases.push_back({"zfp", R"({"mode":"reversible"})", v3,
                   join({kIntegers, {"float16", "bfloat16", "float32", "float64", "<M8[ms]"}}), true});
  cases.push_back(
      {"zfpy", R"({"mode":4,"tolerance":-1})", v2, {"int32", "int64", "float32", "float64"}, true});
  cases.push_back({"numcodecs.zfpy", R"({"mode":2,"rate":-1})", v3, {"int32", "float64"}, true});
  return cases;
}

std::vector<Case> array_cases() {
  const auto numbers = join({kIntegers, {"float16", "float32", "float64"}});
  return {
      {"transpose", R"({"order":"F"})", v3,
       join({kIntegers, kFloats, kFixed, {"bool", "optional[int16]", "string", "bytes", "object"}})},
      {"transpose", R"({"order":"C"})", v3, {"int16", "string"}},
      {"reshape", R"({"shape":[-1]})", v3, join({kIntegers, kFixed, {"bool", "string"}})},
      {"bitround", R"({"keepbits":64})", v3, join({kIntegers, kFloats, kComplex, kTimes})},
      {"bitround", R"({"keepbits":7})", v3, join({kIntegers, kFloats}), true},
      {"numcodecs.bitround", R"({"keepbits":10})", v3, {"float32", "float64"}, true},
      {"bitround", R"({"keepbits":10})", v2, {"float16", "uint8"}, true},
      {"scale_offset", "{}", v3, join({kIntegers, kFloats}), true},
      {"scale_offset", R"({"offset":0,"scale":1})", v3, join({kIntegers, kFloats}), true},
      {"cast_value", R"({"data_type":"int8"})", v3, join({kIntegers, kFloats}), true},
      {"cast_value", R"({"data_type":"float64"})", v3,
       join({kIntegers, kSmallIntegers, kFloats, kSmallFloats}), true},
      {"cast_value",
       R"({"data_type":"float32","scalar_map":{"encode":[[1,2]],"decode":[[2,1],[1,2]]}})",
       v3,
       {"int16"}},
      {"delta", "{}", v2, join({numbers, {"bool", "<M8[ms]", "<m8[10us]"}}), true},
      {"delta", R"({"dtype":"<i8","astype":"<i2"})", v2, {"<M8[ms]", "int64"}, true},
      {"numcodecs.delta", R"({"dtype":"float64"})", v3, {"float64"}, true},
      {"fixedscaleoffset", R"({"offset":0,"scale":1})", v2, numbers, true},
      {"fixedscaleoffset", R"({"offset":-5,"scale":2.0,"astype":"<i4"})", v2, numbers, true},
      {"quantize", R"({"digits":3})", v2, {"float32", "float64"}, true},
      {"quantize", R"({"digits":0,"astype":"<f4"})", v2, {"float16", "float32", "float64"}, true},
      {"packbits", "{}", v2, {"bool"}},
      {"numcodecs.packbits", "{}", v3, {"bool"}},
      {"astype", R"({"encode_dtype":"<f8"})", v2, numbers, true},
      {"astype", R"({"encode_dtype":"i1"})", v2, join({numbers, {"bool"}}), true},
      {"astype", R"({"encode_dtype":"<c16"})", v2, {"complex64", "float32"}, true},
  };
}

std::string title(const Case& c, const std::string& type, const Shape& shape) {
  return c.name + " " + c.configuration + (c.format == v2 ? " (v2) " : " ") + type + " " + to_string(shape);
}

TEST(ArrayCodecSuite, BytesCodecsRoundTripDenseAndStrided) {
  std::mt19937_64 random(1);
  for (const Case& c : bytes_cases())
    for (const std::string& name : c.types)
      for (const Shape& shape : suite_shapes()) {
        SCOPED_TRACE(title(c, name, shape));
        const DataType type = type_named(name);
        const ArraySpec spec = spec_of(type, shape);
        const auto codec = bytes_codec(c.name, c.configuration, c.format)->bind(spec);
        const NDArray original = random_array(type, shape, random, c.small);
        const Buffer encoded = codec->encode(original.view(), spec, {});
        if (codec->capabilities().fixed_size) {
          EXPECT_EQ(encoded.size(), codec->encoded_size(spec));
        }

        const NDArray decoded = NDArray::allocate(type, shape);
        codec->decode(encoded.host_span(), spec, decoded.view(), {});
        EXPECT_TRUE(same_elements(original.view(), decoded.view())) << elements_of(original.view()) << "\n"
                                                                    << elements_of(decoded.view());

        if (codec->capabilities().strided) {
          const Strided source = strided(type, shape);
          copy(original.view(), source.view);
          const Buffer again = codec->encode(source.view, spec, {});
          EXPECT_EQ(to_bytes(again.host_span()), to_bytes(encoded.host_span()));
          const Strided target = strided(type, shape);
          codec->decode(encoded.host_span(), spec, target.view, {});
          EXPECT_TRUE(same_elements(original.view(), target.view));
        }
        if (codec->is_memory_layout(spec)) {
          const NDArray in_place = NDArray::allocate(type, shape);
          if (encoded.size() > 0) std::memcpy(in_place.view().data, encoded.data(), encoded.size());
          codec->finish_in_place(in_place.view());
          EXPECT_TRUE(same_elements(original.view(), in_place.view()));
        }
      }
}

TEST(ArrayCodecSuite, PartialDecodeEqualsFullDecode) {
  std::mt19937_64 random(2);
  int parts = 0;
  for (const Case& c : bytes_cases())
    for (const std::string& name : c.types)
      for (const Shape& shape : {Shape{}, Shape{50}, Shape{6, 7}, Shape{3, 4, 5}, Shape{2, 3, 600}}) {
        const DataType type = type_named(name);
        const ArraySpec spec = spec_of(type, shape);
        const auto codec = bytes_codec(c.name, c.configuration, c.format)->bind(spec);
        if (!codec->capabilities().partial_decode) continue;
        SCOPED_TRACE(title(c, name, shape));
        const NDArray original = random_array(type, shape, random, c.small);
        const Buffer encoded = codec->encode(original.view(), spec, {});
        for (int repeat = 0; repeat < 4; ++repeat) {
          Box part;
          for (const std::uint64_t extent : shape) {
            part.start.push_back(random() % extent);
            part.extent.push_back(random() % (extent - part.start.back() + 1));
          }
          const Strided target = strided(type, part.extent);
          decode_part(*codec, spec, encoded, box_part(part.start, part.extent), target.view);
          EXPECT_TRUE(same_elements(original.view().box(part.start, part.extent), target.view))
              << to_string(part.start);
          ++parts;
        }
      }
  EXPECT_GT(parts, 500);
}

TEST(ArrayCodecSuite, PartialDecodeReadsWhatItNeeds) {
  const ArraySpec spec = spec_of("uint8", {100, 100, 100});
  const auto codec = bytes_codec("bytes")->bind(spec);
  const Buffer encoded = Buffer::allocate(1000000);
  const NDArray plane = NDArray::allocate(spec.type, {1, 100, 100});
  const PartRead whole_plane =
      decode_part(*codec, spec, encoded, box_part({7, 0, 0}, {1, 100, 100}), plane.view());
  EXPECT_EQ(whole_plane.ranges, 1U);
  EXPECT_EQ(whole_plane.bytes, 10000U);
  // Rows that lie far apart are read apart; those that lie close together in one.
  const NDArray column = NDArray::allocate(spec.type, {3, 5, 1});
  const PartRead rows = decode_part(*codec, spec, encoded, box_part({1, 2, 3}, {3, 5, 1}), column.view());
  EXPECT_EQ(rows.ranges, 3U);
  EXPECT_EQ(rows.bytes, 3U * 401U);
  // Likewise with steps.
  PartDimension every_50th{.start = 99, .step = -50, .count = 2};
  const NDArray steps = NDArray::allocate(spec.type, {2, 1, 2});
  const PartRead apart =
      decode_part(*codec, spec, encoded,
                  ChunkPart({every_50th, PartDimension{.start = 4, .count = 1}, every_50th}), steps.view());
  EXPECT_EQ(apart.ranges, 2U);
  EXPECT_EQ(apart.bytes, 2U * 51U);
}

TEST(ArrayCodecSuite, PartialDecodeOfShortChunksIsAnError) {
  for (const char* name : {"bytes", "packbits"}) {
    const ArraySpec spec = spec_of("uint8", {10, 10});
    const auto codec = bytes_codec(name)->bind(spec);
    const NDArray part = NDArray::allocate(spec.type, {2, 10});
    for (const std::size_t size : {95, 5, 0})
      EXPECT_ERROR(decode_part(*codec, spec, Buffer::allocate(size), box_part({8, 0}, {2, 10}), part.view()),
                   ErrorCode::corrupt_chunk, "100 bytes");
  }
}

TEST(ArrayCodecSuite, PartsOutsideAreErrors) {
  const ArraySpec spec = spec_of("uint8", {10, 10});
  const auto codec = bytes_codec("bytes")->bind(spec);
  const NDArray part = NDArray::allocate(spec.type, {2, 10});
  EXPECT_ERROR(decode_part(*codec, spec, Buffer::allocate(100), box_part({9, 0}, {2, 10}), part.view()),
               ErrorCode::out_of_bounds, "outside the chunk");
  EXPECT_ERROR(decode_part(*codec, spec, Buffer::allocate(100), box_part({0}, {2}), part.view()),
               ErrorCode::invalid_argument, "rank 1");
}

TEST(ArrayCodecSuite, ArrayCodecsRoundTripDenseAndStrided) {
  std::mt19937_64 random(3);
  for (const Case& c : array_cases())
    for (const std::string& name : c.types)
      for (const Shape& shape : suite_shapes()) {
        SCOPED_TRACE(title(c, name, shape));
        const DataType type = type_named(name);
        const ArraySpec spec = spec_of(type, shape);
        const auto codec = array_codec(c.name, c.configuration, c.format)->bind(spec);
        const ArraySpec encoded_spec = codec->encoded_spec(spec);
        EXPECT_TRUE(encoded_spec.fill.type() == encoded_spec.type);
        const NDArray original = random_array(type, shape, random, c.small);
        const NDArray encoded = NDArray::allocate(encoded_spec.type, encoded_spec.shape);
        codec->encode(original.view(), encoded.view(), {});
        const NDArray decoded = NDArray::allocate(type, shape);
        codec->decode(encoded.view(), decoded.view(), {});
        EXPECT_TRUE(same_elements(original.view(), decoded.view())) << elements_of(original.view()) << "\n"
                                                                    << elements_of(decoded.view());

        if (const auto view = codec->view_as_encoded(original.view())) {
          EXPECT_TRUE(same_elements(*view, encoded.view()));
        }
        if (codec->capabilities().strided) {
          const Strided source = strided(type, shape);
          copy(original.view(), source.view);
          const Strided middle = strided(encoded_spec.type, encoded_spec.shape);
          codec->encode(source.view, middle.view, {});
          EXPECT_TRUE(same_elements(encoded.view(), middle.view));
          const Strided target = strided(type, shape);
          codec->decode(middle.view, target.view, {});
          EXPECT_TRUE(same_elements(original.view(), target.view));
        }
        if (codec->capabilities().elementwise && original.size() > 0) {
          // Element i of the output depends on element i alone.
          const NDArray one = NDArray::allocate(encoded_spec.type, {});
          const Index first(shape.size(), 0);
          const Shape unit(shape.size(), 1);
          ArrayView element = original.view().box(first, unit);
          element.shape.clear();
          element.strides.clear();
          codec->encode(element, one.view(), {});
          ArrayView wanted = encoded.view().box(first, unit);
          wanted.shape.clear();
          wanted.strides.clear();
          EXPECT_TRUE(same_elements(wanted, one.view()));
        }
      }
}

// Truncated and altered bytes: an error or some values, never a crash (the sanitizer builds of this test look closer).
TEST(ArrayCodecSuite, HostileBytes) {
  std::mt19937_64 random(4);
  int errors = 0;
  int trials = 0;
  for (const Case& c : bytes_cases()) {
    for (const std::string& name : c.types) {
      const DataType type = type_named(name);
      const ArraySpec spec = spec_of(type, {5, 8});
      const auto codec = bytes_codec(c.name, c.configuration, c.format)->bind(spec);
      const NDArray original = random_array(type, spec.shape, random, c.small);
      const std::vector<std::byte> good = to_bytes(codec->encode(original.view(), spec, {}).host_span());
      const auto attempt = [&](const std::vector<std::byte>& bytes, bool must_fail) {
        ++trials;
        const NDArray decoded = NDArray::allocate(type, spec.shape);
        try {
          codec->decode(bytes, spec, decoded.view(), {});
          EXPECT_FALSE(must_fail) << title(c, name, spec.shape) << ": " << bytes.size() << " of "
                                  << good.size() << " bytes";
        } catch (const Error& error) {
          EXPECT_TRUE(error.code() == ErrorCode::corrupt_chunk || error.code() == ErrorCode::resource_limit)
              << error.what();
          ++errors;
        }
      };
      // zfp streams end in padding to whole words; JSON may end in white space.
      const bool zfp = c.name.find("zfp") != std::string::npos;
      for (int k = 0; k < 12; ++k) {
        std::vector<std::byte> cut = good;
        cut.resize(random() % good.size());
        attempt(cut, !zfp);
      }
      attempt({}, true);
      std::vector<std::byte> longer = good;
      longer.resize(good.size() + 9, std::byte{1});
      attempt(longer, true);
      for (int k = 0; k < 24; ++k) {
        std::vector<std::byte> altered = good;
        for (std::uint64_t n = 1 + random() % 4; n > 0; --n)
          altered[random() % (k % 2 ? good.size() : std::min<std::size_t>(good.size(), 24))] =
              static_cast<std::byte>(random());
        attempt(altered, false);
      }
      for (int k = 0; k < 6; ++k) {
        std::vector<std::byte> noise(random() % 200);
        for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
        attempt(noise, false);
      }
    }
  }
  EXPECT_GT(errors, trials / 4);
}

TEST(ArrayCodecSuite, HostileEncodedArrays) {
  std::mt19937_64 random(5);
  for (const Case& c : array_cases())
    for (const std::string& name : c.types) {
      const ArraySpec spec = spec_of(type_named(name), {37});
      const auto codec = array_codec(c.name, c.configuration, c.format)->bind(spec);
      const ArraySpec encoded_spec = codec->encoded_spec(spec);
      for (int k = 0; k < 4; ++k) {
        const NDArray noise = random_array(encoded_spec.type, encoded_spec.shape, random);
        const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
        try {
          codec->decode(noise.view(), decoded.view(), {});
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::corrupt_chunk) << error.what();
        }
      }
    }
}

TEST(ArrayCodecSuite, EveryListedCodecIsTriedHere) {
  // filters_test.cpp, sharding_test.cpp
  std::vector<std::string> tried = {"categorize", "numcodecs.categorize", "sharding_indexed"};
  for (const auto& cases : {bytes_cases(), array_cases()})
    for (const Case& c : cases) tried.push_back(c.name);
  for (const CodecInfo& info : CodecRegistry::global().list()) {
    if (info.kind == CodecKind::bytes_to_bytes || !info.refused.empty() || !info.alias_of.empty()) continue;
    EXPECT_NE(std::find(tried.begin(), tried.end(), info.name), tried.end())
        << info.name << " has no round trip";
  }
}

TEST(ArrayCodecList, RefusedByName) {
  EXPECT_ERROR(make_codec("pickle", "{}", v2), ErrorCode::unsupported_codec, "pickle");
  EXPECT_ERROR(make_codec("numcodecs.pcodec"), ErrorCode::unsupported_codec, "pcodec");
}

}  // namespace
}  // namespace zarrive
