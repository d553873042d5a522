// Opening files below a directory without ever leaving it.
#pragma once

#include <string>
#include <string_view>

#include "store/file.hpp"

namespace zarrive::store {

// A directory that keys are resolved in. Without follow_symlinks no symbolic link on the way is followed: one openat2(2) call where the kernel
// has it, else one openat(2) a part of the key.
class RootDirectory {
 public:
  // `path` may itself be a link. Throws Error(not_found), Error(invalid_argument) when it is no directory, Error(permission).
  RootDirectory(const std::string& path, bool follow_symlinks);

  // A descriptor, or not ok() with errno in `error`: ENOENT, ENOTDIR, ELOOP (a link was in the way), EACCES, ...
  // `relative` is a valid key, or empty for the root itself. `flags` as of open(2).
  Fd open(const std::string& relative, int flags, int& error) const;

  int fd() const noexcept { return fd_.get(); }
  bool follows_symlinks() const noexcept { return follow_; }

  // Tests only: behave from now on as on a kernel without openat2.
  static void pretend_no_openat2(bool without) noexcept;

 private:
  Fd walk(const std::string& relative, int flags, int& error) const;
  Fd fd_;
  bool follow_;
  bool has_openat2_ = false;
};

// The directory and the last part of a key: "a/b/c" is {"a/b", "c"}, "c" is {"", "c"}.
std::pair<std::string, std::string> split_key(const std::string& key);

}  // namespace zarrive::store
