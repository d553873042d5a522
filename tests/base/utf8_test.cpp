#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace zarrive {
namespace {

TEST(Utf8, Validity) {
  for (const char* good :
       {"", "plain ASCII text", "\u00e9\u20ac\U0001F600", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xE2\x82", "\xE2\x28\xA1", "abcdefghijk\xFF", "\xF0\x9F\x98"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

}  // namespace
}  // namespace zarrive
