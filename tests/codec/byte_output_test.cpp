#include <gtest/gtest.h>

#include <vector>

#include "codec/byte_codec_suite.hpp"
#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using testing::Bytes;
using testing::error_of;

TEST(ByteOutput, FixedMemory) {
  Bytes memory(10, std::byte{9});
  ByteOutput output{std::span<std::byte>(memory)};
  EXPECT_EQ(output.expected_size(), 10U);
  EXPECT_EQ(output.limit(), 10U);
  EXPECT_EQ(output.reserve(4).data(), memory.data());
  EXPECT_EQ(output.reserve(4).size(), 4U);
  std::string message;
  EXPECT_EQ(error_of([&] { output.reserve(11); }, &message), ErrorCode::corrupt_chunk);
  EXPECT_EQ(message, "decodes to at least 11 bytes, expected are 10");
  EXPECT_EQ(error_of([&] { output.finish(9); }, &message), ErrorCode::corrupt_chunk);
  EXPECT_EQ(message, "decodes to 9 bytes, expected are 10");
  output.finish(10);
  EXPECT_EQ(output.bytes().data(), memory.data());
  EXPECT_EQ(output.bytes().size(), 10U);
  const Buffer taken = output.take();
  EXPECT_EQ(taken.data(), memory.data());
  EXPECT_EQ(taken.size(), 10U);
}

TEST(ByteOutput, EmptyFixedMemory) {
  ByteOutput output{std::span<std::byte>()};
  output.assign({});
  EXPECT_TRUE(output.bytes().empty());
  EXPECT_EQ(error_of([&] { output.reserve(1); }), ErrorCode::corrupt_chunk);
}

TEST(ByteOutput, GrowsAndKeepsWhatWasWritten) {
  ByteOutput output(std::nullopt, 1000);
  EXPECT_FALSE(output.expected_size());
  output.reserve(3)[2] = std::byte{7};
  const auto larger = output.reserve(500);
  EXPECT_EQ(larger.size(), 500U);
  EXPECT_EQ(larger[2], std::byte{7});
  EXPECT_EQ(output.reserve(100).data(), larger.data());
  EXPECT_EQ(output.reserve(1000)[2], std::byte{7});
  std::string message;
  EXPECT_EQ(error_of([&] { output.reserve(1001); }, &message), ErrorCode::resource_limit);
  EXPECT_EQ(message, "decodes to at least 1001 bytes, the limit is 1000");
  EXPECT_EQ(error_of([&] { output.finish(2000); }), ErrorCode::internal);
  output.finish(3);
  ASSERT_EQ(output.bytes().size(), 3U);
  EXPECT_EQ(output.bytes()[2], std::byte{7});
  const Buffer taken = output.take();
  EXPECT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken.host_span()[2], std::byte{7});
  EXPECT_TRUE(output.bytes().empty());
}

TEST(ByteOutput, ExpectedSizeAndLimit) {
  ByteOutput output(8, 4);
  EXPECT_EQ(error_of([&] { output.reserve(9); }), ErrorCode::corrupt_chunk);
  EXPECT_EQ(error_of([&] { output.reserve(5); }), ErrorCode::resource_limit);
  EXPECT_EQ(error_of([&] { output.assign(Bytes(4)); }), ErrorCode::corrupt_chunk);
  ByteOutput good(4, 100);
  good.assign(testing::to_bytes("abcd"));
  EXPECT_EQ(good.take().text(), "abcd");
}

TEST(StreamedOutput, GrowsByDoublingUpToTheLimit) {
  ByteOutput output(std::nullopt, 1000);
  bytes_to_bytes::StreamedOutput stream(output, 1);
  EXPECT_EQ(stream.room().size(), 256U);
  stream.written(256);
  EXPECT_EQ(stream.room().size(), 256U);
  stream.written(256);
  EXPECT_EQ(stream.room().size(), 488U);
  stream.written(488);
  EXPECT_EQ(stream.room().size(), 1U);  // beyond the output
  stream.written(0);
  EXPECT_EQ(stream.size(), 1000U);
  EXPECT_EQ(error_of([&] { stream.written(1); }), ErrorCode::resource_limit);
  stream.finish();
  EXPECT_EQ(output.bytes().size(), 1000U);
}

TEST(StreamedOutput, TakesTheExpectedSizeAtOnce) {
  ByteOutput output(100000, 200000);
  bytes_to_bytes::StreamedOutput stream(output, 1);
  EXPECT_EQ(stream.room().size(), 100000U);
  stream.written(100000);
  EXPECT_EQ(stream.room().size(), 1U);
  EXPECT_EQ(error_of([&] { stream.written(1); }), ErrorCode::corrupt_chunk);
}

TEST(Trimmed, DoesNotKeepALargeBufferForAFewBytes) {
  Buffer large = bytes_to_bytes::output_buffer(100000);
  large.mutable_data()[1] = std::byte{5};
  const std::byte* at = large.data();
  EXPECT_EQ(bytes_to_bytes::trimmed(large, 99000).data(), at);
  const Buffer small = bytes_to_bytes::trimmed(large, 2);
  EXPECT_NE(small.data(), at);
  EXPECT_EQ(small.size(), 2U);
  EXPECT_EQ(small.host_span()[1], std::byte{5});
  EXPECT_EQ(bytes_to_bytes::trimmed(large, 0).size(), 0U);
}

}  // namespace
}  // namespace zarrive
