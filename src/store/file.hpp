// Files by descriptor: whole reads and writes, generations, and temporary names.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "zarrive/store.hpp"

namespace zarrive::store {

// Owns a descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();
  int get() const noexcept { return fd_; }
  bool ok() const noexcept { return fd_ >= 0; }
  // Closes and reports what close(2) says (a network file system may only now tell that the disk is full).
  void close_checked(const std::string& what);

 private:
  int fd_ = -1;
};

// Fills `to` from `offset` on; returns how much there was (less than asked at the end of the file). Throws Error(unavailable).
std::size_t read_at(int fd, std::span<std::byte> to, std::uint64_t offset);
// The same, but less is Error(unavailable): the file was `size` bytes long a moment ago.
void read_exactly(int fd, std::span<std::byte> to, std::uint64_t offset);
// `size` bytes from `offset` on into the elements of a view of any strides, through a window that stays in the cache.
void read_rows(int fd, const ArrayView& to, std::uint64_t offset);
void write_at(int fd, std::span<const std::byte> from, std::uint64_t offset);

// Waits until file or directory `fd` is on the disk.
void sync_file(int fd, const std::string& what);

// Sets the modification time to now in nanoseconds, which the kernel's own coarse clock does not give: so that two writes within one
// tick have different generations even when the inode is reused. Best effort.
void stamp(int fd) noexcept;

Generation generation_of(const struct stat& status);

// Bytes of memory of this machine; the default bound for one value.
std::uint64_t physical_memory() noexcept;

// Reads the ranges of a request of a value that lies at [start, start + size) of `fd`. Neighbours closer than `gap` are read as one.
std::vector<Buffer> read_ranges(int fd, std::uint64_t start, std::uint64_t size, const GetRequest& request,
                                std::uint64_t gap, std::uint64_t max_value_size);

// A name that no other process and no other call uses now: ".zarrive-tmp-<host>-<pid>-<counter>~".
std::string temporary_name();
bool is_temporary_name(std::string_view name);
bool has_temporary_part(std::string_view key);
// True when the process that made it is gone and the file has rested long enough (see filesystem_store.hpp).
bool is_stale_temporary(int directory, const std::string& name);

// Removes stale temporary files that lie directly in a directory; best effort. How many.
std::size_t sweep_directory(const std::string& path) noexcept;

// A temporary file in `directory`, removed again unless renamed.
class TemporaryFile {
 public:
  // errno in `error` (and not ok()) when it cannot be made.
  explicit TemporaryFile(int directory);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  bool ok() const noexcept { return fd_.ok(); }
  int error() const noexcept { return error_; }
  int fd() const noexcept { return fd_.get(); }
  void close();  // checked
  // 0 or an errno. `replace` false: EEXIST when the name is taken.
  int rename_to(const std::string& name, bool replace);

 private:
  int directory_;
  std::string name_;
  Fd fd_;
  int error_ = 0;
  bool linked_ = false;
};

}  // namespace zarrive::store
