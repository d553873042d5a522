#include "support/workload.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

template <class T>
void fill(std::byte* data, const Place& start, const Place& extent) {
  std::vector<T> row(extent[2]);
  for (std::uint64_t z = start[0]; z < start[0] + extent[0]; ++z)
    for (std::uint64_t y = start[1]; y < start[1] + extent[1]; ++y) {
      const std::uint64_t first = row_offset(z, y) + start[2];
      for (std::uint64_t x = 0; x < row.size(); ++x)
        row[x] = static_cast<T>(static_cast<std::uint16_t>(first + x));
      std::memcpy(data, row.data(), row.size() * sizeof(T));
      data += row.size() * sizeof(T);
    }
}

[[noreturn]] void wrong(std::uint64_t z, std::uint64_t y, std::uint64_t x, double found,
                        std::uint64_t expected) {
  throw std::runtime_error("wrong value at (" + std::to_string(z) + ", " + std::to_string(y) + ", " +
                           std::to_string(x) + "): found " + std::to_string(found) + ", expected " +
                           std::to_string(expected));
}

template <class T>
std::uint64_t check_row(const std::byte* data, std::uint64_t z, std::uint64_t y, std::uint64_t x,
                        std::uint64_t count) {
  const std::uint64_t first = row_offset(z, y) + x;
  std::uint64_t sum = 0;
  std::uint32_t differences = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    const auto expected = static_cast<std::uint16_t>(first + i);
    differences |= static_cast<std::uint32_t>(value != static_cast<T>(expected));
    sum += expected;
  }
  if (differences == 0) return sum;
  for (std::uint64_t i = 0;; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    const auto expected = static_cast<std::uint16_t>(first + i);
    if (value != static_cast<T>(expected)) wrong(z, y, x + i, static_cast<double>(value), expected);
  }
}

template <class T>
std::uint64_t check(const std::byte* data, const Place& start, const Place& extent, bool sample) {
  std::uint64_t sum = 0;
  const std::size_t row = extent[2] * sizeof(T);
  const std::uint64_t step = sample ? std::max<std::uint64_t>(extent[1] - 1, 1) : 1;
  for (std::uint64_t z = 0; z < extent[0]; ++z)
    for (std::uint64_t y = 0; y < extent[1]; y += step)
      sum += check_row<T>(data + (z * extent[1] + y) * row, start[0] + z, start[1] + y, start[2], extent[2]);
  return sum;
}

}  // namespace

std::string Recipe::chunk_file(std::uint64_t z, std::uint64_t y, std::uint64_t x) const {
  return (v2 ? "" : "c/") + std::to_string(z) + '/' + std::to_string(y) + '/' + std::to_string(x);
}

std::uint64_t scale_of(std::string_view size) {
  if (size == "full") return 1;
  if (size == "small") return 4;
  if (size == "tiny") return 16;
  throw std::invalid_argument("size is '" + std::string(size) + "'; full, small or tiny");
}

Recipe recipe(char name, std::uint64_t scale) {
  Recipe out;
  switch (name) {
    case 'A': out = {'A', 1024, 256, 0, Codec::none}; break;
    case 'B': out = {'B', 1024, 256, 0, Codec::zstd}; break;
    case 'C': out = {'C', 1024, 256, 64, Codec::zstd}; break;
    case 'D': out = {'D', 1024, 128, 0, Codec::blosc_lz4, true}; break;
    case 'E': out = {'E', 512, 32, 0, Codec::zstd}; break;
    case 'F': out = {'F', 512, 128, 0, Codec::gzip}; break;
    case 'G': out = {'G', 512, 128, 0, Codec::blosc_bitshuffle, false, true}; break;
    default: throw std::invalid_argument(std::string("no array ") + name + "; A to G");
  }
  out.edge /= scale;
  out.chunk /= scale;
  out.inner /= scale;
  return out;
}

void fill_box(std::byte* data, const Place& start, const Place& extent, bool float32) {
  if (float32) fill<float>(data, start, extent);
  else fill<std::uint16_t>(data, start, extent);
}

std::uint64_t check_box(const std::byte* data, const Place& start, const Place& extent, bool float32) {
  return float32 ? check<float>(data, start, extent, false)
                 : check<std::uint16_t>(data, start, extent, false);
}

std::uint64_t sample_box(const std::byte* data, const Place& start, const Place& extent, bool float32) {
  return float32 ? check<float>(data, start, extent, true) : check<std::uint16_t>(data, start, extent, true);
}

std::uint64_t check_cube(const std::byte* data, std::uint64_t edge, bool float32, std::size_t threads) {
  std::vector<std::uint64_t> sums(threads);
  std::vector<std::exception_ptr> errors(threads);
  std::vector<std::thread> workers;
  const std::size_t plane = edge * edge * (float32 ? 4 : 2);
  for (std::size_t t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      try {
        for (std::uint64_t z = t; z < edge; z += threads)
          sums[t] += check_box(data + z * plane, {z, 0, 0}, {1, edge, edge}, float32);
      } catch (...) {
        errors[t] = std::current_exception();
      }
    });
  for (std::thread& worker : workers) worker.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  std::uint64_t sum = 0;
  for (const std::uint64_t part : sums) sum += part;
  return sum;
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Place slice_extent(std::uint64_t edge) {
  Place extent = {64, 64, 8};
  for (std::uint64_t& e : extent) e = std::max<std::uint64_t>(e * edge / 1024, 1);
  return extent;
}

std::vector<Place> slice_places(std::uint64_t edge) {
  const Place extent = slice_extent(edge);
  Random random(2024);
  std::vector<Place> out(edge == 1024 ? 1000 : 100);
  for (Place& place : out)
    for (std::size_t d = 0; d < 3; ++d) place[d] = random.below(edge - extent[d] + 1);
  return out;
}

std::vector<std::uint64_t> gather_rows(std::uint64_t edge) {
  Random random(1024);
  std::vector<std::uint64_t> rows(1024);
  for (std::uint64_t& row : rows) row = random.below(edge);
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<Place> tiles(std::uint64_t edge, std::uint64_t piece) {
  std::vector<Place> out;
  for (std::uint64_t z = 0; z < edge; z += piece)
    for (std::uint64_t y = 0; y < edge; y += piece)
      for (std::uint64_t x = 0; x < edge; x += piece) out.push_back({z, y, x});
  return out;
}

}  // namespace bench
