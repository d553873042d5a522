// The bodies of the LZ4 and blosclz decoders against those libraries: what they compress, what is damaged, and groups of several lanes.
#include <blosc.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4hc.h>

#include "gpu/kernels_support.hpp"
#include "gpu/lane_team.hpp"

namespace zarrive::gpu {
namespace {

using kernels::HostGroup;

enum class Format { lz4, blosclz };

Bytes lz4(Random& random, const Bytes& data) {
  Bytes out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(data.size()))));
  const auto* from = reinterpret_cast<const char*>(data.data());
  auto* to = reinterpret_cast<char*>(out.data());
  const int size = static_cast<int>(data.size());
  const int room = static_cast<int>(out.size());
  // (LZ4_compress_HC crashes on nothing.)
  const int written = size != 0 && pick(random, 3) == 0
                          ? LZ4_compress_HC(from, to, size, room, 1 + static_cast<int>(pick(random, 12)))
                          : LZ4_compress_fast(from, to, size, room, 1 + static_cast<int>(pick(random, 20)));
  out.resize(static_cast<std::size_t>(written));
  return out;
}

// A stream of c-blosc's: that of a value of one block, which is not split. Empty when it would not be compressed.
Bytes blosclz(Random& random, const Bytes& data) {
  Bytes value(data.size() + BLOSC_MAX_OVERHEAD + 1024);
  const int size = blosc_compress_ctx(1 + static_cast<int>(pick(random, 9)), BLOSC_NOSHUFFLE, 1, data.size(),
                                      data.data(), value.data(), value.size(), "blosclz", data.size(), 1);
  if (size <= 0 || (value[2] & 0x02) != 0) return {};
  const auto word = [&](std::size_t at) {
    std::uint32_t result = 0;
    std::memcpy(&result, &value[at], 4);
    return result;
  };
  if (word(8) != data.size()) return {};
  const std::size_t start = word(16);
  const std::size_t length = word(start);
  if (length == data.size()) return {};
  return Bytes(value.begin() + static_cast<std::ptrdiff_t>(start) + 4,
               value.begin() + static_cast<std::ptrdiff_t>(start + 4 + length));
}

// As the library decodes it; false when it refuses, or comes to another size.
bool reference(Format format, const Bytes& in, Bytes& out) {
  if (format == Format::lz4)
    return LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data()),
                               static_cast<int>(in.size()),
                               static_cast<int>(out.size())) == static_cast<int>(out.size());
  const std::size_t total = 16 + 4 + 4 + in.size();
  Bytes value(total);
  const auto put = [&](std::size_t at, std::size_t number) {
    const auto word = static_cast<std::uint32_t>(number);
    std::memcpy(&value[at], &word, 4);
  };
  value[0] = 2, value[1] = 1, value[2] = 0x10, value[3] = 1;
  put(4, out.size()), put(8, out.size()), put(12, total), put(16, 20), put(20, in.size());
  std::copy(in.begin(), in.end(), value.begin() + 24);
  return blosc_decompress_ctx(value.data(), out.data(), out.size(), 1) == static_cast<int>(out.size());
}

template <class Group>
bool decode(Format format, const Group& group, Guarded& in, Guarded& out) {
  const auto in_size = static_cast<std::uint32_t>(in.size());
  const auto out_size = static_cast<std::uint32_t>(out.size());
  return format == Format::lz4 ? kernels::decode_lz4(group, in.data(), in_size, out.data(), out_size)
                               : kernels::decode_blosclz(group, in.data(), in_size, out.data(), out_size);
}

// Whether an LZ4 block has a match with distance 0, which the format forbids and liblz4 lets pass.
bool has_zero_distance(const Bytes& in) {
  std::size_t at = 0;
  const auto length = [&](std::size_t begin) {
    std::size_t result = begin;
    if (begin == 15)
      for (;;) {
        const std::size_t byte = at < in.size() ? in[at] : 0;
        ++at;
        result += byte;
        if (byte != 255) break;
      }
    return result;
  };
  while (at < in.size()) {
    const std::size_t token = in[at++];
    at += length(token >> 4);
    if (at + 2 > in.size()) return false;
    if (in[at] == 0 && in[at + 1] == 0) return true;
    at += 2;
    length(token & 15);
  }
  return false;
}

