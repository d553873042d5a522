// Blosc values against c-blosc, and values that lie.
#include <blosc.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codec/blosc_decode.hpp"
#include "codec/blosc_frame.hpp"
#include "codec/byte_codec_suite.hpp"

namespace zarrive {
namespace {

using testing::Bytes;
using testing::error_of;
using testing::mixed_bytes;
using testing::random_bytes;

constexpr const char* kCompressors[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};

struct Parameters {
  const char* compressor = "lz4";
  int level = 5;
  int shuffle = BLOSC_SHUFFLE;
  std::size_t width = 4;
  std::size_t block_size = 0;
  int split = BLOSC_FORWARD_COMPAT_SPLIT;
};
std::string to_string(const Parameters& p) {
  return std::string(p.compressor) + " level " + std::to_string(p.level) + " shuffle " +
         std::to_string(p.shuffle) + " width " + std::to_string(p.width) + " blocks of " +
         std::to_string(p.block_size) + " split mode " + std::to_string(p.split);
}

Bytes compress(const Parameters& p, const Bytes& decoded) {
  blosc_set_splitmode(p.split);
  Bytes encoded(decoded.size() + BLOSC_MAX_OVERHEAD);
  const int size = blosc_compress_ctx(p.level, p.shuffle, p.width, decoded.size(), decoded.data(),
                                      encoded.data(), encoded.size(), p.compressor, p.block_size, 1);
  blosc_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
  if (size <= 0) throw std::runtime_error("c-blosc does not compress");
  encoded.resize(static_cast<std::size_t>(size));
  encoded.shrink_to_fit();
  return encoded;
}

Bytes decode_dense(const Bytes& encoded) {
  const BloscHeader header = BloscHeader::parse(encoded, encoded.size());
  require_blosc_format(header);
  Bytes out(header.decoded_size);
  decode_blosc(header, encoded, out);
  return out;
}

// Each block from the bytes that block_range names, and nothing else.
Bytes decode_by_block(const Bytes& encoded) {
  const BloscHeader header = BloscHeader::parse(std::span(encoded).first(BloscHeader::kSize), encoded.size());
  if (header.stored) return {encoded.begin() + BloscHeader::kSize, encoded.end()};
  const Bytes first(encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(header.data_begin()));
  const BloscFrame frame = BloscFrame::parse(first, encoded.size());
  Bytes out(header.decoded_size);
  for (std::uint32_t block = header.block_count(); block-- > 0;) {
    const ByteRange range = frame.block_range(block);
    const Bytes part(encoded.begin() + static_cast<std::ptrdiff_t>(range.offset),
                     encoded.begin() + static_cast<std::ptrdiff_t>(range.offset + range.length));
    decode_blosc_block(
        frame, block, part, range.offset,
        std::span(out).subspan(std::size_t{block} * header.block_size, header.block_length(block)));
  }
  return out;
}

// To runs of `run` bytes with gaps between them; the gaps must stay.
Bytes decode_to_runs(const Bytes& encoded, std::size_t size, std::size_t run, std::size_t gap) {
  const BloscHeader header = BloscHeader::parse(encoded, encoded.size());
  const std::size_t runs = size / run;
  Bytes place(runs * (run + gap), std::byte{0xA5});
  ByteSink sink(ArrayView(place.data(), DataType::parse("uint8"), Shape{runs, run},
                          Strides{static_cast<std::int64_t>(run + gap), 1}));
  decode_blosc(header, encoded, sink);
  sink.close();
  Bytes out;
  for (std::size_t i = 0; i < runs; ++i) {
    const auto at = place.begin() + static_cast<std::ptrdiff_t>(i * (run + gap));
    const auto end = at + static_cast<std::ptrdiff_t>(run);
    out.insert(out.end(), at, end);
    if (!std::all_of(end, end + static_cast<std::ptrdiff_t>(gap),
                     [](std::byte b) { return b == std::byte{0xA5}; }))
      ADD_FAILURE() << "wrote between runs of " << run;
  }
  return out;
}

void expect_equal_to_library(const Parameters& p, const Bytes& decoded) {
  const Bytes encoded = compress(p, decoded);
  Bytes theirs(decoded.size());
  const int result = blosc_decompress_ctx(encoded.data(), theirs.data(), theirs.size(), 1);
  if (result < 0) {
    // Told to split always, c-blosc splits blocks that its decoder, by the format's rule, takes to be whole.
    ASSERT_EQ(p.split, BLOSC_ALWAYS_SPLIT) << to_string(p) << ", " << decoded.size() << " bytes";
    EXPECT_EQ(error_of([&] { decode_dense(encoded); }), ErrorCode::corrupt_chunk);
    return;
  }
  ASSERT_EQ(result, static_cast<int>(decoded.size()));
  ASSERT_TRUE(theirs == decoded);
  ASSERT_TRUE(decode_dense(encoded) == decoded) << to_string(p) << ", " << decoded.size() << " bytes";
  ASSERT_TRUE(decode_by_block(encoded) == decoded) << to_string(p) << ", " << decoded.size() << " bytes";
  for (const std::size_t run : {std::size_t{3}, 16 * p.width, std::size_t{1000}})
    if (decoded.size() / run > 1 && decoded.size() < 200000) {
      Bytes whole_runs(decoded.begin(),
                       decoded.begin() + static_cast<std::ptrdiff_t>(decoded.size() / run * run));
      if (whole_runs.size() != decoded.size()) continue;
      ASSERT_TRUE(decode_to_runs(encoded, decoded.size(), run, 64) == decoded)
          << to_string(p) << ", " << decoded.size() << " bytes in runs of " << run;
    }
}

// Compressible in some planes, not in others, so that streams of both kinds occur.
Bytes input(std::size_t size, std::size_t width, std::uint32_t seed) {
  Bytes bytes = random_bytes(size, seed);
  for (std::size_t i = 0; i < size; ++i)
    if (i % width % 3 != 1) bytes[i] = static_cast<std::byte>(i / (width * 37) + i % width);
  return bytes;
}

TEST(BloscDecode, EqualsTheLibrary) {
  std::vector<std::size_t> widths{24, 32, 255};
  for (std::size_t width = 1; width <= 17; ++width) widths.push_back(width);
  std::mt19937 random(5);
  const std::size_t sizes[] = {1, 127, 128, 255, 4099, 24000, 66000, 131072, 140001};
  const std::size_t blocks[] = {0, 0, 128, 1000, 4096, 16384, 65536};
  for (const char* compressor : kCompressors)
    for (const int shuffle : {BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE})
      for (const std::size_t width : widths)
        for (int round = 0; round < 6; ++round) {
          Parameters p{compressor, static_cast<int>(random() % 10),      shuffle,
                       width,      blocks[random() % std::size(blocks)], static_cast<int>(1 + random() % 4)};
          if (std::string(compressor) == "lz4hc" && p.level > 5) p.level = 5;  // slow
          expect_equal_to_library(p, input(sizes[random() % std::size(sizes)], width, random()));
          if (HasFatalFailure()) return;
        }
}

// The sizes at which something changes, for the compressor and the shuffles that most data has.
TEST(BloscDecode, EveryKindOfSize) {
  for (const int shuffle : {BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE})
    for (const std::size_t width : {1, 2, 3, 4, 8, 16})
      for (const std::size_t block : {0, 128, 2048})
        for (std::size_t size : {0,   1,    2,    15,   16,   127,  128,  129,   191,    255,
                                 256, 2047, 2048, 2049, 4095, 4096, 6151, 40000, 262144, 300008}) {
          expect_equal_to_library({"lz4", 5, shuffle, width, block, 4}, input(size, width, 3));
          if (HasFatalFailure()) return;
        }
}

TEST(BloscDecode, EveryLevelAndSplitMode) {
  const Bytes decoded = input(70000, 4, 9);
  for (const char* compressor : kCompressors)
    for (int level = 0; level <= 9; ++level)
      for (int split = 1; split <= 4; ++split)
        for (const int shuffle : {BLOSC_SHUFFLE, BLOSC_BITSHUFFLE}) {
          expect_equal_to_library({compressor, level, shuffle, 4, 0, split}, decoded);
          if (HasFatalFailure()) return;
        }
}

// Larger than a cache, in blocks of the automatic size.
TEST(BloscDecode, LargeValues) {
  for (const char* compressor : {"lz4", "blosclz", "zstd"})
    for (const int shuffle : {BLOSC_SHUFFLE, BLOSC_BITSHUFFLE})
      for (const std::size_t width : {2, 8}) {
        const Bytes decoded = input(5 << 20, width, 4);
        const Bytes encoded = compress({compressor, 5, shuffle, width}, decoded);
        ASSERT_TRUE(decode_dense(encoded) == decoded) << compressor << shuffle << width;
        ASSERT_TRUE(decode_to_runs(encoded, decoded.size(), 4096, 192) == decoded)
            << compressor << shuffle << width;
      }
}

// Threaded writers store blocks in the order in which they are done.
TEST(BloscDecode, BlocksInAnyOrder) {
  const Bytes decoded = input(40000, 4, 1);
  const Parameters p{"lz4", 5, BLOSC_SHUFFLE, 4, 4096, BLOSC_NEVER_SPLIT};
  const Bytes encoded = compress(p, decoded);
  const BloscFrame frame = BloscFrame::parse(encoded, encoded.size());
  const std::uint32_t count = frame.header().block_count();
  ASSERT_EQ(count, 10U);
  const auto begin = static_cast<std::ptrdiff_t>(frame.header().data_begin());
  Bytes turned(encoded.begin(), encoded.begin() + begin);
  for (std::uint32_t block = count; block-- > 0;) {
    const ByteRange range = frame.block_range(block);
    for (int i = 0; i < 4; ++i)
      turned[16 + 4 * block + static_cast<std::size_t>(i)] = static_cast<std::byte>(turned.size() >> (8 * i));
    turned.insert(turned.end(), encoded.begin() + static_cast<std::ptrdiff_t>(range.offset),
                  encoded.begin() + static_cast<std::ptrdiff_t>(range.offset + range.length));
  }
  ASSERT_EQ(turned.size(), encoded.size());
  EXPECT_TRUE(decode_dense(turned) == decoded);
  EXPECT_TRUE(decode_by_block(turned) == decoded);
}

// The split mode is the whole process's: whatever it is set to, nothing is written that cannot be read.
TEST(BloscEncode, UnderEverySplitMode) {
  int refused = 0;
  for (const int mode : {BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT, BLOSC_AUTO_SPLIT, BLOSC_FORWARD_COMPAT_SPLIT})
    for (const char* compressor : kCompressors)
      for (const std::size_t width : {1, 2, 4, 16, 17})
        for (const std::size_t size : {0, 17, 320, 2176, 40000}) {
          const auto codec = testing::make_byte_codec(
              ZarrFormat::v2, "blosc", std::string(R"({"cname": ")") + compressor + R"("})", width);
          const Bytes decoded = input(size, width, 3);
          std::string message;
          Bytes encoded;
          blosc_set_splitmode(mode);
          const auto error = error_of([&] { encoded = testing::encode(*codec, decoded); }, &message);
          blosc_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
          SCOPED_TRACE(std::string(compressor) + " mode " + std::to_string(mode) + " width " +
                       std::to_string(width) + " bytes " + std::to_string(size));
          if (error) {
            EXPECT_EQ(mode, BLOSC_ALWAYS_SPLIT);
            EXPECT_EQ(error, ErrorCode::unsupported);
            EXPECT_THAT(message, ::testing::HasSubstr("blosc_set_splitmode"));
            ++refused;
            continue;
          }
          EXPECT_TRUE(decode_dense(encoded) == decoded);
          Bytes theirs(size);
          ASSERT_EQ(blosc_decompress_ctx(encoded.data(), theirs.data(), size, 1), static_cast<int>(size));
          EXPECT_TRUE(theirs == decoded);
        }
  EXPECT_GT(refused, 0);
}

TEST(BloscFrame, SaysWhereStreamsLie) {
  const Bytes decoded = input(150000, 4, 1);
  const Bytes encoded = compress({"lz4", 5, BLOSC_SHUFFLE, 4, 16384}, decoded);
  const BloscFrame frame = BloscFrame::parse(encoded, encoded.size());
  const BloscHeader& header = frame.header();
  EXPECT_EQ(header.format, BloscFormat::lz4);
  EXPECT_EQ(header.shuffle, BloscShuffle::bytes);
  EXPECT_EQ(header.width, 4U);
  EXPECT_EQ(header.decoded_size, 150000U);
  ASSERT_EQ(header.block_size, 65536U);  // what c-blosc makes of it
  ASSERT_EQ(header.block_count(), 3U);
  EXPECT_EQ(header.block_length(2), 150000U - 2 * 65536U);
  EXPECT_EQ(header.stream_count(1), 4U);
  EXPECT_EQ(header.stream_count(2), 1U);  // shorter than the others
  const BloscBlock block = frame.block(1, encoded);
  ASSERT_EQ(block.count, 4U);
  std::uint64_t at = frame.block_range(1).offset;
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(block.streams[i].offset, at + 4);
    EXPECT_EQ(block.streams[i].decoded, 16384U);
    EXPECT_EQ(block.streams[i].stored(), i == 1) << i;  // the plane that is noise
    at = block.streams[i].offset + block.streams[i].encoded;
  }
  EXPECT_EQ(at, frame.block_range(1).offset + frame.block_range(1).length);
}

// --- parts ---

struct Served {
  std::vector<Bytes> parts;
  std::vector<std::vector<ByteRange::Resolved>> rounds;
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& round : rounds)
      for (const auto& range : round) sum += range.length;
    return sum;
  }
};

