// What kernels do to single elements, against the host's codecs.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "codec/array_codec_suite.hpp"
#include "codec/device_operations.hpp"
#include "gpu/host_assemble.hpp"

namespace zarrive::gpu {
namespace {

using kernels::NumberType;
using zarrive::testing::array_codec;
using zarrive::testing::spec_of;

constexpr TypeId number_types[] = {TypeId::int8,    TypeId::int16,    TypeId::int32,   TypeId::int64,
                                   TypeId::uint8,   TypeId::uint16,   TypeId::uint32,  TypeId::uint64,
                                   TypeId::float16, TypeId::bfloat16, TypeId::float32, TypeId::float64};
constexpr TypeId v2_types[] = {TypeId::int8,    TypeId::int16,   TypeId::int32,  TypeId::int64,
                               TypeId::uint8,   TypeId::uint16,  TypeId::uint32, TypeId::uint64,
                               TypeId::float16, TypeId::float32, TypeId::float64};

// Bits of an element: anything, small numbers, and the ends of the type.
std::uint64_t some_bits(Random& random, const DataType& type) {
  switch (pick(random, 5)) {
    case 0: return random();
    case 1: {
      const double value = (static_cast<double>(pick(random, 4001)) - 2000) /
                           static_cast<double>(std::uint64_t{1} << pick(random, 4));
      return kernels::from_number(*device_number_type(type), {kernels::Carrier::float64, 0, value});
    }
    case 2: {
      const double value =
          std::ldexp(static_cast<double>(random() % 4096) - 2048, static_cast<int>(pick(random, 120)) - 50);
      return kernels::from_number(*device_number_type(type), {kernels::Carrier::float64, 0, value});
    }
    case 3: {
      constexpr std::uint64_t ends[] = {0,
                                        1,
                                        0x7F,
                                        0x80,
                                        0xFF,
                                        0x7FFF,
                                        0x8000,
                                        0x7C00,
                                        0xFC00,
                                        0x7E00,
                                        0x7F80,
                                        0x7FFFFFFF,
                                        0x80000000,
                                        0xFFFFFFFF,
                                        0x7F800000,
                                        0xFF800000,
                                        0x7FC00000,
                                        0x7F7FFFFF,
                                        0x7FFFFFFFFFFFFFFF,
                                        0x8000000000000000,
                                        0xFFFFFFFFFFFFFFFF,
                                        0x7FF0000000000000,
                                        0xFFF0000000000000,
                                        0x7FF8000000000000,
                                        0x7FEFFFFFFFFFFFFF,
                                        0x43F0000000000000};
      return one_of(random, ends);
    }
    default:
      return one_of<std::uint64_t>(random, {0, 1, 2, 3, 10, 100}) *
             (pick(random, 2) == 0 ? 1 : ~std::uint64_t{0});
  }
}

bool same_element(const DataType& type, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, type.item_size()) == 0) return true;
  if (!type.is_float()) return false;
  const NumberType number = *device_number_type(type);
  const auto value = [&](const std::byte* at) {
    return kernels::to_number(number, kernels::load_bits(reinterpret_cast<const std::uint8_t*>(at),
                                                         kernels::size_of(number)))
        .f;
  };
  return std::isnan(value(a)) && std::isnan(value(b));
}

// Decodes some elements by the codec and by the operation. Returns false when both refuse.
bool compare(const ArrayToArrayCodec& codec, const DataType& stored, const DataType& decoded,
             const Operation& operation, std::size_t count, Random& random) {
  NDArray source = NDArray::allocate(stored, {count});
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = some_bits(random, stored);
    std::memcpy(source.view().data + i * stored.item_size(), &bits, stored.item_size());
  }
  const NDArray expected = NDArray::allocate(decoded, {count});
  bool refused = false;
  try {
    codec.decode(source.view(), expected.view(), {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt_chunk) << error.message();
    refused = true;
  }
  const NDArray found = NDArray::allocate(decoded, {count});
  const Layout layout{count * stored.item_size(), 1, 1, kernels::Shuffle::none};
  ChunkWork work = testing::dense_work(source.view().data, layout, stored.item_size(), found.view().data,
                                       count * decoded.item_size(), decoded.item_size());
  work.operations = {operation};
  const std::uint32_t status = testing::assemble_on_host(work, random);
  EXPECT_EQ(status, refused ? kernels::status_no_value : kernels::status_ok);
  for (std::size_t i = 0; i < count && !refused; ++i) {
    const std::byte* const a = expected.view().data + i * decoded.item_size();
    const std::byte* const b = found.view().data + i * decoded.item_size();
    EXPECT_TRUE(same_element(decoded, a, b))
        << element_to_json(stored, source.view().data + i * stored.item_size()).dump() << " as "
        << stored.name() << " comes to " << element_to_json(decoded, b).dump() << ", expected "
        << element_to_json(decoded, a).dump();
  }
  return !refused;
}

