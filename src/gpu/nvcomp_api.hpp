// The part of the nvCOMP API that we call, with prototypes of our own, as in cuda_api.hpp. (nvCOMP 5.0 to 6.0, the batched C functions;
// names as exported by libnvcomp.so.5 and .6.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda_api.hpp"

namespace zarrive::gpu {

using NvcompResult = int;  // nvcompStatus_t

inline constexpr NvcompResult nvcomp_success = 0;

struct NvcompProperties {  // nvcompProperties_t
  std::uint32_t version = 0;
  std::uint32_t cudart_version = 0;
};

struct NvcompAlignments {  // nvcompAlignmentRequirements_t
  std::size_t input = 1;
  std::size_t output = 1;
  std::size_t temp = 1;
};

// nvcompBatched...DecompressOpts_t of every format, and nvcompBatched...CompressOpts_t of LZ4 and Zstd: 64 bytes, passed by value, whose
// defaults are zeros.
struct NvcompOptions {
  int first = 0;
  char rest[60] = {};
};

// X(our name, nvCOMP's name)
#define ZARRIVE_NVCOMP_FORMATS(X) \
  X(lz4, LZ4) X(snappy, Snappy) X(deflate, Deflate) X(gzip, Gzip) X(zstd, Zstd)
#define ZARRIVE_NVCOMP_ENCODED_FORMATS(X) X(lz4, LZ4) X(zstd, Zstd)

#define ZARRIVE_NVCOMP_GENERAL_FUNCTIONS(X) \
  X(get_properties, nvcompGetProperties, (NvcompProperties * properties))

// X(member, exported name, parameters), for nvCOMP's name F of a format. Arrays and what they point to lie on the device. Sizes of temporary
// memory are asked for in one way before nvCOMP 6.0 and in another from there on; either library lacks the other's functions.
#define ZARRIVE_NVCOMP_DECODING(X, F)                                                                      \
  X(decoding_alignments, nvcompBatched##F##DecompressGetRequiredAlignments,                                \
    (NvcompOptions options, NvcompAlignments * alignments))                                                \
  X(decode, nvcompBatched##F##DecompressAsync,                                                             \
    (const void* const* from, const std::size_t* from_sizes, const std::size_t* rooms, std::size_t* sizes, \
     std::size_t chunks, void* temp, std::size_t temp_size, void* const* to, NvcompOptions options,        \
     NvcompResult* results, CudaStream stream))

#define ZARRIVE_NVCOMP_ENCODING(X, F)                                                                 \
  X(encoding_alignments, nvcompBatched##F##CompressGetRequiredAlignments,                             \
    (NvcompOptions options, NvcompAlignments * alignments))                                           \
  X(encoded_bound, nvcompBatched##F##CompressGetMaxOutputChunkSize,                                   \
    (std::size_t largest, NvcompOptions options, std::size_t * bound))                                \
  X(encode, nvcompBatched##F##CompressAsync,                                                          \
    (const void* const* from, const std::size_t* from_sizes, std::size_t largest, std::size_t chunks, \
     void* temp, std::size_t temp_size, void* const* to, std::size_t* sizes, NvcompOptions options,   \
     NvcompResult* results, CudaStream stream))

#define ZARRIVE_NVCOMP_TEMP_SIZE_5 \
  (std::size_t chunks, std::size_t largest, NvcompOptions options, std::size_t * temp_size, std::size_t total)
#define ZARRIVE_NVCOMP_TEMP_SIZE_6                                                          \
  (std::size_t chunks, std::size_t largest, NvcompOptions options, std::size_t * temp_size, \
   std::size_t total, CudaStream stream)
#define ZARRIVE_NVCOMP_DECODING_5(X, F) \
  X(decoding_temp_size_5, nvcompBatched##F##DecompressGetTempSizeAsync, ZARRIVE_NVCOMP_TEMP_SIZE_5)
#define ZARRIVE_NVCOMP_DECODING_6(X, F) \
  X(decoding_temp_size, nvcompBatched##F##DecompressGetTempSize, ZARRIVE_NVCOMP_TEMP_SIZE_6)
#define ZARRIVE_NVCOMP_ENCODING_5(X, F) \
  X(encoding_temp_size_5, nvcompBatched##F##CompressGetTempSizeAsync, ZARRIVE_NVCOMP_TEMP_SIZE_5)
#define ZARRIVE_NVCOMP_ENCODING_6(X, F) \
  X(encoding_temp_size, nvcompBatched##F##CompressGetTempSize, ZARRIVE_NVCOMP_TEMP_SIZE_6)

}  // namespace zarrive::gpu
