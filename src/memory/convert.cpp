#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

void convert_from(const ArrayView& source, const std::byte* from, const ArrayView& destination, std::byte* to,
                  std::size_t dimension) {
  const std::size_t last = source.shape.size() - 1;
  if (dimension == last) {
    convert_elements(source.type, from, source.strides[last], destination.type, to, destination.strides[last],
                     source.shape[last]);
    return;
  }
  for (std::uint64_t i = 0; i < source.shape[dimension]; ++i) {
    convert_from(source, from, destination, to, dimension + 1);
    from += source.strides[dimension];
    to += destination.strides[dimension];
  }
}

}  // namespace

void convert(const ArrayView& source, const ArrayView& destination) {
  if (source.type == destination.type) {
    copy(source, destination);
    return;
  }
  if (source.shape != destination.shape)
    throw Error(ErrorCode::invalid_argument, "converting from shape " + to_string(source.shape) +
                                                 " to shape " + to_string(destination.shape));
  if (source.size() == 0) return;
  if (source.shape.empty()) {
    convert_elements(source.type, source.data, 0, destination.type, destination.data, 0, 1);
  } else {
    convert_from(source, source.data, destination, destination.data, 0);
  }
}

}  // namespace zarrive