NumberType number(const DataType& type) { return *device_number_type(type); }

TEST(ElementOperations, FixedScaleOffset) {
  const Cases cases(3000, "fixedscaleoffset");
  for (std::uint64_t i = 0; i < cases.count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    const DataType decoded(one_of(random, v2_types));
    const DataType stored(one_of(random, v2_types));
    const double scale = one_of<double>(random, {1, 10, 0.1, 3, -7, 1e-6, 12345.678});
    const double offset = one_of<double>(random, {0, 1000, -0.5, 273.15, 1e9});
    const std::string text = "{\"dtype\":" + decoded.to_v2().dump() + ",\"astype\":" + stored.to_v2().dump() +
                             ",\"scale\":" + Json(scale).dump() + ",\"offset\":" + Json(offset).dump() + "}";
    SCOPED_TRACE(text);
    const auto codec = array_codec("fixedscaleoffset", text, ZarrFormat::v2)->bind(spec_of(decoded, {1}));
    compare(*codec, stored, decoded,
            device_fixed_scale_offset(number(stored), number(decoded), scale, offset), 50, random);
  }
}

TEST(ElementOperations, ScaleOffset) {
  const Cases cases(6000, "scale_offset");
  std::uint64_t good = 0;
  for (std::uint64_t i = 0; i < cases.count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    const DataType type(one_of(random, number_types));
    const bool fraction = type.is_float() && pick(random, 2) == 0;
    const bool negative = type.is_signed() && pick(random, 3) == 0;
    const double scale = (fraction ? 0.25 : one_of<double>(random, {1, 1, 2, 3, 10})) * (negative ? -1 : 1);
    const double offset =
        one_of<double>(random, {0, 1, 5, 100}) * (negative && pick(random, 2) == 0 ? -1 : 1);
    const auto json = [&](double value) {
      return type.is_float() ? Json(value).dump() : std::to_string(static_cast<int>(value));
    };
    const std::string text = "{\"scale\":" + json(scale) + ",\"offset\":" + json(offset) + "}";
    SCOPED_TRACE(type.name() + " " + text);
    const auto codec = array_codec("scale_offset", text)->bind(spec_of(type, {1}));
    const auto bits = [&](double value) {
      return kernels::from_number(number(type), {kernels::Carrier::float64, 0, value});
    };
    good += compare(*codec, type, type, device_scale_offset(number(type), bits(scale), bits(offset)),
                    type.is_float() ? 50 : 1 + pick(random, 3), random)
                ? 1
                : 0;
  }
  EXPECT_GE(good, cases.count / 4);
  EXPECT_LE(good, cases.count - cases.count / 10);
}

TEST(ElementOperations, CastValue) {
  const Cases cases(20000, "cast_value");
  std::uint64_t good = 0;
  for (std::uint64_t i = 0; i < cases.count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    const DataType decoded(one_of(random, number_types));
    const DataType stored(one_of(random, number_types));
    static constexpr const char* roundings[] = {"nearest-even", "towards-zero", "towards-positive",
                                                "towards-negative", "nearest-away"};
    const std::size_t rounding = pick(random, 5);
    kernels::OutOfRange out = one_of<kernels::OutOfRange>(
        random, {kernels::OutOfRange::error, kernels::OutOfRange::clamp, kernels::OutOfRange::wrap});
    if (out == kernels::OutOfRange::wrap && !stored.is_integer()) out = kernels::OutOfRange::clamp;
    std::string text =
        "{\"data_type\":\"" + stored.name() + "\",\"rounding\":\"" + roundings[rounding] + "\"";
    if (out != kernels::OutOfRange::error)
      text += out == kernels::OutOfRange::wrap ? ",\"out_of_range\":\"wrap\"" : ",\"out_of_range\":\"clamp\"";
    text += "}";
    SCOPED_TRACE(decoded.name() + " " + text);
    const auto codec = array_codec("cast_value", text)->bind(spec_of(decoded, {1}));
    good += compare(*codec, stored, decoded,
                    device_cast_value(number(stored), number(decoded),
                                      static_cast<kernels::Rounding>(rounding), out),
                    1 + pick(random, 3), random)
                ? 1
                : 0;
  }
  EXPECT_GE(good, cases.count / 4);
  EXPECT_LE(good, cases.count - cases.count / 10);
}

