// gather, scatter and fill_places against loops over single elements: parts of all kinds, views of all layouts, types of all sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "zarrive/chunk_part.hpp"
#include "zarrive/fill_value.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

using Random = std::mt19937_64;
std::uint64_t pick(Random& random, std::uint64_t count) { return random() % count; }

// A view with dimensions in random order, gaps and directions, and the memory below it.
struct Memory {
  std::vector<std::byte> bytes;
  std::vector<std::string> strings;
  ArrayView view;
};

void lay_out(Random& random, const DataType& type, const Shape& shape, Memory& out) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (pick(random, 2)) std::shuffle(order.begin(), order.end(), random);
  else std::reverse(order.begin(), order.end());  // C order
  const auto item = static_cast<std::int64_t>(type.item_size());
  Strides strides(shape.size());
  std::int64_t reach = item, offset = 0;
  const bool gaps = pick(random, 2) != 0;
  for (const std::size_t d : order) {
    strides[d] = reach + (gaps ? static_cast<std::int64_t>(pick(random, 2)) * item : 0);
    reach = strides[d] * static_cast<std::int64_t>(std::max<std::uint64_t>(shape[d], 1));
    if (gaps && pick(random, 3) == 0 && shape[d] > 0) {
      offset += strides[d] * static_cast<std::int64_t>(shape[d] - 1);
      strides[d] = -strides[d];
    }
  }
  std::byte* data = nullptr;
  if (type.is_variable()) {
    out.strings.assign(static_cast<std::size_t>(reach / item) + 1, "");
    for (std::string& s : out.strings)
      s = std::string(pick(random, 30), static_cast<char>('a' + pick(random, 26)));
    data = reinterpret_cast<std::byte*>(out.strings.data());
  } else {
    out.bytes.resize(static_cast<std::size_t>(reach) + 16);
    for (std::byte& b : out.bytes) b = static_cast<std::byte>(pick(random, 100));
    data = out.bytes.data();
  }
  out.view = ArrayView(data + offset, type, shape, strides);
}

std::byte* address(const ArrayView& view, const Index& at) {
  std::byte* out = view.data;
  for (std::size_t d = 0; d < at.size(); ++d) out += static_cast<std::int64_t>(at[d]) * view.strides[d];
  return out;
}

Index unravel(std::uint64_t flat, const Shape& shape) {
  Index at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; flat /= shape[d]) at[d] = flat % shape[d];
  return at;
}

// A random part of a chunk, and the shape of an output that it fits.
struct Case {
  Shape chunk_shape;
  Shape output_shape;
  ChunkPart part;
};

std::shared_ptr<std::vector<std::vector<std::uint64_t>>> storage;

const std::uint64_t* keep(std::vector<std::uint64_t> numbers) {
  storage->push_back(std::move(numbers));
  return storage->back().data();
}

