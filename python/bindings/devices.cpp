// What computes: the threads, and the devices with the libraries for them that were found.
#include "common.hpp"

namespace zarrive::python {
namespace {

nb::dict device_info() {
  gpu::SystemInfo info;
  {
    nb::gil_scoped_release release;
    info = gpu::system_info();
  }
  auto library = [](const gpu::LibraryInfo& l) {
    nb::dict d;
    d["path"] = l.path;
    d["version"] = l.version;
    d["reason"] = l.reason;
    return d;
  };
  nb::dict result;
  result["driver"] = library(info.driver);
  result["kernels"] = library(info.kernels);
  result["cufile"] = library(info.cufile);
  result["nvcomp"] = library(info.nvcomp);
  nb::list devices;
  for (const gpu::DeviceInfo& device : info.devices) {
    nb::dict engine;
    engine["formats"] = device.engine.formats;
    engine["longest"] = device.engine.longest;
    engine["reason"] = device.engine.reason;
    nb::dict d;
    d["ordinal"] = device.ordinal;
    d["name"] = device.name;
    d["compute_capability"] = nb::make_tuple(device.compute_major, device.compute_minor);
    d["multiprocessors"] = device.multiprocessors;
    d["memory_bytes"] = device.memory_bytes;
    d["engine"] = engine;
    devices.append(d);
  }
  result["devices"] = devices;
  return result;
}

}  // namespace

void bind_devices(nb::module_& m) {
  m.def("compute_threads", [] { return Executor::global().compute_threads(); });
  m.def("gpu_info", &device_info,
        "What was found. A dict with driver, kernels, cufile and nvcomp, each with path, version, and the "
        "reason why it "
        "is not used (empty: it is);\nand devices, a list of dicts: ordinal (N of cuda:N), name, "
        "compute_capability, "
        "multiprocessors, memory_bytes, and engine, the decompression\nengine: formats, longest (bytes), "
        "reason.");
}

}  // namespace zarrive::python
