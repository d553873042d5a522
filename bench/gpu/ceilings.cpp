// What the machine gives when nothing of ours is in the way: copies between host and device, and files of the page cache into pinned memory.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "gpu/gpu.hpp"

namespace bench {
namespace {

using zarrive::Buffer;
using zarrive::gpu::Device;
using zarrive::gpu::Stream;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t copied_at_least = 256 * mebibyte;  // in one run

zarrive::gpu::CudaAddress address(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); }

// One row for each size; gives the bytes a second of the best.
double copies(const GpuArguments& arguments, const char* name, std::uint64_t largest,
              const std::function<void(std::size_t size, zarrive::gpu::CudaStream stream)>& copy) {
  Stream stream(Device::get(arguments.device));
  const std::uint64_t scale = arguments.scale() * arguments.scale();
  double best = 0;
  for (std::uint64_t size = mebibyte / scale; size <= largest; size *= 4) {
    const std::uint64_t times = std::max<std::uint64_t>(copied_at_least / scale / size, 1);
    const std::vector<double> seconds = measure(arguments.runs, [&] {
      for (std::uint64_t i = 0; i < times; ++i) copy(size, stream.handle());
      stream.synchronize();
    });
    zarrive::JsonObject row{{"kind", "copy"}, {"name", name}, {"bytes", size}};
    row.set("speed", speed(size * times, seconds));
    say(std::move(row));
    best = std::max(best, static_cast<double>(size * times) / median(seconds));
  }
  return best;
}

// The files of array A, all open.
class Files {
 public:
  explicit Files(const GpuArguments& arguments) {
    const Recipe recipe = bench::recipe('A', arguments.scale());
    const std::string folder = arguments.folder() + "/A.zarr/";
    file_size_ = recipe.chunk * recipe.chunk * recipe.chunk * recipe.item_size();
    const std::uint64_t n = recipe.chunks_along();
    for (const Place& place : tiles(n, 1)) {
      const std::string path = folder + recipe.chunk_file(place[0], place[1], place[2]);
      const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
      fds_.push_back(fd);
    }
  }
  ~Files() {
    for (const int fd : fds_) ::close(fd);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::uint64_t size() const { return file_size_ * fds_.size(); }
  // [from, from + size) of all files behind each other; it lies in one of them.
  void read(std::byte* to, std::uint64_t from, std::size_t size) const {
    const int fd = fds_[from / file_size_];
    for (std::size_t done = 0; done < size;) {
      const ssize_t n = ::pread(fd, to + done, size - done, static_cast<off_t>(from % file_size_ + done));
      if (n <= 0)
        throw std::runtime_error(std::string("pread: ") + (n < 0 ? std::strerror(errno) : "too short"));
      done += static_cast<std::size_t>(n);
    }
  }
  std::uint64_t piece() const { return std::min(mebibyte, file_size_); }  // divides the size of a file

 private:
  std::uint64_t file_size_ = 0;
  std::vector<int> fds_;
};

// Each thread takes the next piece and puts it where it put the one before it some pieces ago: about as much memory is in use as a read
// holds at one time (ReadOptions::max_bytes_in_flight), so that it does not stay in a cache that the device would not see.
void read_files(const Files& files, std::byte* memory, std::uint64_t memory_size, std::size_t threads) {
  const std::uint64_t piece = files.piece();
  const std::uint64_t share = std::max<std::uint64_t>(memory_size / piece / threads, 1);
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&](std::size_t thread) {
    try {
      std::uint64_t turn = 0;
      for (std::uint64_t at = next.fetch_add(piece); at < files.size(); at = next.fetch_add(piece))
        files.read(memory + (thread * share + turn++ % share) * piece, at, piece);
    } catch (const std::exception&) {
      failed = true;
    }
  };
  std::vector<std::thread> workers;
  for (std::size_t t = 1; t < threads; ++t) workers.emplace_back(work, t);
  work(0);
  for (std::thread& worker : workers) worker.join();
  if (failed) throw std::runtime_error("the files of array A could not be read");
}

double reads(const GpuArguments& arguments) {
  const Files files(arguments);
  double best = 0;
  for (std::size_t threads = 1;; threads = std::min(threads * 2, arguments.threads)) {
    const std::uint64_t size = std::max<std::uint64_t>(
        copied_at_least / arguments.scale() / arguments.scale(), threads * files.piece());
    Buffer memory = Buffer::allocate(size, zarrive::pinned());
    const std::vector<double> seconds =
        measure(arguments.runs, [&] { read_files(files, memory.mutable_data(), size, threads); });
    zarrive::JsonObject row{{"kind", "read"}, {"name", "page cache to pinned memory"}, {"threads", threads}};
    row.set("speed", speed(files.size(), seconds));
    say(std::move(row));
    best = std::max(best, static_cast<double>(files.size()) / median(seconds));
    if (threads == arguments.threads) return best;
  }
}

}  // namespace

Ceilings measure_ceilings(const GpuArguments& arguments) {
  const Device& device = Device::get(arguments.device);
  const std::uint64_t largest = copied_at_least / arguments.scale() / arguments.scale();
  Ceilings out;
  {
    Buffer host = Buffer::allocate(largest, zarrive::pinned());
    Buffer one = Buffer::allocate(largest, zarrive::cuda(arguments.device));
    Buffer other = Buffer::allocate(largest, zarrive::cuda(arguments.device));
    std::memset(host.mutable_data(), 0x5A, largest);
    out.to_device = copies(arguments, "host to device", largest, [&](std::size_t size, auto stream) {
      zarrive::gpu::copy_to_device(device, one.mutable_data(), host.data(), size, stream);
    });
    copies(arguments, "device to host", largest, [&](std::size_t size, auto stream) {
      zarrive::gpu::copy_to_host(device, host.mutable_data(), one.data(), size, stream);
    });
    copies(arguments, "on the device", largest, [&](std::size_t size, auto stream) {
      const zarrive::gpu::ContextScope scope(device);
      zarrive::gpu::check(
          device.driver(),
          device.driver().copy_on_device(address(other.data()), address(one.data()), size, stream),
          "copying " + std::to_string(size) + " bytes on " + device.name());
    });
  }
  out.read = reads(arguments);
  return out;
}

}  // namespace bench
