// Zarr v3 data types, the registered extensions, and the names that people type.
// Sources: Zarr v3.1 "data types", zarr-extensions data-types/, zarr-python 3 for names that are not registered yet.
#include <algorithm>
#include <iterator>

#include "types/metadata_error.hpp"
#include "types/type_table.hpp"
#include "zarrive/data_type.hpp"

namespace zarrive {

namespace types {

namespace {

using Warn = DataType::Warn;

DataType from_v3_at(const Json& data_type, const Warn& warn, int depth);

// The configuration of an extension, member by member; what was not asked for is warned about at the end.
class Configuration {
 public:
  Configuration(const std::string& type, const Json* json, const Warn& warn)
      : type_(type), warn_(warn), json_(json) {
    if (!json) return;
    if (!json->is_object())
      metadata_fail("the configuration of data type " + shown(type) + " is a " +
                    std::string(json->type_name()) + ", not an object");
    object_ = &json->as_object();
  }

  const Json& need(std::string_view member) {
    const Json* value = object_ ? object_->find(member) : nullptr;
    if (!value)
      metadata_fail("data type " + type_ + " needs the configuration member \"" + std::string(member) + "\"");
    known_.emplace_back(member);
    return *value;
  }

  // The whole configuration, which has the form of an extension itself.
  const Json& as_extension() {
    need("name");
    known_.emplace_back("configuration");
    return *json_;
  }

  std::uint64_t need_size(std::string_view member) {
    const Json& value = need(member);
    const std::optional<std::uint64_t> size = value.to_uint64();
    if (!size || *size == 0)
      metadata_fail("\"" + std::string(member) + "\" of data type " + type_ + " is " + shown(value) +
                    "; a positive integer is expected");
    return *size;
  }

  void finish() const {
    if (!object_ || !warn_) return;
    for (const auto& [name, value] : *object_)
      if (std::find(known_.begin(), known_.end(), name) == known_.end())
        warn_("unknown member \"" + shown(name) + "\" in the configuration of data type " + type_ +
              " is ignored");
  }

