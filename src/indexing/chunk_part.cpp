#include "zarrive/chunk_part.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "zarrive/error.hpp"

namespace zarrive {
namespace {

std::uint64_t magnitude(std::int64_t step) {
  return step < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
}

// The flags take no more memory than the list does: a shorter list is answered at once.
bool list_covers(const PartDimension& list, std::uint64_t extent) {
  if (list.count < extent) return false;
  std::vector<bool> seen(static_cast<std::size_t>(extent));
  std::uint64_t left = extent;
  for (std::uint64_t i = 0; i < list.count && left > 0; ++i) {
    const std::uint64_t position = list.position(i);
    if (position >= extent || seen[position]) continue;
    seen[position] = true;
    --left;
  }
  return left == 0;
}

bool points_cover(const std::vector<PartDimension>& dimensions, std::uint64_t count,
                  std::span<const std::uint64_t> shape) {
  std::uint64_t left = 1;
  for (const std::uint64_t extent : shape) {
    const auto product = checked_multiply(left, extent);
    if (!product || *product > count) return false;
    left = *product;
  }
  std::vector<bool> seen(static_cast<std::size_t>(left));
  for (std::uint64_t i = 0; i < count && left > 0; ++i) {
    std::uint64_t flat = 0;
    bool inside = true;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::uint64_t position = dimensions[d].position(i);
      inside = inside && position < shape[d];
      flat = flat * shape[d] + position;
    }
    if (!inside || seen[flat]) continue;
    seen[flat] = true;
    --left;
  }
  return left == 0;
}

}  // namespace

ChunkPart ChunkPart::points(std::vector<PartDimension> dimensions, const std::uint64_t* outputs,
                            std::uint64_t count, std::shared_ptr<const void> owner,
                            std::uint64_t output_start) {
  ChunkPart part(std::move(dimensions), std::move(owner));
  part.points_ = true;
  part.point_outputs_ = outputs;
  part.point_output_start_ = output_start;
  part.point_count_ = count;
  return part;
}

ChunkPart ChunkPart::all_of(std::span<const std::uint64_t> shape) {
  std::vector<PartDimension> dimensions(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) dimensions[d].count = shape[d];
  return ChunkPart(std::move(dimensions));
}

std::uint64_t ChunkPart::size() const {
  if (points_) return point_count_;
  std::uint64_t size = 1;
  for (const PartDimension& d : dimensions_) size = multiply(size, d.count, "a part of a chunk");
  return size;
}

bool ChunkPart::empty() const {
  if (points_) return point_count_ == 0;
  return std::any_of(dimensions_.begin(), dimensions_.end(), [](const auto& d) { return d.count == 0; });
}

bool ChunkPart::is_ranges() const {
  return !points_ &&
         std::all_of(dimensions_.begin(), dimensions_.end(), [](const auto& d) { return d.is_range(); });
}

bool ChunkPart::covers(std::span<const std::uint64_t> shape) const {
  if (points_) return points_cover(dimensions_, point_count_, shape);
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const PartDimension& part = dimensions_[d];
    if (part.is_range() ? part.count != shape[d] || (part.count > 1 && magnitude(part.step) != 1)
                        : !list_covers(part, shape[d]))
      return false;
  }
  return true;
}

bool ChunkPart::is_whole(std::span<const std::uint64_t> shape) const {
  if (!is_ranges()) return false;
  for (std::size_t d = 0; d < dimensions_.size(); ++d)
    if (dimensions_[d].count != shape[d] || (shape[d] > 1 && dimensions_[d].step != 1)) return false;
  return true;
}

Box ChunkPart::bounds() const {
  Box box;
  for (const PartDimension& d : dimensions_) {
    if (d.is_range()) {
      const std::uint64_t reach = (d.count - 1) * magnitude(d.step);
      box.start.push_back(d.step < 0 ? d.start - reach : d.start);
      box.extent.push_back(reach + 1);
    } else {
      const auto [low, high] = std::minmax_element(d.positions, d.positions + d.count);
      box.start.push_back(*low - d.origin);
      box.extent.push_back(*high - *low + 1);
    }
  }
  return box;
}

std::optional<Box> ChunkPart::output_bounds() const {
  if (points_) return std::nullopt;
  Box box;
  for (const PartDimension& d : dimensions_) {
    if (d.outputs == nullptr) {
      box.start.push_back(d.output_start);
      box.extent.push_back(d.count);
    } else {
      const auto [low, high] = std::minmax_element(d.outputs, d.outputs + d.count);
      box.start.push_back(*low);
      box.extent.push_back(*high - *low + 1);
    }
  }
  return box;
}

ChunkPart ChunkPart::transposed(std::span<const std::size_t> order) const {
  ChunkPart part = *this;
  for (std::size_t d = 0; d < order.size(); ++d) part.dimensions_[d] = dimensions_[order[d]];
  return part;
}

ArrayView ChunkPart::of_chunk(const ArrayView& chunk) const {
  ArrayView out = chunk;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const PartDimension& part = dimensions_[d];
    out.data += static_cast<std::int64_t>(part.start) * chunk.strides[d];
    out.shape[d] = part.count;
    out.strides[d] = chunk.strides[d] * part.step;
  }
  return out;
}

ArrayView ChunkPart::of_output(const ArrayView& output) const {
  ArrayView out = output;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const PartDimension& part = dimensions_[d];
    out.data += static_cast<std::int64_t>(part.output_start) * output.strides[d];
    out.shape[d] = part.count;
  }
  return out;
}

ArrayView ChunkPart::of_output_in_chunk_order(const ArrayView& output) const {
  ArrayView out = of_output(output);
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (dimensions_[d].step > 0 || dimensions_[d].count == 0) continue;
    out.data += static_cast<std::int64_t>(dimensions_[d].count - 1) * out.strides[d];
    out.strides[d] = -out.strides[d];
  }
  return out;
}

Shape ChunkPart::extents() const {
  if (points_) return {point_count_};
  Shape shape;
  for (const PartDimension& d : dimensions_) shape.push_back(d.count);
  return shape;
}

namespace {

// 0, 1, 2, ...
std::shared_ptr<const std::vector<std::uint64_t>> counting(std::uint64_t count) {
  auto numbers = std::make_shared<std::vector<std::uint64_t>>(static_cast<std::size_t>(count));
  std::iota(numbers->begin(), numbers->end(), std::uint64_t{0});
  return numbers;
}

}  // namespace

ChunkPart ChunkPart::to_own_output() const {
  ChunkPart part = *this;
  for (PartDimension& d : part.dimensions_) {
    d.output_start = 0;
    d.outputs = nullptr;
  }
  part.point_outputs_ = nullptr;
  part.point_output_start_ = 0;
  return part;
}

ChunkPart ChunkPart::from_own_output() const {
  if (points_) {
    const auto positions = counting(point_count_);
    PartDimension d;
    d.count = point_count_;
    d.positions = positions->data();
    return points({d}, point_outputs_, point_count_,
                  std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
                      owner_, positions),
                  point_output_start_);
  }
  ChunkPart part = *this;
  for (PartDimension& d : part.dimensions_) {
    if (d.outputs != nullptr) {
      // A list of places needs a list of positions.
      const auto positions = counting(d.count);
      d.positions = positions->data();
      part.owner_ = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
          part.owner_, positions);
    } else {
      d.positions = nullptr;
    }
    d.origin = 0;
    d.start = 0;
    d.step = 1;
  }
  return part;
}

}  // namespace zarrive
