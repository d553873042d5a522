// .npy headers: what NumPy writes is read, what we write is what NumPy writes, and the rest is refused.
#include "cli/npy.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "zarrive/error.hpp"

namespace zarrive::cli {
namespace {

NpyHeader parse(const std::string& descr, const std::string& shape = "(3,)",
                const std::string& order = "False") {
  return parse_npy_header("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape +
                          ", }     \n");
}

TEST(Npy, WritesWhatNumPyWrites) {
  // numpy.save(f, numpy.zeros((3, 4), "<f4")): 128 bytes of header.
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  const std::string expected = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text +
                               std::string(128 - 10 - text.size() - 1, ' ') + "\n";
  EXPECT_EQ(npy_header(DataType(TypeId::float32), {3, 4}), expected);
}

TEST(Npy, HeadersRoundTrip) {
  std::vector<StructField> fields;
  fields.push_back({"it's", DataType(TypeId::int16), {}});
  fields.push_back({"values", DataType(TypeId::float64, ByteOrder::big), {2, 3}});
  fields.push_back({"one", DataType(TypeId::uint8), {1}});
  const DataType types[] = {
      DataType(TypeId::boolean),  DataType(TypeId::float16),      DataType(TypeId::complex64),
      DataType::raw(5),           DataType::fixed_bytes(7),       DataType::fixed_utf32(3, ByteOrder::big),
      DataType::datetime64("ns"), DataType::timedelta64("D", 10), DataType::structured(fields)};
  for (const DataType& type : types) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{4, 5, 6}}) {
      std::istringstream in(npy_header(type, shape) + "data");
      const NpyHeader header = read_npy_header(in, "test");
      EXPECT_EQ(header.type, type) << type.name();
      EXPECT_EQ(header.shape, shape);
      EXPECT_FALSE(header.fortran_order);
      for (const DataType::Leaf& leaf : header.type.leaves()) EXPECT_NE(leaf.order, ByteOrder::big);
      EXPECT_EQ(in.get(), 'd');
    }
  }
}

TEST(Npy, LongAndUnicodeHeadersHaveTheirVersions) {
  std::vector<StructField> fields;
  for (int i = 0; i < 4000; ++i)
    fields.push_back({"field_number_" + std::to_string(i), DataType(TypeId::uint8), {}});
  const DataType wide = DataType::structured(fields);
  const std::string long_header = npy_header(wide, {1});
  EXPECT_EQ(long_header[6], 2);
  EXPECT_EQ(long_header.size() % 64, 0u);
  std::istringstream in(long_header);
  EXPECT_EQ(read_npy_header(in, "test").type, wide);

  const DataType unicode = DataType::structured({{"größe", DataType(TypeId::uint8), {}}});
  const std::string header = npy_header(unicode, {1});
  EXPECT_EQ(header[6], 3);
  std::istringstream again(header);
  EXPECT_EQ(read_npy_header(again, "test").type, unicode);
}

TEST(Npy, ReadsOtherWritersToo) {
  EXPECT_EQ(parse("'>f8'").type.byte_order(), ByteOrder::big);
  EXPECT_TRUE(parse("'<f8'", "(2, 3)", "True").fortran_order);
  EXPECT_EQ(parse("'<f8'", "(2L, 3L)").shape, (Shape{2, 3}));  // Python 2
  EXPECT_EQ(parse("\"<f8\"", "[2]").shape, Shape{2});
  EXPECT_EQ(parse("[(('a title', 'a'), '<f4'), ('b', [('c', '|u1', (2,))])]").type.fields()[0].name, "a");
  EXPECT_EQ(parse("[('it\\'s', '<f4')]").type.fields()[0].name, "it's");
  EXPECT_EQ(parse("[('a', '|u1'), ('', '|V3'), ('b', '<f4')]").type.item_size(), 8u);
}

TEST(Npy, RefusesHostileHeaders) {
  const char* const texts[] = {
      "",
      "{",
      "{}",
      "[]",
      "1",
      "None",
      "{'descr': '<f4'}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
      "{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
      "{'descr': '<f4' 'fortran_order': False}",
      "{1: 2}",
      "{'descr': '<f4\\n', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4",
      "{'a'",
      "{'a': }",
      "{'a': (1 2)}",
      "{'a': '\\",
      "{'descr': [('a',)], 'fortran_order': False, 'shape': (1,)}",
      "{'descr': [1], 'fortran_order': False, 'shape': (1,)}",
      "{'descr': 'zz', 'fortran_order': False, 'shape': (1,)}",
      "{'a': 123456789012345678901}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2)}",
      "__import__('os').system('true')"};
  for (const char* text : texts) EXPECT_THROW(parse_npy_header(text), Error) << text;
  EXPECT_THROW(parse_npy_header(std::string(100000, '(')), Error);
  std::string dimensions = "(";
  for (int i = 0; i < 65; ++i) dimensions += "1,";
  EXPECT_THROW(parse("'<f4'", dimensions + ")"), Error);
}

TEST(Npy, RefusesPickledObjects) {
  try {
    parse("'|O'");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
  }
}

TEST(Npy, RefusesOtherFiles) {
  using namespace std::string_literals;
  for (const std::string& bytes :
       {""s, "\x93NUM"s, "PK\3\4aaaaaaaa"s, "\x93NUMPY\x09\x00\x02\x00{}"s, "\x93NUMPY\x01\x01\x02\x00{}"s,
        "\x93NUMPY\x01\x00\x02"s, "\x93NUMPY\x01\x00\x09\x00{}"s, "\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s}) {
    std::istringstream in(bytes);
    EXPECT_THROW(read_npy_header(in, "test"), Error);
  }
}

TEST(Npy, TypesThatNumPyDoesNotHaveAreRefused) {
  for (const DataType& type :
       {DataType(TypeId::string), DataType(TypeId::bfloat16), DataType(TypeId::int4)}) {
    try {
      npy_header(type, {1});
      FAIL() << type.name();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
    }
  }
}

}  // namespace
}  // namespace zarrive::cli