 private:
  std::string type_;
  const Warn& warn_;
  const Json* json_;
  const JsonObject* object_ = nullptr;
  std::vector<std::string> known_;
};

// {"name": ..., "data_type": ...} of struct, or the pair [name, data_type] of the older structured.
StructField field_from_v3(const Json& json, const Warn& warn, int depth) {
  const Json* name = nullptr;
  const Json* type = nullptr;
  if (json.is_array() && json.as_array().size() == 2) {
    name = &json.as_array()[0];
    type = &json.as_array()[1];
  } else if (json.is_object()) {
    name = json.find("name");
    type = json.find("data_type");
    for (const auto& [member, value] : json.as_object())
      if (member != "name" && member != "data_type" && warn)
        warn("unknown member \"" + shown(member) + "\" in a field of a struct data type is ignored");
  }
  if (!name || !type || !name->is_string())
    metadata_fail("a field of a struct data type is " + shown(json) +
                  "; {\"name\": string, \"data_type\": ...} is expected");
  StructField field;
  field.name = name->as_string();
  field.type = from_v3_at(*type, warn, depth + 1);
  return field;
}

DataType struct_from_v3(Configuration& configuration, const Warn& warn, int depth) {
  const Json& list = configuration.need("fields");
  if (!list.is_array())
    metadata_fail("\"fields\" of a struct data type is a " + std::string(list.type_name()) + ", not a list");
  std::vector<StructField> fields;
  fields.reserve(list.as_array().size());
  for (const Json& json : list.as_array()) {
    fields.push_back(field_from_v3(json, warn, depth));
    if (fields.back().name.empty()) metadata_fail("a field of a struct data type has an empty name");
  }
  return as_metadata("struct data type", [&] { return DataType::structured(std::move(fields)); });
}

// r<bits>; nullopt when `name` is no such thing at all.
std::optional<DataType> bits_type(std::string_view name) {
  if (name.size() < 2 || name[0] != 'r' || name.find_first_not_of("0123456789", 1) != std::string_view::npos)
    return std::nullopt;
  const std::optional<std::uint64_t> bits = decimal(name.substr(1));
  if (!bits || *bits == 0 || *bits % 8 != 0)
    metadata_fail("data type \"" + shown(name) + "\": the number of bits must be a positive multiple of 8");
  return DataType::raw(*bits / 8);
}

std::optional<DataType> simple_type(std::string_view name) {
  struct Alias {
    std::string_view name;
    TypeId id;
  };
  static constexpr Alias kAliases[] = {{"variable_length_bytes", TypeId::bytes},
                                       {"binary", TypeId::bytes},
                                       {"complex_float32", TypeId::complex64},
                                       {"complex_float64", TypeId::complex128}};
  for (const Alias& alias : kAliases)
    if (alias.name == name) return DataType(alias.id);
  const TypeRow* r = row_named(name);
  if (r && r->id != TypeId::object) return DataType(r->id);
  return bits_type(name);
}

DataType parameterised_type(const std::string& name, Configuration& configuration, const Warn& warn,
                            int depth) {
  if (name == "raw_bytes") return DataType::raw(configuration.need_size("length_bytes"), RawName::raw_bytes);
  if (name == "null_terminated_bytes") return DataType::fixed_bytes(configuration.need_size("length_bytes"));
  if (name == "fixed_length_utf32") {
    const std::uint64_t bytes = configuration.need_size("length_bytes");
    if (bytes % 4 != 0)
      metadata_fail("\"length_bytes\" of data type fixed_length_utf32 is " + std::to_string(bytes) +
                    "; a multiple of 4 is expected");
    return DataType::fixed_utf32(bytes / 4);
  }
  if (name == "numpy.datetime64" || name == "numpy.timedelta64") {
    const Json& unit = configuration.need("unit");
    if (!unit.is_string() || normal_unit(unit.as_string()).empty())
      metadata_fail("\"unit\" of data type " + name + " is " + shown(unit) +
                    "; one of Y M W D h m s ms us ns ps fs as generic is expected");
    const std::uint64_t scale = configuration.need_size("scale_factor");
    if (scale > 0x7fffffff)
      metadata_fail("\"scale_factor\" of data type " + name + " is " + std::to_string(scale) +
                    "; at most 2147483647 is allowed");
    return (name == "numpy.datetime64" ? DataType::datetime64 : DataType::timedelta64)(
        unit.as_string(), static_cast<std::uint32_t>(scale), ByteOrder::little);
  }
  if (name == "optional") {
    const DataType inner = from_v3_at(configuration.as_extension(), warn, depth + 1);
    return as_metadata("optional data type", [&] { return DataType::optional(inner); });
  }
  if (name == "struct" || name == "structured") return struct_from_v3(configuration, warn, depth);
  throw Error(ErrorCode::unsupported_data_type,
              "data type \"" + shown(name) + "\" is not known to this version of Zarrive");
}

DataType from_v3_at(const Json& data_type, const Warn& warn, int depth) {
  if (depth > kMaxDepth)
    throw Error(ErrorCode::resource_limit, "data types nested deeper than " + std::to_string(kMaxDepth));
  const Json* configuration_json = nullptr;
  const std::string* name = nullptr;
  if (data_type.is_string()) {
    name = &data_type.as_string();
  } else if (data_type.is_object()) {
    for (const auto& [member, value] : data_type.as_object()) {
      if (member == "name" && value.is_string()) {
        name = &value.as_string();
      } else if (member == "configuration") {
        configuration_json = &value;
      } else if (member == "must_understand") {
        if (!value.is_bool() || !value.as_bool())
          metadata_fail("\"must_understand\" of a data type is " + shown(value) +
                        "; a data type must always be understood");
      } else if (member != "name" && warn) {
        warn("unknown member \"" + shown(member) + "\" beside the name of a data type is ignored");
      }
    }
  }
  if (!name || name->empty())
    metadata_fail("data_type is " + shown(data_type) + "; a name or an object with a \"name\" is expected");

  if (std::optional<DataType> custom = DataType::registered(*name)) {
    const Json& expected = custom->custom()->configuration;
    const bool empty =
        !configuration_json || (configuration_json->is_object() && configuration_json->as_object().empty());
    const bool none = expected.is_null() || expected.as_object().empty();
    if (none ? !empty : !configuration_json || !(*configuration_json == expected))
      throw Error(ErrorCode::unsupported_data_type,
                  "data type \"" + shown(*name) +
                      "\" was registered with another configuration than this document has");
    return *custom;
  }
  Configuration configuration(*name, configuration_json, warn);
  std::optional<DataType> simple = simple_type(*name);
  DataType result = simple ? *simple : parameterised_type(*name, configuration, warn, depth);
  configuration.finish();
  return result;
}

// "datetime64[10us]" and the like, as NumPy prints them; nullopt for anything else.
std::optional<DataType> numpy_time(std::string_view text) {
  if (text.starts_with("numpy.")) text.remove_prefix(6);
  std::string typestr;
  if (text.starts_with("datetime64")) typestr = "<M8" + std::string(text.substr(10));
  else if (text.starts_with("timedelta64")) typestr = "<m8" + std::string(text.substr(11));
  else return std::nullopt;
  return from_typestr(typestr, true);
}

bool looks_like_typestr(std::string_view text) {
  if (text.empty()) return false;
  if (text[0] == '<' || text[0] == '>' || text[0] == '|') return true;
  if (text == "O") return true;
  return text.size() > 1 && std::string_view("biufcmMSUV").find(text[0]) != std::string_view::npos &&
         text[1] >= '0' && text[1] <= '9';
}

}  // namespace
}  // namespace types

DataType DataType::from_v3(const Json& data_type, const Warn& warn) {
  return types::from_v3_at(data_type, warn, 0);
}

DataType DataType::parse(std::string_view text) {
  int optional_levels = 0;
  for (constexpr std::string_view kOptional = "optional[";; ++optional_levels) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    if (!text.starts_with(kOptional) || !text.ends_with(']')) break;
    text = text.substr(kOptional.size(), text.size() - kOptional.size() - 1);
  }
  if (optional_levels > 0) {
    DataType type = parse(text);
    for (; optional_levels > 0; --optional_levels) type = optional(type);
    return type;
  }
  if (!text.empty() && (text[0] == '{' || text[0] == '[' || text[0] == '"')) {
    const Json json = Json::parse(text);
    if (json.is_object()) return from_v3(json);
    if (json.is_array()) return from_v2(json);
    const std::string& inner = json.as_string();
    if (inner.empty() || inner[0] == '{' || inner[0] == '[' || inner[0] == '"' || inner[0] == ' ')
      types::metadata_fail("data type " + shown(text) + " names no data type");
    return parse(inner);
  }
  if (std::optional<DataType> custom = registered(text)) return *custom;
  if (text == "object") return DataType(TypeId::object);
  if (text == "str") return DataType(TypeId::string);
  if (std::optional<DataType> simple = types::simple_type(text)) return *simple;
  if (std::optional<DataType> time = types::numpy_time(text)) return *time;
  if (types::looks_like_typestr(text)) return types::from_typestr(text, false);
  throw Error(ErrorCode::unsupported_data_type, "\"" + shown(text) +
                                                    "\" is no data type; write a name such as float32, "
                                                    "string or datetime64[ms], a NumPy type string such "
                                                    "as <f4 or S5, or the JSON of a Zarr data type");
}

