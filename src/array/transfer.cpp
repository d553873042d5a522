#include "array/transfer.hpp"

#include <algorithm>

namespace zarrive {

void check_transfer(const Transfer& transfer, const Selection& selection, const ResolvedSelection& resolved,
                    const ArrayMetadata& metadata) {
  if (resolved.points || !selection.field_names().empty() ||
      std::any_of(resolved.dimensions.begin(), resolved.dimensions.end(),
                  [](const ResolvedDimension& d) { return d.is_list(); }))
    throw Error(ErrorCode::unsupported, "only basic selections are read and written so far");
  const bool reading = transfer.direction == Transfer::read;
  const std::string what = reading ? "the destination" : "the source";
  const ArrayView& view = transfer.view;
  if (view.shape != resolved.result_shape())
    throw Error(ErrorCode::invalid_argument, what + " has shape " + to_string(view.shape) +
                                                 ", the selection '" + selection.to_string() + "' has " +
                                                 to_string(resolved.result_shape()));
  if (!view.space.host_accessible())
    throw Error(ErrorCode::unsupported, std::string(reading ? "reading into " : "writing from ") +
                                            view.space.name() +
                                            " needs the GPU part, which this build does not have");
  if (view.type == metadata.data_type) return;
  const std::string types =
      what + " has data type " + view.type.name() + ", the array " + metadata.data_type.name();
  if (!(reading ? can_convert(metadata.data_type, view.type) : can_convert(view.type, metadata.data_type)))
    throw Error(ErrorCode::invalid_argument, types + ", which does not convert");
  if (!transfer.convert)
    throw Error(ErrorCode::invalid_argument,
                types + "; set " + (reading ? "ReadOptions" : "WriteOptions") + "::convert to convert");
}

ArrayView with_type_of(ArrayView view, const ArrayMetadata& metadata) {
  if (view.type == metadata.data_type) view.type = metadata.data_type;
  return view;
}

NDArray scratch_chunk(const DataType& type, const Shape& shape) {
  Prototype prototype;
  prototype.allocator = pool_allocator();
  return NDArray::allocate(type, shape, prototype);
}

}  // namespace zarrive
