// Our prototypes, layouts and constants of cuFile against the vendor's header, where there is one.
#include <gtest/gtest.h>

#include "gpu/cufile_api.hpp"
#include "gpu/cufile_errors.hpp"
#include "gpu/same_prototype.hpp"

#if __has_include(<cufile.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cufile.h>

#include <cstddef>

namespace zarrive::gpu {
namespace {

#define ZARRIVE_CUFILE_SAME(member, name, result, parameters) \
  static_assert(testing::Same<result parameters, decltype(::name)>::value, #name);
ZARRIVE_CUFILE_FUNCTIONS(ZARRIVE_CUFILE_SAME)
#if CUDA_VERSION >= 12090  // what comes with it is cuFile 1.14
ZARRIVE_CUFILE_PARAMETER_FUNCTIONS(ZARRIVE_CUFILE_SAME)
#endif

static_assert(sizeof(CufileResult) == sizeof(CUfileError_t));
static_assert(offsetof(CufileResult, cuda) == offsetof(CUfileError_t, cu_err));
static_assert(sizeof(CufileDescriptor) == sizeof(CUfileDescr_t));
static_assert(offsetof(CufileDescriptor, fd) == offsetof(CUfileDescr_t, handle.fd));
static_assert(offsetof(CufileDescriptor, operations) == offsetof(CUfileDescr_t, fs_ops));
static_assert(sizeof(CufileProperties) >= sizeof(CUfileDrvProps_t) + 128, "what comes has room");
static_assert(offsetof(CufileProperties, nvfs_major) == offsetof(CUfileDrvProps_t, nvfs.major_version));
static_assert(offsetof(CufileProperties, status_flags) == offsetof(CUfileDrvProps_t, nvfs.dstatusflags));
static_assert(offsetof(CufileProperties, control_flags) == offsetof(CUfileDrvProps_t, nvfs.dcontrolflags));
static_assert(offsetof(CufileProperties, feature_flags) == offsetof(CUfileDrvProps_t, fflags));

TEST(CufilePrototypes, ConstantsAreTheVendors) {
  EXPECT_EQ(cufile_success, CU_FILE_SUCCESS);
  EXPECT_EQ(cufile_platform_not_supported, CU_FILE_PLATFORM_NOT_SUPPORTED);
  EXPECT_EQ(cufile_io_not_supported, CU_FILE_IO_NOT_SUPPORTED);
  EXPECT_EQ(cufile_cuda_error, CU_FILE_CUDA_DRIVER_ERROR);
  EXPECT_EQ(cufile_io_disabled, CU_FILE_IO_DISABLED);
  EXPECT_EQ(cufile_no_memory, CU_FILE_NOMEM_ERROR);
  EXPECT_EQ(cufile_type_fd, CU_FILE_HANDLE_TYPE_OPAQUE_FD);
  EXPECT_EQ(cufile_control_compat_mode, static_cast<unsigned>(CU_FILE_ALLOW_COMPAT_MODE));
#if CUDA_VERSION >= 12090
  EXPECT_EQ(cufile_parameter_allow_compat_mode, CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE);
  EXPECT_EQ(cufile_parameter_force_compat_mode, CUFILE_PARAM_FORCE_COMPAT_MODE);
  EXPECT_EQ(cufile_parameter_pci_p2pdma, CUFILE_PARAM_USE_PCIP2PDMA);
#endif
#define ZARRIVE_CUFILE_SAME_ERROR(number, name) EXPECT_EQ(number, name);
  ZARRIVE_CUFILE_ERRORS(ZARRIVE_CUFILE_SAME_ERROR)
}

}  // namespace
}  // namespace zarrive::gpu

#else

TEST(CufilePrototypes, ConstantsAreTheVendors) { GTEST_SKIP() << "there is no cufile.h here"; }

#endif
