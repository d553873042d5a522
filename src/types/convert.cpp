// Conversion between data types, a block at a time: each source type widens without loss to one of four types, and each of those
// narrows to the destination with its checks. So there are as many loops as types, not as many as pairs.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "types/small_floats.hpp"
#include "types/type_table.hpp"
#include "zarrive/data_type.hpp"
#include "zarrive/error.hpp"

namespace zarrive {
namespace {

using types::Kind;
using types::row;

constexpr std::size_t kBlock = 256;  // elements; four kilobytes of the widest type

struct Run {  // elements of one array
  std::int64_t stride;
  std::size_t count;
};

template <class T>
T load_at(const std::byte* source, const Run& run, std::size_t i) {
  T value;
  std::memcpy(&value, source + static_cast<std::int64_t>(i) * run.stride, sizeof value);
  return value;
}

// ---- widening

template <class T, class Wide, class Widen>
void widen_as(const std::byte* source, const Run& run, Wide* wide, Widen widen) {
  for (std::size_t i = 0; i < run.count; ++i) wide[i] = widen(load_at<T>(source, run, i));
}

template <class T, class Wide>
void widen_as(const std::byte* source, const Run& run, Wide* wide) {
  widen_as<T>(source, run, wide, [](T value) { return static_cast<Wide>(value); });
}

void widen(TypeId id, const std::byte* source, const Run& run, std::int64_t* wide) {
  switch (id) {
    case TypeId::boolean:
      return widen_as<std::uint8_t>(source, run, wide, [](std::uint8_t v) { return std::int64_t{v != 0}; });
    // The low bits, sign extended; the high ones mean nothing.
    case TypeId::int2:
      return widen_as<std::uint8_t>(source, run, wide,
                                    [](std::uint8_t v) { return std::int64_t{(v & 3) ^ 2} - 2; });
    case TypeId::int4:
      return widen_as<std::uint8_t>(source, run, wide,
                                    [](std::uint8_t v) { return std::int64_t{(v & 15) ^ 8} - 8; });
    case TypeId::int8: return widen_as<std::int8_t>(source, run, wide);
    case TypeId::int16: return widen_as<std::int16_t>(source, run, wide);
    case TypeId::int32: return widen_as<std::int32_t>(source, run, wide);
    default: return widen_as<std::int64_t>(source, run, wide);
  }
}

void widen(TypeId id, const std::byte* source, const Run& run, std::uint64_t* wide) {
  switch (id) {
    case TypeId::uint2:
      return widen_as<std::uint8_t>(source, run, wide, [](std::uint8_t v) { return std::uint64_t{v & 3U}; });
    case TypeId::uint4:
      return widen_as<std::uint8_t>(source, run, wide, [](std::uint8_t v) { return std::uint64_t{v & 15U}; });
    case TypeId::uint8: return widen_as<std::uint8_t>(source, run, wide);
    case TypeId::uint16: return widen_as<std::uint16_t>(source, run, wide);
    case TypeId::uint32: return widen_as<std::uint32_t>(source, run, wide);
    default: return widen_as<std::uint64_t>(source, run, wide);
  }
}

void widen(TypeId id, const std::byte* source, const Run& run, double* wide) {
  if (id == TypeId::float64) return widen_as<double>(source, run, wide);
  if (id == TypeId::float32) return widen_as<float>(source, run, wide);
  if (row(id).size == 2)
    return widen_as<std::uint16_t>(source, run, wide, [id](std::uint16_t v) { return to_double(id, v); });
  widen_as<std::uint8_t>(source, run, wide, [id](std::uint8_t v) { return to_double(id, v); });
}

void widen(TypeId id, const std::byte* source, const Run& run, std::complex<double>* wide) {
  if (id == TypeId::complex128) return widen_as<std::complex<double>>(source, run, wide);
  widen_as<std::complex<float>>(source, run, wide,
                                [](std::complex<float> v) { return std::complex<double>(v); });
}

// ---- narrowing: each function gives whether the destination type holds the value

template <class Int>
bool narrow(std::int64_t value, Int low, Int high, Int& result) {
  result = static_cast<Int>(value);
  return std::cmp_greater_equal(value, low) && std::cmp_less_equal(value, high);
}

template <class Int>
bool narrow(std::uint64_t value, Int, Int high, Int& result) {
  result = static_cast<Int>(value);
  return std::cmp_less_equal(value, high);
}

template <class Int>
bool narrow(double value, Int low, Int high, Int& result) {
  const double whole = std::trunc(value);
  // high + 1 is a power of two, so exact as a double even for 64 bits. NaN fails both comparisons.
  const Int half = high / 2 + 1;
  const double limit = std::ldexp(static_cast<double>(half), 1);
  if (!(whole >= static_cast<double>(low) && whole < limit)) return false;
  result = static_cast<Int>(whole);
  return true;
}

// A double that rounds as the integer does to any type of 51 bits and fewer: inexact ones get an odd last bit.
double odd_double(std::uint64_t magnitude) {
  const int excess = std::bit_width(magnitude) - 53;
  if (excess <= 0) return static_cast<double>(magnitude);
  const std::uint64_t lost = magnitude & ((std::uint64_t{1} << excess) - 1);
  return std::ldexp(static_cast<double>(magnitude >> excess | (lost != 0)), excess);
}
double for_small_float(std::uint64_t value) { return odd_double(value); }
double for_small_float(std::int64_t value) {
  return value < 0 ? -odd_double(0 - static_cast<std::uint64_t>(value))
                   : odd_double(static_cast<std::uint64_t>(value));
}
double for_small_float(double value) { return value; }

struct Target {
  TypeId id;
  std::byte* data;
  Run run;
  // Index of the first element that did not fit.
  std::size_t failed = kBlock;
};

template <class T, class Wide, class Narrow>
void narrow_as(const Wide* wide, Target& target, Narrow narrow_one) {
  for (std::size_t i = 0; i < target.run.count; ++i) {
    T value{};
    if (!narrow_one(wide[i], value)) {
      target.failed = i;
      return;
    }
    std::memcpy(target.data + static_cast<std::int64_t>(i) * target.run.stride, &value, sizeof value);
  }
}

template <class Int, class Wide>
void narrow_integer(const Wide* wide, Target& target, Int low = std::numeric_limits<Int>::min(),
                    Int high = std::numeric_limits<Int>::max()) {
  narrow_as<Int>(wide, target, [=](Wide value, Int& result) { return narrow(value, low, high, result); });
}

template <class T, class Wide>
void narrow_float(const Wide* wide, Target& target) {
  narrow_as<T>(wide, target, [](Wide value, T& result) {
    result = static_cast<T>(value);
    return true;
  });
}

template <class Word, class Wide>
void narrow_small_float(const Wide* wide, Target& target) {
  narrow_as<Word>(wide, target,
                  [id = target.id, f = *types::float_format(target.id)](Wide value, Word& result) {
                    const double number = for_small_float(value);
                    result = static_cast<Word>(from_double(id, number));
                    // Overflow to infinity is what such a float does; any other stand-in is an error.
                    return f.has_infinity() || types::fits(id, number);
                  });
}

template <class Part, class Wide>
void narrow_complex(const Wide* wide, Target& target) {
  narrow_as<std::complex<Part>>(wide, target, [](Wide value, std::complex<Part>& result) {
    result = static_cast<Part>(value);
    return true;
  });
}

template <class Wide>
void narrow_block(const Wide* wide, Target& target) {
  switch (target.id) {
    case TypeId::boolean:
      return narrow_as<std::uint8_t>(wide, target, [](Wide value, std::uint8_t& result) {
        result = value != 0;
        return true;
      });
    case TypeId::int2: return narrow_integer<std::int8_t>(wide, target, -2, 1);
    case TypeId::int4: return narrow_integer<std::int8_t>(wide, target, -8, 7);
    case TypeId::int8: return narrow_integer<std::int8_t>(wide, target);
    case TypeId::int16: return narrow_integer<std::int16_t>(wide, target);
    case TypeId::int32: return narrow_integer<std::int32_t>(wide, target);
    case TypeId::int64: return narrow_integer<std::int64_t>(wide, target);
    case TypeId::uint2: return narrow_integer<std::uint8_t>(wide, target, 0, 3);
    case TypeId::uint4: return narrow_integer<std::uint8_t>(wide, target, 0, 15);
    case TypeId::uint8: return narrow_integer<std::uint8_t>(wide, target);
    case TypeId::uint16: return narrow_integer<std::uint16_t>(wide, target);
    case TypeId::uint32: return narrow_integer<std::uint32_t>(wide, target);
    case TypeId::uint64: return narrow_integer<std::uint64_t>(wide, target);
    case TypeId::float32: return narrow_float<float>(wide, target);
    case TypeId::float64: return narrow_float<double>(wide, target);
    case TypeId::complex64: return narrow_complex<float>(wide, target);
    case TypeId::complex128: return narrow_complex<double>(wide, target);
    default:
      if (row(target.id).size == 2) return narrow_small_float<std::uint16_t>(wide, target);
      return narrow_small_float<std::uint8_t>(wide, target);
  }
}

void narrow_block(const std::complex<double>* wide, Target& target) {
  if (target.id == TypeId::complex128)
    return narrow_as<std::complex<double>>(wide, target,
                                           [](std::complex<double> value, std::complex<double>& result) {
                                             result = value;
                                             return true;
                                           });
  if (target.id == TypeId::complex64)
    return narrow_as<std::complex<float>>(
        wide, target, [](std::complex<double> value, std::complex<float>& result) {
          result = {static_cast<float>(value.real()), static_cast<float>(value.imag())};
          return true;
        });
  const bool to_bool = target.id == TypeId::boolean;
  double real[kBlock];
  std::size_t n = 0;
  for (; n < target.run.count && (to_bool || wide[n].imag() == 0); ++n)
    real[n] = to_bool ? static_cast<double>(wide[n] != 0.0) : wide[n].real();
  const bool stopped = n < target.run.count;
  target.run.count = n;
  narrow_block(real, target);
  if (stopped) target.failed = std::min(target.failed, n);
}

std::string shown(std::int64_t value) { return std::to_string(value); }
std::string shown(std::uint64_t value) { return std::to_string(value); }
std::string shown(double value) { return Json(value).dump(); }
std::string shown(std::complex<double> value) {
  return "(" + shown(value.real()) + ", " + shown(value.imag()) + ")";
}

template <class Wide>
void convert_through(const DataType& from, const std::byte* source, std::int64_t source_stride,
                     const DataType& to, std::byte* destination, std::int64_t destination_stride,
                     std::uint64_t count) {
  Wide wide[kBlock];
  for (std::uint64_t done = 0; done < count; done += kBlock) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, count - done));
    const auto at = static_cast<std::int64_t>(done);
    widen(from.id(), source + at * source_stride, {source_stride, n}, wide);
    Target target{to.id(), destination + at * destination_stride, {destination_stride, n}};
    narrow_block(wide, target);
    if (target.failed < kBlock)
      throw Error(ErrorCode::out_of_bounds, "element " + std::to_string(done + target.failed) + " is " +
                                                shown(wide[target.failed]) + " of type " + from.name() +
                                                ", which " + to.name() + " cannot hold");
  }
}

