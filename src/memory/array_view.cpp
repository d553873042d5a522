#include "zarrive/memory.hpp"

namespace zarrive {

ArrayView::ArrayView(std::byte* data_, DataType type_, Shape shape_, Strides strides_, MemorySpace space_)
    : data(data_),
      type(std::move(type_)),
      shape(std::move(shape_)),
      strides(std::move(strides_)),
      space(space_) {
  if (shape.size() != strides.size())
    throw Error(ErrorCode::invalid_argument, "a view of " + std::to_string(shape.size()) +
                                                 " dimensions was given " + std::to_string(strides.size()) +
                                                 " strides");
}

ArrayView::ArrayView(std::byte* data_, DataType type_, Shape shape_, MemorySpace space_)
    : data(data_),
      type(std::move(type_)),
      shape(std::move(shape_)),
      strides(c_strides(shape, type.item_size())),
      space(space_) {}

bool ArrayView::is_contiguous() const noexcept {
  std::uint64_t expected = type.item_size();
  bool dense = true;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    dense = dense && strides[i] >= 0 && static_cast<std::uint64_t>(strides[i]) == expected;
    const auto next = checked_multiply(expected, shape[i]);
    dense = dense && next.has_value();
    expected = next.value_or(0);
  }
  return dense;
}

ArrayView ArrayView::box(std::span<const std::uint64_t> start, std::span<const std::uint64_t> extent) const {
  if (start.size() != ndim() || extent.size() != ndim())
    throw Error(ErrorCode::invalid_argument, "a box of " + std::to_string(start.size()) + " and " +
                                                 std::to_string(extent.size()) + " dimensions in a view of " +
                                                 std::to_string(ndim()));
  ArrayView part = *this;
  std::int64_t offset = 0;
  bool empty = false;
  for (std::size_t i = 0; i < ndim(); ++i) {
    if (start[i] > shape[i] || extent[i] > shape[i] - start[i])
      throw Error(ErrorCode::out_of_bounds, "a box from " + to_string(start) + " of shape " +
                                                to_string(extent) + " does not lie in a view of shape " +
                                                to_string(shape));
    empty = empty || extent[i] == 0;
    part.shape[i] = extent[i];
  }
  if (empty) return part;  // no element: the address does not matter and must not be computed
  for (std::size_t i = 0; i < ndim(); ++i) offset += static_cast<std::int64_t>(start[i]) * strides[i];
  part.data += offset;
  return part;
}

ArrayView ArrayView::transposed(std::span<const std::size_t> order) const {
  std::vector<bool> seen(ndim());
  bool valid = order.size() == ndim();
  for (std::size_t i = 0; valid && i < ndim(); ++i) {
    valid = order[i] < ndim() && !seen[order[i]];
    if (valid) seen[order[i]] = true;
  }
  if (!valid) {
    const Shape given(order.begin(), order.end());
    throw Error(ErrorCode::invalid_argument, to_string(given) + " is no permutation of the " +
                                                 std::to_string(ndim()) + " dimensions of a view");
  }
  ArrayView result = *this;
  for (std::size_t i = 0; i < ndim(); ++i) {
    result.shape[i] = shape[order[i]];
    result.strides[i] = strides[order[i]];
  }
  return result;
}

}  // namespace zarrive
