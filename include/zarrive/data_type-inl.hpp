// Definitions for data_type.hpp that must be seen by the compiler of the caller.
#pragma once

#include <complex>
#include <type_traits>

namespace zarrive {

template <class T>
DataType data_type_of() {
  using V = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<V, bool>) return DataType(TypeId::boolean);
  else if constexpr (std::is_same_v<V, std::byte>) return DataType::raw(1);
  else if constexpr (std::is_same_v<V, float>) return DataType(TypeId::float32);
  else if constexpr (std::is_same_v<V, double>) return DataType(TypeId::float64);
  else if constexpr (std::is_same_v<V, std::complex<float>>) return DataType(TypeId::complex64);
  else if constexpr (std::is_same_v<V, std::complex<double>>) return DataType(TypeId::complex128);
  else if constexpr (std::is_same_v<V, std::string>) return DataType(TypeId::string);
  else if constexpr (std::is_integral_v<V> && std::is_signed_v<V>)
    return DataType(sizeof(V) == 1   ? TypeId::int8
                    : sizeof(V) == 2 ? TypeId::int16
                    : sizeof(V) == 4 ? TypeId::int32
                                     : TypeId::int64);
  else if constexpr (std::is_integral_v<V>)
    return DataType(sizeof(V) == 1   ? TypeId::uint8
                    : sizeof(V) == 2 ? TypeId::uint16
                    : sizeof(V) == 4 ? TypeId::uint32
                                     : TypeId::uint64);
  else static_assert(!sizeof(T*), "no Zarr data type corresponds to this C++ type");
}

}  // namespace zarrive