TEST(ElementOperations, AsType) {
  const Cases cases(3000, "astype");
  for (std::uint64_t i = 0; i < cases.count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    const DataType decoded(pick(random, 10) == 0 ? TypeId::boolean : one_of(random, v2_types));
    const DataType stored(one_of(random, v2_types));
    const std::string text =
        "{\"encode_dtype\":" + stored.to_v2().dump() + ",\"decode_dtype\":" + decoded.to_v2().dump() + "}";
    SCOPED_TRACE(text);
    const auto codec = array_codec("astype", text, ZarrFormat::v2)->bind(spec_of(decoded, {1}));
    compare(*codec, stored, decoded, device_convert(number(stored), number(decoded)), 50, random);
  }
}

TEST(ElementOperations, EverySmallFloat) {
  for (const TypeId id : {TypeId::float16, TypeId::bfloat16}) {
    const kernels::SmallFloat format = kernels::small_float(*device_number_type(DataType(id)));
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
      const double expected = to_double(id, static_cast<std::uint16_t>(bits));
      const double found = kernels::from_small(format, bits);
      ASSERT_TRUE(std::isnan(expected)
                      ? std::isnan(found)
                      : std::bit_cast<std::uint64_t>(expected) == std::bit_cast<std::uint64_t>(found))
          << bits;
      ASSERT_EQ(kernels::to_small(format, found), from_double(id, found)) << bits;
      // Half way to the next, and just beside that.
      const double next = kernels::from_small(format, bits + 1);
      if (!std::isfinite(found) || !std::isfinite(next)) continue;
      const double middle = found + (next - found) / 2;
      for (const double value : {middle, std::nextafter(middle, -1e300), std::nextafter(middle, 1e300)})
        ASSERT_EQ(kernels::to_small(format, value), from_double(id, value)) << value;
    }
    for (const double value : {1e300, -1e300, 65519.9, 65520.0, 3.4e38, 1e-320, -1e-320, 0.0, -0.0})
      EXPECT_EQ(kernels::to_small(format, value), from_double(id, value)) << value;
  }
}

// The codec `bytes`: orders, bools, types of few bits; and what has to stay on the host.
TEST(ElementOperations, Fixes) {
  Random random(3);
  const auto check = [&](const DataType& type, ByteOrder order) {
    SCOPED_TRACE(type.name());
    const std::size_t count = 100;
    const Bytes data = [&] {
      Bytes bytes(count * type.item_size());
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
      return bytes;
    }();
    const ArraySpec spec = spec_of(type, {count});
    const auto codec =
        zarrive::testing::bytes_codec(
            "bytes", order == ByteOrder::big ? R"({"endian":"big"})" : R"({"endian":"little"})")
            ->bind(spec);
    const NDArray expected = NDArray::allocate(type, {count});
    codec->decode({reinterpret_cast<const std::byte*>(data.data()), data.size()}, spec, expected.view(), {});
    const auto fixes = device_fixes(type, order);
    ASSERT_TRUE(fixes);
    const NDArray found = NDArray::allocate(type, {count});
    ChunkWork work = testing::dense_work(reinterpret_cast<const std::byte*>(data.data()),
                                         {data.size(), 1, 1, kernels::Shuffle::none}, type.item_size(),
                                         found.view().data, data.size(), type.item_size());
    work.operations = *fixes;
    ASSERT_EQ(testing::assemble_on_host(work, random), kernels::status_ok);
    EXPECT_EQ(std::memcmp(expected.view().data, found.view().data, data.size()), 0);
  };
  for (const char* name : {"bool", "int2", "int4", "uint2", "uint4", "int8", "int16", "uint32", "int64",
                           "float16", "float32", "float64", "complex64", "complex128", "float8_e4m3",
                           "float4_e2m1fn", "float6_e2m3fn", "datetime64[ms]"})
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) check(DataType::parse(name), order);
  check(DataType::fixed_utf32(7), ByteOrder::big);
  check(DataType::raw(13), ByteOrder::big);
  const DataType plain =
      DataType::structured({{"a", DataType(TypeId::int16), {}}, {"b", DataType(TypeId::float64), {3}}});
  check(plain, ByteOrder::little);
  EXPECT_FALSE(device_fixes(plain, ByteOrder::big));
  EXPECT_FALSE(device_fixes(DataType::structured({{"a", DataType(TypeId::boolean), {}}}), ByteOrder::little));
  EXPECT_FALSE(device_fixes(DataType(TypeId::string), ByteOrder::little));
  EXPECT_EQ(device_fixes(DataType::parse(">i4"), std::nullopt)->size(), 1u);
  EXPECT_EQ(device_fixes(DataType::parse("<i4"), std::nullopt)->size(), 0u);
}

}  // namespace
}  // namespace zarrive::gpu
