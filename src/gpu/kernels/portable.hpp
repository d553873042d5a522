// What kernel bodies are written in: C++ that nvcc compiles for the device and any compiler for the host, where the tests run the same
// source under sanitizers. Parameters are plain structures passed by value; nothing here allocates, throws or calls the standard library
// beyond memcpy and floor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define ZARRIVE_KERNEL __host__ __device__
#else
#define ZARRIVE_KERNEL
#endif

namespace zarrive::gpu::kernels {

// What a kernel says of one piece of its work.
inline constexpr std::uint32_t status_ok = 0;
inline constexpr std::uint32_t status_corrupt = 1;   // the bytes do not decode to what they should
inline constexpr std::uint32_t status_no_value = 2;  // an element has no value in the type it is to become
inline constexpr std::uint32_t status_not_run = 0xFFFFFFFF;

template <class T>
ZARRIVE_KERNEL inline bool is_aligned(const T* at, std::size_t alignment) {
  return (reinterpret_cast<std::uintptr_t>(at) & (alignment - 1)) == 0;
}

template <class To, class From>
ZARRIVE_KERNEL inline To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// A little-endian number at any address: one access where it is aligned, bytes elsewhere.
template <class T>
ZARRIVE_KERNEL inline T load(const std::uint8_t* at) {
  T value;
  if (is_aligned(at, sizeof(T))) {
    std::memcpy(&value, __builtin_assume_aligned(at, sizeof(T)), sizeof(T));
    return value;
  }
  value = 0;
  for (unsigned k = 0; k < sizeof(T); ++k) value = static_cast<T>(value | static_cast<T>(at[k]) << (8 * k));
  return value;
}

template <class T>
ZARRIVE_KERNEL inline void store(std::uint8_t* at, T value) {
  if (is_aligned(at, sizeof(T))) {
    std::memcpy(__builtin_assume_aligned(at, sizeof(T)), &value, sizeof(T));
    return;
  }
  for (unsigned k = 0; k < sizeof(T); ++k) at[k] = static_cast<std::uint8_t>(value >> (8 * k));
}

// `size` is 1, 2, 4 or 8.
ZARRIVE_KERNEL inline std::uint64_t load_bits(const std::uint8_t* at, unsigned size) {
  switch (size) {
    case 1: return *at;
    case 2: return load<std::uint16_t>(at);
    case 4: return load<std::uint32_t>(at);
    default: return load<std::uint64_t>(at);
  }
}

ZARRIVE_KERNEL inline void store_bits(std::uint8_t* at, unsigned size, std::uint64_t bits) {
  switch (size) {
    case 1: *at = static_cast<std::uint8_t>(bits); break;
    case 2: store(at, static_cast<std::uint16_t>(bits)); break;
    case 4: store(at, static_cast<std::uint32_t>(bits)); break;
    default: store(at, bits);
  }
}

// Number of the lowest bit that is set; of a word that is not zero.
ZARRIVE_KERNEL inline unsigned lowest_bit(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__ffs(static_cast<int>(word))) - 1;
#else
  return static_cast<unsigned>(__builtin_ctz(word));
#endif
}

// Bits up to the highest that is set; 0 of zero.
ZARRIVE_KERNEL inline int bit_width(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return 64 - __clzll(static_cast<long long>(word));
#else
  return word == 0 ? 0 : 64 - __builtin_clzll(word);
#endif
}

}  // namespace zarrive::gpu::kernels