std::vector<std::uint64_t> random_positions(Random& random, std::uint64_t extent, std::uint64_t count,
                                            std::uint64_t origin) {
  std::vector<std::uint64_t> out;
  if (pick(random, 3) == 0) {  // runs of neighbours
    while (out.size() < count) {
      std::uint64_t at = pick(random, extent);
      for (std::uint64_t n = 1 + pick(random, 20); n > 0 && at < extent && out.size() < count; --n)
        out.push_back(origin + at++);
    }
    return out;
  }
  while (out.size() < count) out.push_back(origin + pick(random, extent));
  if (pick(random, 2)) std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::uint64_t> random_places(Random& random, std::uint64_t extent, std::uint64_t count) {
  std::vector<std::uint64_t> out(static_cast<std::size_t>(extent));
  std::iota(out.begin(), out.end(), std::uint64_t{0});
  if (pick(random, 2)) std::shuffle(out.begin(), out.end(), random);
  out.resize(static_cast<std::size_t>(count));
  if (pick(random, 2)) std::sort(out.begin(), out.end());
  return out;
}

Case random_case(Random& random) {
  storage = std::make_shared<std::vector<std::vector<std::uint64_t>>>();
  storage->reserve(64);
  Case out;
  const std::size_t ndim = pick(random, 4);
  for (std::size_t d = 0; d < ndim; ++d) out.chunk_shape.push_back(1 + pick(random, ndim == 1 ? 300 : 12));
  if (pick(random, 3) == 0) {  // points
    for (std::size_t d = pick(random, 3); d > 0; --d) out.output_shape.push_back(1 + pick(random, 40));
    const std::uint64_t room = element_count(out.output_shape);
    std::uint64_t count = pick(random, room + 1);
    std::vector<PartDimension> dimensions(ndim);
    for (std::size_t d = 0; d < ndim; ++d) {
      dimensions[d].origin = pick(random, 1000);
      dimensions[d].count = count;
      dimensions[d].positions =
          keep(random_positions(random, out.chunk_shape[d], count, dimensions[d].origin));
    }
    const bool consecutive = pick(random, 2) != 0;
    out.part = ChunkPart::points(dimensions, consecutive ? nullptr : keep(random_places(random, room, count)),
                                 count, storage, consecutive ? pick(random, room - count + 1) : 0);
    return out;
  }
  std::vector<PartDimension> dimensions(ndim);
  for (std::size_t d = 0; d < ndim; ++d) {
    PartDimension& part = dimensions[d];
    const std::uint64_t extent = out.chunk_shape[d];
    if (pick(random, 2)) {
      part.step = 1 + static_cast<std::int64_t>(pick(random, 3));
      part.count = pick(random, (extent - 1) / static_cast<std::uint64_t>(part.step) + 2);
      part.start =
          pick(random, extent - (part.count ? (part.count - 1) * static_cast<std::uint64_t>(part.step) : 0));
      if (part.count > 0 && pick(random, 3) == 0) {
        part.start += (part.count - 1) * static_cast<std::uint64_t>(part.step);
        part.step = -part.step;
      }
    } else {
      part.count = pick(random, 2 * extent);
      part.origin = pick(random, 1000);
      part.positions = keep(random_positions(random, extent, part.count, part.origin));
    }
    const std::uint64_t room = part.count + pick(random, 5) + 1;
    out.output_shape.push_back(room);
    if (!part.is_range() && pick(random, 2)) part.outputs = keep(random_places(random, room, part.count));
    else part.output_start = pick(random, room - part.count + 1);
  }
  out.part = ChunkPart(dimensions, storage);
  return out;
}

// Calls visit(position in the chunk, place in the output) in C order of the part.
template <class Visit>
void each(const Case& c, const Visit& visit) {
  const auto& dimensions = c.part.dimensions();
  if (c.part.is_points()) {
    for (std::uint64_t i = 0; i < c.part.size(); ++i) {
      Index position;
      for (const PartDimension& d : dimensions) position.push_back(d.position(i));
      visit(position, unravel(c.part.point_place(i), c.output_shape));
    }
    return;
  }
  Shape counts;
  for (const PartDimension& d : dimensions) counts.push_back(d.count);
  for (std::uint64_t i = 0; i < element_count(counts); ++i) {
    const Index at = unravel(i, counts);
    Index position, place;
    for (std::size_t d = 0; d < at.size(); ++d) {
      position.push_back(dimensions[d].position(at[d]));
      place.push_back(dimensions[d].place(at[d]));
    }
    visit(position, place);
  }
}

void move_one(const DataType& from, const std::byte* source, const DataType& to, std::byte* destination) {
  if (from.is_variable())
    *reinterpret_cast<std::string*>(destination) = *reinterpret_cast<const std::string*>(source);
  else convert_elements(from, source, 0, to, destination, 0, 1);
}

struct TypePair {
  const char* chunk;
  const char* output;
};
constexpr TypePair kTypes[] = {
    {"uint8", "uint8"},           {"int16", "int16"},
    {"float32", "float32"},       {"float64", "float64"},
    {"complex128", "complex128"}, {"|V5", "|V5"},
    {"string", "string"},         {"uint8", "float64"},
    {"int16", "complex64"},       {R"([["a", "|u1"], ["b", "<f4"]])", R"([["a", "|u1"], ["b", "<f4"]])"}};

TEST(PartCopy, EqualsLoopsOverElements) {
  Random random(5);
  for (int i = 0; i < 6000; ++i) {
    const Case c = random_case(random);
    const TypePair& types = kTypes[pick(random, std::size(kTypes))];
    const DataType in_chunk = DataType::parse(types.chunk), in_output = DataType::parse(types.output);
    Memory chunk, output;
    lay_out(random, in_chunk, c.chunk_shape, chunk);
    lay_out(random, in_output, c.output_shape, output);
    const bool out = pick(random, 2) != 0;
    Memory& target = out ? output : chunk;
    const std::vector<std::byte> bytes_before = target.bytes;
    const std::vector<std::string> strings_before = target.strings;
    each(c, [&](const Index& position, const Index& place) {
      std::byte* const p = address(chunk.view, position);
      std::byte* const q = address(output.view, place);
      if (out) move_one(in_chunk, p, in_output, q);
      else if (in_chunk == in_output) move_one(in_output, q, in_chunk, p);
    });
    const std::vector<std::byte> bytes_expected = std::exchange(target.bytes, bytes_before);
    const std::vector<std::string> strings_expected = std::exchange(target.strings, strings_before);
    // the vectors' memory has moved with them
    ArrayView view = target.view;
    const std::byte* old_data = in_chunk.is_variable()
                                    ? reinterpret_cast<const std::byte*>(strings_expected.data())
                                    : bytes_expected.data();
    std::byte* new_data =
        in_chunk.is_variable() ? reinterpret_cast<std::byte*>(target.strings.data()) : target.bytes.data();
    view.data = new_data + (target.view.data - old_data);
    if (out) gather(chunk.view, c.part, view);
    else if (in_chunk == in_output) scatter(output.view, c.part, view);
    ASSERT_EQ(target.bytes, bytes_expected) << "case " << i << " of " << types.chunk;
    ASSERT_EQ(target.strings, strings_expected) << "case " << i;
  }
}

TEST(PartCopy, FillsPlaces) {
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    const Case c = random_case(random);
    const DataType type = DataType::parse(pick(random, 3) ? "int32" : "|V5");
    Memory output;
    lay_out(random, type, c.output_shape, output);
    const std::vector<std::byte> before = output.bytes;
    std::vector<std::byte> element(type.item_size());
    for (std::byte& b : element) b = static_cast<std::byte>(pick(random, 256));
    fill_places(c.part, output.view, FillValue::from_bytes(type, element));
    std::vector<std::byte> expected = before;
    each(c, [&](const Index&, const Index& place) {
      std::memcpy(expected.data() + (address(output.view, place) - output.bytes.data()), element.data(),
                  element.size());
    });
    ASSERT_EQ(output.bytes, expected) << "case " << i;
  }
}

