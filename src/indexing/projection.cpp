#include "indexing/projection.hpp"

#include "zarrive/error.hpp"

namespace zarrive {

std::vector<DimensionCut> cuts_of(const ChunkGrid& grid) {
  std::vector<DimensionCut> cuts(grid.ndim());
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    cuts[d].chunk_at = [&grid, d](std::uint64_t position) { return grid.chunk_at(d, position); };
    cuts[d].chunk_start = [&grid, d](std::uint64_t chunk) { return grid.chunk_start(d, chunk); };
    cuts[d].chunk_edge = [&grid, d](std::uint64_t chunk) { return grid.chunk_edge(d, chunk); };
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

GridProjection::GridProjection(const ChunkPart& part, const std::vector<DimensionCut>& cuts)
    : owner_(part.owner()) {
  for (std::size_t d = 0; d < part.ndim(); ++d) {
    dimensions_.push_back(project_range(part.dimensions()[d], cuts[d]));
    size_ = multiply(size_, dimensions_.back().size(), "the number of chunks that a selection touches");
  }
}

void GridProjection::at(std::uint64_t i, Index& chunk, ChunkPart& part) const {
  const std::size_t ndim = dimensions_.size();
  chunk.resize(ndim);
  std::vector<PartDimension> dimensions(ndim);
  for (std::size_t d = ndim; d-- > 0;) {
    const DimensionPiece& piece = dimensions_[d][i % dimensions_[d].size()];
    i /= dimensions_[d].size();
    chunk[d] = piece.chunk;
    dimensions[d] = piece.part;
  }
  part = ChunkPart(std::move(dimensions), owner_);
}

}  // namespace zarrive
