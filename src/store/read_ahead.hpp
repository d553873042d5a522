// Depth for batches of local files that are not in memory.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "store/file.hpp"
#include "zarrive/store.hpp"

namespace zarrive::store {

// A batch is read by as many workers as there are processors, so a disk would get two requests at a time where it could serve dozens. Once a
// worker finds its file cold, the kernel is asked to bring in what the next requests of the batch want (POSIX_FADV_WILLNEED, which does not
// wait). That is only advice: the requests are read as ever, with every check, and what goes wrong here is left for them to find.
// Whether bytes are in memory is what a read of one byte says that must not wait (RWF_NOWAIT); on a file system that cannot say, nothing is
// advised. Advice stops when it keeps being about bytes that were there.
class ReadAhead {
 public:
  // As FilesystemStore::State::open_value: the open file of a key and its status, or not ok(). May throw.
  using Open = std::function<Fd(const std::string& key, struct stat& status)>;

  // How far ahead of the last request that a worker took. 4096 cold files of 10 to 64 KiB by 2 workers (2 cores, virtual disk of 1 GB/s): 0.73 s
  // without advice; 0.30 s with 8 requests ahead, 0.24 s with 32, 0.22 s with 64; 0.20 s by io_uring, 64 deep. 16 MiB are 10 ms of such a disk.
  static constexpr std::size_t kMostRequests = 32;
  static constexpr std::uint64_t kMostBytes = 16 << 20;

  // `batch` outlives this.
  ReadAhead(std::span<const GetRequest> batch, Open open);

  // A worker is about to read `fd`, the file of `request`, which is one of the batch. Called by any worker.
  void before_read(const GetRequest& request, int fd, std::uint64_t size);

  // Tests only: bytes are in memory or not, whatever the kernel says; nullopt: as it says.
  static void pretend(std::optional<bool> cold) noexcept;

 private:
  bool is_cold(const GetRequest& request, int fd, std::uint64_t size) const;
  void advise(std::size_t item);

  const std::span<const GetRequest> batch_;
  const Open open_;
  std::atomic<bool> active_{false};

  std::mutex mutex_;  // of what follows; who does not get it at once leaves the advice to who has it
  struct Advised {
    std::size_t item;
    std::uint64_t bytes;
  };
  std::deque<Advised> ahead_ = {};  // requests not taken yet, in order
  std::uint64_t bytes_ = 0;         // of those
  std::size_t next_ = 0;            // the first request that nothing was advised about
  std::size_t needless_ = 0;        // in a row: what was advised was there
};

}  // namespace zarrive::store
