// bench_limit read_all|read_into ARRAY: what the compression libraries and the system give when nothing else is in the way. Each thread takes
// the next file, preads it, decodes it with the bare library and scatters the rows: no metadata, no checks, no general case.
//
// Windows of 256 KiB (zstd streams, raw files), non-temporal stores for long rows and buffers that start on a page are what measured best on a
// 2-core EPYC.
#include <blosc.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <unistd.h>
#include <zstd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/process.hpp"

namespace {

using bench::Codec;
using bench::Place;
using bench::Recipe;

constexpr std::size_t window_bytes = 256 << 10;

// Rows of at least this many bytes bypass the cache on their way out: B in 0.67, D in 0.75 of the time.
constexpr std::size_t long_row = 256;

void check(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what + (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
}

void copy_row(std::byte* to, const std::byte* from, std::size_t size) {
#ifdef __SSE2__
  if (size >= long_row && size % 64 == 0 && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    auto* out = reinterpret_cast<__m128i*>(to);
    const auto* in = reinterpret_cast<const __m128i*>(from);
    for (std::size_t i = 0; i < size / 16; i += 4) {
      const __m128i a = _mm_loadu_si128(in + i);
      const __m128i b = _mm_loadu_si128(in + i + 1);
      const __m128i c = _mm_loadu_si128(in + i + 2);
      const __m128i d = _mm_loadu_si128(in + i + 3);
      _mm_stream_si128(out + i, a);
      _mm_stream_si128(out + i + 1, b);
      _mm_stream_si128(out + i + 2, c);
      _mm_stream_si128(out + i + 3, d);
    }
    return;
  }
#endif
  std::memcpy(to, from, size);
}

// Where the rows of a cube go, one after another.
class Scatter {
 public:
  Scatter(std::byte* destination, const Recipe& recipe, const Place& place, std::uint64_t edge)
      : pitch_(recipe.edge * recipe.item_size()),
        plane_(recipe.edge * pitch_),
        row_(edge * recipe.item_size()),
        edge_(edge),
        start_(destination + place[0] * plane_ + place[1] * pitch_ + place[2] * recipe.item_size()) {}
  std::size_t row_bytes() const { return row_; }
  // `size` is a multiple of a row.
  void put(const std::byte* from, std::size_t size) {
    for (std::size_t at = 0; at < size; at += row_) {
      copy_row(start_ + z_ * plane_ + y_ * pitch_, from + at, row_);
      if (++y_ == edge_) {
        y_ = 0;
        ++z_;
      }
    }
  }

 private:
  std::size_t pitch_, plane_, row_;
  std::uint64_t edge_;
  std::byte* start_;
  std::uint64_t z_ = 0, y_ = 0;
};

class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    check(fd_ >= 0, path);
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::size_t size() const { return static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)); }
  // Up to `size` bytes; fewer at the end.
  std::size_t read(std::byte* to, std::size_t size, std::size_t from) const {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t n = ::pread(fd_, to + done, std::min<std::size_t>(size - done, window_bytes),
                                static_cast<off_t>(from + done));
      check(n >= 0, "pread");
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

 private:
  int fd_;
};

// Grows, and starts on a page: pread into memory that starts 16 bytes into one, as large blocks of malloc do, copied 1.8 GB/s out of the page
// cache instead of 13 on a Zen 3 (its `rep movsb` stumbles when the destination lies a little past the source modulo 4096).
class Scratch {
 public:
  std::byte* of(std::size_t size) {
    if (size > size_) {
      memory_ = bench::map_memory(size, false);
      size_ = size;
    }
    return memory_.get();
  }

 private:
  bench::Memory memory_;
  std::size_t size_ = 0;
};

