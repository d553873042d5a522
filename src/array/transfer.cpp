#include "array/transfer.hpp"

namespace zarrive {

ArrayView with_type_of(ArrayView view, const ArrayMetadata& metadata) {
  if (view.type == metadata.data_type) view.type = metadata.data_type;
  return view;
}

NDArray scratch_chunk(const DataType& type, const Shape& shape) {
  Prototype prototype;
  prototype.allocator = pool_allocator();
  return NDArray::allocate(type, shape, prototype);
}

void fill_with(const ArrayView& view, const FillValue& value) {
  if (view.type.is_variable()) {
    fill(view, value.string());
  } else {
    fill(view, value.bytes());
  }
}

bool is_fill(const ArrayView& view, const FillValue& value) {
  return view.type.is_variable() ? all_equal(view, value.string()) : all_equal(view, value.bytes());
}

}  // namespace zarrive
