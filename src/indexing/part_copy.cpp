// Moving the elements of a part between a chunk and the output: gather, scatter, fill_places.
//
// Ranges are strided views, and go the way of copy() and convert(). Lists become tables of byte offsets, made once for a part; the dimension that
// runs fastest in the destination is the inner loop, the others are loops around it. Points become tables of offsets as well, a block at a
// time. In a table, neighbours that are neighbours in memory on both sides move as one run.
//
// Lists are always walked forwards, so that of several elements for one position the last one stays.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "zarrive/chunk_part.hpp"
#include "zarrive/error.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive {
namespace {

using Offsets = std::vector<std::int64_t>;

void require_host(const ArrayView& view) {
  if (!view.space.host_accessible())
    throw Error(ErrorCode::invalid_argument,
                "cannot move elements in " + view.space.name() + " from the host");
}

// Moves single elements and rows of them, whatever their type, converting when the two sides differ.
class Mover {
 public:
  Mover(const DataType& from, const DataType& to)
      : from_type_(from),
        to_type_(to),
        from_size_(from.item_size()),
        to_size_(to.item_size()),
        converts_(!(from == to)) {}

  std::int64_t from_size() const { return static_cast<std::int64_t>(from_size_); }
  std::int64_t to_size() const { return static_cast<std::int64_t>(to_size_); }
  bool plain() const { return !converts_ && !from_type_.is_variable(); }

  // `count` elements, each side stepping by bytes.
  void row(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step,
           std::uint64_t count) const {
    if (converts_) {
      convert_elements(from_type_, from, from_step, to_type_, to, to_step, count);
    } else if (from_type_.is_variable()) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::int64_t>(i);
        *reinterpret_cast<std::string*>(to + at * to_step) =
            *reinterpret_cast<const std::string*>(from + at * from_step);
      }
    } else if (from_step == from_size() && to_step == to_size()) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * from_size_);
    } else {
      with_size([&](auto size) {
        for (std::uint64_t i = 0; i < count; ++i) {
          const auto at = static_cast<std::int64_t>(i);
          size.copy(to + at * to_step, from + at * from_step);
        }
      });
    }
  }

  // `count` elements at the offsets of two tables.
  void table(const std::byte* from, const std::int64_t* from_offsets, std::byte* to,
             const std::int64_t* to_offsets, std::size_t count) const {
    if (converts_) {
      convert_table(from, from_offsets, to, to_offsets, count);
    } else if (from_type_.is_variable()) {
      for (std::size_t i = 0; i < count; ++i)
        *reinterpret_cast<std::string*>(to + to_offsets[i]) =
            *reinterpret_cast<const std::string*>(from + from_offsets[i]);
    } else {
      with_size([&](auto size) {
        for (std::size_t i = 0; i < count; ++i) size.copy(to + to_offsets[i], from + from_offsets[i]);
      });
    }
  }

 private:
  template <std::size_t Size>
  struct Fixed {
    void copy(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Size); }
  };
  struct AnySize {
    std::size_t size;
    void copy(std::byte* to, const std::byte* from) const { std::memcpy(to, from, size); }
  };
  template <class Body>
  void with_size(const Body& body) const {
    switch (from_size_) {
      case 1: return body(Fixed<1>());
      case 2: return body(Fixed<2>());
      case 4: return body(Fixed<4>());
      case 8: return body(Fixed<8>());
      case 16: return body(Fixed<16>());
      default: return body(AnySize{from_size_});
    }
  }

  // Through dense blocks: conversion is a call for many elements, not for each.
  void convert_table(const std::byte* from, const std::int64_t* from_offsets, std::byte* to,
                     const std::int64_t* to_offsets, std::size_t count) const {
    constexpr std::size_t kBlock = 256;
    std::vector<std::byte> before(kBlock * from_size_), after(kBlock * to_size_);
    for (std::size_t done = 0; done < count; done += kBlock) {
      const std::size_t n = std::min(kBlock, count - done);
      for (std::size_t i = 0; i < n; ++i)
        std::memcpy(before.data() + i * from_size_, from + from_offsets[done + i], from_size_);
      convert_elements(from_type_, before.data(), from_size(), to_type_, after.data(), to_size(), n);
      for (std::size_t i = 0; i < n; ++i)
        std::memcpy(to + to_offsets[done + i], after.data() + i * to_size_, to_size_);
    }
  }

  const DataType& from_type_;
  const DataType& to_type_;
  std::size_t from_size_;
  std::size_t to_size_;
  bool converts_;
};

