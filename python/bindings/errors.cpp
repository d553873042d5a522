// Errors of the core as Python exceptions. Their classes stand in zarrive/errors.py.
#include "common.hpp"

namespace zarrive::python {
namespace {

void raise(const Error& error) {
  static constinit Imported make("zarrive.errors", "_make");
  const std::string code(to_string(error.code()));
  const nb::object exception = make(code, std::string(error.what()), error.message(), error.place().store,
                                    error.place().node, error.place().key);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator(
      [](const std::exception_ptr& failure, void*) {
        try {
          std::rethrow_exception(failure);
        } catch (const Error& error) {
          try {
            raise(error);
          } catch (nb::python_error& other) {
            other.restore();
          }
        }
      },
      nullptr);
}

}  // namespace zarrive::python
