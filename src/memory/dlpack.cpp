#include "zarrive/dlpack.hpp"

#include <limits>
#include <memory>
#include <optional>

namespace zarrive::dlpack {
namespace {

constexpr std::int32_t cpu = 1, cuda_device = 2, cuda_host = 3;
constexpr std::int32_t most_dimensions = 64;  // NumPy's; hostile counts must not be read past
constexpr std::int64_t max_address = std::numeric_limits<std::int64_t>::max();

struct Code {
  TypeId id;
  std::uint8_t code;
  std::uint8_t bits;
};
constexpr Code codes[] = {
    {TypeId::boolean, 6, 8},   {TypeId::int8, 0, 8},       {TypeId::int16, 0, 16},
    {TypeId::int32, 0, 32},    {TypeId::int64, 0, 64},     {TypeId::uint8, 1, 8},
    {TypeId::uint16, 1, 16},   {TypeId::uint32, 1, 32},    {TypeId::uint64, 1, 64},
    {TypeId::float16, 2, 16},  {TypeId::float32, 2, 32},   {TypeId::float64, 2, 64},
    {TypeId::bfloat16, 4, 16}, {TypeId::complex64, 5, 64}, {TypeId::complex128, 5, 128},
};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "DLPack tensor: " + why);
}

// An exported tensor with what it points at.
struct Export {
  ManagedTensor managed{};
  NDArray array;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

// A tensor that was taken over.
struct Import {
  ManagedTensor* managed = nullptr;
  Import() = default;
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;
  ~Import() {
    if (managed && managed->deleter) managed->deleter(managed);
  }
};

// Shape and byte strides of a tensor, checked, with the bytes that its elements span around the first one.
struct Layout {
  Shape shape;
  Strides strides;
  std::int64_t below = 0;  // bytes before the first element, zero or negative
  std::int64_t above = 0;  // bytes to the end of the last element; 0 when there is none
};

Layout read_layout(const Tensor& tensor, std::size_t item_size) {
  if (tensor.ndim < 0 || tensor.ndim > most_dimensions)
    refuse("ndim is " + std::to_string(tensor.ndim) + "; 0 to " + std::to_string(most_dimensions) +
           " is expected");
  const auto ndim = static_cast<std::size_t>(tensor.ndim);
  if (ndim != 0 && !tensor.shape) refuse("the shape is a null pointer");
  Layout layout;
  for (std::size_t i = 0; i < ndim; ++i) {
    if (tensor.shape[i] < 0) refuse("extent " + std::to_string(i) + " is " + std::to_string(tensor.shape[i]));
    layout.shape.push_back(static_cast<std::uint64_t>(tensor.shape[i]));
  }
  const std::size_t bytes = byte_count(layout.shape, item_size);
  if (!tensor.strides || bytes == 0) {
    layout.strides = c_strides(layout.shape, item_size);
    layout.above = static_cast<std::int64_t>(bytes);
    return layout;
  }
  layout.above = static_cast<std::int64_t>(item_size);
  for (std::size_t i = 0; i < ndim; ++i) {
    std::int64_t stride = 0, reach = 0;
    std::int64_t& side = tensor.strides[i] < 0 ? layout.below : layout.above;
    if (__builtin_mul_overflow(tensor.strides[i], static_cast<std::int64_t>(item_size), &stride) ||
        __builtin_mul_overflow(stride, tensor.shape[i] - 1, &reach) ||
        __builtin_add_overflow(side, reach, &side))
      refuse("stride " + std::to_string(tensor.strides[i]) + " of dimension " + std::to_string(i) +
             " leaves the address space");
    layout.strides.push_back(stride);
  }
  return layout;
}

MemorySpace read_space(const Device& device) {
  switch (device.device_type) {
    case cpu: return {MemoryKind::host, 0};
    case cuda_host: return {MemoryKind::pinned, 0};
    case cuda_device:
      if (device.device_id < 0) refuse("its device is " + std::to_string(device.device_id));
      return {MemoryKind::cuda, device.device_id};
    default:
      throw Error(ErrorCode::unsupported, "DLPack device type " + std::to_string(device.device_type) +
                                              "; host (1), CUDA (2) and pinned (3) memory is taken");
  }
}

zarrive::DataType read_type(const DataType& type) {
  for (const Code& c : codes)
    if (c.code == type.code && c.bits == type.bits && type.lanes == 1) return zarrive::DataType(c.id);
  throw Error(ErrorCode::unsupported_data_type,
              "DLPack type code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
                  std::to_string(type.lanes) + " lanes has no Zarr data type");
}

}  // namespace

