#include "codec/unshuffle.hpp"

#include <gtest/gtest.h>

#include <random>

#include "codec/byte_codec_suite.hpp"
#include "memory/streaming_copy.hpp"

namespace zarrive {
namespace {

using testing::Bytes;
using testing::random_bytes;

// Output between two walls that must stay as they are.
class Guarded {
 public:
  Guarded(std::size_t size, std::size_t misalignment)
      : memory_(size + 2 * kWall + 64, kUntouched), size_(size) {
    const auto base = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ = kWall + (64 - (base + kWall) % 64) % 64 + misalignment;
  }
  std::byte* data() { return memory_.data() + begin_; }
  Bytes bytes() const {
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return {begin, begin + static_cast<std::ptrdiff_t>(size_)};
  }
  bool walls_stand() const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if ((i < begin_ || i >= begin_ + size_) && memory_[i] != kUntouched) return false;
    return true;
  }

 private:
  static constexpr std::size_t kWall = 128;
  static constexpr std::byte kUntouched{0xA5};
  Bytes memory_;
  std::size_t size_;
  std::size_t begin_ = 0;
};

TEST(Unshuffle, TheFastestIsTheLast) {
  ASSERT_FALSE(unshuffle::all_kernels().empty());
  EXPECT_STREQ(unshuffle::kernels().name, unshuffle::all_kernels().back().name);
}

TEST(Unshuffle, BytesOfEveryWidthAndCount) {
  std::vector<std::size_t> widths;
  for (std::size_t width = 1; width <= 40; ++width) widths.push_back(width);
  for (std::size_t width : {64, 100, 254, 255}) widths.push_back(width);
  for (const auto& kernels : unshuffle::all_kernels())
    for (const std::size_t width : widths)
      for (std::size_t count = 0; count <= 200; count += count < 70 ? 1 : 13) {
        const Bytes from = random_bytes(width * count, static_cast<std::uint32_t>(width * 1000 + count));
        // Each plane in memory of its own size, so that a sanitizer sees any read outside.
        std::vector<Bytes> copies;
        std::vector<const std::byte*> planes;
        for (std::size_t b = 0; b < width; ++b)
          copies.emplace_back(from.begin() + static_cast<std::ptrdiff_t>(b * count),
                              from.begin() + static_cast<std::ptrdiff_t>((b + 1) * count));
        for (const Bytes& copy : copies) planes.push_back(copy.data());
        Bytes expected(width * count);
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t b = 0; b < width; ++b) expected[i * width + b] = from[b * count + i];
        for (const bool stream : {false, true}) {
          Guarded out(width * count, count % 2 == 0 ? 0 : count % 64);
          kernels.bytes(planes.data(), width, count, out.data(), stream);
          detail::fence();
          ASSERT_TRUE(out.bytes() == expected) << kernels.name << ", width " << width << ", count " << count;
          ASSERT_TRUE(out.walls_stand()) << kernels.name << ", width " << width << ", count " << count;
        }
      }
}

TEST(Unshuffle, BitsOfEveryCount) {
  for (const auto& kernels : unshuffle::all_kernels())
    for (std::size_t count = 0; count <= 1400; count += count < 600 ? 8 : 56)
      for (const std::size_t gap : {0, 5}) {
        const std::size_t stride = count / 8 + gap;
        const std::size_t size = count == 0 ? 0 : 7 * stride + count / 8;
        const Bytes from = random_bytes(size, static_cast<std::uint32_t>(count + gap));
        Bytes expected(count);
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t k = 0; k < 8; ++k)
            expected[i] |= (from[k * stride + i / 8] >> (i % 8) & std::byte{1}) << k;
        Guarded out(count, count % 3);
        kernels.bits(from.data(), stride, count, out.data());
        ASSERT_TRUE(out.bytes() == expected) << kernels.name << ", count " << count << ", gap " << gap;
        ASSERT_TRUE(out.walls_stand()) << kernels.name << ", count " << count;
      }
}

TEST(Unshuffle, CopiesOfLargeBlocks) {
  for (const auto copy : {detail::copy_streaming, detail::copy_large})
    for (const std::size_t size : {0, 1, 15, 63, 64, 65, 127, 128, 200, 1000, 4095, 4096, 4200, 9001})
      for (const std::size_t misalignment : {0, 1, 16, 63}) {
        const Bytes from = random_bytes(size, 7);
        Guarded out(size, misalignment);
        copy(out.data(), from.data(), size);
        detail::fence();
        ASSERT_TRUE(out.bytes() == from) << size << " at " << misalignment;
        ASSERT_TRUE(out.walls_stand()) << size << " at " << misalignment;
      }
}

TEST(Unshuffle, CopiesOfRows) {
  for (const bool past : {false, true})
    for (const std::size_t size : {1, 16, 64, 100, 128, 1008, 1024, 2000, 4100})
      for (const std::size_t gap : {0, 5, 64})
        for (const std::size_t misalignment : {0, 16, 17}) {
          constexpr std::size_t kRows = 7;
          const std::size_t step = (size + 63) / 64 * 64 + gap;
          const Bytes from = random_bytes(size * kRows, 11);
          Bytes expected(step * (kRows - 1) + size);
          for (std::size_t i = 0; i < kRows; ++i)
            std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                        expected.begin() + static_cast<std::ptrdiff_t>(i * step));
          Guarded out(expected.size(), misalignment);
          std::fill_n(out.data(), expected.size(), std::byte{});
          detail::copy_rows(out.data(), static_cast<std::int64_t>(step), from.data(), size, kRows, kRows,
                            past);
          detail::fence();
          ASSERT_TRUE(out.bytes() == expected) << size << " + " << gap << " at " << misalignment;
          ASSERT_TRUE(out.walls_stand()) << size << " + " << gap << " at " << misalignment;
        }
}

}  // namespace
}  // namespace zarrive
