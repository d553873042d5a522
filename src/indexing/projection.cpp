#include "indexing/projection.hpp"

#include <algorithm>

#include "indexing/sort_by_key.hpp"
#include "zarrive/error.hpp"

namespace zarrive {

std::vector<DimensionCut> cuts_of(const ChunkGrid& grid) {
  std::vector<DimensionCut> cuts(grid.ndim());
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    cuts[d].chunk_at = [&grid, d](std::uint64_t position) { return grid.chunk_at(d, position); };
    cuts[d].chunk_start = [&grid, d](std::uint64_t chunk) { return grid.chunk_start(d, chunk); };
    cuts[d].chunk_edge = [&grid, d](std::uint64_t chunk) { return grid.chunk_edge(d, chunk); };
    if (grid.is_regular()) cuts[d].regular_edge = grid.chunk_shape()[d];
  }
  return cuts;
}

std::vector<DimensionPiece> project_range(const PartDimension& range, const DimensionCut& cut) {
  std::vector<DimensionPiece> out;
  const bool down = range.step < 0;
  const std::uint64_t magnitude = down ? std::uint64_t{0} - static_cast<std::uint64_t>(range.step)
                                       : static_cast<std::uint64_t>(range.step);
  std::uint64_t position = range.start;
  std::uint64_t done = 0;
  while (done < range.count) {
    DimensionPiece piece;
    piece.chunk = cut.chunk_at(position);
    piece.part.start = position - cut.chunk_start(piece.chunk);
    piece.part.step = range.step;
    piece.part.output_start = range.output_start + done;
    // positions left in this chunk, on the way to its end (or, walking down, to its start)
    const std::uint64_t room = down ? piece.part.start : cut.chunk_edge(piece.chunk) - 1 - piece.part.start;
    piece.part.count = room / magnitude + 1;
    if (piece.part.count > range.count - done) piece.part.count = range.count - done;
    done += piece.part.count;
    if (piece.part.count == 1) piece.part.step = 1;
    out.push_back(piece);
    if (done < range.count) position = down ? range.start - done * magnitude : range.start + done * magnitude;
  }
  return out;
}

void make_range(PartDimension& part) {
  if (part.count == 0) return;
  if (part.is_range()) {
    if (part.count == 1) part.step = 1;
    return;
  }
  const std::uint64_t step = part.count > 1 ? part.positions[1] - part.positions[0] : 1;
  if (step == 0) return;
  for (std::uint64_t i = 1; i < part.count; ++i) {
    if (part.positions[i] - part.positions[i - 1] != step) return;
    if (part.outputs != nullptr && part.outputs[i] - part.outputs[i - 1] != 1) return;
  }
  part.start = part.positions[0] - part.origin;
  part.step = static_cast<std::int64_t>(step);
  part.output_start = part.place(0);
  part.positions = nullptr;
  part.outputs = nullptr;
  part.origin = 0;
}

namespace {

// The chunk of each of many positions, most of which lie where the one before did.
class ChunkFinder {
 public:
  explicit ChunkFinder(const DimensionCut& cut) : cut_(cut) {}

  std::uint64_t chunk_of(std::uint64_t position) {
    if (position - start_ < edge_) return chunk_;
    if (cut_.regular_edge != 0) {
      const std::uint64_t edge = cut_.regular_edge;
      // Division of 32 bits is several times faster than of 64 on many processors.
      chunk_ = ((position | edge) >> 32) == 0
                   ? static_cast<std::uint32_t>(position) / static_cast<std::uint32_t>(edge)
                   : position / edge;
      start_ = chunk_ * edge;
      edge_ = edge;
    } else {
      chunk_ = cut_.chunk_at(position);
      start_ = cut_.chunk_start(chunk_);
      edge_ = cut_.chunk_edge(chunk_);
    }
    return chunk_;
  }

 private:
  const DimensionCut& cut_;
  std::uint64_t chunk_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t edge_ = 0;  // nothing found yet
};

// Sorted copies, and what they were made from.
struct SortedLists {
  std::shared_ptr<const void> before;
  std::vector<std::vector<std::uint64_t>> lists;
};

DimensionPiece list_piece(const PartDimension& list, std::uint64_t chunk, std::uint64_t first,
                          std::uint64_t count, const DimensionCut& cut) {
  DimensionPiece piece;
  piece.chunk = chunk;
  piece.part.count = count;
  piece.part.positions = list.positions + first;
  piece.part.outputs = list.outputs != nullptr ? list.outputs + first : nullptr;
  piece.part.output_start = list.output_start + first;
  piece.part.origin = list.origin + cut.chunk_start(chunk);
  make_range(piece.part);
  return piece;
}

}  // namespace