TEST(PartCopy, CoversIsWhatLoopsFind) {
  Random random(7);
  int covering = 0;
  for (int i = 0; i < 4000; ++i) {
    Case c = random_case(random);
    if (pick(random, 2)) {  // small chunks are covered by chance
      for (std::size_t d = 0; d < c.chunk_shape.size(); ++d) c.chunk_shape[d] = 1 + pick(random, 3);
      for (const PartDimension& d : c.part.dimensions())
        if (d.count == 0) c.chunk_shape.clear();
      if (c.chunk_shape.size() != c.part.ndim()) continue;
    }
    std::vector<bool> seen(static_cast<std::size_t>(element_count(c.chunk_shape)));
    std::size_t left = seen.size();
    bool inside = true;
    each(c, [&](const Index& position, const Index&) {
      std::uint64_t flat = 0;
      bool in = true;
      for (std::size_t d = 0; d < position.size(); ++d) {
        in = in && position[d] < c.chunk_shape[d];
        flat = flat * c.chunk_shape[d] + position[d];
      }
      inside = inside && in;
      if (in && !seen[flat]) seen[flat] = true, --left;
    });
    if (!inside) continue;  // not a part of this chunk
    EXPECT_EQ(c.part.covers(c.chunk_shape), left == 0) << "case " << i;
    covering += left == 0;
  }
  EXPECT_GT(covering, 50);
}

TEST(PartCopy, TheLastOfEqualPositionsStays) {
  const std::vector<std::uint64_t> positions{2, 0, 2, 2};
  PartDimension list;
  list.positions = positions.data();
  list.count = 4;
  std::vector<int> chunk(3, 0), input{1, 2, 3, 4};
  scatter(ArrayView::of(input.data(), {4}), ChunkPart({list}), ArrayView::of(chunk.data(), {3}));
  EXPECT_EQ(chunk, (std::vector<int>{2, 0, 4}));
  chunk = {0, 0, 0};
  scatter(ArrayView::of(input.data(), {4}), ChunkPart::points({list}, nullptr, 4, {}),
          ArrayView::of(chunk.data(), {3}));
  EXPECT_EQ(chunk, (std::vector<int>{2, 0, 4}));
}

TEST(PartCopy, RefusesDeviceMemory) {
  const std::vector<std::uint64_t> positions{0, 0};
  PartDimension list;
  list.positions = positions.data();
  list.count = 2;
  std::vector<int> chunk(3, 0);
  ArrayView device = ArrayView::of(chunk.data(), {2});
  device.space = {MemoryKind::cuda, 0};
  EXPECT_THROW(gather(ArrayView::of(chunk.data(), {3}), ChunkPart({list}), device), Error);
  EXPECT_THROW(gather(device, ChunkPart({list}), ArrayView::of(chunk.data(), {3})), Error);
}

}  // namespace
}  // namespace zarrive