// Runs a partial decode; every piece is memory of its own size.
Served serve(const Bytes& encoded, const std::vector<ByteRange>& ranges, std::uint64_t decoded_size) {
  Served served;
  served.parts.resize(ranges.size());
  std::vector<int> times(ranges.size(), 0);
  const auto codec = testing::make_byte_codec(ZarrFormat::v2, "blosc", "{}", 4);
  EXPECT_TRUE(codec->can_decode_ranges({}));
  const Context context;
  const auto decode = codec->decode_ranges(
      ranges,
      [&](std::size_t i, const Buffer& bytes) {
        ++times.at(i);
        served.parts.at(i).assign(bytes.host_span().begin(), bytes.host_span().end());
      },
      decoded_size, context);
  for (auto round = decode->wanted(); !round.empty(); round = decode->wanted()) {
    std::vector<ByteRange::Resolved> at;
    for (const WantedBytes& wanted : round) {
      const auto resolved = wanted.range.offset > encoded.size() ? ByteRange::Resolved{encoded.size(), 0}
                                                                 : wanted.range.resolve(encoded.size());
      at.push_back(resolved);
    }
    served.rounds.push_back(at);
    for (std::size_t i = round.size(); i-- > 0;) {
      const auto begin = encoded.begin() + static_cast<std::ptrdiff_t>(at[i].offset);
      decode->receive(i, Buffer::adopt(Bytes(begin, begin + static_cast<std::ptrdiff_t>(at[i].length))),
                      encoded.size());
    }
  }
  for (const int count : times) EXPECT_EQ(count, 1);
  return served;
}

