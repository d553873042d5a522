// zarrive._core: the C++ core as Python sees it. One concept a file; each adds its part to the module.
#include <nanobind/nanobind.h>

#include "zarrive/version.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  module.doc() = "The compiled core of zarrive.";
  const auto version = zarrive::version();
  module.attr("__version__") = nb::str(version.data(), version.size());
}
