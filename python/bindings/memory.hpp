// Memory between Python and the core: buffers, array interfaces, NumPy arrays.
#pragma once

#include "common.hpp"

namespace zarrive::python {

// What an object says of its memory: __array_interface__ or __cuda_array_interface__ (NumPy, CuPy, PyTorch, Numba), or the buffer protocol.
struct Interface {
  std::byte* data = nullptr;
  Shape shape = {};
  std::optional<Strides> strides = {};  // absent: dense, C order
  bool read_only = false;
  MemorySpace space = {};
};
// Of NumPy arrays and of arrays in device memory; TypeError for anything else. Waits for the stream that a device array names, unless `wait` is
// false: what is done with the memory is then put into a stream that the caller has given.
Interface interface_of(nb::handle array, bool wait = true);
// As elements of `type`; the caller has seen to it that they are.
ArrayView view_of(const Interface& interface, const DataType& type);

// A Buffer that shares the memory of a Buffer, an object with the buffer protocol or a device array, and keeps it alive.
Buffer buffer_of(nb::handle object);

// A reference to a Python object that may be dropped by any thread.
std::shared_ptr<const void> keep_alive(nb::handle object);

// A Python object that codecs and stores on any thread share.
class Held {
 public:
  explicit Held(nb::handle object) : object_(object.ptr()), owner_(keep_alive(object)) {}
  nb::handle get() const { return object_; }

 private:
  PyObject* object_;
  std::shared_ptr<const void> owner_;
};

// "host", "pinned", "cuda:0"; None is host.
Prototype prototype_of(nb::handle name);

}  // namespace zarrive::python