std::vector<DimensionPiece> project_list(const PartDimension& list, const DimensionCut& cut,
                                         std::shared_ptr<const void>& owner) {
  // Stretches of neighbours in one chunk, as they come.
  struct Stretch {
    std::uint64_t chunk;
    std::uint64_t first;
    std::uint64_t count;
  };
  std::vector<Stretch> stretches;
  ChunkFinder finder(cut);
  bool ascending = true, descending = true;
  for (std::uint64_t i = 0; i < list.count; ++i) {
    const std::uint64_t chunk = finder.chunk_of(list.positions[i] - list.origin);
    if (stretches.empty() || chunk != stretches.back().chunk) {
      if (!stretches.empty()) {
        ascending = ascending && chunk > stretches.back().chunk;
        descending = descending && chunk < stretches.back().chunk;
      }
      stretches.push_back({chunk, i, 0});
    }
    ++stretches.back().count;
  }
  std::vector<DimensionPiece> out;
  if (ascending || descending) {  // each chunk in one stretch
    for (const Stretch& s : stretches) out.push_back(list_piece(list, s.chunk, s.first, s.count, cut));
    return out;
  }
  std::vector<KeyedItem> order;
  order.reserve(stretches.size());
  for (const Stretch& s : stretches) order.push_back({s.chunk, order.size()});
  sort_by_key(order);
  auto sorted = std::make_shared<SortedLists>();
  sorted->before = owner;
  sorted->lists.resize(2);
  for (auto& numbers : sorted->lists) numbers.reserve(static_cast<std::size_t>(list.count));
  for (const KeyedItem& item : order) {
    const Stretch& s = stretches[item.item];
    for (std::uint64_t i = s.first; i < s.first + s.count; ++i) {
      sorted->lists[0].push_back(list.positions[i]);
      sorted->lists[1].push_back(list.place(i));
    }
  }
  PartDimension by_chunk = list;
  by_chunk.positions = sorted->lists[0].data();
  by_chunk.outputs = sorted->lists[1].data();
  owner = sorted;
  std::uint64_t first = 0;
  for (std::size_t k = 0; k < order.size();) {
    std::uint64_t count = 0;
    const std::uint64_t chunk = order[k].key;
    for (; k < order.size() && order[k].key == chunk; ++k) count += stretches[order[k].item].count;
    out.push_back(list_piece(by_chunk, chunk, first, count, cut));
    first += count;
  }
  return out;
}

GridProjection::GridProjection(const ChunkPart& part, const std::vector<DimensionCut>& cuts)
    : owner_(part.owner()), points_(part.is_points()), ndim_(part.ndim()) {
  if (points_) {
    project_points(part, cuts);
    return;
  }
  for (std::size_t d = 0; d < part.ndim(); ++d) {
    const PartDimension& dimension = part.dimensions()[d];
    dimensions_.push_back(dimension.is_range() ? project_range(dimension, cuts[d])
                                               : project_list(dimension, cuts[d], owner_));
    size_ = multiply(size_, dimensions_.back().size(), "the number of chunks that a selection touches");
  }
}

