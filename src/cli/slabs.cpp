#include "cli/slabs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace zarrive::cli {

namespace {

// `end`, or the nearest smaller number above `begin` such that the elements before and from there are in different chunks.
std::uint64_t cut_between_chunks(const ResolvedDimension& dimension, const ChunkGrid& grid, std::size_t d,
                                 std::uint64_t begin, std::uint64_t end) {
  if (dimension.is_list()) return end;  // in any order: a chunk may be touched again anyway
  const std::uint64_t chunk = grid.chunk_at(d, dimension.position(end));
  const std::uint64_t start = grid.chunk_start(d, chunk);
  std::uint64_t first = 0;  // element of the selection in that chunk
  if (dimension.step > 0) {
    if (start > dimension.start)
      first = ceil_divide(start - dimension.start, static_cast<std::uint64_t>(dimension.step));
  } else {
    const std::uint64_t last = start + (grid.chunk_edge(d, chunk) - 1);
    const std::uint64_t step = 0 - static_cast<std::uint64_t>(dimension.step);
    if (dimension.start > last) first = ceil_divide(dimension.start - last, step);
  }
  return first > begin ? first : end;
}

class Cutter {
 public:
  Cutter(const ResolvedSelection& selection, const ChunkGrid& grid, std::vector<std::size_t> order,
         const std::function<void(const Slab&)>& visit)
      : whole_(selection), part_(selection), grid_(grid), order_(std::move(order)), visit_(visit) {}

  void cut(std::size_t item_size, std::uint64_t max_bytes) {
    // Bytes of one step along each dimension of the order, as large as they get.
    std::vector<std::uint64_t> row(order_.size());
    std::uint64_t bytes = item_size;
    for (std::size_t k = order_.size(); k-- > 0;) {
      row[k] = bytes;
      bytes = checked_multiply(bytes, whole_.dimensions[order_[k]].count)
                  .value_or(std::numeric_limits<std::uint64_t>::max());
    }
    split_ = 0;
    while (split_ + 1 < order_.size() && row[split_] > max_bytes) ++split_;
    rows_ = order_.empty() ? 1 : std::max<std::uint64_t>(1, max_bytes / row[split_]);
    descend(0);
  }

 private:
  void narrow(std::size_t d, std::uint64_t begin, std::uint64_t end) {
    part_.dimensions[d] = whole_.dimensions[d].part(begin, end - begin);
    part_.dimensions[d].dropped = false;
  }

  void descend(std::size_t k) {
    if (k == order_.size()) {
      visit_({to_selection(part_), part_.full_shape()});
      return;
    }
    const std::size_t d = order_[k];
    const std::uint64_t count = whole_.dimensions[d].count;
    if (k > split_) {
      narrow(d, 0, count);
      descend(k + 1);
      return;
    }
    const std::uint64_t step = k < split_ ? 1 : rows_;
    for (std::uint64_t begin = 0; begin < count;) {
      std::uint64_t end = count - begin > step ? begin + step : count;
      if (end < count && step > 1) end = cut_between_chunks(whole_.dimensions[d], grid_, d, begin, end);
      narrow(d, begin, end);
      descend(k + 1);
      begin = end;
    }
  }

  const ResolvedSelection& whole_;
  ResolvedSelection part_;
  const ChunkGrid& grid_;
  std::vector<std::size_t> order_;
  const std::function<void(const Slab&)>& visit_;
  std::size_t split_ = 0;   // the dimension of the order that is cut in runs; those before go one by one
  std::uint64_t rows_ = 1;  // length of a run
};

}  // namespace

Selection to_selection(const ResolvedSelection& resolved) {
  std::vector<SelectionItem> items;
  for (const ResolvedDimension& dimension : resolved.dimensions) {
    if (dimension.is_list()) {
      std::vector<std::int64_t> positions;
      for (std::uint64_t i = 0; i < dimension.count; ++i)
        positions.push_back(static_cast<std::int64_t>(dimension.position(i)));
      items.emplace_back(IntegerArray(std::move(positions)));
      continue;
    }
    Slice slice;
    slice.start = static_cast<std::int64_t>(dimension.start);
    slice.step = dimension.step;
    if (dimension.count == 0) {
      slice.stop = slice.start;
      slice.step = 1;
    } else {
      // One past the last in the direction of the step; before position 0 it can only be left out.
      const auto last = static_cast<std::int64_t>(dimension.position(dimension.count - 1));
      if (dimension.step > 0) slice.stop = last + 1;
      else if (last > 0) slice.stop = last - 1;
    }
    items.emplace_back(slice);
  }
  return Selection(std::move(items));
}

void for_each_slab(const ResolvedSelection& selection, const ChunkGrid& grid, std::size_t item_size,
                   std::uint64_t max_bytes, const std::vector<std::size_t>& order,
                   const std::function<void(const Slab&)>& visit) {
  if (selection.empty()) return;
  std::vector<std::size_t> dimensions = order;
  if (dimensions.empty()) {
    dimensions.resize(selection.dimensions.size());
    std::iota(dimensions.begin(), dimensions.end(), std::size_t{0});
  }
  Cutter(selection, grid, std::move(dimensions), visit).cut(item_size, max_bytes);
}

}  // namespace zarrive::cli