// Neighbours in memory on both sides, as one piece.
struct Run {
  std::int64_t from;
  std::int64_t to;
  std::uint64_t count;
};

// The runs of two tables; nothing when there are too few elements in each to be worth it.
std::vector<Run> runs_of(const Mover& mover, const std::int64_t* from, const std::int64_t* to,
                         std::size_t count) {
  std::vector<Run> runs;
  if (!mover.plain() || count < 8) return runs;
  const std::int64_t size = mover.from_size();
  std::size_t breaks = 1;
  for (std::size_t i = 1; i < count; ++i)
    breaks += static_cast<std::size_t>((from[i] - from[i - 1] != size) | (to[i] - to[i - 1] != size));
  if (breaks > count / 4) return runs;  // a memcpy of a few elements costs more than moving them one by one
  runs.reserve(breaks);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && from[i] - from[i - 1] == size && to[i] - to[i - 1] == size) ++runs.back().count;
    else runs.push_back({from[i], to[i], 1});
  }
  return runs;
}

// --- products of ranges and lists ---

// One side of a dimension: steps of bytes, or a table of offsets.
struct Side {
  std::int64_t step = 0;
  Offsets table = {};

  bool affine() const { return table.empty(); }
  std::int64_t at(std::uint64_t i) const {
    return table.empty() ? step * static_cast<std::int64_t>(i) : table[static_cast<std::size_t>(i)];
  }
};

struct Axis {
  std::uint64_t count = 0;
  Side from;
  Side to;
  std::int64_t nearness = 0;  // bytes between neighbours in the destination

  bool affine() const { return from.affine() && to.affine(); }
};

class ProductMove {
 public:
  ProductMove(const Mover& mover, const std::byte* from, std::byte* to, std::vector<Axis> axes)
      : mover_(mover), from_(from), to_(to) {
    for (Axis& axis : axes) {
      if (axis.count == 1) {
        from_ += axis.from.at(0);
        to_ += axis.to.at(0);
        continue;
      }
      if (axis.affine() && axis.to.step < 0) {  // ranges hold no position twice: any direction will do
        from_ += axis.from.at(axis.count - 1);
        to_ += axis.to.at(axis.count - 1);
        axis.from.step = -axis.from.step;
        axis.to.step = -axis.to.step;
      }
      axes_.push_back(std::move(axis));
    }
    std::stable_sort(axes_.begin(), axes_.end(),
                     [](const Axis& a, const Axis& b) { return a.nearness > b.nearness; });
    merge();
    if (!axes_.empty() && !axes_.back().affine()) {
      Axis& inner = axes_.back();
      for (Side* side : {&inner.from, &inner.to})
        if (side->affine()) {
          Offsets table(static_cast<std::size_t>(inner.count));
          for (std::size_t i = 0; i < table.size(); ++i) table[i] = side->step * static_cast<std::int64_t>(i);
          side->table = std::move(table);
        }
      runs_ = runs_of(mover_, inner.from.table.data(), inner.to.table.data(), inner.from.table.size());
    }
  }

  void run() const {
    if (axes_.empty()) mover_.row(from_, 0, to_, 0, 1);
    else descend(0, from_, to_);
  }