// What a thread keeps.
struct Worker {
  Scratch encoded, decoded;
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  libdeflate_decompressor* deflate = libdeflate_alloc_decompressor();
  Worker() = default;
  ~Worker() {
    ZSTD_freeDCtx(zstd);
    libdeflate_free_decompressor(deflate);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
};

std::size_t window_of(const Scatter& scatter) {
  return std::max(window_bytes / scatter.row_bytes(), std::size_t{1}) * scatter.row_bytes();
}

void read_raw(Worker& worker, const File& file, std::size_t size, Scatter scatter) {
  const std::size_t window = window_of(scatter);
  std::byte* const decoded = worker.decoded.of(window);
  for (std::size_t at = 0; at < size; at += window) {
    const std::size_t part = std::min(window, size - at);
    check(file.read(decoded, part, at) == part, "short file");
    scatter.put(decoded, part);
  }
}

// A whole frame in windows, each scattered while it is in the cache.
void stream_zstd(Worker& worker, const std::byte* encoded, std::size_t encoded_size, std::size_t size,
                 Scatter scatter) {
  const std::size_t window = window_of(scatter);
  std::byte* const decoded = worker.decoded.of(window);
  ZSTD_DCtx_reset(worker.zstd, ZSTD_reset_session_only);
  ZSTD_inBuffer in{encoded, encoded_size, 0};
  for (std::size_t at = 0; at < size; at += window) {
    const std::size_t part = std::min(window, size - at);
    ZSTD_outBuffer out{decoded, part, 0};
    while (out.pos < part) {
      const std::size_t before = out.pos;
      check(!ZSTD_isError(ZSTD_decompressStream(worker.zstd, &out, &in)), "zstd");
      check(out.pos > before || in.pos < in.size, "short zstd frame");
    }
    scatter.put(decoded, part);
  }
}

void decode_whole(Worker& worker, Codec codec, const std::byte* encoded, std::size_t encoded_size,
                  std::size_t size, Scatter scatter) {
  std::byte* const decoded = worker.decoded.of(size);
  switch (codec) {
    case Codec::zstd:
      check(ZSTD_decompressDCtx(worker.zstd, decoded, size, encoded, encoded_size) == size, "zstd");
      break;
    case Codec::blosc_lz4:
    case Codec::blosc_bitshuffle:
      check(blosc_decompress_ctx(encoded, decoded, size, 1) == static_cast<int>(size), "blosc");
      break;
    case Codec::gzip:
      check(libdeflate_gzip_decompress(worker.deflate, encoded, encoded_size, decoded, size, nullptr) ==
                LIBDEFLATE_SUCCESS,
            "gzip");
      break;
    case Codec::none: throw std::logic_error("raw chunks are not decoded");
  }
  scatter.put(decoded, size);
}

void read_shard(Worker& worker, const Recipe& recipe, const File& file, const Place& place,
                std::byte* destination) {
  const std::size_t stored = file.size();
  std::byte* const encoded = worker.encoded.of(stored);
  check(file.read(encoded, stored, 0) == stored, "short shard");
  const std::vector<Place> inner = bench::tiles(recipe.chunk, recipe.inner);
  const std::size_t size = recipe.inner * recipe.inner * recipe.inner * recipe.item_size();
  const std::byte* index = encoded + stored - 4 - inner.size() * 16;  // a crc32c is last
  for (const Place& at : inner) {
    std::uint64_t entry[2];
    std::memcpy(entry, index, sizeof entry);
    index += sizeof entry;
    check(entry[1] <= stored && entry[0] <= stored - entry[1], "shard index");
    decode_whole(
        worker, recipe.codec, encoded + entry[0], entry[1], size,
        Scatter(destination, recipe, {place[0] + at[0], place[1] + at[1], place[2] + at[2]}, recipe.inner));
  }
}

void read_chunk(Worker& worker, const Recipe& recipe, const std::string& folder, const Place& place,
                std::byte* destination) {
  const std::uint64_t c = recipe.chunk;
  const File file(folder + '/' + recipe.chunk_file(place[0] / c, place[1] / c, place[2] / c));
  const std::size_t size = c * c * c * recipe.item_size();
  const Scatter scatter(destination, recipe, place, c);
  if (recipe.inner != 0) return read_shard(worker, recipe, file, place, destination);
  if (recipe.codec == Codec::none) return read_raw(worker, file, size, scatter);
  const std::size_t stored = file.size();
  std::byte* const encoded = worker.encoded.of(stored);
  check(file.read(encoded, stored, 0) == stored, "short file");
  // Frames that fit the cache are decoded whole.
  if (recipe.codec == Codec::zstd && size > 2 * window_bytes)
    return stream_zstd(worker, encoded, stored, size, scatter);
  decode_whole(worker, recipe.codec, encoded, stored, size, scatter);
}

void run(const bench::Arguments& arguments) {
  if (arguments.task != "read_all" && arguments.task != "read_into")
    throw std::invalid_argument("bare loops know read_all and read_into");
  const Recipe recipe = arguments.recipe();
  const bool present = arguments.task == "read_into";
  const std::vector<Place> chunks = bench::tiles(recipe.edge, recipe.chunk);
  bench::Memory destination;
  if (present) destination = bench::map_memory(recipe.bytes(), true);

  bench::Stopwatch watch;
  watch.start();
  if (!present) destination = bench::map_memory(recipe.bytes(), false);
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> errors(arguments.threads);
  auto work = [&](std::size_t thread) {
    try {
      Worker worker;
      for (std::size_t i = next++; i < chunks.size(); i = next++)
        read_chunk(worker, recipe, arguments.path(), chunks[i], destination.get());
    } catch (...) {
      errors[thread] = std::current_exception();
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < arguments.threads; ++t) threads.emplace_back(work, t);
  work(0);
  for (std::thread& thread : threads) thread.join();
  watch.stop();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  bench::report("limit", arguments, watch,
                bench::check_cube(destination.get(), recipe.edge, recipe.float32, arguments.threads));
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_limit", argc, argv, run); }