bool is_numeric(const DataType& type) { return row(type.id()).kind != Kind::other; }

void copy_elements(const DataType& type, const std::byte* source, std::int64_t source_stride,
                   std::byte* destination, std::int64_t destination_stride, std::uint64_t count) {
  const std::size_t size = type.item_size();
  const auto dense = static_cast<std::int64_t>(size);
  if (!type.is_variable() && source_stride == dense && destination_stride == dense) {
    std::memcpy(destination, source, static_cast<std::size_t>(count) * size);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* from = source + static_cast<std::int64_t>(i) * source_stride;
    std::byte* to = destination + static_cast<std::int64_t>(i) * destination_stride;
    if (type.is_variable()) *reinterpret_cast<std::string*>(to) = *reinterpret_cast<const std::string*>(from);
    else std::memcpy(to, from, size);
  }
}

}  // namespace

bool can_convert(const DataType& from, const DataType& to) noexcept {
  return from == to || (is_numeric(from) && is_numeric(to));
}

void convert_elements(const DataType& from, const std::byte* source, std::int64_t source_stride,
                      const DataType& to, std::byte* destination, std::int64_t destination_stride,
                      std::uint64_t count) {
  if (!can_convert(from, to))
    throw Error(ErrorCode::unsupported, "elements of type " + from.name() + " cannot be converted to " +
                                            to.name() + "; only booleans, numbers and equal types convert");
  if (count == 0) return;
  if (from == to) return copy_elements(from, source, source_stride, destination, destination_stride, count);
  const auto convert = [&]<class Wide>(Wide) {
    convert_through<Wide>(from, source, source_stride, to, destination, destination_stride, count);
  };
  switch (row(from.id()).kind) {
    case Kind::unsigned_integer: return convert(std::uint64_t{});
    case Kind::floating: return convert(double{});
    case Kind::complex: return convert(std::complex<double>{});
    default: return convert(std::int64_t{});
  }
}

}  // namespace zarrive
