#include "store/read_ahead.hpp"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "store/batch.hpp"

namespace zarrive::store {
namespace {

// A smaller batch is in the workers' hands at once.
constexpr std::size_t kDeep = 4;
// Asking costs 0.6 us of the 29 us that a small file takes when it is in memory, opening one for advice 20 us: so every eighth is asked about, and
// what was needless sixteen times is left.
constexpr std::size_t kProbeEvery = 8;
constexpr std::size_t kMostNeedless = 16;

enum class Pretence : std::uint8_t { none, cold, warm };
std::atomic<Pretence> pretence{Pretence::none};

// Whether a read at `offset` would have to wait for the disk. False where the file system cannot tell.
bool would_wait(int fd, std::uint64_t offset) {
  if (const Pretence now = pretence; now != Pretence::none) return now == Pretence::cold;
  std::byte byte{};
  const struct iovec to { &byte, 1 };
  ssize_t n = 0;
  do {
    n = ::preadv2(fd, &to, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  } while (n < 0 && errno == EINTR);
  return n < 0 && errno == EAGAIN;
}

// What a request wants first of a value.
ByteRange::Resolved first_wanted(const GetRequest& request, std::uint64_t size) {
  return (wants_whole(request) ? ByteRange::all() : request.ranges.front()).resolve(size);
}

}  // namespace

ReadAhead::ReadAhead(std::span<const GetRequest> batch, Open open) : batch_(batch), open_(std::move(open)) {}

void ReadAhead::before_read(const GetRequest& request, int fd, std::uint64_t size) {
  if (batch_.size() < kDeep) return;
  const auto item = static_cast<std::size_t>(&request - batch_.data());
  if (!active_) {
    if (item % kProbeEvery != 0 || !is_cold(request, fd, size)) return;
    active_ = true;
  }
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  for (; !ahead_.empty() && ahead_.front().item <= item; ahead_.pop_front()) bytes_ -= ahead_.front().bytes;
  next_ = std::max(next_, item + 1);
  while (active_ && next_ < batch_.size() && ahead_.size() < kMostRequests && bytes_ < kMostBytes)
    advise(next_++);
}

void ReadAhead::pretend(std::optional<bool> cold) noexcept {
  pretence = !cold ? Pretence::none : *cold ? Pretence::cold : Pretence::warm;
}

bool ReadAhead::is_cold(const GetRequest& request, int fd, std::uint64_t size) const {
  try {
    return would_wait(fd, first_wanted(request, size).offset);
  } catch (const Error&) {
    return false;  // a range behind the end
  }
}

void ReadAhead::advise(std::size_t item) {
  const GetRequest& request = batch_[item];
  std::uint64_t bytes = 0;
  bool needed = false;
  try {
    struct stat status {};
    const Fd fd = open_(request.key, status);
    const auto size = static_cast<std::uint64_t>(fd.ok() ? status.st_size : 0);
    const ByteRange whole = ByteRange::all();
    const std::uint64_t room = kMostBytes - bytes_;
    for (const ByteRange& range : wants_whole(request) ? std::span(&whole, 1) : std::span(request.ranges)) {
      const ByteRange::Resolved at = range.resolve(size);
      const std::uint64_t length = std::min(at.length, room - bytes);
      if (length == 0) continue;
      if (::posix_fadvise(fd.get(), static_cast<off_t>(at.offset), static_cast<off_t>(length),
                          POSIX_FADV_WILLNEED) != 0)
        break;
      // Asked now, for asking first would start a small read of its own.
      if (bytes == 0) needed = would_wait(fd.get(), at.offset);
      bytes += length;
    }
  } catch (...) {
    // The request itself will meet it again and say so.
  }
  ahead_.push_back({item, bytes});
  bytes_ += bytes;
  needless_ = needed ? 0 : needless_ + 1;
  if (needless_ < kMostNeedless) return;
  needless_ = 0;
  active_ = false;
}

}  // namespace zarrive::store
