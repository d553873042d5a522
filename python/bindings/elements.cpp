#include "elements.hpp"

#include <algorithm>
#include <cstring>

#include "memory.hpp"

namespace zarrive::python {
namespace {

constinit Imported asarray("numpy", "asarray");
constinit Imported empty("numpy", "empty");

// Calls visit(offset in bytes from view.data) for every place of the part. Points see the view as one dimension.
template <class Visit>
void each_place(const ChunkPart& part, const ArrayView& view, const Visit& visit) {
  if (part.empty()) return;
  if (part.is_points()) {
    for (std::uint64_t i = 0; i < part.size(); ++i) {
      std::uint64_t rest = part.point_place(i);
      std::int64_t offset = 0;
      for (std::size_t d = view.ndim(); d-- > 0; rest /= view.shape[d])
        offset += static_cast<std::int64_t>(rest % view.shape[d]) * view.strides[d];
      visit(offset);
    }
    return;
  }
  const std::size_t ndim = part.ndim();
  Index at(ndim, 0);
  const auto along = [&](std::size_t d) {
    return static_cast<std::int64_t>(part.dimensions()[d].place(at[d])) * view.strides[d];
  };
  for (;;) {
    std::int64_t row = 0;
    for (std::size_t d = 0; d + 1 < ndim; ++d) row += along(d);
    if (ndim == 0) return visit(0);
    const PartDimension& last = part.dimensions()[ndim - 1];
    for (std::uint64_t i = 0; i < last.count; ++i)
      visit(row + static_cast<std::int64_t>(last.place(i)) * view.strides[ndim - 1]);
    std::size_t d = ndim - 1;
    for (;;) {
      if (d-- == 0) return;
      if (++at[d] < part.dimensions()[d].count) break;
      at[d] = 0;
    }
  }
}

void swap_element(std::byte* element, std::span<const DataType::Leaf> swapped) {
  for (const DataType::Leaf& leaf : swapped) {
    std::byte* unit = element + leaf.offset;
    for (std::size_t i = 0; i < leaf.count; ++i, unit += leaf.unit) std::reverse(unit, unit + leaf.unit);
  }
}

template <class T>
T reversed(T value) {
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  else if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  else return __builtin_bswap64(value);
}

template <class T>
void swap_part(const ChunkPart& part, const ArrayView& output) {
  each_place(part, output, [&](std::int64_t offset) {
    T value;
    std::memcpy(&value, output.data + offset, sizeof value);
    value = reversed(value);
    std::memcpy(output.data + offset, &value, sizeof value);
  });
}

}  // namespace

ElementForm form_of(nb::handle dtype, const DataType& type) {
  ElementForm form;
  const auto kind = nb::cast<std::string>(dtype.attr("kind"));
  if (type.is_variable()) {
    form.kind = kind == "O" ? ElementForm::Kind::objects : ElementForm::Kind::strings;
    return form;
  }
  const auto refuse = [&]() {
    throw nb::value_error(("elements of dtype " + nb::cast<std::string>(nb::str(dtype)) +
                           " are none of the array's type " + type.name())
                              .c_str());
  };
  if (kind == "O" || kind == "T") refuse();
  const bool plain = dtype.attr("names").is_none();
  std::optional<DataType> found;
  try {
    found = DataType::from_v2(plain ? Json(nb::cast<std::string>(dtype.attr("str")))
                                    : from_python(dtype.attr("descr")));
  } catch (const Error&) {
    refuse();
  }
  if (*found == type) {
    for (const DataType::Leaf& leaf : found->leaves())
      if (leaf.order == ByteOrder::big && leaf.unit > 1) form.swapped.push_back(leaf);
    return form;
  }
  // Types that NumPy has no name for come as opaque bytes.
  if (!plain || kind != "V" || nb::cast<std::size_t>(dtype.attr("itemsize")) != type.item_size()) refuse();
  return form;
}

void swap_places(std::span<const ChunkAccess> accesses, const ArrayView& output,
                 std::span<const DataType::Leaf> swapped) {
  const bool single = swapped.size() == 1 && swapped[0].count == 1 && swapped[0].offset == 0;
  Executor::global().parallel_for(accesses.size(), [&](std::size_t i) {
    const ChunkPart& part = accesses[i].part;
    if (single && swapped[0].unit == 2) return swap_part<std::uint16_t>(part, output);
    if (single && swapped[0].unit == 4) return swap_part<std::uint32_t>(part, output);
    if (single && swapped[0].unit == 8) return swap_part<std::uint64_t>(part, output);
    each_place(part, output, [&](std::int64_t offset) { swap_element(output.data + offset, swapped); });
  });
}

void swap_all(const ArrayView& elements, std::span<const DataType::Leaf> swapped) {
  ChunkAccess all;
  all.part = ChunkPart::all_of(elements.shape);
  swap_places({&all, 1}, elements, swapped);
}

nb::object object_of(const std::string& element, const DataType& type) {
  const auto size = static_cast<Py_ssize_t>(element.size());
  if (type.id() == TypeId::bytes) return nb::steal(PyBytes_FromStringAndSize(element.data(), size));
  if (type.id() == TypeId::object) return to_python(Json::parse(element));
  PyObject* text = PyUnicode_DecodeUTF8(element.data(), size, nullptr);
  if (!text) throw nb::python_error();
  return nb::steal(text);
}

void element_of(nb::handle object, const DataType& type, std::string& element) {
  PyObject* const given = object.ptr();
  if (type.id() == TypeId::object) {
    element = from_python(object).dump();
    return;
  }
  if (type.id() == TypeId::string && PyUnicode_Check(given)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(given, &size);
    if (!text) throw nb::python_error();
    element.assign(text, static_cast<std::size_t>(size));
    return;
  }
  if (type.id() == TypeId::bytes && PyObject_CheckBuffer(given)) {
    const Buffer bytes = buffer_of(object);
    element.assign(bytes.text());
    return;
  }
  if (given == Py_None || (PyLong_Check(given) && PyObject_Not(given) == 1)) {
    element.clear();
    return;
  }
  throw nb::type_error(
      (std::string("an element of type ") + type.name() + " is wanted, found " + Py_TYPE(given)->tp_name)
          .c_str());
}

NDArray elements_of(nb::handle array, const DataType& type) {
  const nb::object objects = asarray(array, nb::arg("dtype") = "O", nb::arg("order") = "C");
  const Interface interface = interface_of(objects);
  NDArray elements = NDArray::allocate(type, interface.shape);
  auto* const to = reinterpret_cast<std::string*>(elements.view().data);
  for (std::uint64_t i = 0; i < elements.size(); ++i) {
    // Held, for a conversion may run Python code that changes the array.
    PyObject* object = nullptr;
    std::memcpy(&object, interface.data + i * sizeof object, sizeof object);
    const nb::object held = object ? nb::borrow(object) : nb::none();
    element_of(held, type, to[i]);
  }
  return elements;
}

nb::object new_object_array(const Shape& shape) { return empty(to_tuple(shape), nb::arg("dtype") = "O"); }

void set_objects(std::span<const ChunkAccess> accesses, const ArrayView& elements, const ArrayView& objects) {
  for (const ChunkAccess& access : accesses) {
    std::vector<std::int64_t> from, to;
    each_place(access.part, elements, [&](std::int64_t offset) { from.push_back(offset); });
    each_place(access.part, objects, [&](std::int64_t offset) { to.push_back(offset); });
    for (std::size_t i = 0; i < from.size(); ++i) {
      PyObject* made =
          object_of(*reinterpret_cast<const std::string*>(elements.data + from[i]), elements.type)
              .release()
              .ptr();
      PyObject* before = nullptr;
      std::memcpy(&before, objects.data + to[i], sizeof before);
      std::memcpy(objects.data + to[i], &made, sizeof made);
      Py_XDECREF(before);
    }
  }
}

}  // namespace zarrive::python
