// Data types and metadata documents.
#include "metadata.hpp"

#include "memory.hpp"

namespace zarrive::python {
namespace {

nb::object shape_or_empty(const Shape& shape) { return to_tuple(shape); }

}  // namespace

nb::object documents_of(const std::vector<std::pair<std::string, Json>>& documents) {
  nb::dict result;
  for (const auto& [name, document] : documents) result[name.c_str()] = to_python(document);
  return result;
}

CodecSpec codec_spec_of(const Json& json, bool v2) {
  if (json.is_string()) return CodecSpec{.name = json.as_string()};
  CodecSpec spec;
  const char* key = v2 ? "id" : "name";
  const Json* name = json.find(key);
  if (!name || !name->is_string())
    throw Error(ErrorCode::invalid_argument, std::string("a codec is a name or a dict with '") + key + "'" +
                                                 (v2 ? "" : " and 'configuration'") + "; found " +
                                                 json.dump());
  spec.name = name->as_string();
  if (v2) {
    spec.configuration = json.as_object();
    spec.configuration.erase("id");
  } else if (const Json* configuration = json.find("configuration");
             configuration && !configuration->is_null()) {
    spec.configuration = configuration->as_object();
  }
  return spec;
}

std::string_view type_name(TypeId id) {
  switch (id) {
    case TypeId::boolean: return "bool";
    case TypeId::raw: return "raw";
    case TypeId::fixed_bytes: return "fixed_bytes";
    case TypeId::fixed_utf32: return "fixed_utf32";
    case TypeId::string: return "string";
    case TypeId::bytes: return "bytes";
    case TypeId::object: return "object";
    case TypeId::datetime64: return "datetime64";
    case TypeId::timedelta64: return "timedelta64";
    case TypeId::structured: return "structured";
    case TypeId::optional: return "optional";
    case TypeId::custom: return "custom";
    default: return "";
  }
}

void bind_metadata(nb::module_& m) {
  nb::class_<DataType>(m, "DataType", "What one element of an array is.")
      .def_static(
          "parse", [](const std::string& text) { return DataType::parse(text); }, nb::arg("text"),
          "'float32', '<f4', 'datetime64[ms]', a v3 data type as JSON text, ...")
      .def_static(
          "from_v2", [](nb::object dtype) { return DataType::from_v2(from_python(dtype)); }, nb::arg("dtype"),
          "A v2 dtype: a string, or a list of fields.")
      .def_prop_ro("name", &DataType::name)
      .def_prop_ro(
          "kind",
          [](const DataType& t) {
            const std::string_view name = type_name(t.id());
            return name.empty() ? t.name() : std::string(name);
          },
          "'bool', 'int32', ..., or the family of a type with parameters: 'raw', 'fixed_bytes', "
          "'fixed_utf32', 'datetime64', ...")
      .def_prop_ro("item_size", &DataType::item_size, "Bytes of one element in memory.")
      .def_prop_ro("is_variable", &DataType::is_variable)
      .def_prop_ro("unit", &DataType::unit)
      .def_prop_ro("unit_scale", &DataType::unit_scale)
      .def_prop_ro(
          "fields",
          [](const DataType& t) {
            nb::list fields;
            for (const StructField& f : t.fields())
              fields.append(nb::make_tuple(f.name, f.type, shape_or_empty(f.shape), f.offset));
            return fields;
          },
          "(name, type, shape, offset) of a structured type.")
      .def("to_v3", [](const DataType& t) { return to_python(t.to_v3()); })
      .def("__eq__",
           [](const DataType& a, nb::handle b) {
             DataType other;
             return nb::try_cast<DataType>(b, other) && a == other;
           })
      .def("__hash__", [](const DataType& t) { return std::hash<std::string>()(t.name()); })
      .def("__str__", &DataType::name)
      .def("__repr__", [](const DataType& t) { return "<zarrive.DataType " + t.name() + ">"; })
      .def("__reduce__", [](const DataType& t) {
        return nb::make_tuple(
            nb::module_::import_("zarrive._unpickle").attr("data_type"),
            nb::make_tuple(t.to_v3().is_string() ? t.to_v3().as_string() : t.to_v3().dump()));
      });

  m.def(
      "element_json",
      [](nb::object element, const DataType& type, int format) {
        const ArrayView view = view_of(interface_of(element), type);
        const FillValue value = FillValue::from_bytes(type, {view.data, type.item_size()});
        return to_python(format == 2 ? value.to_v2() : value.to_v3());
      },
      nb::arg("element"), nb::arg("data_type"), nb::arg("zarr_format") = 3,
      "A 0-d NumPy array of a fixed-size type, in the JSON form that a fill value has in metadata.");
}

}  // namespace zarrive::python
