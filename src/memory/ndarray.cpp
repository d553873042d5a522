#include <memory>

#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

// std::string objects in `memory`, destroyed when the last owner goes.
std::shared_ptr<const void> construct_strings(Buffer memory, std::size_t count) {
  auto* first = reinterpret_cast<std::string*>(memory.mutable_data());
  std::uninitialized_value_construct_n(first, count);
  return {first, [memory = std::move(memory), count](const void* p) {
            std::destroy_n(static_cast<std::string*>(const_cast<void*>(p)), count);
          }};
}

}  // namespace

NDArray NDArray::allocate(const DataType& type, const Shape& shape, const Prototype& prototype) {
  const std::size_t bytes = byte_count(shape, type.item_size());
  if (type.is_variable() && !prototype.space.host_accessible())
    throw Error(ErrorCode::unsupported, "elements of type " + type.name() +
                                            " live in host memory only, not in " + prototype.space.name());
  NDArray array;
  array.buffer_ = Buffer::allocate(bytes, prototype);
  if (type.is_variable() && bytes != 0) {
    std::byte* data = array.buffer_.mutable_data();
    auto owner = construct_strings(std::move(array.buffer_), bytes / sizeof(std::string));
    array.buffer_ = Buffer::share(std::move(owner), data, bytes, prototype.space);
  }
  array.view_ = ArrayView(array.buffer_.mutable_data(), type, shape, prototype.space);
  return array;
}

NDArray make_ndarray(Buffer buffer, ArrayView view) {
  NDArray array;
  array.buffer_ = std::move(buffer);
  array.view_ = std::move(view);
  return array;
}

void NDArray::check_host_type(const DataType& asked) const {
  if (!(asked == view_.type))
    throw Error(ErrorCode::invalid_argument,
                "elements of type " + view_.type.name() + " were asked for as " + asked.name());
  if (!view_.space.host_accessible())
    throw Error(ErrorCode::invalid_argument, "an array in " + view_.space.name() +
                                                 " cannot be read by the host; copy it to host memory first");
  if (!view_.is_contiguous())
    throw Error(ErrorCode::invalid_argument,
                "an array of shape " + to_string(view_.shape) + " is not dense in C order; use its view");
  if (reinterpret_cast<std::uintptr_t>(view_.data) % asked.alignment() != 0)
    throw Error(ErrorCode::invalid_argument, "an array is not aligned to the " +
                                                 std::to_string(asked.alignment()) + " bytes that " +
                                                 asked.name() + " needs; copy it");
}

}  // namespace zarrive
