// DLPack exchange (https://dmlc.github.io/dlpack, ABI 0.8 DLManagedTensor) for host, pinned and CUDA memory. Of device memory the two sides
// agree themselves on a stream: what is exported is there when the read's stream has passed.
#pragma once

#include <cstdint>

#include "zarrive/export.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::dlpack {

struct Device {
  std::int32_t device_type;  // 1 CPU, 2 CUDA, 3 CUDA host (pinned)
  std::int32_t device_id;
};
struct DataType {
  std::uint8_t code;  // 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: dense C order
  std::uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor*);
};

// The array as a DLManagedTensor that keeps it alive until its deleter runs. Error(unsupported_data_type) for types without a DLPack
// code, Error(invalid_argument) for strides that are no multiple of the item size.
ZARRIVE_API ManagedTensor* to_dlpack(const NDArray& array);

// Takes the tensor over (its deleter runs when the last reference goes). When this throws,
// the tensor is still the caller's. Errors: unsupported for other kinds of device, unsupported_data_type, invalid_argument or resource_limit
// for a tensor that cannot be (negative ndim or extents, null data, strides out of the address space).
ZARRIVE_API NDArray from_dlpack(ManagedTensor* tensor);

}  // namespace zarrive::dlpack
