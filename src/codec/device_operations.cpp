#include "codec/device_operations.hpp"

#include <algorithm>
#include <bit>

namespace zarrive {

using gpu::kernels::NumberType;
using gpu::kernels::Operation;
using gpu::kernels::OperationKind;

std::optional<NumberType> device_number_type(const DataType& type) noexcept {
  switch (type.id()) {
    case TypeId::boolean: return NumberType::boolean;
    case TypeId::int8: return NumberType::int8;
    case TypeId::int16: return NumberType::int16;
    case TypeId::int32: return NumberType::int32;
    case TypeId::int64:
    case TypeId::datetime64:
    case TypeId::timedelta64: return NumberType::int64;
    case TypeId::uint8: return NumberType::uint8;
    case TypeId::uint16: return NumberType::uint16;
    case TypeId::uint32: return NumberType::uint32;
    case TypeId::uint64: return NumberType::uint64;
    case TypeId::float16: return NumberType::float16;
    case TypeId::bfloat16: return NumberType::bfloat16;
    case TypeId::float32: return NumberType::float32;
    case TypeId::float64: return NumberType::float64;
    default: return std::nullopt;
  }
}

namespace {

Operation operation(OperationKind kind, NumberType from, NumberType to) {
  Operation result{};
  result.kind = kind;
  result.from = from;
  result.to = to;
  return result;
}

Operation low_bits(OperationKind kind, std::uint8_t bits) {
  Operation result = operation(kind, NumberType::uint8, NumberType::uint8);
  result.bits = bits;
  return result;
}

NumberType unsigned_of(std::size_t size) {
  return size == 2 ? NumberType::uint16 : size == 4 ? NumberType::uint32 : NumberType::uint64;
}

// The fix of one byte that holds a value in some of its bits; nullopt when the type has none.
std::optional<Operation> value_fix(const DataType& type) {
  switch (type.id()) {
    case TypeId::boolean: return operation(OperationKind::boolean, NumberType::boolean, NumberType::boolean);
    case TypeId::int2: return low_bits(OperationKind::signed_low_bits, 2);
    case TypeId::int4: return low_bits(OperationKind::signed_low_bits, 4);
    case TypeId::uint2: return low_bits(OperationKind::low_bits, 2);
    case TypeId::uint4:
    case TypeId::float4_e2m1fn: return low_bits(OperationKind::low_bits, 4);
    case TypeId::float6_e2m3fn:
    case TypeId::float6_e3m2fn: return low_bits(OperationKind::low_bits, 6);
    default: return std::nullopt;
  }
}

bool has_value_fix(const DataType& type) {
  if (value_fix(type)) return true;
  return std::any_of(type.fields().begin(), type.fields().end(),
                     [](const StructField& field) { return has_value_fix(field.type); });
}

}  // namespace

std::optional<std::vector<Operation>> device_fixes(const DataType& type, std::optional<ByteOrder> order) {
  if (type.is_variable() || type.id() == TypeId::optional) return std::nullopt;
  if (const std::optional<Operation> fix = value_fix(type)) return std::vector<Operation>{*fix};
  if (has_value_fix(type)) return std::nullopt;
  std::vector<Operation> swaps;
  for (const DataType::Leaf& leaf : type.leaves()) {
    if (leaf.unit == 1 || order.value_or(leaf.order) != ByteOrder::big) continue;
    if (!type.fields().empty()) return std::nullopt;
    const NumberType number = unsigned_of(leaf.unit);
    swaps.push_back(operation(OperationKind::swap, number, number));
  }
  return swaps;
}

Operation device_convert(NumberType from, NumberType to) {
  return operation(OperationKind::convert, from, to);
}

Operation device_fixed_scale_offset(NumberType encoded, NumberType decoded, double scale, double offset) {
  Operation result = operation(OperationKind::fixed_scale_offset, encoded, decoded);
  result.scale = std::bit_cast<std::uint64_t>(gpu::kernels::in_precision(encoded, scale));
  result.offset = std::bit_cast<std::uint64_t>(gpu::kernels::in_precision(encoded, offset));
  return result;
}

Operation device_scale_offset(NumberType type, std::uint64_t scale, std::uint64_t offset) {
  Operation result = operation(OperationKind::scale_offset, type, type);
  result.scale = scale;
  result.offset = offset;
  return result;
}

Operation device_cast_value(NumberType encoded, NumberType decoded, gpu::kernels::Rounding rounding,
                            gpu::kernels::OutOfRange out_of_range) {
  Operation result = operation(OperationKind::cast_value, encoded, decoded);
  result.rounding = rounding;
  result.out_of_range = out_of_range;
  return result;
}

}  // namespace zarrive
