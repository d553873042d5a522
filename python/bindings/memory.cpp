#include "memory.hpp"

#include "zarrive/dlpack.hpp"

namespace zarrive::python {
namespace {

// An object with the buffer protocol, held through it.
std::shared_ptr<const void> hold_view(Py_buffer* view) {
  return {view, [](Py_buffer* held) {
            if (interpreter_alive()) {
              nb::gil_scoped_acquire acquire;
              PyBuffer_Release(held);
            }
            delete held;
          }};
}

template <class T>
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const T& object = *nb::inst_ptr<T>(self);
  std::byte* data = nullptr;
  std::size_t size = 0;
  int read_only = 1;
  if constexpr (std::is_same_v<T, Buffer>) {
    if (!object.space().host_accessible()) {
      PyErr_SetString(PyExc_BufferError, "the bytes are in device memory; use __cuda_array_interface__");
      return -1;
    }
    data = const_cast<std::byte*>(object.data());
    size = object.size();
  } else {
    if (!object.view().space.host_accessible() || object.type().is_variable()) {
      PyErr_SetString(PyExc_BufferError, "the elements are no plain bytes in host memory");
      return -1;
    }
    data = object.view().data;
    size = object.view().nbytes();
    read_only = 0;
  }
  return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(size), read_only, flags);
}

template <class T>
PyType_Slot* buffer_slots() {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer<T>)}, {0, nullptr}};
  return slots;
}

nb::dict cuda_interface(const std::byte* data, const Shape& shape, const std::string& typestr) {
  nb::dict interface;
  interface["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data), false);
  interface["shape"] = to_tuple(shape);
  interface["typestr"] = typestr;
  interface["version"] = 3;
  return interface;
}

nb::object dlpack_capsule(const NDArray& array) {
  dlpack::ManagedTensor* tensor = dlpack::to_dlpack(array);
  PyObject* capsule = PyCapsule_New(tensor, "dltensor", [](PyObject* self) {
    if (!PyCapsule_IsValid(self, "dltensor")) return;  // taken over
    auto* unused = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(self, "dltensor"));
    if (unused->deleter) unused->deleter(unused);
  });
  if (!capsule) {
    tensor->deleter(tensor);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

nb::tuple dlpack_device(const MemorySpace& space) {
  const int type = space.kind == MemoryKind::cuda ? 2 : space.kind == MemoryKind::pinned ? 3 : 1;
  return nb::make_tuple(type, space.device);
}

}  // namespace

std::shared_ptr<const void> keep_alive(nb::handle object) {
  object.inc_ref();
  return {object.ptr(), [](PyObject* held) {
            if (!interpreter_alive()) return;  // the process ends
            nb::gil_scoped_acquire acquire;
            Py_DECREF(held);
          }};
}

Prototype prototype_of(nb::handle name) {
  if (name.is_none()) return {};
  return {.space = MemorySpace::parse(nb::cast<std::string>(name)), .allocator = {}};
}

namespace {

// Other libraries hand out arrays that their streams have yet to write, or to read. Version 3 of the interface names the stream (1 is the
// legacy default one), or says None when there is nothing to wait for; before it the default one was assumed.
void wait_for_producer(const nb::dict& interface, int device) {
  std::uintptr_t stream = 1;
  if (interface.contains("stream")) {
    if (interface["stream"].is_none()) return;
    stream = nb::cast<std::uintptr_t>(interface["stream"]);
  }
  nb::gil_scoped_release release;
  gpu::synchronize(device, stream == 1 ? nullptr : reinterpret_cast<void*>(stream));
}

}  // namespace

Interface interface_of(nb::handle array, bool wait) {
  Interface result;
  nb::object interface;
  if (nb::hasattr(array, "__cuda_array_interface__")) {
    interface = array.attr("__cuda_array_interface__");
    int device = 0;
    if (nb::hasattr(array, "__dlpack_device__"))
      device = nb::cast<int>(array.attr("__dlpack_device__")().attr("__getitem__")(1));
    result.space = {MemoryKind::cuda, device};
    if (wait) wait_for_producer(nb::cast<nb::dict>(interface), device);
  } else if (nb::hasattr(array, "__array_interface__")) {
    interface = array.attr("__array_interface__");
  } else {
    throw nb::type_error("an array with __array_interface__ or __cuda_array_interface__ is wanted here");
  }
  const nb::object data = interface["data"];
  result.data = reinterpret_cast<std::byte*>(nb::cast<std::uintptr_t>(data[0]));
  result.read_only = nb::cast<bool>(data[1]);
  result.shape = to_shape(interface["shape"]);
  const nb::object strides = interface.attr("get")("strides");
  if (!strides.is_none()) {
    Strides steps;
    for (nb::handle step : nb::iter(strides)) steps.push_back(nb::cast<std::int64_t>(step));
    result.strides = std::move(steps);
  }
  return result;
}

ArrayView view_of(const Interface& interface, const DataType& type) {
  if (interface.strides)
    return ArrayView(interface.data, type, interface.shape, *interface.strides, interface.space);
  return ArrayView(interface.data, type, interface.shape, interface.space);
}

Buffer buffer_of(nb::handle object) {
  Buffer buffer;
  if (nb::try_cast<Buffer>(object, buffer)) return buffer;
  if (nb::hasattr(object, "__cuda_array_interface__")) {
    const Interface interface = interface_of(object);
    const std::string type = nb::cast<std::string>(object.attr("__cuda_array_interface__")["typestr"]);
    const std::uint64_t item = std::stoull(type.substr(2));
    if (interface.strides) throw nb::value_error("a value in device memory has to be contiguous");
    return Buffer::share(keep_alive(object), interface.data,
                         static_cast<std::size_t>(byte_count(interface.shape, item)), interface.space);
  }
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_C_CONTIGUOUS) != 0) {
    nb::python_error error;
    if (!nb::hasattr(object, "__array_interface__")) throw error;
    // NumPy's datetimes have no format in the buffer protocol.
    const Interface interface = interface_of(object);
    if (interface.strides) throw error;
    return Buffer::share(keep_alive(object), interface.data, nb::cast<std::size_t>(object.attr("nbytes")));
  }
  const auto* data = static_cast<const std::byte*>(view->buf);
  const auto size = static_cast<std::size_t>(view->len);
  return Buffer::share(hold_view(view.release()), data, size);
}

