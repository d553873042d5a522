#include "fakes/fake_cufile.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fakes/fake_cuda.hpp"

// The names and types are those of libcufile, written down again here so that the loader's are tested against something.
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Result {
  int error;
  int cuda;
};

constexpr int device_pointer_range = 5014, invalid_file_type = 5018, direct_io_not_set = 5020,
              invalid_value = 5022, handle_not_registered = 5027, invalid_context = 5047;
[[maybe_unused]] constexpr int already_open = 5026;  // not in the old one

struct Descriptor {
  int type;
  union {
    int fd;
    void* handle;
  };
  const void* operations;
};

struct Properties {
  struct {
    unsigned major_version, minor_version;
    std::size_t poll_threshold, max_direct_io;
    unsigned status_flags, control_flags;
  } nvfs;
  unsigned feature_flags, device_cache, buffer_cache, pinned_memory, batch_size, batch_timeout;
};

int setting(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

struct Library {
  std::mutex mutex;
  bool open = setting("FAKE_CUFILE_BUSY", 0) != 0;
  bool compat_allowed = setting("FAKE_CUFILE_CONFIGURED", 0) == 0;
  std::map<void*, int> files;  // a handle, and the file once more, without direct I/O
  std::uintptr_t last = 0x1000;
  std::size_t most = 0;
  fake_cufile::Counts counts;
};

Library& library() {
  static Library* const made = new Library;
  return *made;
}

ssize_t bad(ssize_t result) {
  ++library().counts.bad_calls;
  return result;
}

// What every function begins with: the lock and the error that is to happen.
#define BEGIN(function)                             \
  const int failing = fake_cuda::failure(function); \
  Library& l = library();                           \
  const std::lock_guard lock(l.mutex)

}  // namespace

namespace fake_cufile {

Counts counts() {
  const std::lock_guard lock(library().mutex);
  return library().counts;
}

void reset_counts() {
  const std::lock_guard lock(library().mutex);
  library().counts = {.handles = library().counts.handles};
}

void read_at_most(std::size_t size) {
  const std::lock_guard lock(library().mutex);
  library().most = size;
}

}  // namespace fake_cufile

EXPORT Result cuFileGetVersion(int* version) {
  BEGIN("cuFileGetVersion");
  static_cast<void>(l);
#ifdef FAKE_CUFILE_OLD
  *version = setting("FAKE_CUFILE_VERSION", 1130);
#else
  *version = setting("FAKE_CUFILE_VERSION", 1150);
#endif
  return {failing, 0};
}

EXPORT Result cuFileDriverOpen() {
  BEGIN("cuFileDriverOpen");
  if (failing) return {failing, failing == 5011 ? 2 : 0};
  l.open = true;
  return {0, 0};
}

EXPORT Result cuFileDriverGetProperties(Properties* properties) {
  BEGIN("cuFileDriverGetProperties");
  if (failing) return {failing, 0};
  *properties = {};
  if (l.compat_allowed) properties->nvfs.control_flags = 1u << 1;
  properties->batch_timeout = 1;
  return {0, 0};
}

#ifndef FAKE_CUFILE_OLD
EXPORT Result cuFileSetParameterBool(int parameter, bool value) {
  BEGIN("cuFileSetParameterBool");
  if (failing) return {failing, 0};
  if (l.open) return {already_open, 0};
  if (parameter < 0 || parameter > 11) return {static_cast<int>(bad(invalid_value)), 0};
  if (parameter == 1) l.compat_allowed = value;
  return {0, 0};
}

EXPORT Result cuFileGetParameterBool(int parameter, bool* value) {
  BEGIN("cuFileGetParameterBool");
  if (failing) return {failing, 0};
  if (parameter == 1) *value = l.compat_allowed;
  else if (parameter == 2) *value = setting("FAKE_CUFILE_FORCED", 0) != 0;
  else return {static_cast<int>(bad(invalid_value)), 0};
  return {0, 0};
}
#endif

EXPORT Result cuFileHandleRegister(void** handle, Descriptor* descriptor) {
  BEGIN("cuFileHandleRegister");
  if (failing) return {failing, 0};
  if (descriptor->type != 1 || descriptor->operations) return {static_cast<int>(bad(invalid_file_type)), 0};
  const int flags = ::fcntl(descriptor->fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) return {static_cast<int>(bad(invalid_value)), 0};
  if ((flags & O_DIRECT) == 0) return {static_cast<int>(bad(direct_io_not_set)), 0};
  const int plain = ::open(("/proc/self/fd/" + std::to_string(descriptor->fd)).c_str(), O_RDONLY | O_CLOEXEC);
  if (plain < 0) return {static_cast<int>(bad(invalid_value)), 0};
  l.last += 0x10;
  std::memcpy(handle, &l.last, sizeof l.last);
  l.files[*handle] = plain;
  ++l.counts.handles;
  ++l.counts.registered;
  return {0, 0};
}

EXPORT void cuFileHandleDeregister(void* handle) {
  BEGIN("cuFileHandleDeregister");
  static_cast<void>(failing);
  const auto file = l.files.find(handle);
  if (file == l.files.end()) {
    bad(0);
    return;
  }
  ::close(file->second);
  l.files.erase(file);
  --l.counts.handles;
}

EXPORT ssize_t cuFileRead(void* handle, void* base, std::size_t size, off_t offset, off_t memory_offset) {
  BEGIN("cuFileRead");
  ++l.counts.reads;
  if (failing > 0) {
    errno = failing;
    return -1;
  }
  if (failing) return failing;
  const auto file = l.files.find(handle);
  if (file == l.files.end()) return bad(-handle_not_registered);
  if (!fake_cuda::has_context()) return bad(-invalid_context);
  const unsigned long long to =
      reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(memory_offset);
  if (!fake_cuda::holds(to, size)) return bad(-device_pointer_range);
  std::vector<std::byte> bytes(l.most ? std::min(size, l.most) : size);
  const ssize_t n = ::pread(file->second, bytes.data(), bytes.size(), offset);
  if (n > 0) fake_cuda::poke(to, bytes.data(), static_cast<std::size_t>(n));
  return n;
}
