// Parts of chunks: which elements of one chunk are wanted, and where each of them goes in the output.
//
// A selection of an array is cut along the chunk grid into such parts, and a part of a shard along its inner grid into parts of inner chunks: the
// same type at every level. Positions count from the chunk's own origin, places from the origin of the output of the whole read or write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/export.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

// A box of elements: where it starts and how far it goes, one entry a dimension.
struct Box {
  Index start = {};
  Shape extent = {};
  bool operator==(const Box&) const = default;
};

// One dimension of a part: `count` positions of the chunk, and a place in the output for each.
struct ZARRIVE_API PartDimension {
  // A range: positions start, start + step, ... to places output_start, output_start + 1, ...
  std::uint64_t start = 0;
  std::int64_t step = 1;  // not zero; negative walks down
  std::uint64_t count = 0;
  std::uint64_t output_start = 0;
  // A list instead: positions[i] - origin to place outputs[i]. The part's `owner` keeps both alive. Places are all different.
  const std::uint64_t* positions = nullptr;
  const std::uint64_t* outputs = nullptr;  // null: output_start, output_start + 1, ...
  std::uint64_t origin = 0;

  bool is_range() const noexcept { return positions == nullptr; }
  std::uint64_t position(std::uint64_t i) const noexcept {
    return positions != nullptr ? positions[i] - origin
                                : start + static_cast<std::uint64_t>(step) * i;  // wraps as it should
  }
  std::uint64_t place(std::uint64_t i) const noexcept {
    return outputs != nullptr ? outputs[i] : output_start + i;
  }
};

class ZARRIVE_API ChunkPart {
 public:
  ChunkPart() = default;
  explicit ChunkPart(std::vector<PartDimension> dimensions, std::shared_ptr<const void> owner = {})
      : dimensions_(std::move(dimensions)), owner_(std::move(owner)) {}
  // Points: every dimension is a list of `count` positions, which go together one by one; point i goes to element outputs[i] of
  // the output seen as one dimension, or to element output_start + i when `outputs` is null.
  static ChunkPart points(std::vector<PartDimension> dimensions, const std::uint64_t* outputs,
                          std::uint64_t count, std::shared_ptr<const void> owner,
                          std::uint64_t output_start = 0);
  // All of a chunk, to the same places.
  static ChunkPart all_of(std::span<const std::uint64_t> shape);

  const std::vector<PartDimension>& dimensions() const noexcept { return dimensions_; }
  std::size_t ndim() const noexcept { return dimensions_.size(); }
  bool is_points() const noexcept { return points_; }
  // Place of point i in the output seen as one dimension.
  std::uint64_t point_place(std::uint64_t i) const noexcept {
    return point_outputs_ != nullptr ? point_outputs_[i] : point_output_start_ + i;
  }
  const std::uint64_t* point_outputs() const noexcept { return point_outputs_; }  // null: consecutive places
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

  std::uint64_t size() const;  // elements
  bool empty() const;
  bool is_ranges() const;  // every dimension is a range: part and output are strided views
  // Every element of a chunk with this extent, in any order; lists and points may have some of them more than once.
  bool covers(std::span<const std::uint64_t> shape) const;
  // Each once, in the chunk's own order: the output's part is the chunk.
  bool is_whole(std::span<const std::uint64_t> shape) const;
  Box bounds() const;  // the smallest box of the chunk that holds it; not of empty parts
  std::optional<Box> output_bounds() const;  // likewise in the output; nothing for points

  // The dimensions in another order, as a transposed chunk and output have them: ours order[i] becomes dimension i.
  ChunkPart transposed(std::span<const std::size_t> order) const;

  // Views of exactly the part, of a chunk and of the output; only when is_ranges().
  ArrayView of_chunk(const ArrayView& chunk) const;
  ArrayView of_output(const ArrayView& output) const;
  // The same place of the output, in the chunk's own order: dimensions that are walked downwards are turned around.
  ArrayView of_output_in_chunk_order(const ArrayView& output) const;

  // The same elements to places of their own: an output that holds nothing but this part (of shape extents(); points in one dimension) ...
  ChunkPart to_own_output() const;
  Shape extents() const;
  // ... and the part that takes them from there to their real places.
  ChunkPart from_own_output() const;

 private:
  std::vector<PartDimension> dimensions_;
  bool points_ = false;
  const std::uint64_t* point_outputs_ = nullptr;
  std::uint64_t point_output_start_ = 0;
  std::uint64_t point_count_ = 0;
  std::shared_ptr<const void> owner_;
};

// Copies the part's elements of a chunk to their places in the output, converting when the types differ. For points the output is seen
// as one dimension in C order. Host memory.
ZARRIVE_API void gather(const ArrayView& chunk, const ChunkPart& part, const ArrayView& output);
// The other way: elements at their places in `input` go into the chunk. Where a position comes twice the last place wins.
ZARRIVE_API void scatter(const ArrayView& input, const ChunkPart& part, const ArrayView& chunk);
// Sets the part's places in the output to one element of the output's type.
ZARRIVE_API void fill_places(const ChunkPart& part, const ArrayView& output, const FillValue& value);

}  // namespace zarrive
