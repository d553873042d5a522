#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "cli/session.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {

namespace {

std::atomic<int> tidying = 0;

struct TemporaryFiles {
  std::mutex mutex;
  std::set<std::string> paths;
};
TemporaryFiles& temporary_files() {
  static TemporaryFiles files;
  return files;
}

[[noreturn]] void fail(const std::string& name, const char* doing, int number) {
  const bool refused = number == EACCES || number == EPERM || number == EROFS;
  throw Error(refused ? ErrorCode::permission : ErrorCode::unavailable,
              std::string(doing) + ": " + std::strerror(number), {.store = name});
}

}  // namespace

DescriptorBuffer::DescriptorBuffer(int descriptor, std::string name, std::stop_token stop)
    : descriptor_(descriptor), name_(std::move(name)), stop_(std::move(stop)) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

void DescriptorBuffer::write(const char* text, std::size_t size) {
  while (size > 0) {
    if (stop_.stop_requested())
      throw Error(ErrorCode::cancelled, "interrupted while writing", {.store = name_});
    const ssize_t written = ::write(descriptor_, text, std::min<std::size_t>(size, 1 << 20));
    if (written < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      if (errno == EPIPE) throw ClosedPipe{};
      fail(name_, "cannot write", errno);
    }
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

void DescriptorBuffer::flush_buffer() {
  const auto size = static_cast<std::size_t>(pptr() - pbase());
  setp(buffer_.data(),
       buffer_.data() + buffer_.size());  // before writing: after a failure the bytes are not tried again
  write(buffer_.data(), size);
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type character) {
  flush_buffer();
  if (!traits_type::eq_int_type(character, traits_type::eof())) sputc(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

std::streamsize DescriptorBuffer::xsputn(const char* text, std::streamsize size) {
  const auto count = static_cast<std::size_t>(size);
  if (count > static_cast<std::size_t>(epptr() - pptr())) flush_buffer();
  if (count >= buffer_.size()) {
    write(text, count);
  } else {
    std::memcpy(pptr(), text, count);
    pbump(static_cast<int>(count));
  }
  return size;
}

int DescriptorBuffer::sync() {
  flush_buffer();
  return 0;
}

OutputFile::OutputFile(const std::string& path, std::stop_token stop) : path_(path) {
  std::error_code ignored;
  // A link stays a link: what it points at is replaced.
  if (std::filesystem::is_symlink(path, ignored))
    path_ = std::filesystem::weakly_canonical(path, ignored).string();
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path_, "cannot open for writing", errno);
  } else {
    std::string name = path_ + ".partial-XXXXXX";
    {
      std::lock_guard lock(temporary_files().mutex);
      descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
      if (descriptor_ < 0) fail(path_, "cannot create", errno);
      temporary_ = name;
      temporary_files().paths.insert(name);
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(descriptor_, status.st_mode ? status.st_mode & 07777 : 0666 & ~mask);
  }
  buffer_ = std::make_unique<DescriptorBuffer>(descriptor_, path_, std::move(stop));
  stream_ = std::make_unique<std::ostream>(buffer_.get());
  stream_->exceptions(std::ios::badbit);
}

OutputFile::~OutputFile() {
  if (mapped_) ::munmap(mapped_, mapped_size_);
  if (descriptor_ >= 0) ::close(descriptor_);
  if (temporary_.empty()) return;
  std::lock_guard lock(temporary_files().mutex);
  if (temporary_files().paths.erase(temporary_)) ::unlink(temporary_.c_str());
}

std::byte* OutputFile::map(std::size_t size) {
  // Space is taken beforehand: a full disk would otherwise show as a signal at the first touch of a page.
  if (!is_regular() || size == 0 || size > std::size_t{1} << 62) return nullptr;
  if (const int error = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(size))) {
    if (error == ENOSPC || error == EFBIG) fail(path_, "cannot make room for the file", error);
    return nullptr;
  }
  // Reading it back is what a shared mapping for writing needs; mkostemp opens for both.
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    if (::ftruncate(descriptor_, 0) != 0) fail(path_, "cannot truncate", errno);
    return nullptr;
  }
  mapped_ = mapped;
  mapped_size_ = size;
  return static_cast<std::byte*>(mapped);
}

void OutputFile::commit() {
  stream_->flush();
  if (mapped_) ::munmap(std::exchange(mapped_, nullptr), mapped_size_);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "cannot write", errno);
  if (temporary_.empty()) return;
  std::lock_guard lock(temporary_files().mutex);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(path_, "cannot move the finished file into place", errno);
  temporary_files().paths.erase(temporary_);
}

void abandon_output_files() noexcept {
  std::lock_guard lock(temporary_files().mutex);
  for (const std::string& path : temporary_files().paths) ::unlink(path.c_str());
}

Tidying::Tidying() noexcept { ++tidying; }
Tidying::~Tidying() { --tidying; }
bool Tidying::under_way() noexcept { return tidying > 0; }

}  // namespace zarrive::cli
