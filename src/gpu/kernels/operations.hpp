// What is done to one element of at most 8 bytes between the decoded bytes and its place: the decoding side of the elementwise codecs.
#pragma once

#include "gpu/kernels/cast.hpp"

namespace zarrive::gpu::kernels {

enum class OperationKind : std::uint8_t {
  swap,                // reverses the bytes; `from` has the size
  boolean,             // 0 or 1
  low_bits,            // of one byte: the others become zero ...
  signed_low_bits,     // ... or copies of the sign
  convert,             // the C cast
  fixed_scale_offset,  // numcodecs: x / scale + offset in `from`'s precision, then the C cast
  scale_offset,        // zarr-extensions: the same in the arithmetic of the type, which is not left
  cast_value           // zarr-extensions, without a scalar map
};

struct Operation {
  OperationKind kind;
  NumberType from;  // what comes in
  NumberType to;    // what goes out; the same size for those that keep it
  Rounding rounding;
  OutOfRange out_of_range;
  std::uint8_t bits;     // of low_bits
  std::uint64_t scale;   // bits of a double, of scale_offset: of an element
  std::uint64_t offset;  // likewise
};

// `value` in the precision that numcodecs computes in with numbers of this type: their own for floats, else double.
ZARRIVE_KERNEL inline double in_precision(NumberType type, double value) {
  if (type == NumberType::float32) return static_cast<double>(static_cast<float>(value));
  if (type == NumberType::float16 || type == NumberType::bfloat16)
    return from_small(small_float(type), to_small(small_float(type), value));
  return value;
}

ZARRIVE_KERNEL inline std::uint64_t swapped(std::uint64_t bits, unsigned size) {
  std::uint64_t result = 0;
  for (unsigned k = 0; k < size; ++k) result = result << 8 | (bits >> (8 * k) & 0xFF);
  return result;
}

ZARRIVE_KERNEL inline std::uint64_t apply_fixed_scale_offset(const Operation& operation, std::uint64_t bits) {
  const NumberType work = operation.from;
  const double scale = same_bits<double>(operation.scale);
  const double offset = same_bits<double>(operation.offset);
  Number number = to_number(work, bits);
  if (work == NumberType::float32) {  // a quotient rounded to double first would come to the same
    const float value = static_cast<float>(number.f) / static_cast<float>(scale) + static_cast<float>(offset);
    number.f = static_cast<double>(value);
  } else {
    number.f = in_precision(work, in_precision(work, to_double(number) / scale) + offset);
  }
  number.carrier = Carrier::float64;
  return from_number(operation.to, number);
}

// Whether a number as a carrier has it is one of the integer type.
ZARRIVE_KERNEL inline bool fits(NumberType type, std::uint64_t value) {
  const unsigned bits = 8 * size_of(type);
  if (is_signed_integer(type)) return sign_extended(value, bits) == value;
  return (value & (~std::uint64_t{0} >> (64 - bits))) == value;
}

// False for what the type cannot hold: a remainder, an overflow.
ZARRIVE_KERNEL inline bool apply_scale_offset(const Operation& operation, std::uint64_t& bits) {
  const NumberType type = operation.from;
  const Number x = to_number(type, bits);
  const Number scale = to_number(type, operation.scale);
  const Number offset = to_number(type, operation.offset);
  switch (x.carrier) {
    case Carrier::int64: {
      const auto value = static_cast<std::int64_t>(x.u);
      const auto divisor = static_cast<std::int64_t>(scale.u);
      std::uint64_t quotient = 0;
      if (divisor == -1) {
        if (x.u == std::uint64_t{1} << 63) return false;
        quotient = 0 - x.u;
      } else {
        if (divisor == 0 || value % divisor != 0) return false;
        quotient = static_cast<std::uint64_t>(value / divisor);
      }
      if (!fits(type, quotient)) return false;
      const std::uint64_t sum = quotient + offset.u;
      // Overflow: both have one sign and the sum has the other.
      if ((~(quotient ^ offset.u) & (quotient ^ sum)) >> 63 != 0 || !fits(type, sum)) return false;
      bits = sum & (~std::uint64_t{0} >> (64 - 8 * size_of(type)));
      return true;
    }
    case Carrier::uint64: {
      if (scale.u == 0 || x.u % scale.u != 0) return false;
      const std::uint64_t sum = x.u / scale.u + offset.u;
      if (sum < offset.u || !fits(type, sum)) return false;
      bits = sum;
      return true;
    }
    default: break;
  }
  Number result = x;
  if (type == NumberType::float32)
    result.f = static_cast<double>(static_cast<float>(x.f) / static_cast<float>(scale.f) +
                                   static_cast<float>(offset.f));
  else result.f = in_precision(type, x.f / scale.f) + offset.f;
  bits = from_number(type, result);
  return true;
}

// False when the element has no value after it.
ZARRIVE_KERNEL inline bool apply(const Operation& operation, std::uint64_t& bits) {
  switch (operation.kind) {
    case OperationKind::swap: bits = swapped(bits, size_of(operation.from)); return true;
    case OperationKind::boolean: bits = bits != 0 ? 1 : 0; return true;
    case OperationKind::low_bits: bits &= (1U << operation.bits) - 1; return true;
    case OperationKind::signed_low_bits: bits = sign_extended(bits, operation.bits) & 0xFF; return true;
    case OperationKind::convert:
      bits = from_number(operation.to, to_number(operation.from, bits));
      return true;
    case OperationKind::fixed_scale_offset: bits = apply_fixed_scale_offset(operation, bits); return true;
    case OperationKind::scale_offset: return apply_scale_offset(operation, bits);
    case OperationKind::cast_value:
      return Cast{operation.to, operation.rounding, operation.out_of_range}(to_number(operation.from, bits),
                                                                            bits);
  }
  return false;
}

}  // namespace zarrive::gpu::kernels
