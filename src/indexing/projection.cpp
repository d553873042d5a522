#include "indexing/projection.hpp"

namespace zarrive {

std::vector<DimensionProjection> project(const ResolvedDimension& dimension, const DimensionCut& cut) {
  std::vector<DimensionProjection> out;
  const bool down = dimension.step < 0;
  const std::uint64_t magnitude = down ? std::uint64_t{0} - static_cast<std::uint64_t>(dimension.step)
                                       : static_cast<std::uint64_t>(dimension.step);
  std::uint64_t position = dimension.start;
  std::uint64_t done = 0;
  while (done < dimension.count) {
    DimensionProjection piece;
    piece.chunk = cut.chunk_at(position);
    piece.chunk_start = position - cut.chunk_start(piece.chunk);
    piece.step = dimension.step;
    piece.output_start = done;
    // positions left in this chunk, on the way to its end (or, walking down, to its start)
    const std::uint64_t room = down ? piece.chunk_start : cut.chunk_edge(piece.chunk) - 1 - piece.chunk_start;
    piece.count = room / magnitude + 1;
    if (piece.count > dimension.count - done) piece.count = dimension.count - done;
    done += piece.count;
    if (piece.count == 1) piece.step = 1;
    out.push_back(piece);
    if (done < dimension.count)
      position = down ? dimension.start - done * magnitude : dimension.start + done * magnitude;
  }
  return out;
}

GridProjection::GridProjection(std::vector<std::vector<DimensionProjection>> dimensions)
    : dimensions_(std::move(dimensions)) {
  for (const auto& pieces : dimensions_)
    size_ = multiply(size_, pieces.size(), "the number of chunks that a selection touches");
}

void GridProjection::at(std::uint64_t i, std::vector<const DimensionProjection*>& out) const {
  out.resize(dimensions_.size());
  for (std::size_t d = dimensions_.size(); d-- > 0;) {
    out[d] = &dimensions_[d][i % dimensions_[d].size()];
    i /= dimensions_[d].size();
  }
}

}  // namespace zarrive
