#include "gpu/shared_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace zarrive::gpu {

SharedLibrary::SharedLibrary(const char* variable, const std::vector<std::string>& candidates) {
  std::vector<std::string> names(candidates);
  if (const char* const named = std::getenv(variable); named && *named) {
    if (std::string(named) == "none") {
      reason_ = std::string("switched off by ") + variable + "=none";
      return;
    }
    names = {named};
  }
  for (const std::string& name : names) {
    handle_ = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_) {
      path_ = name;
      reason_.clear();
      return;
    }
    const char* const error = ::dlerror();
    reason_ += (reason_.empty() ? "" : "; ") + std::string(error ? error : name + " cannot be opened");
  }
}

void* SharedLibrary::symbol(const char* name) const noexcept {
  return handle_ ? ::dlsym(handle_, name) : nullptr;
}

}  // namespace zarrive::gpu
