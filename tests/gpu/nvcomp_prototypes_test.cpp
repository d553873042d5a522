// Our prototypes, layouts and constants of nvCOMP against the vendor's headers, where there are any.
#include <gtest/gtest.h>

#include "gpu/nvcomp.hpp"
#include "gpu/same_prototype.hpp"

#if __has_include(<nvcomp/zstd.h>) && __has_include(<cuda_runtime.h>)
#include <nvcomp.h>
#include <nvcomp/deflate.h>
#include <nvcomp/gzip.h>
#include <nvcomp/lz4.h>
#include <nvcomp/snappy.h>
#include <nvcomp/zstd.h>

#include <cstddef>
#include <cstring>

namespace zarrive::gpu {
namespace {

#define ZARRIVE_NVCOMP_SAME(member, name, parameters) \
  static_assert(testing::Same<NvcompResult parameters, decltype(::name)>::value, #name);
#if NVCOMP_VER_MAJOR < 6
#define ZARRIVE_NVCOMP_VERSION_DECODING ZARRIVE_NVCOMP_DECODING_5
#define ZARRIVE_NVCOMP_VERSION_ENCODING ZARRIVE_NVCOMP_ENCODING_5
#else
#define ZARRIVE_NVCOMP_VERSION_DECODING ZARRIVE_NVCOMP_DECODING_6
#define ZARRIVE_NVCOMP_VERSION_ENCODING ZARRIVE_NVCOMP_ENCODING_6
#endif
#define ZARRIVE_NVCOMP_SAME_DECODING(ours, theirs)                                         \
  ZARRIVE_NVCOMP_DECODING(ZARRIVE_NVCOMP_SAME, theirs)                                     \
  ZARRIVE_NVCOMP_VERSION_DECODING(ZARRIVE_NVCOMP_SAME, theirs)                             \
  static_assert(sizeof(NvcompOptions) == sizeof(nvcompBatched##theirs##DecompressOpts_t)); \
  static_assert(alignof(NvcompOptions) == alignof(nvcompBatched##theirs##DecompressOpts_t));
#define ZARRIVE_NVCOMP_SAME_ENCODING(ours, theirs)             \
  ZARRIVE_NVCOMP_ENCODING(ZARRIVE_NVCOMP_SAME, theirs)         \
  ZARRIVE_NVCOMP_VERSION_ENCODING(ZARRIVE_NVCOMP_SAME, theirs) \
  static_assert(sizeof(NvcompOptions) == sizeof(nvcompBatched##theirs##CompressOpts_t));
ZARRIVE_NVCOMP_GENERAL_FUNCTIONS(ZARRIVE_NVCOMP_SAME)
ZARRIVE_NVCOMP_FORMATS(ZARRIVE_NVCOMP_SAME_DECODING)
ZARRIVE_NVCOMP_ENCODED_FORMATS(ZARRIVE_NVCOMP_SAME_ENCODING)

static_assert(sizeof(NvcompProperties) == sizeof(nvcompProperties_t));
static_assert(offsetof(NvcompProperties, version) == offsetof(nvcompProperties_t, version));
static_assert(sizeof(NvcompAlignments) == sizeof(nvcompAlignmentRequirements_t));
static_assert(offsetof(NvcompAlignments, input) == offsetof(nvcompAlignmentRequirements_t, input));
static_assert(offsetof(NvcompAlignments, output) == offsetof(nvcompAlignmentRequirements_t, output));
static_assert(offsetof(NvcompAlignments, temp) == offsetof(nvcompAlignmentRequirements_t, temp));

TEST(NvcompPrototypes, DefaultsAreZeros) {
  const NvcompOptions zeros;
#define ZARRIVE_NVCOMP_ZEROS(ours, theirs) \
  EXPECT_EQ(std::memcmp(&nvcompBatched##theirs##DecompressDefaultOpts, &zeros, sizeof zeros), 0) << #theirs;
  ZARRIVE_NVCOMP_FORMATS(ZARRIVE_NVCOMP_ZEROS)
#undef ZARRIVE_NVCOMP_ZEROS
#define ZARRIVE_NVCOMP_ZEROS(ours, theirs) \
  EXPECT_EQ(std::memcmp(&nvcompBatched##theirs##CompressDefaultOpts, &zeros, sizeof zeros), 0) << #theirs;
  ZARRIVE_NVCOMP_ENCODED_FORMATS(ZARRIVE_NVCOMP_ZEROS)
}

TEST(NvcompPrototypes, StatusesAreTheVendors) {
  EXPECT_EQ(nvcomp_success, nvcompSuccess);
  EXPECT_EQ(nvcomp_result_text(nvcompErrorCannotDecompress), "status 12 (cannot decompress)");
  EXPECT_EQ(nvcomp_result_text(nvcompErrorChunkSizeTooLarge), "status 18 (chunk size too large)");
  EXPECT_EQ(nvcomp_result_text(nvcompErrorAlignment), "status 17 (alignment)");
  EXPECT_EQ(nvcomp_result_text(nvcompErrorCudaError), "status 1000 (CUDA error)");
}

TEST(NvcompPrototypes, LimitsAreTheVendors) {
  const auto limit = [](NvcompFormat format, NvcompCoder::Direction direction) {
    return NvcompCoder(Device::get(0), format, direction, 0).largest_chunk();
  };
  constexpr auto decode = NvcompCoder::Direction::decode, encode = NvcompCoder::Direction::encode;
#if NVCOMP_VER_MAJOR * 100 + NVCOMP_VER_MINOR >= 503  // the first that states these
  EXPECT_EQ(limit(NvcompFormat::lz4, decode), nvcompLZ4DecompressionMaxAllowedChunkSize);
  EXPECT_EQ(limit(NvcompFormat::deflate, decode), nvcompDeflateDecompressionMaxAllowedChunkSize);
  EXPECT_EQ(limit(NvcompFormat::gzip, decode), nvcompGzipNaiveDecompressionMaxAllowedChunkSize);
  EXPECT_EQ(limit(NvcompFormat::zstd, decode), nvcompZstdDecompressionMaxAllowedChunkSize);
#endif
  EXPECT_EQ(limit(NvcompFormat::snappy, decode), nvcompSnappyDecompressionMaxAllowedChunkSize);
  EXPECT_EQ(limit(NvcompFormat::lz4, encode), nvcompLZ4CompressionMaxAllowedChunkSize);
  EXPECT_EQ(limit(NvcompFormat::zstd, encode), nvcompZstdCompressionMaxAllowedChunkSize);
}

}  // namespace
}  // namespace zarrive::gpu

#else

TEST(NvcompPrototypes, DefaultsAreZeros) { GTEST_SKIP() << "there are no headers of nvCOMP here"; }

#endif
