// Stores as Python objects: a handle with what it takes to open the same store elsewhere.
#pragma once

#include "common.hpp"

namespace zarrive::python {

struct StoreHandle {
  std::shared_ptr<Store> store;
  // The keyword arguments of `_core.open_spec` that make it anew, for pickling and comparing; null when it exists in this process only.
  nb::object spec;
};

// The range of a request: None, ("range", offset, length), ("from", offset) or ("suffix", length).
ByteRange range_of(nb::handle range);
nb::object range_object(const ByteRange& range);  // the reverse

}  // namespace zarrive::python