TEST(BloscRanges, EqualTheWhole) {
  std::mt19937 random(8);
  for (const char* compressor : kCompressors)
    for (const int shuffle : {BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE})
      for (const std::size_t size : {1000U, 150000U, 900001U})
        for (const int level : {0, 3}) {
          const Bytes decoded = input(size, 4, random());
          const Bytes encoded = compress({compressor, level, shuffle, 4, 16384}, decoded);
          std::vector<ByteRange> ranges{ByteRange::range(0, size), ByteRange::range(size, 0),
                                        ByteRange::range(0, 0)};
          for (int i = 0; i < 10; ++i) {
            const std::uint64_t offset = random() % size;
            ranges.push_back(ByteRange::range(
                offset, std::min<std::uint64_t>(size - offset, random() % (i < 5 ? 300 : size))));
          }
          for (const std::size_t first : {std::size_t{0}, std::size_t{3}}) {  // with the whole, without
            const std::vector<ByteRange> asked(ranges.begin() + static_cast<std::ptrdiff_t>(first),
                                               ranges.end());
            const Served served = serve(encoded, asked, size);
            EXPECT_LE(served.rounds.size(), 2U);
            for (std::size_t i = 0; i < asked.size(); ++i) {
              const auto begin = decoded.begin() + static_cast<std::ptrdiff_t>(asked[i].offset);
              ASSERT_TRUE(served.parts[i] ==
                          Bytes(begin, begin + static_cast<std::ptrdiff_t>(asked[i].length)))
                  << compressor << shuffle << ", " << size << " bytes, level " << level << ", range " << i;
            }
          }
        }
}

