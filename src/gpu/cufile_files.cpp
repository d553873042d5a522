// The files that stay registered with cuFile.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>

#include "gpu/cufile.hpp"

namespace zarrive::gpu {

namespace {

constexpr std::size_t most_files = 64;
// f_type of statfs(2)
constexpr unsigned long type_tmpfs = 0x01021994;
constexpr unsigned long type_ramfs = 0x858458f6;

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t seconds = 0;  // when it was modified
  std::int64_t nanoseconds = 0;
  off_t size = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size};
}

std::string text_of(int number) { return std::generic_category().message(number); }

// The same file once more, for direct I/O: a descriptor that is opened by path could have become another file.
int reopen_direct(int fd) {
  return ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC | O_NOCTTY);
}

}  // namespace

struct CufileFiles {
  struct Kept {
    Identity identity;
    std::shared_ptr<const CufileFile> file;
  };
  std::mutex mutex;
  std::list<Kept> kept;  // the last used first
  std::map<dev_t, std::string> refused;

  static CufileFiles& all() {
    static CufileFiles* const files = new CufileFiles;  // never destroyed: cuFile may be gone by then
    return *files;
  }

  std::optional<CufileOpening> find(const Identity& identity) {
    std::lock_guard lock(mutex);
    for (auto at = kept.begin(); at != kept.end(); ++at) {
      if (at->identity.device != identity.device || at->identity.inode != identity.inode) continue;
      if (at->identity != identity) {  // written since
        kept.erase(at);
        break;
      }
      kept.splice(kept.begin(), kept, at);
      return CufileOpening{kept.front().file, {}};
    }
    if (const auto no = refused.find(identity.device); no != refused.end())
      return CufileOpening{{}, no->second};
    return std::nullopt;
  }

  CufileOpening refuse(const Identity& identity, const std::string& reason) {
    std::lock_guard lock(mutex);
    refused[identity.device] = reason;
    return {{}, reason};
  }

  CufileOpening open(const Cufile& library, int fd, const Identity& identity) {
    const int direct = reopen_direct(fd);
    if (direct < 0) {
      const int number = errno;
      if (number == EINVAL) return refuse(identity, "the file system has no direct I/O");
      return {{}, "opening the file for direct I/O: " + text_of(number)};
    }
    CufileDescriptor descriptor;
    descriptor.type = cufile_type_fd;
    descriptor.fd = direct;
    CufileHandle handle = nullptr;
    const CufileResult result = library.handle_register(&handle, &descriptor);
    if (result.error != cufile_success) {
      ::close(direct);
      const std::string reason = "cuFileHandleRegister: " + cufile_error_text(result.error);
      const bool for_all = result.error == cufile_platform_not_supported ||
                           result.error == cufile_io_not_supported || result.error == cufile_io_disabled;
      return for_all ? refuse(identity, reason) : CufileOpening{{}, reason};
    }
    CufileOpening opening{std::shared_ptr<const CufileFile>(new CufileFile(library, direct, handle)), {}};
    std::lock_guard lock(mutex);
    kept.push_front({identity, opening.file});
    if (kept.size() > most_files) kept.pop_back();
    return opening;
  }
};

CufileFile::~CufileFile() {
  if (cufile_status().library) library_.handle_deregister(handle_);  // not in a forked child
  ::close(fd_);
}

CufileOpening cufile_open(int fd) {
  const CufileStatus& status = cufile_status();
  if (!status.library) return {{}, status.reason};
  struct stat file {};
  struct statfs system {};
  if (::fstat(fd, &file) != 0 || ::fstatfs(fd, &system) != 0)
    return {{}, "looking at the file: " + text_of(errno)};
  if (!S_ISREG(file.st_mode)) return {{}, "it is not a regular file"};
  const auto type = static_cast<unsigned long>(system.f_type) & 0xffffffffu;
  if (type == type_tmpfs || type == type_ramfs) return {{}, "the file lies in memory (tmpfs)"};
  CufileFiles& files = CufileFiles::all();
  const Identity identity = identity_of(file);
  if (std::optional<CufileOpening> found = files.find(identity)) return std::move(*found);
  return files.open(*status.library, fd, identity);
}

CufileOpening cufile_open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    const int number = errno;
    throw Error(number == ENOENT || number == ENOTDIR ? ErrorCode::not_found
                : number == EACCES || number == EPERM ? ErrorCode::permission
                                                      : ErrorCode::unavailable,
                "opening " + path + ": " + text_of(number));
  }
  struct Closed {
    int fd;
    ~Closed() { ::close(fd); }
  } const closed{fd};
  return cufile_open(fd);
}

void cufile_forget() {
  if (!cufile_status().library) return;  // in a forked child the lock may be held for ever
  CufileFiles& files = CufileFiles::all();
  std::list<CufileFiles::Kept> forgotten;
  std::lock_guard lock(files.mutex);
  forgotten.swap(files.kept);
  files.refused.clear();
}

}  // namespace zarrive::gpu
