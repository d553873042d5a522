// Zarr v2 dtypes: NumPy typestrs and lists of fields. Source: Zarr v2 "data type encoding", NumPy's array interface.
#include <charconv>
#include <optional>

#include "types/metadata_error.hpp"
#include "types/type_table.hpp"
#include "zarrive/data_type.hpp"

namespace zarrive {

namespace types {

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || (text.size() > 1 && text[0] == '0'))
    return std::nullopt;
  return value;
}

namespace {

// "[25s]" of "<M8[25s]"; an absent part is the generic unit.
DataType time_type(char kind, std::string_view rest, ByteOrder order, const std::string& where) {
  std::string_view unit = "generic";
  std::uint64_t scale = 1;
  if (!rest.empty()) {
    if (rest.size() < 3 || rest.front() != '[' || rest.back() != ']')
      metadata_fail(where + ": after \"" + kind + "8\" a unit such as [ms] or [10us] is expected");
    unit = rest.substr(1, rest.size() - 2);
    const std::size_t digits = std::min(unit.find_first_not_of("0123456789"), unit.size());
    if (digits > 0) {
      scale = decimal(unit.substr(0, digits)).value_or(0);
      unit.remove_prefix(digits);
    }
    if (normal_unit(unit).empty())
      metadata_fail(where + ": \"" + std::string(unit) +
                    "\" is no time unit; known are Y M W D h m s ms us ns ps fs as generic");
    if (scale == 0 || scale > 0x7fffffff)
      metadata_fail(where + ": the multiplier of the unit must be from 1 to 2147483647");
  }
  return (kind == 'M' ? DataType::datetime64 : DataType::timedelta64)(
      std::string(unit), static_cast<std::uint32_t>(scale), order);
}

std::optional<TypeId> plain_type(char kind, std::uint64_t size) {
  for (int i = 0; i <= static_cast<int>(TypeId::complex128); ++i) {
    const TypeRow& r = row(static_cast<TypeId>(i));
    if (r.v2 == kind && r.size == size) return r.id;
  }
  return std::nullopt;
}

}  // namespace

DataType from_typestr(std::string_view text, bool order_needed) {
  const std::string where = "dtype \"" + shown(text) + "\"";
  std::string_view rest = text;
  char mark = order_needed ? 0 : '<';
  if (!rest.empty() && (rest[0] == '<' || rest[0] == '>' || rest[0] == '|')) {
    mark = rest[0];
    rest.remove_prefix(1);
  }
  if (mark == 0 || rest.empty())
    metadata_fail(where +
                  " is no NumPy type string: a byte order (<, > or |), a kind letter and a size are "
                  "expected, such as \"<f4\"");
  const char kind = rest[0];
  rest.remove_prefix(1);
  if (kind == 'O') {
    // NumPy once wrote the pointer size.
    if (!rest.empty() && rest != "4" && rest != "8")
      metadata_fail(where + ": an object type is written \"|O\"");
    return DataType(TypeId::object);
  }
  if (std::string_view("biufcmMSUV").find(kind) == std::string_view::npos)
    metadata_fail(where + ": '" + shown(std::string_view(&kind, 1)) +
                  "' is no kind letter of Zarr v2 (b i u f c m M S U V O)");
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::optional<std::uint64_t> size = decimal(rest.substr(0, digits));
  if (!size) metadata_fail(where + ": the size after '" + std::string(1, kind) + "' must be a plain number");
  rest.remove_prefix(digits);
  const ByteOrder order = mark == '>' ? ByteOrder::big : ByteOrder::little;
  const bool time = kind == 'm' || kind == 'M';
  if (!rest.empty() && !time) metadata_fail(where + ": nothing may follow the size");

  std::optional<TypeId> plain = time ? std::nullopt : plain_type(kind, *size);
  const bool swaps = time || kind == 'U' || (plain && row(*plain).unit > 1);
  if (swaps && mark == '|') metadata_fail(where + ": a byte order, < or >, is expected in place of |");
  if (time) {
    if (*size != 8) metadata_fail(where + ": times have 8 bytes");
    return time_type(kind, rest, order, where);
  }
  if (plain) return DataType(*plain, order);
  switch (kind) {
    case 'V': return as_metadata(where, [&] { return DataType::raw(*size, RawName::raw_bytes); });
    case 'S': return as_metadata(where, [&] { return DataType::fixed_bytes(*size); });
    case 'U': return as_metadata(where, [&] { return DataType::fixed_utf32(*size, order); });
    default: break;
  }
  const bool extended =
      (kind == 'f' && (*size == 12 || *size == 16)) || (kind == 'c' && (*size == 24 || *size == 32));
  if (extended)
    throw Error(ErrorCode::unsupported_data_type,
                where + ": extended precision (long double) has no portable format and is not supported");
  throw Error(ErrorCode::unsupported_data_type, where + ": there is no type of kind '" +
                                                    std::string(1, kind) + "' with " + std::to_string(*size) +
                                                    " bytes");
}

