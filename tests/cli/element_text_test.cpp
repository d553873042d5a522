// Elements as NumPy prints them; the expectations are NumPy's own output.
#include "cli/element_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace zarrive::cli {
namespace {

using Texts = std::vector<std::string>;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::int64_t nat = std::numeric_limits<std::int64_t>::min();

Texts doubles(std::vector<double> values) { return real_texts(values, TypeId::float64); }

TEST(ElementText, RealNumbers) {
  EXPECT_EQ(doubles({1, 2.5, 3.25}), (Texts{"1.  ", "2.5 ", "3.25"}));
  EXPECT_EQ(doubles({-1, 10}), (Texts{"-1.", "10."}));
  EXPECT_EQ(doubles({0.1, 1.0 / 3}), (Texts{"0.1       ", "0.33333333"}));
  EXPECT_EQ(doubles({0, -0.0}), (Texts{" 0.", "-0."}));
  EXPECT_EQ(doubles({NAN, 1, -inf, inf}), (Texts{" nan", "  1.", "-inf", " inf"}));
  EXPECT_EQ(doubles({1e10, 1.5}), (Texts{"1.0e+10", "1.5e+00"}));
  EXPECT_EQ(doubles({1e8}), (Texts{"1.e+08"}));
  EXPECT_EQ(doubles({1e-5, 0}), (Texts{"1.e-05", "0.e+00"}));
  EXPECT_EQ(doubles({1e300, 1e-300}), (Texts{"1.e+300", "1.e-300"}));
  EXPECT_EQ(doubles({NAN}), (Texts{"nan"}));
  EXPECT_EQ(doubles({0}), (Texts{"0."}));
  EXPECT_EQ(real_texts({static_cast<double>(0.1f)}, TypeId::float32), (Texts{"0.1"}));
  EXPECT_EQ(real_texts({to_double(TypeId::float16, 0x2e66)}, TypeId::float16), (Texts{"0.1"}));
  EXPECT_EQ(real_texts({to_double(TypeId::bfloat16, 0x3f80)}, TypeId::bfloat16), (Texts{"1."}));
}

TEST(ElementText, Dates) {
  EXPECT_EQ(datetime_text(0, "s", 1), "1970-01-01T00:00:00");
  EXPECT_EQ(datetime_text(1706702400, "s", 1), "2024-01-31T12:00:00");
  EXPECT_EQ(datetime_text(-1, "ms", 1), "1969-12-31T23:59:59.999");
  EXPECT_EQ(datetime_text(1, "us", 10), "1970-01-01T00:00:00.000010");
  EXPECT_EQ(datetime_text(1, "ns", 1), "1970-01-01T00:00:00.000000001");
  EXPECT_EQ(datetime_text(1, "ps", 1), "1970-01-01T00:00:00.000000000001");
  EXPECT_EQ(datetime_text(25, "h", 1), "1970-01-02T01");
  EXPECT_EQ(datetime_text(61, "m", 1), "1970-01-01T01:01");
  EXPECT_EQ(datetime_text(19782, "D", 1), "2024-02-29");
  EXPECT_EQ(datetime_text(-719528, "D", 1), "0000-01-01");
  EXPECT_EQ(datetime_text(2, "W", 1), "1970-01-15");
  EXPECT_EQ(datetime_text(-1, "M", 1), "1969-12");
  EXPECT_EQ(datetime_text(13, "M", 1), "1971-02");
  EXPECT_EQ(datetime_text(54, "Y", 1), "2024");
  EXPECT_EQ(datetime_text(nat, "ns", 1), "NaT");
  EXPECT_EQ(datetime_text(5, "generic", 1), "5");
  EXPECT_EQ(datetime_text(5, "fs", 1), "5 x 1 fs");
  EXPECT_EQ(datetime_text(INT64_MAX, "Y", 1), "9223372036854775807 x 1 Y");
  EXPECT_EQ(datetime_text(INT64_MAX, "s", 10), "9223372036854775807 x 10 s");
  EXPECT_EQ(datetime_text(INT64_MAX, "ns", 1), "2262-04-11T23:47:16.854775807");
}

template <class T>
Texts texts(const DataType& type, std::vector<T> values) {
  return element_texts(ArrayView(reinterpret_cast<std::byte*>(values.data()), type,
                                 {values.size() * sizeof(T) / type.item_size()}));
}

TEST(ElementText, OtherTypes) {
  EXPECT_EQ(texts<std::uint8_t>(DataType(TypeId::boolean), {1, 0}), (Texts{" True", "False"}));
  EXPECT_EQ(texts<std::int32_t>(DataType(TypeId::int32), {-1, 100}), (Texts{" -1", "100"}));
  EXPECT_EQ(texts<double>(DataType(TypeId::complex128), {1, -2.5, 0, 1}), (Texts{"1.-2.5j", " 0.+1.j"}));
  EXPECT_EQ(texts<float>(DataType(TypeId::complex64), {0.5, 2}), (Texts{"0.5+2.j"}));
  EXPECT_EQ(texts<char>(DataType::fixed_bytes(3), {'a', '\'', 0, 0, 0, 0}), (Texts{"b'a\\''", "b''"}));
  EXPECT_EQ(texts<unsigned char>(DataType::raw(2), {0x0f, 0xa0}), (Texts{"0x0fa0"}));
  EXPECT_EQ(texts<char32_t>(DataType::fixed_utf32(2), {U'ä', U'b', U'c', 0}), (Texts{"'äb'", "'c'"}));
  EXPECT_EQ(texts<std::string>(DataType(TypeId::string), {"a\nb", ""}), (Texts{"'a\\nb'", "''"}));
  EXPECT_EQ(texts<std::string>(DataType(TypeId::bytes), {std::string("\x00\xff", 2)}),
            (Texts{"b'\\x00\\xff'"}));
  EXPECT_EQ(texts<std::string>(DataType(TypeId::object), {"[1, 2]"}), (Texts{"[1, 2]"}));
  EXPECT_EQ(texts<std::int64_t>(DataType::datetime64("D"), {0, nat}), (Texts{"'1970-01-01'", "'NaT'"}));
  EXPECT_EQ(texts<std::int64_t>(DataType::timedelta64("D"), {7, nat}), (Texts{"    7", "'NaT'"}));
  EXPECT_EQ(texts<float>(DataType(TypeId::float32), {1.5F, 2}), (Texts{"1.5", "2. "}));
  EXPECT_EQ(texts<std::uint8_t>(DataType(TypeId::float8_e5m2), {0x3c}), (Texts{"1."}));
}

TEST(ElementText, StructuredElementsAreTuples) {
  const DataType type = DataType::structured({{"a", DataType(TypeId::uint8), {}},
                                              {"", DataType::raw(1), {}},
                                              {"b", DataType(TypeId::int16), {2}},
                                              {"c", DataType(TypeId::float32), {}}});
  std::vector<std::uint8_t> element = {7, 0, 1, 0, 2, 0, 0, 0, 0xc0, 0x3f};
  EXPECT_EQ(element_texts(ArrayView(reinterpret_cast<std::byte*>(element.data()), type, {1})),
            (Texts{"(7, [1, 2], 1.5)"}));
}

}  // namespace
}  // namespace zarrive::cli