class LzKernels : public ::testing::TestWithParam<Format> {
 protected:
  Bytes compress(Random& random, const Bytes& data) const {
    return GetParam() == Format::lz4 ? lz4(random, data) : blosclz(random, data);
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, LzKernels, ::testing::Values(Format::lz4, Format::blosclz),
                         [](const auto& info) { return info.param == Format::lz4 ? "lz4" : "blosclz"; });

TEST_P(LzKernels, DecodeWhatTheLibrariesEncode) {
  const Cases cases(5000, "streams");
  std::uint64_t decoded = 0;
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    const Bytes data = some_data(random, some_size(random, pick(random, 50) == 0 ? 1000000 : 20000));
    const Bytes stream = compress(random, data);
    if (stream.empty()) continue;
    ++decoded;
    Guarded in(stream);
    Guarded out(data.size());
    ASSERT_TRUE(decode(GetParam(), HostGroup{}, in, out));
    ASSERT_EQ(out.bytes(), data);
    ASSERT_TRUE(out.intact());
    // Of no other size.
    Guarded longer(data.size() + 1);
    ASSERT_FALSE(decode(GetParam(), HostGroup{}, in, longer));
    if (data.empty()) continue;
    Guarded shorter(data.size() - 1);
    ASSERT_FALSE(decode(GetParam(), HostGroup{}, in, shorter));
    ASSERT_TRUE(shorter.intact());
  }
  EXPECT_GE(decoded, cases.count / 8);
}

TEST_P(LzKernels, StayInBoundsWhateverTheyAreGiven) {
  const Cases cases(20000, "damaged streams");
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    std::size_t size = some_size(random, 3000);
    Bytes stream = compress(random, some_data(random, size));
    if (stream.empty() || pick(random, 8) == 0) {
      stream.resize(some_size(random, 300));
      for (std::uint8_t& byte : stream) byte = static_cast<std::uint8_t>(random());
    }
    for (std::uint64_t k = pick(random, 4); k > 0 && !stream.empty(); --k)
      stream[pick(random, stream.size())] = testing::one_of<std::uint8_t>(
          random, {0, 1, 15, 31, 32, 224, 240, 255, static_cast<std::uint8_t>(random())});
    if (pick(random, 3) == 0) stream.resize(pick(random, stream.size() + 1));
    if (pick(random, 3) == 0)
      stream.insert(stream.end(), pick(random, 9), static_cast<std::uint8_t>(random()));
    if (pick(random, 3) == 0) size = some_size(random, 6000);
    Guarded in(stream);
    Guarded out(size);
    const bool accepted = decode(GetParam(), HostGroup{}, in, out);
    ASSERT_TRUE(out.intact());
    refused += accepted ? 0 : 1;
    if (stream.empty() || size == 0) continue;
    Bytes expected;
    expected.reserve(size + 64);  // c-blosc's copies of damaged streams may go a little further
    expected.resize(size);
    if (!reference(GetParam(), stream, expected))
      continue;  // the libraries ask for more, as how a block ends
    if (GetParam() == Format::blosclz && stream.size() == size) continue;  // which it takes for stored
    ASSERT_TRUE(accepted || (GetParam() == Format::lz4 && has_zero_distance(stream)));
    if (accepted) {
      ASSERT_EQ(out.bytes(), expected);
    }
  }
  EXPECT_GE(refused, cases.count / 4);
}