namespace {

// A number for each point that orders points by chunk; equal for points of one chunk.
std::vector<KeyedItem> chunk_keys(const ChunkPart& part, const std::vector<DimensionCut>& cuts) {
  const std::uint64_t count = part.size();
  const std::size_t ndim = part.ndim();
  std::vector<KeyedItem> keys(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = {0, i};
  // How many different keys there can be so far; the chunks that are touched lie between the first and the last along a dimension.
  std::uint64_t range = 1;
  for (std::size_t d = 0; d < ndim; ++d) {
    const PartDimension& dimension = part.dimensions()[d];
    ChunkFinder finder(cuts[d]);
    const auto [low, high] = std::minmax_element(dimension.positions, dimension.positions + count);
    const std::uint64_t first = finder.chunk_of(*low - dimension.origin);
    const std::uint64_t chunks = finder.chunk_of(*high - dimension.origin) - first + 1;
    if (chunks == 1) continue;
    if (!checked_multiply(range, chunks)) {
      // Too many for a product: the keys so far are numbered anew, 0, 1, 2, ... in their order, and likewise the chunks.
      std::vector<KeyedItem> sorted = keys;
      sort_by_key(sorted);
      range = 0;
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i > 0 && sorted[i].key != sorted[i - 1].key) ++range;
        keys[sorted[i].item].key = range;
      }
      ++range;
    }
    if (const auto product = checked_multiply(range, chunks)) {
      for (std::uint64_t i = 0; i < count; ++i)
        keys[i].key =
            keys[i].key * chunks + (finder.chunk_of(dimension.positions[i] - dimension.origin) - first);
      range = *product;
      continue;
    }
    std::vector<KeyedItem> along(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i)
      along[i] = {finder.chunk_of(dimension.positions[i] - dimension.origin), i};
    sort_by_key(along);
    std::vector<std::uint64_t> number(static_cast<std::size_t>(count));
    std::uint64_t numbers = 0;
    for (std::size_t i = 0; i < along.size(); ++i) {
      if (i > 0 && along[i].key != along[i - 1].key) ++numbers;
      number[along[i].item] = numbers;
    }
    ++numbers;
    range = multiply(range, numbers, "the chunks that points touch");  // both at most the number of points
    for (std::uint64_t i = 0; i < count; ++i) keys[i].key = keys[i].key * numbers + number[i];
  }
  return keys;
}

}  // namespace

void GridProjection::project_points(const ChunkPart& part, const std::vector<DimensionCut>& cuts) {
  const std::uint64_t count = part.size();
  outputs_ = part.point_outputs();
  output_start_ = outputs_ == nullptr && count > 0 ? part.point_place(0) : 0;
  for (const PartDimension& dimension : part.dimensions()) positions_.push_back(dimension.positions);
  if (count == 0) {
    size_ = 0;
    first_ = {0};
    return;
  }
  std::vector<KeyedItem> keys = chunk_keys(part, cuts);
  const bool sorted =
      std::is_sorted(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  if (!sorted) {
    sort_by_key(keys);
    auto lists = std::make_shared<SortedLists>();
    lists->before = owner_;
    lists->lists.resize(ndim_ + 1, std::vector<std::uint64_t>(static_cast<std::size_t>(count)));
    for (std::size_t d = 0; d < ndim_; ++d) {
      for (std::uint64_t i = 0; i < count; ++i) lists->lists[d][i] = positions_[d][keys[i].item];
      positions_[d] = lists->lists[d].data();
    }
    for (std::uint64_t i = 0; i < count; ++i) lists->lists[ndim_][i] = part.point_place(keys[i].item);
    outputs_ = lists->lists[ndim_].data();
    owner_ = std::move(lists);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > 0 && keys[i].key == keys[i - 1].key) continue;
    first_.push_back(i);
    for (std::size_t d = 0; d < ndim_; ++d) {
      const std::uint64_t origin = part.dimensions()[d].origin;
      chunks_.push_back(cuts[d].chunk_at(positions_[d][i] - origin));
      origins_.push_back(origin + cuts[d].chunk_start(chunks_.back()));
    }
  }
  size_ = first_.size();
  first_.push_back(count);
}

void GridProjection::at(std::uint64_t i, Index& chunk, ChunkPart& part) const {
  chunk.resize(ndim_);
  std::vector<PartDimension> dimensions(ndim_);
  if (points_) {
    const std::uint64_t first = first_[i], count = first_[i + 1] - first;
    for (std::size_t d = 0; d < ndim_; ++d) {
      chunk[d] = chunks_[i * ndim_ + d];
      dimensions[d].positions = positions_[d] + first;
      dimensions[d].origin = origins_[i * ndim_ + d];
      dimensions[d].count = count;
    }
    part = ChunkPart::points(std::move(dimensions), outputs_ != nullptr ? outputs_ + first : nullptr, count,
                             owner_, output_start_ + first);
    return;
  }
  for (std::size_t d = ndim_; d-- > 0;) {
    const DimensionPiece& piece = dimensions_[d][i % dimensions_[d].size()];
    i /= dimensions_[d].size();
    chunk[d] = piece.chunk;
    dimensions[d] = piece.part;
  }
  part = ChunkPart(std::move(dimensions), owner_);
}

}  // namespace zarrive
