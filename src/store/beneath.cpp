#include "store/beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "store/failure.hpp"

namespace zarrive::store {
namespace {

std::atomic<bool> without_openat2{false};

int openat2_beneath(int directory, const char* path, int flags) {
  struct open_how how {};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  while (true) {
    const long fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) return static_cast<int>(fd);
  }
}

}  // namespace

RootDirectory::RootDirectory(const std::string& path, bool follow_symlinks) : follow_(follow_symlinks) {
  fd_ = Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd_.ok()) {
    if (errno == ENOTDIR) throw Error(ErrorCode::invalid_argument, "'" + path + "' is not a directory");
    throw errno_error(errno, "opening directory '" + path + "'");
  }
  // Old kernels say ENOSYS; containers that filter it say EPERM.
  has_openat2_ = Fd(openat2_beneath(fd_.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)).ok();
}

void RootDirectory::pretend_no_openat2(bool without) noexcept { without_openat2 = without; }

Fd RootDirectory::open(const std::string& relative, int flags, int& error) const {
  const char* path = relative.empty() ? "." : relative.c_str();
  flags |= O_CLOEXEC;
  Fd fd;
  if (follow_ || relative.empty()) {
    do {
      fd = Fd(::openat(fd_.get(), path, flags));
    } while (!fd.ok() && errno == EINTR);
  } else if (has_openat2_ && !without_openat2) {
    fd = Fd(openat2_beneath(fd_.get(), path, flags));
  } else {
    return walk(relative, flags, error);
  }
  error = fd.ok() ? 0 : errno;
  return fd;
}

Fd RootDirectory::walk(const std::string& relative, int flags, int& error) const {
  Fd directory;
  int at = fd_.get();
  auto is_link = [&](const std::string& name) {
    struct stat status {};
    return ::fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
  };
  std::size_t start = 0;
  while (true) {
    const std::size_t slash = relative.find('/', start);
    const bool last = slash == std::string::npos;
    const std::string part = relative.substr(start, last ? std::string::npos : slash - start);
    Fd next(::openat(at, part.c_str(), (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW));
    if (!next.ok()) {
      error = errno;
      if (error == EINTR) continue;
      if (error == ENOTDIR && is_link(part)) error = ELOOP;
      return {};
    }
    if (last) {
      // O_PATH with O_NOFOLLOW opens the link itself.
      struct stat status {};
      if ((flags & O_PATH) != 0 && ::fstat(next.get(), &status) == 0 && S_ISLNK(status.st_mode)) {
        error = ELOOP;
        return {};
      }
      error = 0;
      return next;
    }
    directory = std::move(next);
    at = directory.get();
    start = slash + 1;
  }
}

std::pair<std::string, std::string> split_key(const std::string& key) {
  const std::size_t slash = key.rfind('/');
  if (slash == std::string::npos) return {std::string(), key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace zarrive::store