namespace {

DataType from_v2_at(const Json& dtype, int depth);

Shape subarray_shape(const Json& json, const std::string& where) {
  Shape shape;
  auto extent = [&](const Json& value) {
    const std::optional<std::uint64_t> n = value.to_uint64();
    if (!n || *n == 0)
      metadata_fail(where + ": the subarray shape " + shown(json) + " must hold positive integers");
    shape.push_back(*n);
  };
  if (json.is_array()) {
    if (json.as_array().size() > 32) metadata_fail(where + ": a subarray of more than 32 dimensions");
    for (const Json& value : json.as_array()) extent(value);
  } else {
    extent(json);  // NumPy's descr allows a bare number
  }
  return shape;
}

StructField field_from_v2(const Json& json, int depth) {
  if (!json.is_array() || json.as_array().size() < 2 || json.as_array().size() > 3 ||
      !json.as_array()[0].is_string())
    metadata_fail("field " + shown(json) +
                  " of a structured dtype: [name, dtype] or [name, dtype, shape] is expected");
  const JsonArray& parts = json.as_array();
  const std::string& name = parts[0].as_string();
  StructField field;
  field.name = name;
  field.type = from_v2_at(parts[1], depth + 1);
  if (parts.size() == 3) field.shape = subarray_shape(parts[2], "field \"" + shown(name) + "\"");
  return field;
}

DataType from_v2_at(const Json& dtype, int depth) {
  if (depth > kMaxDepth)
    throw Error(ErrorCode::resource_limit,
                "structured dtypes nested deeper than " + std::to_string(kMaxDepth));
  if (dtype.is_string()) {
    if (std::optional<DataType> custom = DataType::registered(dtype.as_string())) return *custom;
    return from_typestr(dtype.as_string(), true);
  }
  if (!dtype.is_array())
    metadata_fail("dtype " + shown(dtype) + " is a " + std::string(dtype.type_name()) +
                  "; a string or a list of fields is expected");
  std::vector<StructField> fields;
  fields.reserve(dtype.as_array().size());
  for (const Json& field : dtype.as_array()) fields.push_back(field_from_v2(field, depth));
  return as_metadata("structured dtype", [&] { return DataType::structured(std::move(fields)); });
}

}  // namespace
}  // namespace types

DataType DataType::from_v2(const Json& dtype, const Warn&) { return types::from_v2_at(dtype, 0); }

Json DataType::to_v2() const {
  const types::TypeRow& r = types::row(id());
  const std::string order = byte_order() == ByteOrder::none     ? "|"
                            : byte_order() == ByteOrder::little ? "<"
                                                                : ">";
  switch (id()) {
    case TypeId::raw:
    case TypeId::fixed_bytes: return order + r.v2 + std::to_string(item_size());
    case TypeId::fixed_utf32: return order + r.v2 + std::to_string(item_size() / 4);
    case TypeId::string:
    case TypeId::bytes:
    case TypeId::object: return "|O";  // the object codec among the filters tells which
    case TypeId::datetime64:
    case TypeId::timedelta64:
      if (unit() == "generic" && unit_scale() == 1) return order + r.v2 + "8";
      return order + r.v2 + "8[" + (unit_scale() == 1 ? "" : std::to_string(unit_scale())) + unit() + "]";
    case TypeId::structured: {
      JsonArray list;
      for (const StructField& field : fields()) {
        JsonArray parts{Json(field.name), field.type.to_v2()};
        if (!field.shape.empty()) {
          JsonArray shape;
          for (std::uint64_t n : field.shape) shape.emplace_back(static_cast<unsigned long long>(n));
          parts.emplace_back(std::move(shape));
        }
        list.emplace_back(std::move(parts));
      }
      return list;
    }
    case TypeId::custom: return custom()->name;
    default: break;
  }
  if (!r.v2)
    throw Error(ErrorCode::unsupported_data_type,
                "Zarr v2 has no way to write the data type " + name() + "; use Zarr v3");
  return order + r.v2 + std::to_string(r.size);
}

}  // namespace zarrive