namespace {

Json named(std::string_view name, JsonObject configuration) {
  return JsonObject{{"name", Json(name)}, {"configuration", Json(std::move(configuration))}};
}

Json length_bytes(std::string_view name, std::size_t bytes) {
  return named(name, JsonObject{{"length_bytes", Json(static_cast<unsigned long long>(bytes))}});
}

Json struct_to_v3(const DataType& type) {
  JsonArray fields;
  for (const StructField& field : type.fields()) {
    if (!field.shape.empty())
      throw Error(ErrorCode::unsupported_data_type,
                  "field \"" + shown(field.name) + "\" is a subarray of shape " + to_string(field.shape) +
                      ", for which Zarr v3 has no data type");
    if (field.name.empty())
      throw Error(ErrorCode::unsupported_data_type,
                  "a structured type with padding (a field without a name) has no Zarr v3 form; store its "
                  "fields packed");
    fields.emplace_back(JsonObject{{"name", Json(field.name)}, {"data_type", field.type.to_v3()}});
  }
  return named("struct", JsonObject{{"fields", Json(std::move(fields))}});
}

}  // namespace

Json DataType::to_v3() const {
  switch (id()) {
    case TypeId::raw:
      return raw_name() == RawName::bits ? Json(name()) : length_bytes("raw_bytes", item_size());
    case TypeId::fixed_bytes: return length_bytes("null_terminated_bytes", item_size());
    case TypeId::fixed_utf32: return length_bytes("fixed_length_utf32", item_size());
    case TypeId::object:
      throw Error(
          ErrorCode::unsupported_data_type,
          "Zarr v3 has no data type for Python objects; text and bytes are written as string and bytes");
    case TypeId::datetime64:
    case TypeId::timedelta64:
      return named(id() == TypeId::datetime64 ? "numpy.datetime64" : "numpy.timedelta64",
                   JsonObject{{"unit", Json(unit())}, {"scale_factor", Json(unit_scale())}});
    case TypeId::structured: return struct_to_v3(*this);
    case TypeId::optional: {
      const Json inner = fields()[1].type.to_v3();
      return named("optional", inner.is_string()
                                   ? JsonObject{{"name", inner}, {"configuration", Json(JsonObject{})}}
                                   : inner.as_object());
    }
    case TypeId::custom:
      if (custom()->configuration.is_null()) return custom()->name;
      return JsonObject{{"name", Json(custom()->name)}, {"configuration", custom()->configuration}};
    default: return std::string(types::row(id()).name);
  }
}

}  // namespace zarrive
