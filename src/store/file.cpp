#include "store/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <numeric>

#include "store/batch.hpp"
#include "store/failure.hpp"
#include "zarrive/byte_sink.hpp"

namespace zarrive::store {
namespace {

constexpr std::string_view kTemporaryStart = ".zarrive-tmp-";
constexpr std::int64_t kStaleSeconds = 10 * 60;
constexpr std::int64_t kStaleElsewhereSeconds = 24 * 60 * 60;
constexpr std::size_t kLargestTransfer = std::size_t{1}
                                         << 30;  // Linux moves at most 2^31 - 4096 bytes a call

// Names the process table that pids are looked up in: this boot of this machine, this pid namespace.
const std::string& process_space() {
  static const std::string id = [] {
    std::string text;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
    char link[64] = {};
    if (const ssize_t n = ::readlink("/proc/self/ns/pid", link, sizeof link); n > 0)
      text.append(link, static_cast<std::size_t>(n));
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
    return std::string(hex);
  }();
  return id;
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

void Fd::close_checked(const std::string& what) {
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0 && errno != EINTR) throw errno_error(errno, what);
}

std::size_t read_at(int fd, std::span<std::byte> to, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t n = ::pread(fd, to.data() + done, std::min(to.size() - done, kLargestTransfer),
                              static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n < 0) {
      if (errno == EINTR) continue;
      throw errno_error(errno,
                        "reading " + std::to_string(to.size()) + " bytes at " + std::to_string(offset));
    }
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void read_exactly(int fd, std::span<std::byte> to, std::uint64_t offset) {
  const std::size_t n = read_at(fd, to, offset);
  if (n != to.size())
    throw Error(ErrorCode::unavailable, "the file became shorter while it was read: " + std::to_string(n) +
                                            " of " + std::to_string(to.size()) + " bytes at offset " +
                                            std::to_string(offset));
}

void read_rows(int fd, const ArrayView& to, std::uint64_t offset) {
  // pread of 64 to 256 KiB at a time from the page cache runs at 12 to 14 GB/s into memory that begins a page, at 10 GB/s for whole files
  // (32 MiB), and what it read is scattered from the second-level cache.
  constexpr std::size_t kWindow = 128 << 10;
  constexpr std::size_t kPage = 4096;
  thread_local Buffer window;
  if (window.empty()) window = Buffer::allocate(kWindow, {}, kPage);
  ByteSink sink(to);
  while (sink.remaining() > 0) {
    const std::span<std::byte> piece = window.mutable_host_span().first(
        static_cast<std::size_t>(std::min<std::uint64_t>(kWindow, sink.remaining())));
    read_exactly(fd, piece, offset);
    offset += piece.size();
    sink.write(piece);
  }
  sink.close();
}

void write_at(int fd, std::span<const std::byte> from, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < from.size()) {
    const ssize_t n = ::pwrite(fd, from.data() + done, std::min(from.size() - done, kLargestTransfer),
                               static_cast<off_t>(offset + done));
    if (n < 0) {
      if (errno == EINTR) continue;
      throw errno_error(errno, "writing " + std::to_string(from.size()) + " bytes");
    }
    done += static_cast<std::size_t>(n);
  }
}

void sync_file(int fd, const std::string& what) {
  while (::fsync(fd) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOTSUP) return;  // a file system that has nothing to sync
    throw errno_error(errno, "syncing " + what);
  }
}

void stamp(int fd) noexcept {
  struct timespec times[2] = {};
  times[0].tv_nsec = UTIME_OMIT;
  if (::clock_gettime(CLOCK_REALTIME, &times[1]) == 0) static_cast<void>(::futimens(fd, times));
}

Generation generation_of(const struct stat& status) {
  Generation text;
  auto put = [&](std::uint64_t number, std::string_view end) {
    char digits[16];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr).append(end);
  };
  put(static_cast<std::uint64_t>(status.st_mtim.tv_sec), ".");
  put(static_cast<std::uint64_t>(status.st_mtim.tv_nsec), "-");
  put(static_cast<std::uint64_t>(status.st_size), "-");
  put(status.st_ino, "-");
  put(status.st_dev, "");
  return text;
}

std::uint64_t physical_memory() noexcept {
  static const std::uint64_t bytes = [] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
                                 : std::uint64_t{1} << 40;
  }();
  return bytes;
}

