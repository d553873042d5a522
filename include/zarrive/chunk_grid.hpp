// Chunk grids: how an array is cut into chunks. Regular (v2, v3 core) and rectilinear (zarr-extensions).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/export.hpp"
#include "zarrive/json.hpp"

namespace zarrive {

class ZARRIVE_API ChunkGrid {
 public:
  ChunkGrid() = default;  // 0-d: one chunk
  // Every chunk has this shape (edges >= 1; Error(invalid_metadata) otherwise).
  static ChunkGrid regular(Shape chunk_shape);

  // One dimension of a rectilinear grid: runs of equal edges. `repeat`: the single edge covers any length.
  struct Run {
    std::uint64_t edge = 1;
    std::uint64_t count = 1;
    bool operator==(const Run&) const = default;
  };
  struct Dimension {
    std::vector<Run> runs = {};
    bool repeat = false;  // runs holds one edge, repeated as often as the array needs
    bool operator==(const Dimension&) const = default;
  };
  // Neighbouring runs of the same edge are joined. Error(invalid_metadata) for edges or counts of 0 and for a dimension without chunks,
  // Error(resource_limit) when the edges of a dimension sum up to 2^63 or more.
  static ChunkGrid rectilinear(std::vector<Dimension> dimensions);

  // The v3 member "chunk_grid". Error(invalid_metadata) or Error(unsupported) for an unknown name. `warn` gets a sentence for each lenient
  // case: unknown configuration members, and the draft name "rectangular".
  static ChunkGrid from_json(const Json& value, std::size_t ndim,
                             const std::function<void(const std::string&)>& warn = {});
  Json to_json() const;

  bool is_regular() const noexcept { return regular_; }
  std::size_t ndim() const noexcept { return regular_ ? chunk_shape_.size() : dimensions_.size(); }
  // Of a regular grid.
  const Shape& chunk_shape() const noexcept { return chunk_shape_; }
  const std::vector<Dimension>& dimensions() const noexcept { return dimensions_; }

  // Error(invalid_metadata) when this grid cannot cover an array of this shape.
  void check(std::span<const std::uint64_t> array_shape) const;

  // Number of chunks along each dimension that hold elements of an array of this shape.
  Shape grid_shape(std::span<const std::uint64_t> array_shape) const;
  // Along one dimension: which chunk holds this position; where a chunk starts; how long it is (the full edge, also past the array's end).
  // Error(out_of_bounds) past the last chunk of a rectilinear dimension, or when the start of a regular chunk passes 2^64.
  std::uint64_t chunk_at(std::size_t dimension, std::uint64_t position) const;
  std::uint64_t chunk_start(std::size_t dimension, std::uint64_t chunk) const;
  std::uint64_t chunk_edge(std::size_t dimension, std::uint64_t chunk) const;

  Shape chunk_shape(std::span<const std::uint64_t> index) const;   // full shape of one chunk
  Index chunk_origin(std::span<const std::uint64_t> index) const;  // its first element

  bool operator==(const ChunkGrid& other) const;

 private:
  struct Prefix {  // first chunk and first position of a run
    std::uint64_t chunk;
    std::uint64_t position;
  };
  bool regular_ = true;
  Shape chunk_shape_;
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<Prefix>> prefixes_;
};

}  // namespace zarrive