TEST(BloscRanges, OnlyTheBlocksThatAreNeeded) {
  const Bytes decoded = input(4 << 20, 2, 6);
  const Bytes encoded = compress({"lz4", 5, BLOSC_SHUFFLE, 2}, decoded);
  const BloscFrame frame = BloscFrame::parse(encoded, encoded.size());
  ASSERT_EQ(frame.header().block_size, 256U << 10);
  const std::uint64_t block = 256 << 10;
  const Served one =
      serve(encoded, {ByteRange::range(5 * block + 100, 64), ByteRange::range(5 * block + 9000, 64)},
            decoded.size());
  ASSERT_EQ(one.rounds.size(), 2U);
  ASSERT_EQ(one.rounds[0].size(), 1U);
  EXPECT_EQ(one.rounds[0][0].length, 4096U);
  ASSERT_EQ(one.rounds[1].size(), 1U);
  EXPECT_EQ(one.rounds[1][0].offset, frame.block_range(5).offset);
  EXPECT_EQ(one.rounds[1][0].length, frame.block_range(5).length);
  // Ranges across a border of blocks and elsewhere: each block once.
  const Served three = serve(
      encoded,
      {ByteRange::range(3 * block - 10, 20), ByteRange::range(2 * block, 1), ByteRange::range(9 * block, 1)},
      decoded.size());
  ASSERT_EQ(three.rounds.size(), 2U);
  EXPECT_EQ(three.rounds[1].size(), 3U);
}

