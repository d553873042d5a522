// The part of the cuFile API that we call, with prototypes of our own, as in cuda_api.hpp. (cuFile 1.7 and later; names as exported by
// libcufile.so.0. The functions of parameters came with 1.14.)
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "gpu/cuda_api.hpp"

namespace zarrive::gpu {

struct CufileResult {  // CUfileError_t
  int error = 0;       // CUfileOpError
  CudaResult cuda = 0;
};
using CufileHandle = void*;  // CUfileHandle_t

struct CufileDescriptor {  // CUfileDescr_t
  int type = 0;
  union {
    int fd;
    void* handle = nullptr;
  };
  const void* operations = nullptr;
};

struct CufileProperties {  // CUfileDrvProps_t
  unsigned nvfs_major = 0;
  unsigned nvfs_minor = 0;
  std::size_t poll_threshold = 0;
  std::size_t max_direct_io = 0;
  unsigned status_flags = 0;
  unsigned control_flags = 0;
  unsigned feature_flags = 0;
  char rest[256] = {};  // versions append members; none of them writes past this
};

// CUfileOpError
inline constexpr int cufile_success = 0;
inline constexpr int cufile_platform_not_supported = 5007;
inline constexpr int cufile_io_not_supported = 5008;
inline constexpr int cufile_cuda_error = 5011;
inline constexpr int cufile_io_disabled = 5034;
inline constexpr int cufile_no_memory = 5043;
// CUfileFileHandleType
inline constexpr int cufile_type_fd = 1;
// CUfileDriverControlFlags_t, the number of a bit
inline constexpr unsigned cufile_control_compat_mode = 1;
// CUFileBoolConfigParameter_t
inline constexpr int cufile_parameter_allow_compat_mode = 1;
inline constexpr int cufile_parameter_force_compat_mode = 2;
inline constexpr int cufile_parameter_pci_p2pdma = 7;

// X(member, exported name, result, parameters)
#define ZARRIVE_CUFILE_FUNCTIONS(X)                                                              \
  X(get_version, cuFileGetVersion, CufileResult, (int* version))                                 \
  X(driver_open, cuFileDriverOpen, CufileResult, ())                                             \
  X(driver_properties, cuFileDriverGetProperties, CufileResult, (CufileProperties * properties)) \
  X(handle_register, cuFileHandleRegister, CufileResult,                                         \
    (CufileHandle * handle, CufileDescriptor * descriptor))                                      \
  X(handle_deregister, cuFileHandleDeregister, void, (CufileHandle handle))                      \
  X(read, cuFileRead, ssize_t,                                                                   \
    (CufileHandle handle, void* base, std::size_t size, off_t file_offset, off_t memory_offset))

// These may be missing.
#define ZARRIVE_CUFILE_PARAMETER_FUNCTIONS(X)                                    \
  X(set_bool, cuFileSetParameterBool, CufileResult, (int parameter, bool value)) \
  X(get_bool, cuFileGetParameterBool, CufileResult, (int parameter, bool* value))

}  // namespace zarrive::gpu
