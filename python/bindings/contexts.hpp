// Contexts as Python sees them.
#pragma once

#include <memory>
#include <span>

#include "common.hpp"

namespace zarrive::python {

// A context as a Python object of its own (the members that mean something outside the core), for Python stores and codecs.
nb::object context_object(const Context& context);

// What `contexts=` takes: None, one Context for all keys, a ConstantMap, or any mapping from keys to Contexts. Asked for the given keys only.
class ContextsArgument {
 public:
  ContextsArgument(nb::handle contexts, std::span<const std::string> keys);
  ContextsRef ref() const { return map_ ? ContextsRef(*map_) : ContextsRef(); }
  const Context* find(std::string_view key) const { return map_ ? map_->find(key) : nullptr; }

 private:
  std::unique_ptr<ContextMap> map_;
};

}  // namespace zarrive::python