void bind_memory(nb::module_& m) {
  nb::class_<Buffer>(
      m, "Buffer", nb::type_slots(buffer_slots<Buffer>()),
      "Bytes in host, pinned or device memory. Host bytes have the buffer protocol (read-only), device bytes "
      "__cuda_array_interface__ and DLPack. Nothing is copied.")
      .def_static("of", &buffer_of, nb::arg("object"),
                  "A Buffer over the memory of `object` (buffer protocol, or __cuda_array_interface__), "
                  "which it keeps alive.")
      .def("__len__", [](const Buffer& b) { return b.size(); })
      .def_prop_ro("nbytes", [](const Buffer& b) { return b.size(); })
      .def_prop_ro(
          "space", [](const Buffer& b) { return b.space().name(); }, "'host', 'pinned' or 'cuda:N'.")
      .def_prop_ro("pointer", [](const Buffer& b) { return reinterpret_cast<std::uintptr_t>(b.data()); })
      .def("__bytes__",
           [](const Buffer& b) {
             const std::span<const std::byte> bytes = b.host_span();
             return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
           })
      .def("slice", &Buffer::slice, nb::arg("offset"), nb::arg("size"), "A part; shares the memory.")
      .def("__repr__",
           [](const Buffer& b) {
             return "<zarrive.Buffer of " + std::to_string(b.size()) + " bytes in " + b.space().name() + ">";
           })
      .def_prop_ro("__cuda_array_interface__",
                   [](const Buffer& b) {
                     if (b.space().host_accessible())
                       throw nb::attribute_error("the bytes are in host memory");
                     return cuda_interface(b.data(), {b.size()}, "|u1");
                   })
      .def("__dlpack_device__", [](const Buffer& b) { return dlpack_device(b.space()); })
      .def("__dlpack__", [](const Buffer& b, nb::kwargs) {
        return dlpack_capsule(make_ndarray(
            b, ArrayView(const_cast<std::byte*>(b.data()), DataType(TypeId::uint8), {b.size()}, b.space())));
      });

  nb::class_<NDArray>(m, "NDArray", nb::type_slots(buffer_slots<NDArray>()),
                      "Elements that a read allocated, dense in C order. Host elements have the buffer "
                      "protocol (bytes), device "
                      "elements __cuda_array_interface__ and DLPack.")
      .def(
          "__init__",
          [](NDArray* self, nb::object shape, const DataType& type, const std::string& space) {
            new (self) NDArray(NDArray::allocate(type, to_shape(shape),
                                                 {.space = MemorySpace::parse(space), .allocator = {}}));
          },
          nb::arg("shape"), nb::arg("data_type"), nb::arg("space") = "host",
          "New memory, contents undefined.")
      .def_prop_ro("shape", [](const NDArray& a) { return to_tuple(a.shape()); })
      .def_prop_ro("data_type", [](const NDArray& a) { return a.type(); })
      .def_prop_ro("nbytes", [](const NDArray& a) { return a.view().nbytes(); })
      .def_prop_ro("space", [](const NDArray& a) { return a.view().space.name(); })
      .def_prop_ro("pointer",
                   [](const NDArray& a) { return reinterpret_cast<std::uintptr_t>(a.view().data); })
      .def(
          "items",
          [](const NDArray& a) {  // of variable-length types, in C order
            if (!a.type().is_variable()) throw nb::type_error("the elements have a fixed size");
            const auto* strings = reinterpret_cast<const std::string*>(a.view().data);
            const bool text = a.type().id() != TypeId::bytes;
            nb::list list;
            for (std::uint64_t i = 0; i < a.size(); ++i) {
              if (text) list.append(nb::str(strings[i].data(), strings[i].size()));
              else list.append(nb::bytes(strings[i].data(), strings[i].size()));
            }
            return list;
          },
          "Variable-length elements in C order: str, or bytes of the type `bytes`; of `object` their JSON "
          "text.")
      .def_prop_ro("__cuda_array_interface__",
                   [](const NDArray& a) {
                     if (a.view().space.host_accessible())
                       throw nb::attribute_error("the elements are in host memory");
                     const Json v2 = a.type().with_byte_order(ByteOrder::little).to_v2();
                     return cuda_interface(
                         a.view().data, a.shape(),
                         v2.is_string() ? v2.as_string() : "|V" + std::to_string(a.type().item_size()));
                   })
      .def("__dlpack_device__", [](const NDArray& a) { return dlpack_device(a.view().space); })
      .def("__dlpack__", [](const NDArray& a, nb::kwargs) { return dlpack_capsule(a); });
}

}  // namespace zarrive::python
