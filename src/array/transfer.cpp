#include "array/transfer.hpp"

#include <algorithm>

#include "array/pieces.hpp"
#include "array/resolve.hpp"

namespace zarrive {

namespace {

const char* name_of(const Transfer& transfer) {
  return transfer.direction == Transfer::read ? "the destination" : "the source";
}

// `selected`: the type of the elements that move, called `name`; `convertible`: they may be converted at all.
void check_type(const Transfer& transfer, const DataType& array, const DataType& selected,
                const std::string& name, bool convertible) {
  const bool reading = transfer.direction == Transfer::read;
  const ArrayView& view = transfer.view;
  const std::string what = name_of(transfer);
  if (!view.space.host_accessible() && (view.type.is_variable() || array.is_variable()))
    throw Error(ErrorCode::unsupported, what + " is in " + view.space.name() + "; elements of type " +
                                            array.name() + " live in host memory only");
  if (view.type == selected) return;
  const std::string types = what + " has data type " + view.type.name() + ", " + name + selected.name();
  if (!convertible || !(reading ? can_convert(selected, view.type) : can_convert(view.type, selected)))
    throw Error(ErrorCode::invalid_argument, types + ", which does not convert");
  if (!transfer.convert)
    throw Error(ErrorCode::invalid_argument,
                types + "; set " + (reading ? "ReadOptions" : "WriteOptions") + "::convert to convert");
}

// One entry of a list.
class AccessCheck {
 public:
  AccessCheck(const Transfer& transfer, const ArrayMetadata& metadata)
      : transfer_(transfer),
        metadata_(metadata),
        grid_(metadata.chunk_grid.grid_shape(metadata.shape)),
        places_(transfer.view.size()) {}

  void operator()(const ChunkAccess& access) const {
    check_chunk(access);
    const ChunkPart& part = access.part;
    if (part.ndim() != metadata_.shape.size())
      throw Error(ErrorCode::invalid_argument, "the part has " + std::to_string(part.ndim()) +
                                                   " dimensions, the array " +
                                                   std::to_string(metadata_.shape.size()));
    if (part.empty()) return;
    if (part.is_points()) check_points(part, chunk_extent(metadata_, access));
    else check_product(part, chunk_extent(metadata_, access));
  }

 private:
  void check_chunk(const ChunkAccess& access) const {
    if (access.chunk_shape) {
      bool fits = access.chunk_shape->size() == grid_.size();
      for (const std::uint64_t edge : *access.chunk_shape) fits = fits && edge > 0 && edge <= max_extent;
      if (!fits)
        throw Error(ErrorCode::invalid_argument, "a chunk of shape " + to_string(*access.chunk_shape) +
                                                     " is none of an array of shape " +
                                                     to_string(metadata_.shape));
      if (access.key) return;
    }
    bool inside = access.chunk.size() == grid_.size();
    for (std::size_t d = 0; inside && d < grid_.size(); ++d) inside = access.chunk[d] < grid_[d];
    if (!inside)
      throw Error(ErrorCode::out_of_bounds,
                  "chunk " + to_string(access.chunk) + " is outside the chunk grid " + to_string(grid_));
  }

  static void check_positions(const PartDimension& dimension, const ChunkExtent& extent, std::size_t d) {
    const auto refuse = [&](const std::string& what) {
      throw Error(ErrorCode::out_of_bounds, what + " of dimension " + std::to_string(d) +
                                                " are outside the " + std::to_string(extent.inside[d]) +
                                                " elements that a chunk of " +
                                                std::to_string(extent.full[d]) + " has in the array");
    };
    const std::uint64_t edge = extent.inside[d];
    if (!dimension.is_range()) {
      const auto [low, high] =
          std::minmax_element(dimension.positions, dimension.positions + dimension.count);
      if (*low < dimension.origin || *high - dimension.origin >= edge)
        refuse("positions " + std::to_string(*low) + " to " + std::to_string(*high) + ", counted from " +
               std::to_string(dimension.origin) + ',');
      return;
    }
    if (dimension.count > 1 && dimension.step == 0)
      throw Error(ErrorCode::invalid_argument, "dimension " + std::to_string(d) + " of a part has step 0");
    const bool down = dimension.step < 0;
    const auto reach = checked_multiply(dimension.count - 1,
                                        down ? std::uint64_t{0} - static_cast<std::uint64_t>(dimension.step)
                                             : static_cast<std::uint64_t>(dimension.step));
    const std::uint64_t room = down ? dimension.start : edge - 1 - std::min(dimension.start, edge - 1);
    if (dimension.start >= edge || !reach || *reach > room)
      refuse(std::to_string(dimension.count) + " positions from " + std::to_string(dimension.start) +
             " on in steps of " + std::to_string(dimension.step));
  }

