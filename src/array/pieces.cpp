#include "array/pieces.hpp"

#include <algorithm>

namespace zarrive {
namespace {

// The selection as a part of the whole array.
ChunkPart part_of_array(const ResolvedSelection& selection) {
  // What keeps the lists alive.
  auto lists = std::make_shared<std::vector<std::shared_ptr<const std::uint64_t[]>>>();
  std::vector<PartDimension> dimensions;
  if (const auto& points = selection.points) {
    *lists = points->coordinates;
    for (const auto& positions : points->coordinates) {
      PartDimension& part = dimensions.emplace_back();
      part.positions = positions.get();
      part.count = points->count;
    }
    return ChunkPart::points(std::move(dimensions), nullptr, points->count, std::move(lists));
  }
  for (const ResolvedDimension& d : selection.dimensions) {
    PartDimension& part = dimensions.emplace_back();
    part.count = d.count;
    if (d.is_list()) {
      part.positions = d.positions.get();
      lists->push_back(d.positions);
    } else {
      part.start = d.start;
      part.step = d.step;
    }
  }
  return ChunkPart(std::move(dimensions), lists->empty() ? nullptr : std::move(lists));
}

// Ranges are strided views, which move fastest.
ChunkPart simplified(const ChunkPart& part) {
  std::vector<PartDimension> dimensions = part.dimensions();
  for (PartDimension& dimension : dimensions) make_range(dimension);
  return ChunkPart(std::move(dimensions), part.owner());
}

}  // namespace

Pieces::Pieces(std::shared_ptr<const ArrayMetadata> metadata, const ResolvedSelection& selection)
    : metadata_(std::move(metadata)) {
  if (selection.empty()) return;
  projection_.emplace(part_of_array(selection), cuts_of(metadata_->chunk_grid));
  ranges_ = !selection.points &&
            std::none_of(selection.dimensions.begin(), selection.dimensions.end(),
                         [](const ResolvedDimension& dimension) { return dimension.is_list(); });
}

Pieces::Pieces(std::shared_ptr<const ArrayMetadata> metadata, std::span<const ChunkAccess> list)
    : metadata_(std::move(metadata)), list_(list) {
  entries_.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const ChunkPart& part = list[i].part;
    if (part.empty()) continue;
    entries_.push_back({i, part.is_points() ? part : simplified(part)});
    ranges_ = ranges_ && entries_.back().part.is_ranges();
  }
}

ChunkExtent chunk_extent(const ArrayMetadata& metadata, std::span<const std::uint64_t> chunk) {
  const ChunkGrid& grid = metadata.chunk_grid;
  ChunkExtent extent{Shape(chunk.size()), Shape(chunk.size())};
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    extent.full[d] = grid.chunk_edge(d, chunk[d]);
    extent.inside[d] = std::min(extent.full[d], metadata.shape[d] - grid.chunk_start(d, chunk[d]));
  }
  return extent;
}

ChunkExtent chunk_extent(const ArrayMetadata& metadata, const ChunkAccess& access) {
  if (access.chunk_shape) return {*access.chunk_shape, *access.chunk_shape};
  return chunk_extent(metadata, access.chunk);
}

void Pieces::at(std::uint64_t i, Piece& out) const {
  std::optional<bool> covers;
  ChunkExtent extent;
  if (projection_) {
    projection_->at(i, out.chunk, out.part);
    extent = chunk_extent(*metadata_, out.chunk);
  } else {
    const ChunkAccess& access = list_[entry(i)];
    out.chunk = access.chunk;
    out.part = entries_[static_cast<std::size_t>(i)].part;
    covers = access.covers;
    extent = chunk_extent(*metadata_, access);
  }
  out.whole = out.part.is_whole(extent.full);
  out.covers = out.whole || (covers ? *covers : out.part.covers(extent.inside));
  out.chunk_shape = std::move(extent.full);
}

std::string Pieces::key(std::uint64_t i, const Piece& piece, const std::string& node) const {
  if (!projection_)
    if (const auto& key = list_[entry(i)].key) return *key;
  return join_key(node, metadata_->chunk_key_encoding.key(piece.chunk));
}

bool Pieces::fill_all_of(std::span<const std::uint64_t> output) const {
  if (projection_) return true;
  std::uint64_t left = element_count(output);
  std::vector<bool> seen(static_cast<std::size_t>(left));
  for (const Entry& entry : entries_)
    each_place(entry.part, output, [&](std::uint64_t place) {
      if (seen[static_cast<std::size_t>(place)]) return;
      seen[static_cast<std::size_t>(place)] = true;
      --left;
    });
  return left == 0;
}

Context Pieces::context(const Piece& piece, std::string key, const std::string& node) const {
  Context context;
  context.key = std::move(key);
  context.node = node;
  context.array = metadata_;
  if (piece.chunk.size() == piece.chunk_shape.size()) context.chunk_index = piece.chunk;
  context.chunk_shape = piece.chunk_shape;
  if (!piece.whole) context.chunk_selection = piece.part.bounds();
  context.output_selection = piece.part.output_bounds();
  return context;
}

ArrayView with_dropped_dimensions(const ArrayView& view, const ResolvedSelection& selection) {
  ArrayView out = view;
  if (selection.points) return out;
  out.shape.clear();
  out.strides.clear();
  std::size_t kept = 0;
  for (const ResolvedDimension& d : selection.dimensions) {
    out.shape.push_back(d.count);
    out.strides.push_back(d.dropped ? 0 : view.strides[kept++]);
  }
  return out;
}

}  // namespace zarrive
