// A vendor's library, opened at run time: one binary serves machines with and without it.
#pragma once

#include <string>
#include <vector>

namespace zarrive::gpu {

class SharedLibrary {
 public:
  SharedLibrary() = default;
  // Opens what the environment variable names (a path; "none" switches the library off), or else the first candidate that can be opened.
  // It stays open until the process ends. No error when there is none: path() is then empty and reason() says why.
  SharedLibrary(const char* variable, const std::vector<std::string>& candidates);

  bool is_open() const noexcept { return handle_ != nullptr; }
  const std::string& path() const noexcept { return path_; }      // what was opened
  const std::string& reason() const noexcept { return reason_; }  // why nothing was
  void* symbol(const char* name) const noexcept;  // null when the library has none of that name

 private:
  void* handle_ = nullptr;
  std::string path_;
  std::string reason_;
};

}  // namespace zarrive::gpu
