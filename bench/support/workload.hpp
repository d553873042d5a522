// What is measured: the arrays A to G, the value that stands at each place of them, and the pieces that the tasks read. Nothing here
// knows Zarrive, so that the bare loops of bench/limit are free of it. bench/workload.py says the same in Python; the runner compares sums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Codec : std::uint8_t { none, zstd, blosc_lz4, blosc_bitshuffle, gzip };

// A cube of `edge`^3 elements in cubes of `chunk`^3.
struct Recipe {
  char name = 'A';
  std::uint64_t edge = 0;
  std::uint64_t chunk = 0;
  std::uint64_t inner = 0;  // edge of a shard's inner chunks; 0: not sharded
  Codec codec = Codec::none;
  bool v2 = false;
  bool float32 = false;  // else uint16

  std::size_t item_size() const { return float32 ? 4 : 2; }
  std::size_t bytes() const { return edge * edge * edge * item_size(); }
  std::uint64_t chunks_along() const { return edge / chunk; }
  // The file of a chunk below the array's folder.
  std::string chunk_file(std::uint64_t z, std::uint64_t y, std::uint64_t x) const;
};

// "full", "small" (edges divided by 4: 1/64 of the elements, the same number of chunks) or "tiny" (by 16).
std::uint64_t scale_of(std::string_view size);
inline constexpr std::string_view all_arrays = "ABCDEFG";
Recipe recipe(char name, std::uint64_t scale);

// The value at (z, y, x) is (x + row_offset(z, y)) mod 65536.
constexpr std::uint64_t row_offset(std::uint64_t z, std::uint64_t y) { return y * y / 32 + z * z * z; }

using Place = std::array<std::uint64_t, 3>;  // z, y, x

// Fills a dense box (C order) at `start`.
void fill_box(std::byte* data, const Place& start, const Place& extent, bool float32);
// Sums a dense box and compares every element; throws std::runtime_error that names the first wrong one.
std::uint64_t check_box(const std::byte* data, const Place& start, const Place& extent, bool float32);
// The same of a cube of edge^3, `threads` at a time.
std::uint64_t check_cube(const std::byte* data, std::uint64_t edge, bool float32, std::size_t threads);
// For pieces that are not kept: sums and compares only the first and the last row of each z of a dense box, so that looking at the
// data costs nothing beside reading it.
std::uint64_t sample_box(const std::byte* data, const Place& start, const Place& extent, bool float32);

// Pseudo-random numbers that C++ and Python agree on (SplitMix64, Steele et al. 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

// `slices`: a thousand boxes of 64x64x8, anywhere; a hundred smaller ones in smaller arrays.
Place slice_extent(std::uint64_t edge);
std::vector<Place> slice_places(std::uint64_t edge);
// `gather`: positions along z, sorted, repetitions included, of which array[rows, gather_y, :] is read.
std::vector<std::uint64_t> gather_rows(std::uint64_t edge);
constexpr std::uint64_t gather_y(std::uint64_t edge) { return edge / 2 + 1; }
// `plane`: array[:, :, plane_x].
constexpr std::uint64_t plane_x(std::uint64_t edge) { return edge / 3; }

// The places of cubes of edge `piece` that tile a cube of `edge`, in C order.
std::vector<Place> tiles(std::uint64_t edge, std::uint64_t piece);

}  // namespace bench
