// What the bindings share: nanobind, and the few conversions that every file needs.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "zarrive/zarrive.hpp"

namespace zarrive::python {

namespace nb = nanobind;

// Something of a Python module, looked up at its first use. Not a static nb::object: importing may let go of the GIL, and a thread that then waits for
// the static's guard with the GIL in hand would wait for ever.
class Imported {
 public:
  constexpr Imported(const char* module, const char* name) : module_(module), name_(name) {}
  nb::handle get() {
    if (PyObject* found = found_.load(std::memory_order_acquire)) return found;
    nb::object object = nb::module_::import_(module_).attr(name_);
    PyObject* expected = nullptr;
    if (found_.compare_exchange_strong(expected, object.ptr(), std::memory_order_acq_rel))
      return object.release();
    return expected;
  }
  template <class... Args>
  nb::object operator()(Args&&... args) {
    return get()(std::forward<Args>(args)...);
  }

 private:
  const char* module_;
  const char* name_;
  std::atomic<PyObject*> found_{nullptr};
};

// Json to dict, list, str, int, float, bool and None, and back, by way of the standard library's json.
nb::object to_python(const Json& value);
Json from_python(nb::handle value);
// Json to the attributes' form: a dict.
nb::object to_python(const JsonObject& value);

// An extent or an index as a tuple of ints.
nb::tuple to_tuple(const std::vector<std::uint64_t>& numbers);
Shape to_shape(nb::handle value);  // from an int or a sequence of ints; ValueError for negative ones

// Runs `body` without the GIL. When `bytes` are many and this is the main thread, the body runs on another thread and Ctrl-C stops it: the
// stop token is set, and KeyboardInterrupt raised once the body has returned.
void run(std::uint64_t bytes, const std::function<void(std::stop_token)>& body);

// What `body` gives, computed without the GIL.
template <class Body>
auto without_gil(const Body& body) {
  nb::gil_scoped_release release;
  return body();
}

// True while the interpreter can run Python code; worker threads ask before they take the GIL.
bool interpreter_alive() noexcept;

// "ValueError: what it says", of an exception that is being handled. With the GIL.
std::string exception_text(const nb::python_error& error);

// Calls Python code, `body`, from any thread. What it raises becomes Error(code_of(exception), "<doing> raised <exception_text>").
template <class CodeOf, class Body>
auto call_python(const std::string& doing, const CodeOf& code_of, const Body& body) {
  if (!interpreter_alive()) throw Error(ErrorCode::unavailable, "the Python interpreter is shutting down");
  nb::gil_scoped_acquire acquire;
  try {
    return body();
  } catch (nb::python_error& error) {
    throw Error(code_of(error), doing + " raised " + exception_text(error));
  } catch (nb::cast_error&) {
    throw Error(ErrorCode::invalid_argument, doing + " returned something of another type than it should");
  }
}

// The parts of the module, each in its own file.
void bind_errors(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_contexts(nb::module_& m);
void bind_stores(nb::module_& m);
void bind_python_store(nb::module_& m);
void bind_metadata(nb::module_& m);
void bind_arrays(nb::module_& m);
void bind_groups(nb::module_& m);
void bind_pipeline(nb::module_& m);
void bind_codecs(nb::module_& m);
void bind_devices(nb::module_& m);

}  // namespace zarrive::python