ManagedTensor* to_dlpack(const NDArray& array) {
  const ArrayView& view = array.view();
  auto out = std::make_unique<Export>();
  Tensor& tensor = out->managed.dl_tensor;
  for (const Code& c : codes)
    if (c.id == view.type.id()) tensor.dtype = {c.code, c.bits, 1};
  if (tensor.dtype.lanes == 0)
    throw Error(ErrorCode::unsupported_data_type, "data type " + view.type.name() + " has no DLPack code");
  const auto item_size = static_cast<std::int64_t>(view.type.item_size());
  for (std::size_t i = 0; i < view.ndim(); ++i) {
    if (view.shape[i] > static_cast<std::uint64_t>(max_address))
      refuse("an extent of " + std::to_string(view.shape[i]) + " does not fit");
    if (view.strides[i] % item_size != 0)
      refuse("a stride of " + std::to_string(view.strides[i]) + " bytes is no multiple of the item size " +
             std::to_string(item_size) + "; copy the array first");
    out->shape.push_back(static_cast<std::int64_t>(view.shape[i]));
    out->strides.push_back(view.strides[i] / item_size);
  }
  switch (view.space.kind) {
    case MemoryKind::host: tensor.device = {cpu, 0}; break;
    case MemoryKind::pinned: tensor.device = {cuda_host, 0}; break;
    case MemoryKind::cuda: tensor.device = {cuda_device, view.space.device}; break;
  }
  out->array = array;
  tensor.data = view.data;
  tensor.ndim = static_cast<std::int32_t>(view.ndim());
  tensor.shape = out->shape.data();
  tensor.strides = out->strides.data();
  out->managed.manager_ctx = out.get();
  out->managed.deleter = [](ManagedTensor* self) { delete static_cast<Export*>(self->manager_ctx); };
  return &out.release()->managed;
}

NDArray from_dlpack(ManagedTensor* managed) {
  if (!managed) refuse("null pointer");
  const Tensor& tensor = managed->dl_tensor;
  const MemorySpace space = read_space(tensor.device);
  const zarrive::DataType type = read_type(tensor.dtype);
  Layout layout = read_layout(tensor, type.item_size());

  std::byte* data = nullptr;
  const std::byte* lowest = nullptr;
  if (layout.above != 0) {
    const auto first = checked_add(reinterpret_cast<std::uintptr_t>(tensor.data), tensor.byte_offset);
    if (!tensor.data) refuse("null data for an array of shape " + to_string(layout.shape));
    if (!first || !checked_add(*first, static_cast<std::uint64_t>(layout.above)) ||
        *first < static_cast<std::uint64_t>(-layout.below))
      refuse("its bytes leave the address space");
    data = reinterpret_cast<std::byte*>(*first);
    lowest = data + layout.below;
  }
  const auto size = static_cast<std::size_t>(layout.above) + static_cast<std::size_t>(-layout.below);
  ArrayView view(data, type, std::move(layout.shape), std::move(layout.strides), space);
  auto owner = std::make_shared<Import>();
  Import& import = *owner;
  NDArray array = make_ndarray(Buffer::share(std::move(owner), lowest, size, space), std::move(view));
  import.managed = managed;  // from here on it is ours; whatever threw before left it to the caller
  return array;
}

}  // namespace zarrive::dlpack
