#include "array/transfer.hpp"

#include "array/resolve.hpp"

namespace zarrive {

void check_transfer(const Transfer& transfer, const Selection& selection, const ResolvedSelection& resolved,
                    const ArrayMetadata& metadata) {
  const bool reading = transfer.direction == Transfer::read;
  const std::string what = reading ? "the destination" : "the source";
  const ArrayView& view = transfer.view;
  if (view.shape != resolved.result_shape())
    throw Error(ErrorCode::invalid_argument, what + " has shape " + to_string(view.shape) +
                                                 ", the selection '" + selection.to_string() + "' has " +
                                                 to_string(resolved.result_shape()));
  if (!view.space.host_accessible() && (view.type.is_variable() || metadata.data_type.is_variable()))
    throw Error(ErrorCode::unsupported, what + " is in " + view.space.name() + "; elements of type " +
                                            metadata.data_type.name() + " live in host memory only");
  const DataType selected = selected_type(selection, metadata.data_type);
  if (view.type == selected) return;
  const std::string types = what + " has data type " + view.type.name() + ", " +
                            (selection.field_names().empty() ? "the array " : "the selected fields ") +
                            selected.name();
  const bool struct_of_fields = !selection.field_names().empty() && !selection.is_single_field();
  if (struct_of_fields || !(reading ? can_convert(selected, view.type) : can_convert(view.type, selected)))
    throw Error(ErrorCode::invalid_argument, types + ", which does not convert");
  if (!transfer.convert)
    throw Error(ErrorCode::invalid_argument,
                types + "; set " + (reading ? "ReadOptions" : "WriteOptions") + "::convert to convert");
}

}  // namespace zarrive