TEST(BloscRanges, LongTablesTakeOneMoreRound) {
  const Bytes decoded = input(2 << 20, 4, 6);
  const Bytes encoded = compress({"lz4", 5, BLOSC_SHUFFLE, 4, 1024, BLOSC_NEVER_SPLIT}, decoded);
  const Served served = serve(encoded, {ByteRange::range(1 << 20, 100)}, decoded.size());
  ASSERT_EQ(served.rounds.size(), 3U);
  EXPECT_EQ(served.rounds[1][0].length, 16U + 4 * 2048);
  EXPECT_LT(served.bytes(), 16384U);
  EXPECT_TRUE(std::equal(served.parts[0].begin(), served.parts[0].end(), decoded.begin() + (1 << 20)));
}

TEST(BloscRanges, StoredValuesAreReadWhereTheyLie) {
  const Bytes decoded = random_bytes(1 << 20, 3);
  const Bytes encoded = compress({"lz4", 0, BLOSC_SHUFFLE, 4}, decoded);
  const Served served =
      serve(encoded, {ByteRange::range(1000, 10), ByteRange::range(70000, 20)}, decoded.size());
  ASSERT_EQ(served.rounds.size(), 2U);
  EXPECT_EQ(served.rounds[1][0].offset, 1016U);
  EXPECT_EQ(served.bytes(), 4096U + 30);
}

TEST(BloscRanges, ValuesThatLie) {
  std::mt19937 random(2);
  const Bytes decoded = input(900000, 4, 6);
  for (const int level : {0, 5}) {
    const Bytes good = compress({"lz4", level, BLOSC_SHUFFLE, 4, 16384}, decoded);
    const std::vector<ByteRange> ranges{ByteRange::range(400000, 100000), ByteRange::range(10, 5)};
    const auto check = [&](const Bytes& bad) {
      const auto code = error_of([&] { serve(bad, ranges, decoded.size()); });
      EXPECT_TRUE(!code || code == ErrorCode::corrupt_chunk);
    };
    for (std::size_t place = 0; place < 140; ++place)
      for (int bit = 0; bit < 8; ++bit) {
        Bytes bad = good;
        bad[place] ^= static_cast<std::byte>(1 << bit);
        if (error_of([&] { serve(bad, ranges, decoded.size()); }) == std::nullopt) continue;
        check(bad);
      }
    for (const std::size_t size : {0U, 10U, 16U, 20U, 100U, 5000U, 300000U})
      check(Bytes(good.begin(), good.begin() + size));
    EXPECT_EQ(error_of([&] { serve(good, ranges, decoded.size() + 4); }), ErrorCode::corrupt_chunk);
    EXPECT_EQ(error_of([&] { serve(good, {ByteRange::range(899999, 2)}, decoded.size()); }),
              ErrorCode::corrupt_chunk);
  }
}

// --- values that lie ---

// Must decode to something or fail as corrupt; must not read outside (every copy is exactly as large as it has to be).
void expect_decoded_or_refused(const Bytes& encoded, std::size_t size) {
  const auto decode = [&](auto&& call) {
    const auto code = error_of(call);
    EXPECT_TRUE(!code || code == ErrorCode::corrupt_chunk) << static_cast<int>(*code);
    return code;
  };
  decode([&] {
    const BloscHeader header = BloscHeader::parse(encoded, encoded.size());
    if (header.decoded_size != size) return;
    Bytes out(size);
    decode_blosc(header, encoded, out);
  });
  decode([&] {
    const BloscHeader header = BloscHeader::parse(encoded, encoded.size());
    if (header.decoded_size != size) return;
    decode_to_runs(encoded, size, 1000, 32);
  });
  decode([&] {
    const BloscHeader header = BloscHeader::parse(encoded, encoded.size());
    if (header.decoded_size != size) return;
    decode_by_block(encoded);
  });
}