TEST_P(LzKernels, AnyNumberOfLanesComesToTheSame) {
  const Cases cases(400, "streams of several lanes");
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    const Bytes data = some_data(random, some_size(random, 2000));
    Bytes stream = compress(random, data);
    if (stream.empty()) continue;
    if (pick(random, 4) == 0) stream[pick(random, stream.size())] = static_cast<std::uint8_t>(random());
    Guarded in(stream);
    Guarded expected(data.size());
    const bool good = decode(GetParam(), HostGroup{}, in, expected);
    Guarded out(data.size());
    std::vector<char> results(testing::one_of<std::size_t>(random, {2, 3, 5, 8}));
    LaneTeam team(static_cast<std::uint32_t>(results.size()), random());
    team.run(
        [&](const LaneGroup& group) { results[group.lane()] = decode(GetParam(), group, in, out) ? 1 : 0; });
    for (const char result : results) ASSERT_EQ(result != 0, good);
    ASSERT_TRUE(out.intact());
    if (good) {
      ASSERT_EQ(out.bytes(), expected.bytes());
    }
  }
}

// The format's corners, which compressors seldom make.
TEST(LzKernelCorners, Lz4) {
  const auto decoded = [](Bytes stream, std::size_t size) {
    Guarded in(stream);
    Guarded out(size);
    const bool good = decode(Format::lz4, HostGroup{}, in, out);
    EXPECT_TRUE(out.intact());
    return good ? out.bytes() : Bytes{0xBA, 0xD0};
  };
  const Bytes bad{0xBA, 0xD0};
  EXPECT_EQ(decoded({0x00}, 0), Bytes{});
  EXPECT_EQ(decoded({}, 0), bad);
  EXPECT_EQ(decoded({0x10, 7}, 1), Bytes{7});
  EXPECT_EQ(decoded({0x10, 7, 1, 0, 0x00}, 5), (Bytes{7, 7, 7, 7, 7}));
  EXPECT_EQ(decoded({0x10, 7, 1, 0}, 5), bad);             // no last literals
  EXPECT_EQ(decoded({0x10, 7, 0, 0, 0x00}, 5), bad);       // distance 0
  EXPECT_EQ(decoded({0x10, 7, 2, 0, 0x00}, 5), bad);       // before the start
  EXPECT_EQ(decoded({0xF0, 255, 255, 255, 255}, 5), bad);  // a length that does not end
  EXPECT_EQ(decoded({0x1F, 7, 1, 0, 255, 3, 0x00}, 1 + 4 + 15 + 258), Bytes(278, 7));
}

TEST(LzKernelCorners, Blosclz) {
  const auto decoded = [](Bytes stream, std::size_t size) {
    Guarded in(stream);
    Guarded out(size);
    const bool good = decode(Format::blosclz, HostGroup{}, in, out);
    EXPECT_TRUE(out.intact());
    return good ? out.bytes() : Bytes{0xBA, 0xD0};
  };
  const Bytes bad{0xBA, 0xD0};
  EXPECT_EQ(decoded({0x20, 7}, 1), Bytes{7});  // the first byte's high bits mean nothing
  EXPECT_EQ(decoded({0x00, 7, 0x20, 0}, 4), (Bytes{7, 7, 7, 7}));
  EXPECT_EQ(decoded({0x00, 7, 0x20, 1}, 4), bad);  // before the start
  EXPECT_EQ(decoded({0x00, 7, 0x20}, 4), bad);
  EXPECT_EQ(decoded({0x00, 7, 0xE0, 255, 1, 0}, 1 + 7 + 2 + 256), Bytes(266, 7));
  EXPECT_EQ(decoded({0x00, 7, 0xE0, 255}, 266), bad);
  Bytes far{0x00, 9, 0xE0};  // a run of 8191 + 0x102 bytes, and then a match that far back
  std::size_t run = 8191 + 0x102;
  std::size_t rest = run - 9;
  for (; rest >= 255; rest -= 255) far.push_back(255);
  far.push_back(static_cast<std::uint8_t>(rest));
  far.push_back(0);
  far.insert(far.end(), {0x3F, 255, 0x01, 0x02});
  EXPECT_EQ(decoded(far, 1 + run + 3), Bytes(1 + run + 3, 9));
  far.back() = 0x03;
  EXPECT_EQ(decoded(far, 1 + run + 3), bad);
}

}  // namespace
}  // namespace zarrive::gpu
