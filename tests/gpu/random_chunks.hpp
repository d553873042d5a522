// Blosc chunks of every kind that c-blosc makes.
#pragma once

#include <blosc.h>

#include <string>

#include "gpu/kernels_support.hpp"

namespace zarrive::gpu::testing {

struct BloscCase {
  Bytes data;
  Bytes encoded;
  const char* compressor = "";
  std::size_t width = 1;
  int shuffle = 0;
  int level = 0;
  std::size_t block_size = 0;
  int split = 0;
  std::string text() const {
    return std::string(compressor) + " level " + std::to_string(level) + ", " + std::to_string(data.size()) +
           " bytes, elements of " + std::to_string(width) + ", shuffle " + std::to_string(shuffle) +
           ", blocks of " + std::to_string(block_size) + ", split mode " + std::to_string(split);
  }
};

inline BloscCase any_blosc(Random& random, std::size_t greatest) {
  BloscCase c;
  static constexpr const char* compressors[] = {"blosclz", "lz4",   "lz4hc", "blosclz",
                                                "lz4",     "lz4hc", "zlib",  "zstd"};
  c.compressor = one_of(random, compressors);
  c.width = pick(random, 12) == 0 ? 255 : 1 + pick(random, 32);
  if (pick(random, 2) == 0) c.width = std::size_t{1} << pick(random, 5);
  std::size_t size = some_size(random, greatest != 0 ? greatest : pick(random, 40) == 0 ? 400000 : 20000);
  if (greatest == 0 && pick(random, 8) != 0) size += 1000;  // below 128 bytes nothing is compressed
  if (pick(random, 3) != 0) size = std::max<std::size_t>(size / c.width, 1) * c.width;
  // Other sizes than a multiple are decoded too, as are chunks of few bytes, which are stored.
  c.data = some_data(random, std::max<std::size_t>(size, 1));
  c.shuffle = static_cast<int>(pick(random, 3));
  c.level = static_cast<int>(pick(random, 10));
  if (c.level == 0 && pick(random, 2) == 0) c.level = 9;
  c.block_size = pick(random, 2) == 0 ? 0 : 128 + some_size(random, 30000);
  c.split = 1 + static_cast<int>(pick(random, 4));
  blosc_set_splitmode(c.split);
  c.encoded.resize(c.data.size() + BLOSC_MAX_OVERHEAD + 4096);
  const int written = blosc_compress_ctx(c.level, c.shuffle, c.width, c.data.size(), c.data.data(),
                                         c.encoded.data(), c.encoded.size(), c.compressor, c.block_size, 1);
  blosc_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);  // the default: the mode is the whole process's
  c.encoded.resize(static_cast<std::size_t>(std::max(written, 0)));
  return c;
}

// One that c-blosc can read itself: it splits small blocks when told to split always, and then reads them as not split.
inline BloscCase random_blosc(Random& random, std::size_t greatest = 0) {
  for (;;) {
    BloscCase c = any_blosc(random, greatest);
    Bytes decoded(c.data.size());
    if (blosc_decompress_ctx(c.encoded.data(), decoded.data(), decoded.size(), 1) ==
            static_cast<int>(decoded.size()) &&
        decoded == c.data)
      return c;
  }
}

}  // namespace zarrive::gpu::testing

namespace zarrive::gpu {

using testing::BloscCase;

}  // namespace zarrive::gpu