class HostileBlosc : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr std::size_t kSize = 150000;
  std::vector<Bytes> values() const {
    std::vector<Bytes> result;
    for (const int shuffle : {BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE})
      result.push_back(compress({GetParam(), 3, shuffle, 4, 16384}, input(kSize, 4, 2)));
    return result;
  }
};

TEST_P(HostileBlosc, EveryBitOfHeaderTableAndSizes) {
  for (const Bytes& good : values()) {
    std::vector<std::size_t> places;
    const BloscFrame frame = BloscFrame::parse(good, good.size());
    for (std::size_t i = 0; i < frame.header().data_begin(); ++i) places.push_back(i);
    for (std::uint32_t b = 0; b < frame.header().block_count(); ++b) {
      const BloscBlock block = frame.block(b, good);
      for (std::uint32_t s = 0; s < block.count; ++s)
        for (std::size_t i = 1; i <= 4; ++i) places.push_back(block.streams[s].offset - i);
    }
    for (const std::size_t place : places)
      for (int bit = 0; bit < 8; ++bit) {
        Bytes bad = good;
        bad[place] ^= static_cast<std::byte>(1 << bit);
        expect_decoded_or_refused(bad, kSize);
      }
  }
}

TEST_P(HostileBlosc, CutOffAnywhere) {
  for (const Bytes& good : values())
    for (std::size_t size = 0; size < good.size(); size += size < 100 ? 1 : 997) {
      Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(error_of([&] { decode_dense(cut); }), ErrorCode::corrupt_chunk) << size;
      if (size < BloscHeader::kSize) continue;
      // The header admits to the new size.
      for (int i = 0; i < 4; ++i)
        cut[12 + static_cast<std::size_t>(i)] = static_cast<std::byte>(size >> (8 * i));
      EXPECT_EQ(error_of([&] { decode_dense(cut); }), ErrorCode::corrupt_chunk) << size;
      expect_decoded_or_refused(cut, kSize);
    }
}

TEST_P(HostileBlosc, NoiseInTheStreams) {
  std::mt19937 random(11);
  for (const Bytes& good : values())
    for (int round = 0; round < 100; ++round) {
      Bytes bad = good;
      for (int i = 0; i < 1 + round % 5; ++i)
        bad[16 + random() % (bad.size() - 16)] = static_cast<std::byte>(random());
      expect_decoded_or_refused(bad, kSize);
    }
}

INSTANTIATE_TEST_SUITE_P(All, HostileBlosc, ::testing::ValuesIn(kCompressors),
                         [](const auto& p) { return std::string(p.param); });

TEST(HostileBloscHeader, NamesWhatIsWrong) {
  const Bytes good = compress({"lz4", 5, BLOSC_SHUFFLE, 4, 4096, BLOSC_NEVER_SPLIT}, input(40000, 4, 1));
  const auto message = [&](std::size_t at, std::initializer_list<int> bytes) {
    Bytes bad = good;
    for (const int byte : bytes) bad[at++] = static_cast<std::byte>(byte);
    std::string text;
    EXPECT_EQ(error_of([&] { decode_dense(bad); }, &text), ErrorCode::corrupt_chunk);
    return text;
  };
  EXPECT_THAT(message(2, {0x20 | 0x08}), ::testing::HasSubstr("flags 40"));
  EXPECT_THAT(message(2, {0x20 | 0x05}), ::testing::HasSubstr("flags 37"));
  EXPECT_THAT(message(3, {0}), ::testing::HasSubstr("elements of 0 bytes"));
  EXPECT_THAT(message(8, {1, 0, 0, 0}), ::testing::HasSubstr("table does not fit"));
  EXPECT_THAT(message(8, {0x01, 0x10, 0, 0}),
              ::testing::HasSubstr("Blosc block"));  // one byte more than 4096
  EXPECT_THAT(message(20, {55, 0, 0, 0}),
              ::testing::HasSubstr("Blosc block 1 is stated to start at byte 55"));
  EXPECT_THAT(message(16 + 4 * 10, {0xFF, 0xFF, 0xFF, 0x7F}),
              ::testing::HasSubstr("stream 0 of Blosc block 0 is stated to have 2147483647 bytes"));
  EXPECT_THAT(message(16 + 4 * 10, {0, 0, 0, 0}), ::testing::HasSubstr("stream 0 of Blosc block 0"));
}

}  // namespace
}  // namespace zarrive
