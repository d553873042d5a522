// The extension module zarrive._core: the C++ library as the Python package sees it. What users see is in python/zarrive/*.py.
#include "common.hpp"
#include "zarrive/version.hpp"

namespace zarrive::python {

NB_MODULE(_core, m) {
  // Objects that modules keep until the process ends (caches, defaults) are no leaks.
  nb::set_leak_warnings(false);
  m.doc() = "The C++ core of Zarrive. Use the package zarrive.";
  m.attr("__version__") = std::string(version());
  bind_errors(m);
  bind_memory(m);
  bind_contexts(m);
  bind_metadata(m);
  bind_stores(m);
  bind_python_store(m);
  bind_arrays(m);
  bind_groups(m);
  bind_pipeline(m);
  bind_codecs(m);
  bind_devices(m);
}

}  // namespace zarrive::python
