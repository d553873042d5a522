// Text for people.
#include "cli/text.hpp"

#include <gtest/gtest.h>

#include "cli/session.hpp"

namespace zarrive::cli {
namespace {

TEST(Text, PrintableKeepsTextAndShowsTheRest) {
  EXPECT_EQ(printable("t2m (°C) 日本 🌍"), "t2m (°C) 日本 🌍");
  EXPECT_EQ(printable("a\nb\tc\x7f"), "a\\nb\\x09c\\x7f");
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // C1 control
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
  EXPECT_EQ(printable("\xe2\x81\xa7"), "\\xe2\\x81\\xa7");
  EXPECT_EQ(printable("\xff\xc3(\xc3"), "\\xff\\xc3(\\xc3");  // not UTF-8
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");             // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf0\x80\x80\x80"), "\\xf0\\x80\\x80\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // past U+10FFFF
}

TEST(Text, Sizes) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1516060800), "1,516,060,800");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(human_bytes(1), "1 byte");
  EXPECT_EQ(human_bytes(1023), "1,023 bytes");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(1048575), "1.0 MiB");
  EXPECT_EQ(human_bytes(1516060800), "1.4 GiB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(counted(1, "chunk"), "1 chunk");
  EXPECT_EQ(counted(2000, "chunk"), "2,000 chunks");
}

TEST(Text, Shapes) {
  EXPECT_EQ(shape_text({}), "()");
  EXPECT_EQ(shape_text(Shape{7}), "(7,)");
  EXPECT_EQ(shape_text(Shape{3, 4}), "(3, 4)");
  EXPECT_EQ(parse_shape("3,4", "--shape"), (Shape{3, 4}));
  EXPECT_EQ(parse_shape(" [3, 4] ", "--shape"), (Shape{3, 4}));
  EXPECT_EQ(parse_shape("(7,)", "--shape"), Shape{7});
  EXPECT_EQ(parse_shape("", "--shape"), Shape{});
  EXPECT_EQ(parse_shape("()", "--shape"), Shape{});
  for (const char* wrong : {"a", "3,,4", "-1", "1.5", "3 4", "18446744073709551616", "[3"}) {
    EXPECT_THROW(parse_shape(wrong, "--shape"), UsageError) << wrong;
  }
}

TEST(Text, Padding) {
  EXPECT_EQ(pad_left("°C", 4), "  °C");
  EXPECT_EQ(pad_right("°C", 4), "°C  ");
  EXPECT_EQ(pad_left("long", 2), "long");
  EXPECT_EQ(pad_right("long", 2), "long");
}

}  // namespace
}  // namespace zarrive::cli