 private:
  // A dimension that continues the next inner one on both sides is one with it.
  void merge() {
    std::vector<Axis> merged;
    for (Axis& axis : axes_) {
      if (!merged.empty() && merged.back().affine() && axis.affine()) {
        Axis& outer = merged.back();
        const auto count = static_cast<std::int64_t>(axis.count);
        if (outer.from.step == count * axis.from.step && outer.to.step == count * axis.to.step) {
          outer.count *= axis.count;
          outer.from.step = axis.from.step;
          outer.to.step = axis.to.step;
          continue;
        }
      }
      merged.push_back(std::move(axis));
    }
    axes_ = std::move(merged);
  }

  void descend(std::size_t level, const std::byte* from, std::byte* to) const {
    const Axis& axis = axes_[level];
    if (level + 1 < axes_.size()) {
      for (std::uint64_t i = 0; i < axis.count; ++i)
        descend(level + 1, from + axis.from.at(i), to + axis.to.at(i));
    } else if (axis.affine()) {
      mover_.row(from, axis.from.step, to, axis.to.step, axis.count);
    } else if (!runs_.empty()) {
      for (const Run& run : runs_)
        mover_.row(from + run.from, mover_.from_size(), to + run.to, mover_.to_size(), run.count);
    } else {
      mover_.table(from, axis.from.table.data(), to, axis.to.table.data(), axis.from.table.size());
    }
  }

  const Mover& mover_;
  const std::byte* from_;
  std::byte* to_;
  std::vector<Axis> axes_;  // outermost first
  std::vector<Run> runs_;   // of the inner one
};

// The chunk's side of a dimension; what lies before the first element goes to `base`.
Side chunk_side(const PartDimension& part, std::int64_t stride, std::int64_t& base) {
  Side side;
  if (part.is_range()) {
    base += static_cast<std::int64_t>(part.start) * stride;
    side.step = part.step * stride;
  } else {
    side.table.resize(static_cast<std::size_t>(part.count));
    for (std::size_t i = 0; i < side.table.size(); ++i)
      side.table[i] = static_cast<std::int64_t>(part.positions[i] - part.origin) * stride;
  }
  return side;
}

Side output_side(const PartDimension& part, std::int64_t stride, std::int64_t& base) {
  Side side;
  if (part.outputs == nullptr) {
    base += static_cast<std::int64_t>(part.output_start) * stride;
    side.step = stride;
  } else {
    side.table.resize(static_cast<std::size_t>(part.count));
    for (std::size_t i = 0; i < side.table.size(); ++i)
      side.table[i] = static_cast<std::int64_t>(part.outputs[i]) * stride;
  }
  return side;
}

// --- points ---

// Byte offsets of elements of a view seen as one dimension in C order.
class FlatOffsets {
 public:
  explicit FlatOffsets(const ArrayView& view) : view_(view) {
    // Dense from some dimension on: one stride does for all of them.
    const std::size_t ndim = view.shape.size();
    linear_ = view.is_contiguous() || ndim <= 1;
    stride_ = ndim == 1 ? view.strides[0] : static_cast<std::int64_t>(view.type.item_size());
  }
  std::int64_t at(std::uint64_t place) const {
    if (linear_) return static_cast<std::int64_t>(place) * stride_;
    std::int64_t offset = 0;
    for (std::size_t d = view_.shape.size(); d-- > 0; place /= view_.shape[d])
      offset += static_cast<std::int64_t>(place % view_.shape[d]) * view_.strides[d];
    return offset;
  }

 private:
  const ArrayView& view_;
  bool linear_;
  std::int64_t stride_;
};

constexpr std::size_t kPointBlock = 512;  // two tables of 4 KiB

