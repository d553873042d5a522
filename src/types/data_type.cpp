// The DataType value itself: construction with its bounds, questions about layout, and the registry of custom types.
#include "zarrive/data_type.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>

#include "types/type_table.hpp"
#include "zarrive/error.hpp"

namespace zarrive {

using types::Kind;
using types::row;

namespace types {
namespace {

constexpr TypeRow kRows[] = {
    {TypeId::boolean, "bool", 1, 1, 1, Kind::boolean, 'b'},
    {TypeId::int2, "int2", 1, 2, 1, Kind::signed_integer, 0},
    {TypeId::int4, "int4", 1, 4, 1, Kind::signed_integer, 0},
    {TypeId::int8, "int8", 1, 8, 1, Kind::signed_integer, 'i'},
    {TypeId::int16, "int16", 2, 16, 2, Kind::signed_integer, 'i'},
    {TypeId::int32, "int32", 4, 32, 4, Kind::signed_integer, 'i'},
    {TypeId::int64, "int64", 8, 64, 8, Kind::signed_integer, 'i'},
    {TypeId::uint2, "uint2", 1, 2, 1, Kind::unsigned_integer, 0},
    {TypeId::uint4, "uint4", 1, 4, 1, Kind::unsigned_integer, 0},
    {TypeId::uint8, "uint8", 1, 8, 1, Kind::unsigned_integer, 'u'},
    {TypeId::uint16, "uint16", 2, 16, 2, Kind::unsigned_integer, 'u'},
    {TypeId::uint32, "uint32", 4, 32, 4, Kind::unsigned_integer, 'u'},
    {TypeId::uint64, "uint64", 8, 64, 8, Kind::unsigned_integer, 'u'},
    {TypeId::float16, "float16", 2, 0, 2, Kind::floating, 'f'},
    {TypeId::float32, "float32", 4, 0, 4, Kind::floating, 'f'},
    {TypeId::float64, "float64", 8, 0, 8, Kind::floating, 'f'},
    {TypeId::bfloat16, "bfloat16", 2, 0, 2, Kind::floating, 0},
    {TypeId::float4_e2m1fn, "float4_e2m1fn", 1, 0, 1, Kind::floating, 0},
    {TypeId::float6_e2m3fn, "float6_e2m3fn", 1, 0, 1, Kind::floating, 0},
    {TypeId::float6_e3m2fn, "float6_e3m2fn", 1, 0, 1, Kind::floating, 0},
    {TypeId::float8_e3m4, "float8_e3m4", 1, 0, 1, Kind::floating, 0},
    {TypeId::float8_e4m3, "float8_e4m3", 1, 0, 1, Kind::floating, 0},
    {TypeId::float8_e4m3b11fnuz, "float8_e4m3b11fnuz", 1, 0, 1, Kind::floating, 0},
    {TypeId::float8_e4m3fnuz, "float8_e4m3fnuz", 1, 0, 1, Kind::floating, 0},
    {TypeId::float8_e5m2, "float8_e5m2", 1, 0, 1, Kind::floating, 0},
    {TypeId::float8_e5m2fnuz, "float8_e5m2fnuz", 1, 0, 1, Kind::floating, 0},
    {TypeId::float8_e8m0fnu, "float8_e8m0fnu", 1, 0, 1, Kind::floating, 0},
    {TypeId::complex64, "complex64", 8, 0, 4, Kind::complex, 'c'},
    {TypeId::complex128, "complex128", 16, 0, 8, Kind::complex, 'c'},
    {TypeId::raw, "", 0, 0, 1, Kind::other, 'V'},
    {TypeId::fixed_bytes, "", 0, 0, 1, Kind::other, 'S'},
    {TypeId::fixed_utf32, "", 0, 0, 4, Kind::other, 'U'},
    {TypeId::string, "string", sizeof(std::string), 0, 1, Kind::other, 'O'},
    {TypeId::bytes, "bytes", sizeof(std::string), 0, 1, Kind::other, 'O'},
    {TypeId::object, "object", sizeof(std::string), 0, 1, Kind::other, 'O'},
    {TypeId::datetime64, "", 8, 0, 8, Kind::other, 'M'},
    {TypeId::timedelta64, "", 8, 0, 8, Kind::other, 'm'},
    {TypeId::structured, "", 0, 0, 1, Kind::other, 0},
    {TypeId::optional, "", 0, 0, 1, Kind::other, 0},
    {TypeId::custom, "", 0, 0, 1, Kind::other, 0},
};

constexpr bool rows_in_order() {
  for (std::size_t i = 0; i < std::size(kRows); ++i)
    if (static_cast<std::size_t>(kRows[i].id) != i) return false;
  return std::size(kRows) == static_cast<std::size_t>(TypeId::custom) + 1;
}
static_assert(rows_in_order(), "kRows is indexed by TypeId");

}  // namespace

const TypeRow& row(TypeId id) noexcept { return kRows[static_cast<std::size_t>(id)]; }

const TypeRow* row_named(std::string_view name) noexcept {
  for (const TypeRow& r : kRows)
    if (!r.name.empty() && r.name == name) return &r;
  return nullptr;
}

std::string_view normal_unit(std::string_view unit) noexcept {
  if (unit == "\u00b5s" || unit == "\u03bcs") return "us";  // MICRO SIGN, GREEK SMALL LETTER MU
  static constexpr std::string_view kUnits[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                                "ms", "us", "ns", "ps", "fs", "as", "generic"};
  for (std::string_view known : kUnits)
    if (known == unit) return known;
  return "";
}

}  // namespace types

struct DataType::Impl {
  TypeId id = TypeId::uint8;
  ByteOrder order = ByteOrder::none;
  RawName raw_name = RawName::bits;
  std::uint32_t scale = 1;
  int depth = 1;
  std::size_t item_size = 1;
  std::string unit;
  std::vector<StructField> fields;
  std::vector<Leaf> leaves;
  std::shared_ptr<const CustomType> custom;
};

namespace {

[[noreturn]] void fail(ErrorCode code, std::string message) { throw Error(code, std::move(message)); }

std::size_t checked_item_size(std::uint64_t count, std::size_t unit, const char* what) {
  if (count == 0)
    fail(ErrorCode::invalid_argument, std::string(what) + " of 0 bytes: the size must be at least 1");
  if (count > types::kMaxItemSize / unit)
    fail(ErrorCode::resource_limit, std::string(what) + " of " + std::to_string(count) + " x " +
                                        std::to_string(unit) + " bytes: one element may have at most " +
                                        std::to_string(types::kMaxItemSize) + " bytes");
  return static_cast<std::size_t>(count) * unit;
}

using Leaf = DataType::Leaf;

// Appends a leaf, joined to the one before when they touch and swap alike.
void append_leaf(std::vector<Leaf>& leaves, const Leaf& leaf) {
  if (!leaves.empty()) {
    Leaf& last = leaves.back();
    if (last.unit == leaf.unit && last.order == leaf.order &&
        last.offset + last.count * last.unit == leaf.offset) {
      last.count += leaf.count;
      return;
    }
  }
  if (leaves.size() >= types::kMaxLeaves)
    fail(ErrorCode::resource_limit, "a structured type with more than " + std::to_string(types::kMaxLeaves) +
                                        " separately ordered parts");
  leaves.push_back(leaf);
}

void append_field_leaves(std::vector<Leaf>& leaves, const StructField& field) {
  const std::vector<Leaf>& inner = field.type.leaves();
  if (inner.empty()) return;
  const std::uint64_t repeats = element_count(field.shape);
  const std::size_t size = field.type.item_size();
  // One leaf that fills the element repeats seamlessly: no loop over a large subarray of plain numbers.
  if (inner.size() == 1 && inner[0].offset == 0 && inner[0].count * inner[0].unit == size) {
    append_leaf(leaves, {field.offset, inner[0].count * static_cast<std::size_t>(repeats), inner[0].unit,
                         inner[0].order});
    return;
  }
  for (std::uint64_t i = 0; i < repeats; ++i)
    for (const Leaf& leaf : inner)
      append_leaf(leaves, {field.offset + static_cast<std::size_t>(i) * size + leaf.offset, leaf.count,
                           leaf.unit, leaf.order});
}

}  // namespace

DataType::DataType(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

DataType::DataType() {
  static const std::shared_ptr<const Impl> kUint8 = std::make_shared<Impl>();
  impl_ = kUint8;
}

DataType::DataType(TypeId id, ByteOrder order) {
  const types::TypeRow& r = row(id);
  if (r.name.empty())
    fail(ErrorCode::invalid_argument,
         "this data type needs parameters: use the factory function of DataType for it");
  auto impl = std::make_shared<Impl>();
  impl->id = id;
  impl->item_size = r.size;
  if (r.unit > 1) {
    if (order == ByteOrder::none)
      fail(ErrorCode::invalid_argument, std::string(r.name) + " needs a byte order, little or big");
    impl->order = order;
    impl->leaves = {{0, impl->item_size / r.unit, r.unit, order}};
  }
  impl_ = std::move(impl);
}

DataType DataType::raw(std::size_t bytes, RawName name) {
  auto impl = std::make_shared<Impl>();
  impl->id = TypeId::raw;
  impl->raw_name = name;
  impl->item_size = checked_item_size(bytes, 1, "raw type");
  return DataType(std::move(impl));
}

DataType DataType::fixed_bytes(std::size_t bytes) {
  auto impl = std::make_shared<Impl>();
  impl->id = TypeId::fixed_bytes;
  impl->item_size = checked_item_size(bytes, 1, "fixed byte string");
  return DataType(std::move(impl));
}

DataType DataType::fixed_utf32(std::size_t code_points, ByteOrder order) {
  if (order == ByteOrder::none)
    fail(ErrorCode::invalid_argument, "UTF-32 strings need a byte order, little or big");
  auto impl = std::make_shared<Impl>();
  impl->id = TypeId::fixed_utf32;
  impl->order = order;
  impl->item_size = checked_item_size(code_points, 4, "UTF-32 string");
  impl->leaves = {{0, code_points, 4, order}};
  return DataType(std::move(impl));
}

DataType DataType::datetime64(std::string unit, std::uint32_t scale, ByteOrder order) {
  DataType type = timedelta64(std::move(unit), scale, order);
  auto impl = std::make_shared<Impl>(*type.impl_);
  impl->id = TypeId::datetime64;
  return DataType(std::move(impl));
}

DataType DataType::timedelta64(std::string unit, std::uint32_t scale, ByteOrder order) {
  const std::string_view normal = types::normal_unit(unit);
  if (normal.empty())
    fail(ErrorCode::invalid_argument,
         "\"" + unit + "\" is no time unit; known are Y M W D h m s ms us ns ps fs as generic");
  if (scale == 0 || scale > 0x7fffffff)
    fail(ErrorCode::invalid_argument,
         "a time scale of " + std::to_string(scale) + ": it must be from 1 to 2147483647");
  if (order == ByteOrder::none) fail(ErrorCode::invalid_argument, "times need a byte order, little or big");
  auto impl = std::make_shared<Impl>();
  impl->id = TypeId::timedelta64;
  impl->order = order;
  impl->unit = normal;
  impl->scale = scale;
  impl->item_size = 8;
  impl->leaves = {{0, 1, 8, order}};
  return DataType(std::move(impl));
}

DataType DataType::structured(std::vector<StructField> fields) {
  if (fields.empty()) fail(ErrorCode::invalid_argument, "a structured type without fields");
  auto impl = std::make_shared<Impl>();
  impl->id = TypeId::structured;
  std::set<std::string_view> names;
  std::uint64_t size = 0;
  for (StructField& field : fields) {
    if (field.name.empty() && field.type.id() != TypeId::raw)
      fail(ErrorCode::invalid_argument,
           "a field of type " + field.type.name() + " has no name; only padding (raw bytes) may have none");
    if (!field.name.empty() && !names.insert(field.name).second)
      fail(ErrorCode::invalid_argument, "two fields are named \"" + field.name + "\"");
    if (field.type.is_variable())
      fail(ErrorCode::unsupported_data_type,
           "field \"" + field.name + "\" of a structured type is of variable length (" + field.type.name() +
               "); only fields of fixed size are supported");
    if (field.type.id() == TypeId::optional)
      fail(ErrorCode::unsupported_data_type, "field \"" + field.name + "\" of a structured type is of type " +
                                                 field.type.name() +
                                                 "; a structured type can be optional, its fields cannot");
    const std::uint64_t field_size = field.size();
    if (field_size == 0)
      fail(ErrorCode::invalid_argument,
           "field \"" + field.name + "\" of shape " + to_string(field.shape) + " holds nothing");
    field.offset = static_cast<std::size_t>(size);
    size = add(size, field_size, "size of a structured type");
    if (size > types::kMaxItemSize)
      fail(ErrorCode::resource_limit, "a structured type of " + std::to_string(size) + " bytes at field \"" +
                                          field.name + "\": one element may have at most " +
                                          std::to_string(types::kMaxItemSize) + " bytes");
    impl->depth = std::max(impl->depth, field.type.impl_->depth + 1);
    append_field_leaves(impl->leaves, field);
  }
  if (impl->depth > types::kMaxDepth + 1)
    fail(ErrorCode::resource_limit,
         "structured types nested deeper than " + std::to_string(types::kMaxDepth));
  impl->item_size = static_cast<std::size_t>(size);
  impl->fields = std::move(fields);
  return DataType(std::move(impl));
}

DataType DataType::optional(const DataType& inner) {
  if (inner.is_variable())
    fail(ErrorCode::unsupported_data_type,
         "optional values of type " + inner.name() + ": only types of fixed size are supported");
  if (inner.impl_->depth > types::kMaxDepth)
    fail(ErrorCode::resource_limit, "optional types nested deeper than " + std::to_string(types::kMaxDepth));
  auto impl = std::make_shared<Impl>();
  impl->id = TypeId::optional;
  impl->item_size = checked_item_size(std::uint64_t{inner.item_size()} + 1, 1, "optional type");
  impl->depth = inner.impl_->depth + 1;
  impl->fields = {{"present", DataType(TypeId::boolean), {}, 0}, {"value", inner, {}, 1}};
  append_field_leaves(impl->leaves, impl->fields[1]);
  return DataType(std::move(impl));
}

TypeId DataType::id() const noexcept { return impl_->id; }
std::size_t DataType::item_size() const noexcept { return impl_->item_size; }

std::size_t DataType::alignment() const noexcept {
  return is_variable() ? alignof(std::string) : row(impl_->id).unit;
}

bool DataType::is_variable() const noexcept { return row(impl_->id).v2 == 'O'; }

bool DataType::is_real() const noexcept { return is_integer() || is_float(); }

bool DataType::is_integer() const noexcept {
  const Kind kind = row(impl_->id).kind;
  return kind == Kind::signed_integer || kind == Kind::unsigned_integer;
}

bool DataType::is_signed() const noexcept {
  return row(impl_->id).kind == Kind::signed_integer || (is_float() && impl_->id != TypeId::float8_e8m0fnu);
}

bool DataType::is_float() const noexcept { return row(impl_->id).kind == Kind::floating; }
bool DataType::is_complex() const noexcept { return row(impl_->id).kind == Kind::complex; }
ByteOrder DataType::byte_order() const noexcept { return impl_->order; }

DataType DataType::with_byte_order(ByteOrder order) const {
  if (order == ByteOrder::none) fail(ErrorCode::invalid_argument, "with_byte_order takes little or big");
  if (impl_->leaves.empty()) return *this;
  if (impl_->id == TypeId::structured) {
    std::vector<StructField> fields = impl_->fields;
    for (StructField& field : fields) field.type = field.type.with_byte_order(order);
    return structured(std::move(fields));
  }
  if (impl_->id == TypeId::optional) return optional(impl_->fields[1].type.with_byte_order(order));
  if (impl_->order == order) return *this;
  auto impl = std::make_shared<Impl>(*impl_);
  impl->order = order;
  impl->leaves[0].order = order;
  return DataType(std::move(impl));
}

std::size_t DataType::swap_unit() const noexcept {
  if (impl_->leaves.empty()) return 1;
  const Leaf& first = impl_->leaves[0];
  return first.offset == 0 && first.count * first.unit == impl_->item_size ? first.unit : 0;
}

const std::vector<DataType::Leaf>& DataType::leaves() const { return impl_->leaves; }
const std::vector<StructField>& DataType::fields() const noexcept { return impl_->fields; }
const std::string& DataType::unit() const noexcept { return impl_->unit; }
std::uint32_t DataType::unit_scale() const noexcept { return impl_->scale; }
RawName DataType::raw_name() const noexcept { return impl_->raw_name; }
const CustomType* DataType::custom() const noexcept { return impl_->custom.get(); }

bool DataType::operator==(const DataType& other) const noexcept {
  const Impl& a = *impl_;
  const Impl& b = *other.impl_;
  if (&a == &b) return true;
  if (a.id != b.id || a.item_size != b.item_size || a.unit != b.unit || a.scale != b.scale ||
      a.custom != b.custom)
    return false;
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                    [](const StructField& x, const StructField& y) {
                      return x.name == y.name && x.shape == y.shape && x.type == y.type;
                    });
}

std::string DataType::name() const {
  switch (impl_->id) {
    case TypeId::raw:
      return impl_->raw_name == RawName::bits ? "r" + std::to_string(8 * std::uint64_t{impl_->item_size})
                                              : "V" + std::to_string(impl_->item_size);
    case TypeId::fixed_bytes: return "S" + std::to_string(impl_->item_size);
    case TypeId::fixed_utf32: return "U" + std::to_string(impl_->item_size / 4);
    case TypeId::datetime64:
    case TypeId::timedelta64:
      return std::string(impl_->id == TypeId::datetime64 ? "datetime64[" : "timedelta64[") +
             (impl_->scale == 1 ? "" : std::to_string(impl_->scale)) + impl_->unit + "]";
    case TypeId::structured: {
      std::string text = "struct{";
      for (const StructField& field : impl_->fields) {
        if (&field != &impl_->fields.front()) text += ", ";
        text += field.name + ": " + field.type.name();
        if (!field.shape.empty()) text += to_string(field.shape);
      }
      return text + "}";
    }
    case TypeId::optional: return "optional[" + impl_->fields[1].type.name() + "]";
    case TypeId::custom: return impl_->custom->name;
    default: return std::string(row(impl_->id).name);
  }
}

namespace {

struct Registry {
  std::shared_mutex mutex;
  std::map<std::string, std::shared_ptr<const CustomType>, std::less<>> types;
};

Registry& registry() {
  static Registry& instance =
      *new Registry;  // never destroyed: types may be looked up while the program ends
  return instance;
}

}  // namespace

std::optional<DataType> DataType::registered(std::string_view name) {
  auto impl = std::make_shared<Impl>();
  {
    std::shared_lock lock(registry().mutex);
    auto found = registry().types.find(name);
    if (found == registry().types.end()) return std::nullopt;
    impl->custom = found->second;
  }
  impl->id = TypeId::custom;
  impl->item_size = impl->custom->item_size;
  return DataType(std::move(impl));
}

void register_data_type(CustomType type) {
  if (type.name.empty()) fail(ErrorCode::invalid_argument, "a custom data type without a name");
  if (!type.parse_fill || !type.format_element)
    fail(ErrorCode::invalid_argument,
         "custom data type \"" + type.name + "\" lacks parse_fill or format_element");
  if (!type.configuration.is_null() && !type.configuration.is_object())
    fail(ErrorCode::invalid_argument, "the configuration of custom data type \"" + type.name + "\" is a " +
                                          std::string(type.configuration.type_name()) +
                                          ", not an object or null");
  checked_item_size(type.item_size, 1, "custom data type");
  bool taken = true;
  try {
    DataType::parse(type.name);
  } catch (const Error&) {
    taken = false;
  }
  std::unique_lock lock(registry().mutex);
  auto shared = std::make_shared<const CustomType>(std::move(type));
  if (taken || !registry().types.emplace(shared->name, shared).second)
    fail(ErrorCode::already_exists, "the data type name \"" + shared->name + "\" is taken");
}

}  // namespace zarrive
