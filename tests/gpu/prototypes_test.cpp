// Our prototypes and constants of the driver against the vendor's header, where there is one.
#include <gtest/gtest.h>

#include "gpu/cuda_api.hpp"
#include "gpu/same_prototype.hpp"

#if __has_include(<cuda.h>)
#include <cuda.h>

#include <cstddef>

namespace zarrive::gpu {
namespace {

#define ZARRIVE_SAME_PLACE(ours, theirs) \
  static_assert(offsetof(CudaCopy2D, ours) == offsetof(CUDA_MEMCPY2D, theirs), #theirs)
static_assert(sizeof(CudaCopy2D) == sizeof(CUDA_MEMCPY2D));
ZARRIVE_SAME_PLACE(from_type, srcMemoryType);
ZARRIVE_SAME_PLACE(from_host, srcHost);
ZARRIVE_SAME_PLACE(from_device, srcDevice);
ZARRIVE_SAME_PLACE(from_pitch, srcPitch);
ZARRIVE_SAME_PLACE(to_type, dstMemoryType);
ZARRIVE_SAME_PLACE(to_host, dstHost);
ZARRIVE_SAME_PLACE(to_device, dstDevice);
ZARRIVE_SAME_PLACE(to_pitch, dstPitch);
ZARRIVE_SAME_PLACE(width, WidthInBytes);
ZARRIVE_SAME_PLACE(height, Height);

// What cuda.h declares under a name with a suffix it declares as the name without, and makes that a macro; so either spelling is found.
#define ZARRIVE_CUDA_SAME(member, name, parameters) \
  static_assert(testing::Same<CudaResult parameters, std::remove_pointer_t<decltype(&::name)>>::value, #name);
ZARRIVE_CUDA_FUNCTIONS(ZARRIVE_CUDA_SAME)

#if CUDA_VERSION >= 12080
ZARRIVE_CUDA_OPTIONAL_FUNCTIONS(ZARRIVE_CUDA_SAME)
#define ZARRIVE_SAME_STREAM(ours, theirs)                                                       \
  static_assert(offsetof(CudaDecompression, ours) == offsetof(CUmemDecompressParams, theirs) && \
                    sizeof(CudaDecompression::ours) == sizeof(CUmemDecompressParams::theirs),   \
                #theirs)
static_assert(sizeof(CudaDecompression) == sizeof(CUmemDecompressParams));
ZARRIVE_SAME_STREAM(encoded, srcNumBytes);
ZARRIVE_SAME_STREAM(decoded, dstNumBytes);
ZARRIVE_SAME_STREAM(written, dstActBytes);
ZARRIVE_SAME_STREAM(from, src);
ZARRIVE_SAME_STREAM(to, dst);
ZARRIVE_SAME_STREAM(algorithm, algo);
ZARRIVE_SAME_STREAM(padding, padding);

TEST(CudaPrototypes, ConstantsOfTheDecompressionEngineAreTheVendors) {
  EXPECT_EQ(cuda_attribute_decompress_algorithms, CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK);
  EXPECT_EQ(cuda_attribute_decompress_longest, CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH);
  EXPECT_EQ(cuda_decompress_deflate, static_cast<unsigned>(CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE));
  EXPECT_EQ(cuda_decompress_snappy, static_cast<unsigned>(CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY));
  EXPECT_EQ(cuda_decompress_lz4, static_cast<unsigned>(CU_MEM_DECOMPRESS_ALGORITHM_LZ4));
}
#endif

TEST(CudaPrototypes, ConstantsAreTheVendors) {
  EXPECT_EQ(cuda_success, CUDA_SUCCESS);
  EXPECT_EQ(cuda_invalid_value, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuda_stub_library, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(cuda_no_device, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(cuda_not_found, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuda_not_ready, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuda_no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuda_attribute_multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(cuda_attribute_compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(cuda_attribute_compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(cuda_pointer_context, CU_POINTER_ATTRIBUTE_CONTEXT);
  EXPECT_EQ(cuda_pointer_memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  EXPECT_EQ(cuda_pointer_device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  EXPECT_EQ(cuda_memory_host, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(cuda_memory_device, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(cuda_host_alloc_portable, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(cuda_stream_non_blocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(cuda_event_disable_timing, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
}

}  // namespace
}  // namespace zarrive::gpu

#else

TEST(CudaPrototypes, ConstantsAreTheVendors) { GTEST_SKIP() << "there is no cuda.h here"; }

#endif