// Calls move(chunk offsets, output offsets, count) for blocks of points, in their order.
template <class Move>
void for_each_point_block(const ChunkPart& part, const Strides& chunk_strides, const ArrayView& output,
                          const Move& move) {
  const FlatOffsets flat(output);
  std::array<std::int64_t, kPointBlock> in_chunk, in_output;
  const std::uint64_t count = part.size();
  for (std::uint64_t done = 0; done < count; done += kPointBlock) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kPointBlock, count - done));
    in_chunk.fill(0);
    for (std::size_t d = 0; d < part.ndim(); ++d) {
      const PartDimension& dimension = part.dimensions()[d];
      const std::uint64_t* positions = dimension.positions + done;
      const auto stride = static_cast<std::uint64_t>(chunk_strides[d]);
      for (std::size_t i = 0; i < n; ++i)  // unsigned: wraps as it should
        in_chunk[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(in_chunk[i]) +
                                                (positions[i] - dimension.origin) * stride);
    }
    for (std::size_t i = 0; i < n; ++i) in_output[i] = flat.at(part.point_place(done + i));
    move(in_chunk.data(), in_output.data(), n);
  }
}

void move_table(const Mover& mover, const std::byte* from, const std::int64_t* from_offsets, std::byte* to,
                const std::int64_t* to_offsets, std::size_t count) {
  const std::vector<Run> runs = runs_of(mover, from_offsets, to_offsets, count);
  if (runs.empty()) return mover.table(from, from_offsets, to, to_offsets, count);
  for (const Run& run : runs)
    mover.row(from + run.from, mover.from_size(), to + run.to, mover.to_size(), run.count);
}

enum class Direction { to_output, to_chunk };

void move(const ArrayView& chunk, const ChunkPart& part, const ArrayView& output, Direction direction) {
  const bool out = direction == Direction::to_output;
  if (part.is_ranges()) {
    const ArrayView in_chunk = part.of_chunk(chunk), in_output = part.of_output(output);
    return out ? convert(in_chunk, in_output) : convert(in_output, in_chunk);
  }
  require_host(chunk);
  require_host(output);
  if (part.empty()) return;
  const Mover mover(out ? chunk.type : output.type, out ? output.type : chunk.type);
  if (part.is_points()) {
    for_each_point_block(part, chunk.strides, output,
                         [&](const std::int64_t* in_chunk, const std::int64_t* in_output, std::size_t count) {
                           if (out) move_table(mover, chunk.data, in_chunk, output.data, in_output, count);
                           else move_table(mover, output.data, in_output, chunk.data, in_chunk, count);
                         });
    return;
  }
  std::int64_t chunk_base = 0, output_base = 0;
  std::vector<Axis> axes(part.ndim());
  for (std::size_t d = 0; d < part.ndim(); ++d) {
    const PartDimension& dimension = part.dimensions()[d];
    Axis& axis = axes[d];
    axis.count = dimension.count;
    axis.from = chunk_side(dimension, chunk.strides[d], chunk_base);
    axis.to = output_side(dimension, output.strides[d], output_base);
    if (!out) std::swap(axis.from, axis.to);
    axis.nearness = std::abs((out ? output : chunk).strides[d]);
  }
  std::byte* const chunk_data = chunk.data + chunk_base;
  std::byte* const output_data = output.data + output_base;
  ProductMove(mover, out ? chunk_data : output_data, out ? output_data : chunk_data, std::move(axes)).run();
}

}  // namespace

void gather(const ArrayView& chunk, const ChunkPart& part, const ArrayView& output) {
  move(chunk, part, output, Direction::to_output);
}

void scatter(const ArrayView& input, const ChunkPart& part, const ArrayView& chunk) {
  move(chunk, part, input, Direction::to_chunk);
}

void fill_places(const ChunkPart& part, const ArrayView& output, const FillValue& value) {
  if (part.is_ranges()) return fill(part.of_output(output), value);
  // A chunk of one element that is everywhere.
  NDArray element = NDArray::allocate(output.type, {});
  fill(element.view(), value);
  gather(ArrayView(element.view().data, output.type, Shape(part.ndim(), 1), Strides(part.ndim(), 0)), part,
         output);
}

}  // namespace zarrive
