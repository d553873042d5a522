// The bodies of delta and of checksums against the host's.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "codec/array_codec_suite.hpp"
#include "codec/checksum.hpp"
#include "gpu/kernels_support.hpp"
#include "gpu/lane_team.hpp"

namespace zarrive::gpu {
namespace {

std::span<const std::byte> as_bytes(const Bytes& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

TEST(DeltaKernel, SumsAsTheCodecDoes) {
  const Cases cases(2000, "deltas");
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    static constexpr TypeId types[] = {TypeId::boolean, TypeId::int8,   TypeId::uint16, TypeId::int16,
                                       TypeId::int32,   TypeId::uint32, TypeId::int64,  TypeId::uint64};
    const DataType type(testing::one_of(random, types));
    const std::size_t width = type.item_size();
    const bool lanes = i % 20 == 0;
    const std::size_t count = some_size(random, lanes ? 60 : 3000);
    Bytes data = some_data(random, count * width);
    if (type.id() == TypeId::boolean)
      for (std::uint8_t& byte : data) byte &= 1;

    const ArraySpec spec = zarrive::testing::spec_of(type, {count});
    const auto codec = zarrive::testing::array_codec("delta", "{}", ZarrFormat::v2)->bind(spec);
    Bytes expected(data.size());
    Bytes encoded = data;
    codec->decode(ArrayView(reinterpret_cast<std::byte*>(encoded.data()), type, {count}),
                  ArrayView(reinterpret_cast<std::byte*>(expected.data()), type, {count}), {});
    Guarded in(data);
    const kernels::Delta delta{in.data(), count, static_cast<std::uint32_t>(width),
                               type.id() == TypeId::boolean};
    const kernels::SumDeltas body{&delta, 1};
    if (lanes) {
      LaneTeam team(1 + static_cast<std::uint32_t>(pick(random, 8)), random());
      team.run([&](const LaneGroup& group) { body.run(0, group); });
    } else {
      body.run(0, kernels::HostGroup{});
    }
    ASSERT_EQ(in.bytes(), expected);
    ASSERT_TRUE(in.intact());
  }
}

std::uint32_t host_sum(kernels::ChecksumKind kind, const Bytes& data) {
  const auto size = static_cast<uInt>(data.size());
  switch (kind) {
    case kernels::ChecksumKind::crc32: return static_cast<std::uint32_t>(::crc32(0, data.data(), size));
    case kernels::ChecksumKind::adler32: return static_cast<std::uint32_t>(::adler32(1, data.data(), size));
    default: return crc32c(as_bytes(data));
  }
}

TEST(ChecksumKernel, SumsAreThoseOfTheHost) {
  const Cases cases(2000, "checksums");
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    const auto kind = static_cast<kernels::ChecksumKind>(pick(random, 3));
    Bytes data = some_data(random, some_size(random, i % 10 == 0 ? 100'000 : 5000));
    if (pick(random, 10) == 0) std::fill(data.begin(), data.end(), std::uint8_t{255});  // the greatest sums
    data.reserve(data.size() + 4);  // zlib takes a null pointer for a question
    const std::uint32_t sum = host_sum(kind, data);
    const std::size_t size = data.size();
    const bool wrong = pick(random, 2) == 0;
    const std::uint32_t written = wrong ? sum ^ 1U << pick(random, 32) : sum;
    for (unsigned k = 0; k < 4; ++k) data.push_back(static_cast<std::uint8_t>(written >> (8 * k)));
    Guarded in(data);
    const bool stored = pick(random, 2) == 0;
    const kernels::ChecksumRange range{in.data(), size, stored ? in.data() + size : nullptr,
                                       stored ? 0 : written, kind};
    std::uint32_t status = kernels::status_not_run;
    const kernels::CheckSums body{&range, &status, 1};
    if (i % 4 == 0) {
      LaneTeam team(1 + static_cast<std::uint32_t>(pick(random, 16)), random());
      team.run([&](const LaneGroup& group) { body.run(0, group); });
    } else {
      body.run(0, kernels::HostGroup{});
    }
    ASSERT_EQ(status, wrong ? kernels::status_corrupt : kernels::status_ok) << size;
  }
}

}  // namespace
}  // namespace zarrive::gpu
