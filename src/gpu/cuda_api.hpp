// The part of the CUDA driver API that we call, with prototypes of our own, so that no build needs the toolkit. tests/gpu compares each
// with the vendor's cuda.h where that can be had. (CUDA Driver API 12.0 and later; names as exported by libcuda.so.1.)
#pragma once

#include <cstddef>
#include <cstdint>

namespace zarrive::gpu {

using CudaResult = int;  // CUresult
using CudaDevice = int;  // CUdevice
using CudaAddress = unsigned long long;
using CudaContext = struct CudaContextTag*;
using CudaStream = struct CudaStreamTag*;
using CudaEvent = struct CudaEventTag*;
using CudaLibrary = struct CudaLibraryTag*;
using CudaKernel = struct CudaKernelTag*;  // CUkernel, which cuLaunchKernel takes for a CUfunction
using CudaHostFunction = void (*)(void*);

// CUDA_MEMCPY2D: rows of `width` bytes, each `pitch` bytes behind the one before.
struct CudaCopy2D {
  std::size_t from_x = 0, from_y = 0;
  unsigned from_type = 0;  // CUmemorytype
  const void* from_host = nullptr;
  CudaAddress from_device = 0;
  void* from_array = nullptr;
  std::size_t from_pitch = 0;
  std::size_t to_x = 0, to_y = 0;
  unsigned to_type = 0;
  void* to_host = nullptr;
  CudaAddress to_device = 0;
  void* to_array = nullptr;
  std::size_t to_pitch = 0;
  std::size_t width = 0, height = 0;
};

// CUmemDecompressParams: a stream for the decompression engine. The three addresses are on its device, in memory of cuMemAlloc.
struct CudaDecompression {
  std::size_t encoded = 0;           // bytes at `from`
  std::size_t decoded = 0;           // that are expected; the driver takes it for a hint
  std::uint32_t* written = nullptr;  // becomes the number of bytes at `to`
  const void* from = nullptr;
  void* to = nullptr;
  unsigned algorithm = 0;  // CUmemDecompressAlgorithm, one bit of the device's mask
  unsigned char padding[20] = {};
};

// CUresult
inline constexpr CudaResult cuda_success = 0;
inline constexpr CudaResult cuda_invalid_value = 1;
inline constexpr CudaResult cuda_out_of_memory = 2;
inline constexpr CudaResult cuda_stub_library = 34;
inline constexpr CudaResult cuda_no_device = 100;
inline constexpr CudaResult cuda_no_binary_for_gpu = 209;
inline constexpr CudaResult cuda_not_found = 500;
inline constexpr CudaResult cuda_not_ready = 600;
// CUdevice_attribute
inline constexpr int cuda_attribute_multiprocessors = 16;
inline constexpr int cuda_attribute_compute_major = 75;
inline constexpr int cuda_attribute_compute_minor = 76;
inline constexpr int cuda_attribute_decompress_algorithms = 136;
inline constexpr int cuda_attribute_decompress_longest = 137;
// CUmemDecompressAlgorithm
inline constexpr unsigned cuda_decompress_deflate = 1;
inline constexpr unsigned cuda_decompress_snappy = 2;
inline constexpr unsigned cuda_decompress_lz4 = 4;
// CUpointer_attribute
inline constexpr int cuda_pointer_context = 1;
inline constexpr int cuda_pointer_memory_type = 2;
inline constexpr int cuda_pointer_device_ordinal = 9;
// CUmemorytype
inline constexpr unsigned cuda_memory_host = 1;
inline constexpr unsigned cuda_memory_device = 2;
// Flags
inline constexpr unsigned cuda_host_alloc_portable = 1;
inline constexpr unsigned cuda_stream_non_blocking = 1;
inline constexpr unsigned cuda_event_disable_timing = 2;

// X(member, exported name, parameters)
#define ZARRIVE_CUDA_FUNCTIONS(X)                                                                            \
  X(init, cuInit, (unsigned flags))                                                                          \
  X(driver_version, cuDriverGetVersion, (int* version))                                                      \
  X(error_name, cuGetErrorName, (CudaResult error, const char** name))                                       \
  X(error_string, cuGetErrorString, (CudaResult error, const char** text))                                   \
  X(device_count, cuDeviceGetCount, (int* count))                                                            \
  X(device_get, cuDeviceGet, (CudaDevice * device, int ordinal))                                             \
  X(device_name, cuDeviceGetName, (char* name, int size, CudaDevice device))                                 \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, CudaDevice device))                  \
  X(device_total_memory, cuDeviceTotalMem_v2, (std::size_t * bytes, CudaDevice device))                      \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, (CudaContext * context, CudaDevice device))            \
  X(context_push, cuCtxPushCurrent_v2, (CudaContext context))                                                \
  X(context_pop, cuCtxPopCurrent_v2, (CudaContext * context))                                                \
  X(memory_allocate, cuMemAlloc_v2, (CudaAddress * address, std::size_t size))                               \
  X(memory_free, cuMemFree_v2, (CudaAddress address))                                                        \
  X(memory_info, cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                 \
  X(host_allocate, cuMemHostAlloc, (void** data, std::size_t size, unsigned flags))                          \
  X(host_free, cuMemFreeHost, (void* data))                                                                  \
  X(pointer_attributes, cuPointerGetAttributes,                                                              \
    (unsigned count, int* attributes, void** data, CudaAddress address))                                     \
  X(copy_to_device, cuMemcpyHtoDAsync_v2,                                                                    \
    (CudaAddress to, const void* from, std::size_t size, CudaStream stream))                                 \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, (void* to, CudaAddress from, std::size_t size, CudaStream stream))   \
  X(copy_on_device, cuMemcpyDtoDAsync_v2,                                                                    \
    (CudaAddress to, CudaAddress from, std::size_t size, CudaStream stream))                                 \
  X(copy_2d, cuMemcpy2DAsync_v2, (const CudaCopy2D* copy, CudaStream stream))                                \
  X(set_bytes, cuMemsetD8Async, (CudaAddress to, unsigned char value, std::size_t count, CudaStream stream)) \
  X(stream_create, cuStreamCreate, (CudaStream * stream, unsigned flags))                                    \
  X(stream_destroy, cuStreamDestroy_v2, (CudaStream stream))                                                 \
  X(stream_synchronize, cuStreamSynchronize, (CudaStream stream))                                            \
  X(stream_wait_event, cuStreamWaitEvent, (CudaStream stream, CudaEvent event, unsigned flags))              \
  X(event_create, cuEventCreate, (CudaEvent * event, unsigned flags))                                        \
  X(event_destroy, cuEventDestroy_v2, (CudaEvent event))                                                     \
  X(event_record, cuEventRecord, (CudaEvent event, CudaStream stream))                                       \
  X(event_query, cuEventQuery, (CudaEvent event))                                                            \
  X(event_synchronize, cuEventSynchronize, (CudaEvent event))                                                \
  X(library_load, cuLibraryLoadData,                                                                         \
    (CudaLibrary * library, const void* image, int* jit_options, void** jit_values, unsigned jit_count,      \
     int* options, void** values, unsigned count))                                                           \
  X(library_kernel, cuLibraryGetKernel, (CudaKernel * kernel, CudaLibrary library, const char* name))        \
  X(launch_kernel, cuLaunchKernel,                                                                           \
    (CudaKernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,                 \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, CudaStream stream, void** parameters,        \
     void** extra))                                                                                          \
  X(launch_host_function, cuLaunchHostFunc, (CudaStream stream, CudaHostFunction function, void* argument))

// Those that not every driver has which we take. (CUDA 12.8 and later.)
#define ZARRIVE_CUDA_OPTIONAL_FUNCTIONS(X)                                                \
  X(decompress_batch, cuMemBatchDecompressAsync,                                          \
    (CudaDecompression * streams, std::size_t count, unsigned flags, std::size_t* failed, \
     CudaStream stream))

}  // namespace zarrive::gpu
