// Whole Blosc chunks: planned as for a device, decoded and put together by the kernels' bodies, against c-blosc.
#include <blosc.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <map>

#include "codec/blosc_device.hpp"
#include "gpu/host_assemble.hpp"
#include "gpu/kernels_support.hpp"
#include "gpu/random_chunks.hpp"

namespace zarrive::gpu {
namespace {

// What another decoder does on a device.
bool decode_elsewhere(const DeviceStream& stream) {
  if (stream.format == BloscFormat::zstd)
    return ZSTD_decompress(stream.target, stream.decoded, stream.source, stream.encoded) == stream.decoded;
  if (stream.format != BloscFormat::zlib) return false;
  uLongf size = stream.decoded;
  return uncompress(reinterpret_cast<Bytef*>(stream.target), &size,
                    reinterpret_cast<const Bytef*>(stream.source), stream.encoded) == Z_OK &&
         size == stream.decoded;
}

// The chunk in `target`, item by item.
void assemble(const BloscOnDevice& plan, std::size_t item_size, Guarded& target, Random& random) {
  ASSERT_EQ(testing::assemble_on_host(
                testing::dense_work(plan.decoded, plan.layout, item_size,
                                    reinterpret_cast<std::byte*>(target.data()), target.size(), item_size),
                random),
            kernels::status_ok);
}

struct Seen {
  std::map<std::string, std::uint64_t> counts;
  void add(const std::string& what) { ++counts[what]; }
};

void check_case(const BloscCase& c, Random& random, Seen& seen) {
  const auto* const encoded = reinterpret_cast<const std::byte*>(c.encoded.data());
  Guarded source(c.encoded);
  const std::span<const std::byte> bytes(encoded, c.encoded.size());
  const BloscHeader header = BloscHeader::parse(bytes, bytes.size());
  const BloscFrame frame = BloscFrame::parse(header, bytes);
  Guarded scratch(static_cast<std::size_t>(device_scratch_size(header)));
  const BloscOnDevice plan = plan_blosc(frame, bytes, reinterpret_cast<const std::byte*>(source.data()),
                                        reinterpret_cast<std::byte*>(scratch.data()));
  std::vector<kernels::Stream> streams;
  for (const DeviceStream& stream : plan.streams) {
    seen.add(stream.stored ? "stored stream" : "compressed stream");
    if (stream.by_kernel()) streams.push_back(stream.kernel_stream());
    else ASSERT_TRUE(decode_elsewhere(stream));
  }
  std::vector<std::uint32_t> statuses(streams.size(), kernels::status_not_run);
  run_units(kernels::DecodeStreams{streams.data(), statuses.data(), streams.size()}, random);
  for (const std::uint32_t status : statuses) ASSERT_EQ(status, kernels::status_ok);
  ASSERT_TRUE(scratch.intact());
  if (header.stored) seen.add("stored value");
  if (header.block_count() > 1 && header.decoded_size % header.block_size != 0) seen.add("short last block");
  if (header.block_count() != 0 && header.stream_count(0) > 1) seen.add("split blocks");
  if (plan.layout.shuffle == kernels::Shuffle::bytes) seen.add("bytes unshuffled");
  if (plan.layout.shuffle == kernels::Shuffle::bits) seen.add("bits unshuffled");
  if (header.width > 16) seen.add("wide elements");
  seen.add(c.compressor);

  if (plan.layout.shuffle == kernels::Shuffle::none && !header.stored) {
    ASSERT_TRUE(decodes_in_place(header));
    ASSERT_EQ(scratch.bytes(), c.data);
  }
  // As the elements that it was made of, or as others: an array's need not be what its writer told c-blosc.
  std::size_t item = c.width;
  if (pick(random, 4) == 0 || c.data.size() % item != 0) item = 1;
  if (pick(random, 4) == 0 && c.data.size() % 12 == 0) item = 12;
  if (pick(random, 4) == 0 && c.data.size() % 8 == 0) item = 8;
  Guarded target(c.data.size());
  assemble(plan, item, target, random);
  ASSERT_TRUE(target.intact());
  ASSERT_EQ(target.bytes(), c.data) << "items of " << item << " bytes";
}

TEST(BloscKernels, DecodeWhatTheLibraryEncodes) {
  const Cases cases(20000, "Blosc chunks");
  Seen seen;
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    Random random(cases.first + i);
    const BloscCase c = testing::random_blosc(random);
    SCOPED_TRACE(Cases::repeat(cases.first + i) + " (" + c.text() + ")");
    check_case(c, random, seen);
    if (::testing::Test::HasFatalFailure()) return;
  }
  for (const auto& [what, count] : seen.counts)
    std::printf("  %s: %llu\n", what.c_str(), static_cast<unsigned long long>(count));
  if (cases.count < 1000) return;
  for (const char* what :
       {"stored stream", "compressed stream", "stored value", "short last block", "split blocks",
        "bytes unshuffled", "bits unshuffled", "wide elements", "blosclz", "lz4", "lz4hc", "zlib", "zstd"})
    EXPECT_GE(seen.counts[what], cases.count / 100) << what;
}

// Damaged chunks: what the host's checks let through, the kernels survive.
TEST(BloscKernels, DamagedChunksStayInBounds) {
  const Cases cases(10000, "damaged Blosc chunks");
  std::uint64_t planned = 0;
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    BloscCase c = testing::random_blosc(random, 2000);
    for (std::uint64_t k = 1 + pick(random, 3); k > 0; --k) {
      // Mostly in the header and the table, where it matters most; but not in the encoded size, which would end it at once.
      std::size_t at =
          pick(random, pick(random, 2) == 0 ? std::min<std::size_t>(c.encoded.size(), 64) : c.encoded.size());
      if (at >= 12 && at < 16) at = 2;
      c.encoded[at] = testing::one_of<std::uint8_t>(
          random, {0, 1, 2, 4, 16, 127, 128, 255, static_cast<std::uint8_t>(random())});
    }
    Guarded source(c.encoded);
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(c.encoded.data()),
                                           c.encoded.size());
    try {
      const BloscHeader header = BloscHeader::parse(bytes, bytes.size());
      if (device_scratch_size(header) > 1 << 20) continue;
      const BloscFrame frame = BloscFrame::parse(header, bytes);
      Guarded scratch(static_cast<std::size_t>(device_scratch_size(header)));
      const BloscOnDevice plan = plan_blosc(frame, bytes, reinterpret_cast<const std::byte*>(source.data()),
                                            reinterpret_cast<std::byte*>(scratch.data()));
      std::vector<kernels::Stream> streams;
      for (const DeviceStream& stream : plan.streams)
        if (stream.by_kernel()) streams.push_back(stream.kernel_stream());
      std::vector<std::uint32_t> statuses(streams.size(), kernels::status_not_run);
      run_units(kernels::DecodeStreams{streams.data(), statuses.data(), streams.size()}, random);
      for (const std::uint32_t status : statuses) ASSERT_NE(status, kernels::status_not_run);
      ASSERT_TRUE(scratch.intact());
      Guarded target(header.decoded_size);
      assemble(plan, 1, target, random);
      ASSERT_TRUE(target.intact());
      ++planned;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::corrupt_chunk) << error.message();
    }
  }
  EXPECT_GE(planned, cases.count / 20);
}

}  // namespace
}  // namespace zarrive::gpu
