// Parts of chunks that are no shards: which bytes of the store they ask for.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/paths.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/filesystem_store.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

CreateOptions one_chunk(Shape shape, const char* type, std::vector<CodecSpec> codecs) {
  CreateOptions options;
  options.shape = shape;
  options.chunks = std::move(shape);
  options.data_type = type;
  options.codecs = std::move(codecs);
  return options;
}

std::vector<std::uint16_t> ramp(std::size_t count) {
  std::vector<std::uint16_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint16_t>(i * 7 % 65521);
  return values;
}

TEST(PartialRead, UncompressedChunksAreReadByTheRow) {
  auto store = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  Array array = create_array(store, "a", one_chunk({100, 64, 4096}, "uint16", {}));
  const std::vector<std::uint16_t> values = ramp(100 * 64 * 4096);
  array.write("...", values);
  const auto at = [&](std::size_t z, std::size_t y, std::size_t x) {
    return values[(z * 64 + y) * 4096 + x];
  };

  store->reset();  // neighbouring rows are one range
  const auto rows = array.read<std::uint16_t>("3, 10:20");
  EXPECT_EQ(rows(9, 4095), at(3, 19, 4095));
  EXPECT_EQ(store->counts().ranges, 1u);
  EXPECT_EQ(store->counts().bytes_read, 10u * 4096 * 2);

  store->reset();  // columns that lie far apart are ranges of their own
  const auto column = array.read<std::uint16_t>("3, 10:20, 100:104");
  EXPECT_EQ(column(9, 3), at(3, 19, 103));
  EXPECT_EQ(store->counts().get_requests, 1u);
  EXPECT_EQ(store->counts().ranges, 10u);
  EXPECT_EQ(store->counts().bytes_read, 10u * 4 * 2);

  store->reset();  // joined where that is asked for
  ReadOptions joined;
  joined.coalesce_gap = 8192;
  EXPECT_EQ(array.read<std::uint16_t>("3, 10:20, 100:104", joined)(9, 3), at(3, 19, 103));
  EXPECT_EQ(store->counts().ranges, 1u);
  EXPECT_EQ(store->counts().bytes_read, 9u * 8192 + 8);

  store->reset();  // points
  const auto points = array.read<std::uint16_t>(vindex({{99, 0, 50}, {63, 0, 1}, {4095, 0, 2}}));
  EXPECT_EQ(points.to_vector(), (std::vector<std::uint16_t>{at(99, 63, 4095), at(0, 0, 0), at(50, 1, 2)}));
  EXPECT_EQ(store->counts().ranges, 3u);
  EXPECT_EQ(store->counts().bytes_read, 6u);
}

TEST(PartialRead, RowsOfFilesLandInTheirPlace) {
  const testing::TempDir folder;
  auto store = std::make_shared<FilesystemStore>(folder.path());
  Array array = create_array(store, "a", one_chunk({64, 64, 512}, "uint16", {}));
  const std::vector<std::uint16_t> values = ramp(64 * 64 * 512);
  array.write("...", values);
  // Contiguous, strided, and into memory that begins anywhere.
  EXPECT_EQ(array.read<std::uint16_t>("5:9").to_vector(),
            std::vector<std::uint16_t>(values.begin() + 5 * 64 * 512, values.begin() + 9 * 64 * 512));
  std::vector<std::uint16_t> wide(64 * 64 * 600 + 9, 0);
  for (const std::size_t offset : {0, 1, 8, 9}) {
    const ArrayView view(reinterpret_cast<std::byte*>(wide.data() + offset), array.data_type(), {64, 64, 512},
                         {64 * 600 * 2, 600 * 2, 2});
    array.read_into("...", view);
    for (const std::size_t i : {0, 77777, 64 * 64 * 512 - 1})
      EXPECT_EQ(wide[offset + i / 512 * 600 + i % 512], values[i]) << offset;
    std::vector<std::uint16_t> dense(values.size() + 9);
    array.read_into("...", ArrayView(reinterpret_cast<std::byte*>(dense.data() + offset), array.data_type(),
                                     array.shape()));
    EXPECT_TRUE(
        std::equal(values.begin(), values.end(), dense.begin() + static_cast<std::ptrdiff_t>(offset)));
  }
}

TEST(PartialRead, OfBloscChunksTheBlocksThatAreNeeded) {
  auto store = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
  CodecSpec blosc = codecs::blosc("lz4", 5, "shuffle");
  blosc.configuration.set("blocksize", 65536);
  Array array = create_array(store, "a", one_chunk({64, 128, 128}, "uint16", {blosc}));  // 2 MiB: 32 blocks
  const std::vector<std::uint16_t> values = ramp(64 * 128 * 128);
  array.write("...", values);
  const std::uint64_t stored = *store->size(array.chunk_key(Index{0, 0, 0}));
  store->reset();
  EXPECT_EQ(array.read<std::uint16_t>("30, 5, 7:9").to_vector(),
            (std::vector<std::uint16_t>{values[(30 * 128 + 5) * 128 + 7], values[(30 * 128 + 5) * 128 + 8]}));
  const StoreCounts counts = store->counts();
  EXPECT_EQ(counts.get_requests, 2u);  // header and offsets, the block
  EXPECT_LT(counts.bytes_read, stored / 8);
  // Checksummed chunks are read whole, unless that is not asked for.
  Array checked = create_array(store, "b", one_chunk({64, 128, 128}, "uint16", {codecs::crc32c()}));
  checked.write("...", values);
  store->reset();
  checked.read("30, 5, 7:9");
  EXPECT_EQ(store->counts().bytes_read, 64u * 128 * 128 * 2 + 4);
  store->reset();
  ReadOptions unverified;
  unverified.verify_checksums = false;
  EXPECT_EQ(checked.read<std::uint16_t>("30, 5, 7:9", unverified)[1], values[(30 * 128 + 5) * 128 + 8]);
  EXPECT_EQ(store->counts().bytes_read, 4u);
}

}  // namespace
}  // namespace zarrive
