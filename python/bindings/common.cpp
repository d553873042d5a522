#include "common.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace zarrive::python {
namespace {

// A body this large may take long enough for somebody to want it stopped; a thread for it costs some 20 us.
constexpr std::uint64_t kWorthInterrupting = 4u << 20;
constexpr auto kPoll = std::chrono::milliseconds(50);

bool on_main_thread() {
  static constinit Imported get_ident("threading", "get_ident");
  static constinit Imported main_thread("threading", "main_thread");
  return get_ident().equal(main_thread().attr("ident"));
}

}  // namespace

bool interpreter_alive() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

std::string exception_text(const nb::python_error& error) {
  std::string text = nb::cast<std::string>(nb::str(error.type().attr("__name__")));
  const std::string said = nb::cast<std::string>(nb::str(error.value()));
  if (!said.empty()) text += ": " + said;
  return text;
}

void run(std::uint64_t bytes, const std::function<void(std::stop_token)>& body) {
  if (bytes < kWorthInterrupting || !on_main_thread()) {
    nb::gil_scoped_release release;
    body({});
    return;
  }
  struct State {
    std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::exception_ptr failure;
  } state;
  std::stop_source stop;
  bool interrupted = false;
  {
    nb::gil_scoped_release release;
    Executor::global().submit_io([&] {
      std::exception_ptr failure;
      try {
        body(stop.get_token());
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(state.mutex);
      state.failure = std::move(failure);
      state.done = true;
      state.finished.notify_all();
    });
    std::unique_lock lock(state.mutex);
    while (!state.finished.wait_for(lock, kPoll, [&] { return state.done; })) {
      lock.unlock();
      {
        nb::gil_scoped_acquire acquire;
        if (!interrupted && PyErr_CheckSignals() != 0) {
          interrupted = true;  // the exception stays set until the body has returned
          stop.request_stop();
        }
      }
      lock.lock();
    }
  }
  if (interrupted) throw nb::python_error();
  if (state.failure) std::rethrow_exception(state.failure);
}

nb::object to_python(const Json& value) {
  static constinit Imported loads("json", "loads");
  return loads(value.dump());
}

nb::object to_python(const JsonObject& value) { return to_python(Json(value)); }

Json from_python(nb::handle value) {
  static constinit Imported dumps("json", "dumps");
  return Json::parse(nb::cast<std::string>(dumps(value)));
}

nb::tuple to_tuple(const std::vector<std::uint64_t>& numbers) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromUnsignedLongLong(numbers[i]));
  return nb::borrow<nb::tuple>(tuple);
}

Shape to_shape(nb::handle value) {
  auto extent = [](nb::handle item) {
    const auto number = nb::steal(PyNumber_Index(item.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    const unsigned long long extent = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw nb::value_error("an extent is a whole number from 0 on");
    }
    return static_cast<std::uint64_t>(extent);
  };
  if (PyIndex_Check(value.ptr())) return {extent(value)};
  Shape shape;
  for (nb::handle item : nb::iter(value)) shape.push_back(extent(item));
  return shape;
}

}  // namespace zarrive::python
