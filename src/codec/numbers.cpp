#include "codec/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "codec/number_rows.hpp"

namespace zarrive {
namespace {

template <class T, class Out>
void load_as(const std::byte* from, std::int64_t step, std::size_t count, Out* to) noexcept {
  if (step == static_cast<std::int64_t>(sizeof(T))) {
    for (std::size_t k = 0; k < count; ++k) to[k] = static_cast<Out>(load<T>(from + k * sizeof(T)));
  } else {
    for (std::size_t k = 0; k < count; ++k, from += step) to[k] = static_cast<Out>(load<T>(from));
  }
}

template <class T, class In>
T c_cast(In value) noexcept {
  if constexpr (std::is_floating_point_v<In> && std::is_integral_v<T>) {
    constexpr double kTwo63 = 9223372036854775808.0;
    if constexpr (std::is_same_v<T, std::uint64_t>)
      if (value >= kTwo63 && value < 2 * kTwo63) return static_cast<std::uint64_t>(value);
    const std::int64_t whole =
        value >= -kTwo63 && value < kTwo63 ? static_cast<std::int64_t>(value) : INT64_MIN;
    return static_cast<T>(whole);
  } else {
    return static_cast<T>(value);
  }
}

template <class T, class In>
void store_as(const In* from, std::size_t count, std::byte* to, std::int64_t step) noexcept {
  if (step == static_cast<std::int64_t>(sizeof(T))) {
    for (std::size_t k = 0; k < count; ++k) store<T>(to + k * sizeof(T), c_cast<T>(from[k]));
  } else {
    for (std::size_t k = 0; k < count; ++k, to += step) store<T>(to, c_cast<T>(from[k]));
  }
}

template <class In>
void store_from(const DataType& type, const In* from, std::size_t count, std::byte* to, std::int64_t step) {
  switch (type.id()) {
    case TypeId::boolean:
      for (std::size_t k = 0; k < count; ++k, to += step) *to = std::byte{from[k] != 0};
      return;
    case TypeId::int8: return store_as<std::int8_t>(from, count, to, step);
    case TypeId::int16: return store_as<std::int16_t>(from, count, to, step);
    case TypeId::int32: return store_as<std::int32_t>(from, count, to, step);
    case TypeId::int64:
    case TypeId::datetime64:
    case TypeId::timedelta64: return store_as<std::int64_t>(from, count, to, step);
    case TypeId::uint8: return store_as<std::uint8_t>(from, count, to, step);
    case TypeId::uint16: return store_as<std::uint16_t>(from, count, to, step);
    case TypeId::uint32: return store_as<std::uint32_t>(from, count, to, step);
    case TypeId::uint64: return store_as<std::uint64_t>(from, count, to, step);
    case TypeId::float32: return store_as<float>(from, count, to, step);
    case TypeId::float64: return store_as<double>(from, count, to, step);
    case TypeId::float16:
    case TypeId::bfloat16:
      for (std::size_t k = 0; k < count; ++k, to += step)
        store<std::uint16_t>(to, from_double(type.id(), static_cast<double>(from[k])));
      return;
    default:  // int2, int4 and the like wrap in their low bits; small floats round
      if (type.is_float()) {
        for (std::size_t k = 0; k < count; ++k, to += step)
          *to = static_cast<std::byte>(from_double(type.id(), static_cast<double>(from[k])));
      } else {
        const unsigned bits = type.id() == TypeId::int2 || type.id() == TypeId::uint2 ? 2 : 4;
        const unsigned sign = type.is_signed() ? 1U << (bits - 1) : 0;
        for (std::size_t k = 0; k < count; ++k, to += step) {
          const unsigned low = static_cast<unsigned>(c_cast<std::uint8_t>(from[k])) & ((1U << bits) - 1);
          *to = static_cast<std::byte>((low ^ sign) - sign);
        }
      }
      return;
  }
}

// The real and imaginary parts of a complex view.
ArrayView part_of(const ArrayView& view, int part) {
  ArrayView result = view;
  result.type = DataType(view.type.id() == TypeId::complex64 ? TypeId::float32 : TypeId::float64);
  if (result.data)
    result.data += part * static_cast<std::int64_t>(result.type.item_size());  // null when empty
  return result;
}

}  // namespace

std::optional<Carrier> carrier_of(const DataType& type) noexcept {
  if (type.id() == TypeId::datetime64 || type.id() == TypeId::timedelta64) return Carrier::int64;
  if (type.id() == TypeId::boolean) return Carrier::uint64;
  if (type.is_integer()) return type.is_signed() ? Carrier::int64 : Carrier::uint64;
  if (type.is_float()) return Carrier::float64;
  return std::nullopt;
}

void load_numbers(const DataType& type, const std::byte* from, std::int64_t step, std::size_t count,
                  NumberBlock& block) {
  block.carrier = *carrier_of(type);
  switch (type.id()) {
    case TypeId::boolean:
      for (std::size_t k = 0; k < count; ++k, from += step) block.u[k] = *from != std::byte{0};
      return;
    case TypeId::int2:
    case TypeId::int4:
    case TypeId::int8: return load_as<std::int8_t>(from, step, count, block.u.data());
    case TypeId::int16: return load_as<std::int16_t>(from, step, count, block.u.data());
    case TypeId::int32: return load_as<std::int32_t>(from, step, count, block.u.data());
    case TypeId::int64:
    case TypeId::datetime64:
    case TypeId::timedelta64: return load_as<std::int64_t>(from, step, count, block.u.data());
    case TypeId::uint2:
    case TypeId::uint4:
    case TypeId::uint8: return load_as<std::uint8_t>(from, step, count, block.u.data());
    case TypeId::uint16: return load_as<std::uint16_t>(from, step, count, block.u.data());
    case TypeId::uint32: return load_as<std::uint32_t>(from, step, count, block.u.data());
    case TypeId::uint64: return load_as<std::uint64_t>(from, step, count, block.u.data());
    case TypeId::float32: return load_as<float>(from, step, count, block.f.data());
    case TypeId::float64: return load_as<double>(from, step, count, block.f.data());
    case TypeId::float16:
    case TypeId::bfloat16:
      for (std::size_t k = 0; k < count; ++k, from += step)
        block.f[k] = to_double(type.id(), load<std::uint16_t>(from));
      return;
    default:
      for (std::size_t k = 0; k < count; ++k, from += step)
        block.f[k] = to_double(type.id(), std::to_integer<std::uint16_t>(*from));
      return;
  }
}

void store_numbers(const DataType& type, const NumberBlock& block, std::size_t count, std::byte* to,
                   std::int64_t step) {
  switch (block.carrier) {
    case Carrier::int64:
      return store_from(type, reinterpret_cast<const std::int64_t*>(block.u.data()), count, to, step);
    case Carrier::uint64: return store_from(type, block.u.data(), count, to, step);
    case Carrier::float64: return store_from(type, block.f.data(), count, to, step);
  }
}

void NumberBlock::to_floats(std::size_t count) noexcept {
  if (carrier == Carrier::int64)
    for (std::size_t k = 0; k < count; ++k) f[k] = static_cast<double>(signed_at(k));
  if (carrier == Carrier::uint64)
    for (std::size_t k = 0; k < count; ++k) f[k] = static_cast<double>(u[k]);
  carrier = Carrier::float64;
}

bool is_sub_byte(const DataType& type) noexcept {
  return type.id() == TypeId::int2 || type.id() == TypeId::int4 || type.id() == TypeId::uint2 ||
         type.id() == TypeId::uint4;
}

bool can_cast(const DataType& from, const DataType& to) noexcept {
  return (from.is_complex() || carrier_of(from)) && (to.is_complex() || carrier_of(to));
}

void cast_elements(const ArrayView& from, const ArrayView& to) {
  if (from.type.is_complex() || to.type.is_complex()) {
    cast_elements(from.type.is_complex() ? part_of(from, 0) : from,
                  to.type.is_complex() ? part_of(to, 0) : to);
    if (!to.type.is_complex()) return;
    const ArrayView imaginary = part_of(to, 1);
    if (from.type.is_complex()) {
      cast_elements(part_of(from, 1), imaginary);
    } else {
      const std::array<std::byte, 8> zero{};
      fill(imaginary, std::span(zero).first(imaginary.type.item_size()));
    }
    return;
  }
  transform_numbers(from, to, [](NumberBlock&, std::size_t) {});
}

void swap_elements(const ArrayView& view) {
  const std::size_t unit = view.type.swap_unit();
  if (unit <= 1) return;
  const std::size_t item = view.type.item_size();
  for_each_row(view, [&](std::byte* row, std::int64_t step, std::uint64_t count) {
    for (std::uint64_t k = 0; k < count; ++k, row += step)
      for (std::size_t at = 0; at < item; at += unit) std::reverse(row + at, row + at + unit);
  });
}

}  // namespace zarrive
