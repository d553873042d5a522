#include "codec/device_part.hpp"

#include <string>

namespace zarrive {

namespace {

// Wraps where a position is nonsense; the batch checks what comes out.
std::int64_t times(std::uint64_t position, std::int64_t stride) {
  return static_cast<std::int64_t>(position * static_cast<std::uint64_t>(stride));
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// Where an element of the output seen as one dimension lies.
std::int64_t place_of(std::uint64_t element, const ArrayView& output) {
  std::int64_t offset = 0;
  for (std::size_t d = output.ndim(); d-- > 0;) {
    offset = sum(offset, times(element % output.shape[d], output.strides[d]));
    element /= output.shape[d];
  }
  return offset;
}

std::vector<gpu::Place> points(const ChunkPart& part, std::span<const std::int64_t> strides,
                               const ArrayView& output) {
  std::vector<gpu::Place> places(static_cast<std::size_t>(part.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t d = 0; d < part.ndim(); ++d)
      places[i].source = sum(places[i].source, times(part.dimensions()[d].position(i), strides[d]));
    places[i].target = place_of(part.point_place(i), output);
  }
  return places;
}

}  // namespace

DevicePart device_part(const ChunkPart& part, std::span<const std::int64_t> strides,
                       const ArrayView& output) {
  if (part.ndim() != strides.size() || (!part.is_points() && part.ndim() != output.ndim()))
    throw Error(ErrorCode::invalid_argument,
                "a part of " + std::to_string(part.ndim()) + " dimensions is wanted of a chunk of " +
                    std::to_string(strides.size()) + " in an output of " + std::to_string(output.ndim()));
  DevicePart result;
  auto lists = std::make_shared<std::vector<std::vector<gpu::Place>>>();
  const auto add_list = [&](std::vector<gpu::Place> places) {
    const std::vector<gpu::Place>& list = lists->emplace_back(std::move(places));
    result.axes.push_back({.count = list.size(), .places = list.data()});
  };
  if (part.is_points()) {
    if (part.size() != 0) add_list(points(part, strides, output));
    else result.axes.push_back({});
  } else {
    for (std::size_t d = 0; d < part.ndim(); ++d) {
      const PartDimension& dimension = part.dimensions()[d];
      if (dimension.count == 0) {
        result.axes.push_back({});
      } else if (dimension.is_range()) {  // whose places follow each other
        result.source_start = sum(result.source_start, times(dimension.start, strides[d]));
        result.target_start = sum(result.target_start, times(dimension.output_start, output.strides[d]));
        result.axes.push_back(
            {.count = dimension.count,
             .source_step =
                 dimension.count > 1 ? times(static_cast<std::uint64_t>(dimension.step), strides[d]) : 0,
             .target_step = output.strides[d]});
      } else {
        std::vector<gpu::Place> places(static_cast<std::size_t>(dimension.count));
        for (std::size_t i = 0; i < places.size(); ++i)
          places[i] = {times(dimension.position(i), strides[d]),
                       times(dimension.place(i), output.strides[d])};
        add_list(std::move(places));
      }
    }
  }
  result.lists = std::move(lists);
  return result;
}

gpu::Target device_target(const ArrayView& view, std::int64_t start) {
  std::int64_t below = 0, above = static_cast<std::int64_t>(view.type.item_size());
  for (std::size_t d = 0; d < view.ndim(); ++d) {
    const std::int64_t reach = static_cast<std::int64_t>(view.shape[d] - 1) * view.strides[d];
    (reach < 0 ? below : above) += reach;
  }
  return {view.data + below, static_cast<std::size_t>(above - below), start - below};
}

}  // namespace zarrive