std::vector<Buffer> read_ranges(int fd, std::uint64_t start, std::uint64_t size, const GetRequest& request,
                                std::uint64_t gap, std::uint64_t max_value_size) {
  struct Part {
    std::uint64_t offset, length;
    std::size_t place;
  };
  std::vector<Part> parts;
  parts.reserve(request.ranges.size());
  std::vector<Buffer> values(request.ranges.size());
  for (std::size_t i = 0; i < request.ranges.size(); ++i) {
    const ByteRange::Resolved at = request.ranges[i].resolve(size);
    if (at.length == 0) continue;
    if (i < request.destinations.size() && request.destinations[i].size() == at.length) {
      read_exactly(fd, request.destinations[i], start + at.offset);
      values[i] = Buffer::borrow(request.destinations[i]);
      continue;
    }
    parts.push_back({at.offset, at.length, i});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.offset < b.offset; });

  std::uint64_t total = 0;
  for (std::size_t first = 0; first < parts.size();) {
    const std::uint64_t begin = parts[first].offset;
    std::uint64_t end = begin + parts[first].length;  // no overflow: inside the value
    std::size_t last = first + 1;
    for (; last < parts.size(); ++last) {
      if (parts[last].offset > end && parts[last].offset - end > gap) break;
      end = std::max(end, parts[last].offset + parts[last].length);
    }
    total += end - begin;
    if (total > max_value_size)
      throw Error(ErrorCode::resource_limit, "the ranges hold " + std::to_string(total) +
                                                 " bytes or more; the limit is " +
                                                 std::to_string(max_value_size));
    Buffer block = allocate_value(request.context, static_cast<std::size_t>(end - begin));
    read_exactly(fd, block.mutable_host_span(), start + begin);
    for (; first < last; ++first)
      values[parts[first].place] = block.slice(static_cast<std::size_t>(parts[first].offset - begin),
                                               static_cast<std::size_t>(parts[first].length));
  }
  return values;
}

std::string temporary_name() {
  static std::atomic<std::uint64_t> counter{0};
  return std::string(kTemporaryStart) + process_space() + "-" + std::to_string(::getpid()) + "-" +
         std::to_string(++counter) + "~";
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(kTemporaryStart) && name.ends_with('~');
}

bool has_temporary_part(std::string_view key) {
  if (key.find(kTemporaryStart) == std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = key.find('/');
    if (is_temporary_name(key.substr(0, slash))) return true;
    if (slash == std::string_view::npos) return false;
    key.remove_prefix(slash + 1);
  }
}

bool is_stale_temporary(int directory, const std::string& name) {
  struct stat status {};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
    return false;
  struct timespec now {};
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  const std::int64_t age = now.tv_sec - status.st_mtim.tv_sec;
  const std::string ours = std::string(kTemporaryStart) + process_space() + "-";
  if (!name.starts_with(ours)) return age > kStaleElsewhereSeconds;
  int pid = 0;
  const auto [end, fault] = std::from_chars(name.data() + ours.size(), name.data() + name.size(), pid);
  if (fault != std::errc{} || pid <= 0 || *end != '-') return age > kStaleElsewhereSeconds;
  return age > kStaleSeconds && ::kill(pid, 0) != 0 && errno == ESRCH;
}

std::size_t sweep_directory(const std::string& path) noexcept {
  std::size_t swept = 0;
  DIR* entries = ::opendir(path.c_str());
  if (!entries) return 0;
  const int fd = ::dirfd(entries);
  while (const struct dirent* entry = ::readdir(entries))
    if (is_temporary_name(entry->d_name) && is_stale_temporary(fd, entry->d_name) &&
        ::unlinkat(fd, entry->d_name, 0) == 0)
      ++swept;
  ::closedir(entries);
  return swept;
}

TemporaryFile::TemporaryFile(int directory) : directory_(directory) {
  do {
    name_ = temporary_name();
    fd_ = Fd(::openat(directory, name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    error_ = fd_.ok() ? 0 : errno;
  } while (error_ == EEXIST || error_ == EINTR);
  linked_ = fd_.ok();
}

TemporaryFile::~TemporaryFile() {
  if (linked_) ::unlinkat(directory_, name_.c_str(), 0);
}

void TemporaryFile::close() { fd_.close_checked("finishing a file"); }

int TemporaryFile::rename_to(const std::string& name, bool replace) {
  if (replace) {
    if (::renameat(directory_, name_.c_str(), directory_, name.c_str()) != 0) return errno;
  } else if (::renameat2(directory_, name_.c_str(), directory_, name.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return errno;
    // A file system or container without RENAME_NOREPLACE: a hard link is exclusive too; the temporary name goes with the destructor.
    if (::linkat(directory_, name_.c_str(), directory_, name.c_str(), 0) != 0) return errno;
    return 0;
  }
  linked_ = false;
  return 0;
}

}  // namespace zarrive::store
