#include "selections.hpp"

#include "memory.hpp"

namespace zarrive::python {
namespace {

std::optional<std::int64_t> bound_of(PyObject* bound) {
  if (bound == Py_None) return std::nullopt;
  // Larger numbers are clipped, as Python's own sequences do.
  const Py_ssize_t value = PyNumber_AsSsize_t(bound, nullptr);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

SelectionItem item_of(nb::handle item) {
  if (PyLong_CheckExact(item.ptr())) {
    const Py_ssize_t value = PyNumber_AsSsize_t(item.ptr(), PyExc_IndexError);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return static_cast<std::int64_t>(value);
  }
  if (PySlice_Check(item.ptr())) {
    const auto* slice = reinterpret_cast<const PySliceObject*>(item.ptr());
    return Slice{bound_of(slice->start), bound_of(slice->stop), bound_of(slice->step)};
  }
  if (item.ptr() == Py_Ellipsis) return Ellipsis{};
  if (nb::hasattr(item, "__array_interface__") && nb::cast<int>(item.attr("ndim")) > 0) {
    const Interface interface = interface_of(item);
    const auto type = nb::cast<std::string>(item.attr("__array_interface__")["typestr"]);
    if (type == "|b1") return BooleanArray(view_of(interface, DataType(TypeId::boolean)));
    if (type == "<i8") return IntegerArray(view_of(interface, DataType(TypeId::int64)));
  }
  if (PyIndex_Check(item.ptr())) {
    const Py_ssize_t value = PyNumber_AsSsize_t(item.ptr(), PyExc_IndexError);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return static_cast<std::int64_t>(value);
  }
  throw nb::type_error("a selection is made of ints, slices, Ellipsis, and NumPy arrays of int64 or bool");
}

Selection without_fields(nb::handle items, const std::string& kind) {
  if (PyUnicode_Check(items.ptr())) return Selection(nb::cast<std::string>(items));
  std::vector<SelectionItem> list;
  if (PyTuple_Check(items.ptr())) {
    for (nb::handle item : nb::borrow<nb::tuple>(items)) list.push_back(item_of(item));
  } else {
    list.push_back(item_of(items));
  }
  if (kind == "basic") return Selection(std::move(list));
  if (kind == "orthogonal") return oindex(std::move(list));
  if (kind == "block") return blocks(std::move(list));
  if (kind == "mask") {
    if (list.size() != 1 || !std::holds_alternative<BooleanArray>(list[0]))
      throw nb::type_error("a mask is one array of bool");
    return mask(std::get<BooleanArray>(std::move(list[0])));
  }
  if (kind == "coordinate") {
    std::vector<IntegerArray> coordinates;
    for (SelectionItem& item : list) {
      if (auto* position = std::get_if<std::int64_t>(&item)) coordinates.emplace_back(*position);
      else if (auto* array = std::get_if<IntegerArray>(&item)) coordinates.push_back(std::move(*array));
      else throw nb::type_error("a coordinate selection is made of integers, one array a dimension");
    }
    return vindex(std::move(coordinates));
  }
  throw nb::value_error("the kind is 'basic', 'orthogonal', 'coordinate', 'mask' or 'block'");
}

}  // namespace

Selection selection_of(nb::handle items, const std::string& kind, nb::handle fields) {
  Selection selection = without_fields(items, kind);
  if (fields.is_none()) return selection;
  if (PyUnicode_Check(fields.ptr())) return selection.field(nb::cast<std::string>(fields));
  return selection.fields(nb::cast<std::vector<std::string>>(fields));
}

}  // namespace zarrive::python
