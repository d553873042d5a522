#include "array/pieces.hpp"

#include <algorithm>

namespace zarrive {
namespace {

GridProjection project_all(const ArrayMetadata& metadata, const ResolvedSelection& selection) {
  const ChunkGrid& grid = metadata.chunk_grid;
  std::vector<std::vector<DimensionProjection>> dimensions;
  for (std::size_t d = 0; d < selection.dimensions.size(); ++d) {
    DimensionCut cut;
    cut.chunk_at = [&grid, d](std::uint64_t position) { return grid.chunk_at(d, position); };
    cut.chunk_start = [&grid, d](std::uint64_t chunk) { return grid.chunk_start(d, chunk); };
    cut.chunk_edge = [&grid, d](std::uint64_t chunk) { return grid.chunk_edge(d, chunk); };
    dimensions.push_back(project(selection.dimensions[d], cut));
  }
  return GridProjection(std::move(dimensions));
}

std::uint64_t magnitude(std::int64_t step) { return static_cast<std::uint64_t>(step < 0 ? -step : step); }

}  // namespace

Pieces::Pieces(std::shared_ptr<const ArrayMetadata> metadata, const ResolvedSelection& selection)
    : metadata_(std::move(metadata)), projection_(project_all(*metadata_, selection)) {}

void Pieces::at(std::uint64_t i, Piece& out) const {
  projection_.at(i, out.dimensions);
  const std::size_t ndim = out.dimensions.size();
  out.chunk.resize(ndim);
  out.chunk_shape.resize(ndim);
  out.covers = true;
  out.whole = true;
  for (std::size_t d = 0; d < ndim; ++d) {
    const DimensionProjection& part = *out.dimensions[d];
    out.chunk[d] = part.chunk;
    const std::uint64_t edge = metadata_->chunk_grid.chunk_edge(d, part.chunk);
    const std::uint64_t inside =
        std::min(edge, metadata_->shape[d] - metadata_->chunk_grid.chunk_start(d, part.chunk));
    out.chunk_shape[d] = edge;
    const bool covers = part.count == inside && magnitude(part.step) == 1;
    out.covers = out.covers && covers;
    out.whole = out.whole && covers && part.step == 1 && inside == edge;
  }
}

Context Pieces::context(const Piece& piece, std::string key, const std::string& node) const {
  Context context;
  context.key = std::move(key);
  context.node = node;
  context.array = metadata_;
  context.chunk_index = piece.chunk;
  context.chunk_shape = piece.chunk_shape;
  Box in_chunk;
  Box in_output;
  for (const DimensionProjection* part : piece.dimensions) {
    const std::uint64_t reach = (part->count - 1) * magnitude(part->step);
    in_chunk.start.push_back(part->step < 0 ? part->chunk_start - reach : part->chunk_start);
    in_chunk.extent.push_back(reach + 1);
    in_output.start.push_back(part->output_start);
    in_output.extent.push_back(part->count);
  }
  if (!piece.whole) context.chunk_selection = std::move(in_chunk);
  context.output_selection = std::move(in_output);
  return context;
}

ArrayView with_dropped_dimensions(const ArrayView& view, const ResolvedSelection& selection) {
  ArrayView out = view;
  out.shape.clear();
  out.strides.clear();
  std::size_t kept = 0;
  for (const ResolvedDimension& d : selection.dimensions) {
    out.shape.push_back(d.count);
    out.strides.push_back(d.dropped ? 0 : view.strides[kept++]);
  }
  return out;
}

ArrayView output_part(const ArrayView& output, const Piece& piece) {
  ArrayView out = output;
  for (std::size_t d = 0; d < piece.dimensions.size(); ++d) {
    const DimensionProjection& part = *piece.dimensions[d];
    out.data += static_cast<std::int64_t>(part.output_start) * output.strides[d];
    out.shape[d] = part.count;
  }
  return out;
}

ArrayView chunk_part(const ArrayView& chunk, const Piece& piece) {
  ArrayView out = chunk;
  for (std::size_t d = 0; d < piece.dimensions.size(); ++d) {
    const DimensionProjection& part = *piece.dimensions[d];
    out.data += static_cast<std::int64_t>(part.chunk_start) * chunk.strides[d];
    out.shape[d] = part.count;
    out.strides[d] = chunk.strides[d] * part.step;
  }
  return out;
}

}  // namespace zarrive