  void check_product(const ChunkPart& part, const ChunkExtent& extent) const {
    const Shape& shape = transfer_.view.shape;
    if (shape.size() != part.ndim())
      throw Error(ErrorCode::invalid_argument,
                  std::string(name_of(transfer_)) + " has shape " + to_string(shape) +
                      ", parts need a dimension for each of the array's " + std::to_string(part.ndim()));
    for (std::size_t d = 0; d < part.ndim(); ++d) {
      const PartDimension& dimension = part.dimensions()[d];
      check_positions(dimension, extent, d);
      check_places(dimension.outputs, dimension.output_start, dimension.count, shape[d]);
    }
  }

  void check_points(const ChunkPart& part, const ChunkExtent& extent) const {
    const std::uint64_t count = part.size();
    for (std::size_t d = 0; d < part.ndim(); ++d) {
      const PartDimension& dimension = part.dimensions()[d];
      if (dimension.is_range() || dimension.count != count)
        throw Error(ErrorCode::invalid_argument,
                    std::to_string(count) + " points need a list of as many positions for each dimension");
      check_positions(dimension, extent, d);
    }
    check_places(part.point_outputs(), part.point_outputs() ? 0 : part.point_place(0), count, places_);
  }

  void check_places(const std::uint64_t* list, std::uint64_t start, std::uint64_t count,
                    std::uint64_t extent) const {
    std::optional<std::uint64_t> end = checked_add(start, count);
    if (list) end = checked_add(*std::max_element(list, list + count), 1);
    if (!end || *end > extent)
      throw Error(ErrorCode::out_of_bounds, "places up to " + (end ? std::to_string(*end) : "2^64") +
                                                " are outside " + name_of(transfer_) + " of shape " +
                                                to_string(transfer_.view.shape));
  }

  const Transfer& transfer_;
  const ArrayMetadata& metadata_;
  const Shape grid_;
  const std::uint64_t places_;
};

// Elements of variable length are objects: two threads must not set the same one.
void check_places_differ(std::span<const ChunkAccess> accesses, const ArrayView& view) {
  std::vector<bool> taken(static_cast<std::size_t>(view.size()));
  const auto take = [&](std::uint64_t place) {
    if (taken[static_cast<std::size_t>(place)])
      throw Error(ErrorCode::invalid_argument,
                  "element " + std::to_string(place) + " of the destination (in C order) is a place twice");
    taken[static_cast<std::size_t>(place)] = true;
  };
  for (const ChunkAccess& access : accesses) each_place(access.part, view.shape, take);
}

}  // namespace

void check_transfer(const Transfer& transfer, const Selection& selection, const ResolvedSelection& resolved,
                    const ArrayMetadata& metadata) {
  const ArrayView& view = transfer.view;
  if (view.shape != resolved.result_shape())
    throw Error(ErrorCode::invalid_argument,
                std::string(name_of(transfer)) + " has shape " + to_string(view.shape) + ", the selection '" +
                    selection.to_string() + "' has " + to_string(resolved.result_shape()));
  const bool struct_of_fields = !selection.field_names().empty() && !selection.is_single_field();
  check_type(transfer, metadata.data_type, selected_type(selection, metadata.data_type),
             selection.field_names().empty() ? "the array " : "the selected fields ", !struct_of_fields);
}

void check_transfer(const Transfer& transfer, std::span<const ChunkAccess> accesses,
                    const ArrayMetadata& metadata) {
  check_type(transfer, metadata.data_type, metadata.data_type, "the array ", true);
  const AccessCheck check(transfer, metadata);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    try {
      check(accesses[i]);
    } catch (const Error& error) {
      throw Error(error.code(), "entry " + std::to_string(i) + " of the list: " + error.message(), {});
    }
  }
  if (transfer.direction == Transfer::read && metadata.data_type.is_variable())
    check_places_differ(accesses, transfer.view);
}

}  // namespace zarrive
