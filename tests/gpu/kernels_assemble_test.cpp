// The body that assembles chunks: any layout, any part, any order of dimensions and strides, against the host's gather.
#include <gtest/gtest.h>

#include "codec/device_part.hpp"
#include "gpu/host_assemble.hpp"

namespace zarrive::gpu {
namespace {

using kernels::Shuffle;

// Forward: what a layout does to plain bytes, block by block, as its description says.
Bytes laid_out(const Bytes& plain, const Layout& layout) {
  if (layout.shuffle == Shuffle::none) return plain;
  Bytes result = plain;
  for (std::size_t begin = 0; begin < plain.size(); begin += layout.block_size) {
    const std::size_t length = std::min<std::size_t>(layout.block_size, plain.size() - begin);
    const std::size_t elements = length / layout.width;
    if (layout.shuffle == Shuffle::bits && elements % 8 != 0) continue;
    if (layout.shuffle == Shuffle::bits)
      std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(begin), elements * layout.width,
                  std::uint8_t{0});
    for (std::size_t i = 0; i < elements; ++i)
      for (std::size_t b = 0; b < layout.width; ++b) {
        const std::uint8_t byte = plain[begin + i * layout.width + b];
        if (layout.shuffle == Shuffle::bytes) {
          result[begin + b * elements + i] = byte;
          continue;
        }
        for (std::size_t k = 0; k < 8; ++k)
          result[begin + (b * 8 + k) * (elements / 8) + i / 8] |=
              static_cast<std::uint8_t>((byte >> k & 1) << (i % 8));
      }
  }
  return result;
}

struct Lists {
  std::vector<std::unique_ptr<std::vector<std::uint64_t>>> all;
  const std::uint64_t* add(std::vector<std::uint64_t> list) {
    return all.emplace_back(std::make_unique<std::vector<std::uint64_t>>(std::move(list)))->data();
  }
};

// `count` different numbers below `limit`.
std::vector<std::uint64_t> different(Random& random, std::uint64_t count, std::uint64_t limit) {
  std::vector<std::uint64_t> numbers(limit);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::shuffle(numbers.begin(), numbers.end(), random);
  numbers.resize(count);
  return numbers;
}

PartDimension some_dimension(Random& random, std::uint64_t length, std::uint64_t& extent, Lists& lists) {
  PartDimension dimension;
  if (pick(random, 3) != 0) {
    dimension.step = one_of<std::int64_t>(random, {1, 1, 1, 2, 3, -1, -2, -5});
    dimension.start = pick(random, length);
    const std::uint64_t room = dimension.step > 0 ? length - dimension.start : dimension.start + 1;
    const auto stride = static_cast<std::uint64_t>(std::abs(dimension.step));
    dimension.count = 1 + pick(random, (room - 1) / stride + 1);
    if (pick(random, 2) == 0) dimension.start = dimension.step > 0 ? 0 : length - 1;
    if (pick(random, 50) == 0) dimension.count = 0;
    dimension.output_start = pick(random, 3);
    extent = dimension.output_start + dimension.count;
    return dimension;
  }
  dimension.origin = pick(random, 100);
  dimension.count = pick(random, 2 * length) + 1;
  std::vector<std::uint64_t> positions(dimension.count);
  for (std::uint64_t& position : positions) position = dimension.origin + pick(random, length);
  dimension.positions = lists.add(std::move(positions));
  extent = dimension.count + pick(random, 3);
  if (pick(random, 2) == 0) dimension.outputs = lists.add(different(random, dimension.count, extent));
  return dimension;
}

// Strides of a dense array whose dimensions lie in some order, some of them backwards; `start`: of the first element.
Strides some_strides(Random& random, const Shape& shape, std::size_t item, std::int64_t& start) {
  std::vector<std::uint64_t> order = different(random, shape.size(), shape.size());
  Strides strides(shape.size());
  std::int64_t step = static_cast<std::int64_t>(item);
  start = 0;
  for (const std::uint64_t d : order) {
    const auto extent = static_cast<std::int64_t>(shape[d]);
    const bool backwards = extent > 0 && pick(random, 4) == 0;
    strides[d] = backwards ? -step : step;
    if (backwards) start += step * (extent - 1);
    step *= std::max<std::int64_t>(extent, 1);
  }
  return strides;
}

TEST(AssembleKernel, AnyPartOfAnyLayoutToAnyPlace) {
  const Cases cases(6000, "parts");
  for (std::uint64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(Cases::repeat(cases.first + i));
    Random random(cases.first + i);
    const std::size_t item = pick(random, 2) == 0 ? std::size_t{1} << pick(random, 5) : 1 + pick(random, 40);
    const DataType type = DataType::raw(item);
    Shape shape(pick(random, 5));
    std::uint64_t elements = 1;
    for (std::uint64_t& length : shape) {
      length = 1 + testing::some_size(random, shape.size() > 2 ? 12 : 60);
      elements *= length;
    }
    // The chunk: dense in some order of its dimensions.
    std::int64_t chunk_start = 0;
    const Strides chunk_strides = some_strides(random, shape, item, chunk_start);
    Bytes plain(elements * item);
    for (std::uint8_t& byte : plain) byte = static_cast<std::uint8_t>(random());
    Layout layout{plain.size(), static_cast<std::uint32_t>(1 + testing::some_size(random, 2000)), 1,
                  one_of<Shuffle>(random, {Shuffle::none, Shuffle::bytes, Shuffle::bits})};
    layout.width =
        static_cast<std::uint32_t>(pick(random, 3) != 0 && item <= 255 ? item : 1 + pick(random, 255));
    if (pick(random, 2) == 0)
      layout.block_size = std::max<std::uint32_t>(layout.block_size / layout.width / 8, 1) * 8 * layout.width;
    Guarded source(laid_out(plain, layout));

    Lists lists;
    std::vector<PartDimension> dimensions;
    Shape extents;
    ChunkPart part;
    if (!shape.empty() && pick(random, 4) == 0) {
      const std::uint64_t count = pick(random, 50);
      for (const std::uint64_t length : shape) {
        PartDimension dimension;
        dimension.count = count;
        std::vector<std::uint64_t> positions(count + 1);
        for (std::uint64_t& position : positions) position = pick(random, length);
        dimension.positions = lists.add(std::move(positions));
        dimensions.push_back(dimension);
      }
      extents = {1 + pick(random, 3), count / 2 + 3};
      const std::uint64_t places = extents[0] * extents[1];
      const std::uint64_t taken = std::min(count, places);
      for (PartDimension& dimension : dimensions) dimension.count = taken;
      const bool listed = pick(random, 2) == 0;
      part = ChunkPart::points(std::move(dimensions),
                               listed ? lists.add(different(random, taken, places)) : nullptr, taken, nullptr,
                               listed ? 0 : pick(random, places - taken + 1));
    } else {
      for (const std::uint64_t length : shape)
        dimensions.push_back(some_dimension(random, length, extents.emplace_back(), lists));
      part = ChunkPart(std::move(dimensions));
    }
    std::int64_t output_start = 0;
    const Strides output_strides = some_strides(random, extents, item, output_start);
    const std::size_t output_size = element_count(extents) * item;
    Guarded expected(output_size);
    Guarded found(output_size);
    const auto view = [&](std::uint8_t* data, std::int64_t start, const Shape& s, const Strides& strides) {
      return ArrayView(reinterpret_cast<std::byte*>(data + start), type, s, strides);
    };
    if (output_size != 0)
      gather(view(plain.data(), chunk_start, shape, chunk_strides), part,
             view(expected.data(), output_start, extents, output_strides));

    const DevicePart where =
        device_part(part, chunk_strides, view(found.data(), output_start, extents, output_strides));
    ChunkWork work;
    work.source = reinterpret_cast<const std::byte*>(source.data());
    work.layout = layout;
    work.source_start = chunk_start + where.source_start;
    work.item_size = item;
    work.axes = where.axes;
    work.target = {reinterpret_cast<std::byte*>(found.data()), output_size,
                   output_start + where.target_start};
    ASSERT_EQ(testing::assemble_on_host(work, random), kernels::status_ok);
    ASSERT_EQ(found.bytes(), expected.bytes());
    ASSERT_TRUE(found.intact());
  }
}

TEST(AssembleKernel, JoinsWhatIsContiguous) {
  ChunkWork work;
  work.layout = {24 * 16, 1, 1, Shuffle::none};
  work.item_size = 16;
  work.axes = {{2, 192, 192}, {1, 5, 7}, {3, 64, 64}, {4, 16, 16}};
  work.target = {nullptr, 24 * 16, 0};
  std::optional<ChunkPlan> plan = plan_chunk(work);
  ASSERT_EQ(plan->axes.size(), 1u);
  EXPECT_EQ(plan->axes[0].count, 48u);
  EXPECT_EQ(plan->chunk.source_size, 8);
  // Transposed: what is written next to each other is the last dimension.
  work.axes = {{2, 16, 16}, {12, 32, 32}};
  plan = plan_chunk(work);
  ASSERT_EQ(plan->axes.size(), 1u);
  EXPECT_EQ(plan->axes[0].count, 48u);
}

TEST(AssembleKernel, RefusesWhatIsOutOfBounds) {
  const auto code = [](const ChunkWork& work) {
    try {
      plan_chunk(work);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode{};
  };
  ChunkWork good;
  good.layout = {80, 1, 1, Shuffle::none};
  good.item_size = 8;
  good.axes = {{10, 8, 8}};
  good.target = {nullptr, 80, 0};
  EXPECT_EQ(code(good), ErrorCode{});
  ChunkWork work = good;
  work.axes[0].count = 11;
  EXPECT_EQ(code(work), ErrorCode::out_of_bounds);
  work = good;
  work.source_start = -8;
  EXPECT_EQ(code(work), ErrorCode::out_of_bounds);
  work = good;
  work.target.start = 1;
  EXPECT_EQ(code(work), ErrorCode::out_of_bounds);
  work = good;
  work.axes[0].target_step = -8;
  EXPECT_EQ(code(work), ErrorCode::out_of_bounds);
  work = good;
  work.axes[0].count = ~std::uint64_t{0};
  EXPECT_EQ(code(work), ErrorCode::out_of_bounds);
  work = good;
  work.axes[0] = {.count = std::uint64_t{1} << 40, .source_step = 0, .target_step = std::int64_t{1} << 40};
  EXPECT_EQ(code(work), ErrorCode::out_of_bounds);
  work = good;
  work.axes = {{.count = std::uint64_t{1} << 40}, {.count = std::uint64_t{1} << 40}};
  EXPECT_EQ(code(work), ErrorCode::resource_limit);
  const Place places[] = {{0, 0}, {80, 8}};
  work = good;
  work.axes = {{.count = 2, .places = places}};
  EXPECT_EQ(code(work), ErrorCode::out_of_bounds);
  work = good;
  work.item_size = 0;
  EXPECT_EQ(code(work), ErrorCode::invalid_argument);
  Operation swap{};
  swap.kind = kernels::OperationKind::swap;
  swap.from = swap.to = kernels::NumberType::uint16;
  work = good;
  work.item_size = 3;
  work.operations = {swap};
  EXPECT_EQ(code(work), ErrorCode::invalid_argument);
  Operation convert{};
  convert.kind = kernels::OperationKind::convert;
  convert.from = kernels::NumberType::int32;
  work = good;
  work.operations = {convert};
  EXPECT_EQ(code(work), ErrorCode::invalid_argument);
  work = good;
  work.layout.shuffle = Shuffle::bytes;
  work.layout.width = 0;
  EXPECT_EQ(code(work), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace zarrive::gpu
