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

}  // namespace

Pieces::Pieces(std::shared_ptr<const ArrayMetadata> metadata, const ResolvedSelection& selection)
    : metadata_(std::move(metadata)), projection_(part_of_array(selection), cuts_of(metadata_->chunk_grid)) {}

void Pieces::at(std::uint64_t i, Piece& out) const {
  projection_.at(i, out.chunk, out.part);
  const std::size_t ndim = out.chunk.size();
  out.chunk_shape.resize(ndim);
  Shape inside(ndim);
  for (std::size_t d = 0; d < ndim; ++d) {
    out.chunk_shape[d] = metadata_->chunk_grid.chunk_edge(d, out.chunk[d]);
    inside[d] = std::min(out.chunk_shape[d],
                         metadata_->shape[d] - metadata_->chunk_grid.chunk_start(d, out.chunk[d]));
  }
  out.covers = out.part.covers(inside);
  out.whole = out.part.is_whole(out.chunk_shape);
}

Context Pieces::context(const Piece& piece, std::string key, const std::string& node) const {
  Context context;
  context.key = std::move(key);
  context.node = node;
  context.array = metadata_;
  context.chunk_index = piece.chunk;
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
