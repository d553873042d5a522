#include "fakes/fake_nvcomp.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "fakes/fake_cuda.hpp"
#include "fakes/host_formats.hpp"

// The names and types are those of libnvcomp, written down again here so that the loader's are tested against something.
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Status = int;
using fakes::Bytes;
using fakes::decode_Deflate;
using fakes::decode_LZ4;
using fakes::decode_Snappy;
using fakes::inflate_all;
constexpr Status success = 0, invalid_value = 10, cannot_decompress = 12, alignment = 17,
                 cannot_compress = 19;

struct Alignments {
  std::size_t input, output, temp;
};

struct Options {
  int first;
  char rest[60];
};

struct Library {
  std::mutex mutex;
  fake_nvcomp::Counts counts;
  std::map<std::size_t, Status> failing;  // of the next launch
};

Library& library() {
  static Library* const made = new Library;
  return *made;
}

Status bad(Status status) {
  const std::lock_guard lock(library().mutex);
  ++library().counts.bad_calls;
  return status;
}

int version() {
  const char* const text = std::getenv("FAKE_NVCOMP_VERSION");
  return text ? std::atoi(text) : 5310;
}

bool zeros(const Options& options) {
  return options.first == 0 &&
         std::all_of(std::begin(options.rest), std::end(options.rest), [](char c) { return c == 0; });
}

// --- The formats: bytes in, at most `room` bytes out; nothing: they cannot be decoded.

std::optional<Bytes> decode_Zstd(const Bytes& from, std::size_t room) {
  Bytes to(room);
  const std::size_t n = ZSTD_decompress(to.data(), room, from.data(), from.size());
  if (ZSTD_isError(n)) return std::nullopt;
  to.resize(n);
  return to;
}

// The checksum is not looked at, as little as decoders of devices have to.
std::optional<Bytes> decode_Gzip(const Bytes& from, std::size_t room) {
  constexpr std::ptrdiff_t kHeader = 10, kTrailer = 8;
  if (std::ssize(from) < kHeader + kTrailer) return std::nullopt;
  return inflate_all(Bytes(from.begin() + kHeader, from.end() - kTrailer), room, -15);
}

std::optional<Bytes> encode_LZ4(const Bytes& from, std::size_t room) {
  Bytes to(room);
  const int n =
      LZ4_compress_default(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                           static_cast<int>(from.size()), static_cast<int>(room));
  if (n <= 0) return std::nullopt;
  to.resize(static_cast<std::size_t>(n));
  return to;
}

std::optional<Bytes> encode_Zstd(const Bytes& from, std::size_t room) {
  Bytes to(room);
  const std::size_t n = ZSTD_compress(to.data(), room, from.data(), from.size(), 1);
  if (ZSTD_isError(n)) return std::nullopt;
  to.resize(n);
  return to;
}

std::size_t bound_LZ4(std::size_t size) {
  return static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(size)));
}
std::size_t bound_Zstd(std::size_t size) { return ZSTD_compressBound(size); }

constexpr Alignments alignments_LZ4{1, 1, 8}, alignments_Snappy{1, 1, 8}, alignments_Deflate{4, 4, 8},
    alignments_Gzip{8, 8, 16}, alignments_Zstd{1, 8, 8}, encoding_alignments_LZ4{4, 1, 8},
    encoding_alignments_Zstd{4, 4, 8};

std::size_t temp_size(std::size_t chunks, std::size_t largest, std::size_t total) {
  return 64 + chunks * (largest + 16) + total / 8;
}

// --- A launch

unsigned long long address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

template <class T>
std::vector<T> fetch(const void* from, std::size_t count) {
  std::vector<T> values(count);
  fake_cuda::peek(values.data(), address(from), count * sizeof(T));
  return values;
}

struct Launch {
  const void* from;
  const void* from_sizes;
  const void* rooms;  // null when encoding
  const void* sizes;
  std::size_t count;
  const void* temp;
  std::size_t temp_size;
  const void* to;
  const void* results;
  Alignments alignments;
  std::optional<Bytes> (*work)(const Bytes& from, std::size_t room);
  std::size_t (*bound)(std::size_t size);  // null when decoding
  std::map<std::size_t, Status> failing;

  Status one(unsigned long long source, std::size_t size, unsigned long long target, std::size_t room,
             std::size_t& written) const {
    if (source % alignments.input || target % alignments.output) return bad(alignment);
    if (!fake_cuda::holds(source, size) || !fake_cuda::holds(target, room)) return bad(invalid_value);
    Bytes bytes(size);
    fake_cuda::peek(bytes.data(), source, size);
    const std::optional<Bytes> made = work(bytes, room);
    if (!made) return rooms ? cannot_decompress : cannot_compress;
    fake_cuda::poke(target, made->data(), made->size());
    written = made->size();
    return success;
  }

  void run() const {
    const auto sources = fetch<unsigned long long>(from, count);
    const auto targets = fetch<unsigned long long>(to, count);
    const auto source_sizes = fetch<std::size_t>(from_sizes, count);
    std::vector<std::size_t> space = rooms ? fetch<std::size_t>(rooms, count) : source_sizes;
    std::size_t largest = 0, total = 0;
    for (const std::size_t size : space) {
      largest = std::max(largest, size);
      total += size;
    }
    if (bound) std::fill(space.begin(), space.end(), bound(largest));
    const bool good = address(temp) % alignments.temp == 0 &&
                      temp_size >= ::temp_size(count, largest, total) &&
                      fake_cuda::holds(address(temp), temp_size);
    if (good) {
      const Bytes scribble(temp_size, std::byte{0xA5});
      fake_cuda::poke(address(temp), scribble.data(), temp_size);
    } else {
      bad(invalid_value);
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t written = 0;
      Status status = good ? success : invalid_value;
      if (const auto planned = failing.find(i); planned != failing.end()) status = planned->second;
      else if (good) status = one(sources[i], source_sizes[i], targets[i], space[i], written);
      if (status == fake_nvcomp::no_status) continue;
      if (results) fake_cuda::poke(address(results) + 4 * i, &status, 4);
      if (sizes) fake_cuda::poke(address(sizes) + 8 * i, &written, 8);
    }
  }
};

Status put(const char* function, const Options& options, Launch launch, void* stream) {
  if (const int failing = fake_cuda::failure(function)) return failing;
  if (!zeros(options) || launch.count == 0 || !fake_cuda::has_context()) return bad(invalid_value);
  for (const void* const table : {launch.from, launch.from_sizes, launch.to, launch.sizes})
    if (address(table) % 8 || !fake_cuda::holds(address(table), 8 * launch.count)) return bad(invalid_value);
  if (address(launch.results) % 4 || !fake_cuda::holds(address(launch.results), 4 * launch.count))
    return bad(invalid_value);
  {
    const std::lock_guard lock(library().mutex);
    fake_nvcomp::Counts& counts = library().counts;
    ++counts.launches;
    counts.chunks += static_cast<long>(launch.count);
    counts.largest_temp = std::max(counts.largest_temp, launch.temp_size);
    launch.failing.swap(library().failing);
  }
  return fake_cuda::put(stream, [launch = std::move(launch)] { launch.run(); }) ? success : invalid_value;
}

Status answer(const char* function, const Options& options) {
  if (const int failing = fake_cuda::failure(function)) return failing;
  return zeros(options) ? success : bad(invalid_value);
}

}  // namespace

namespace fake_nvcomp {

Counts counts() {
  const std::lock_guard lock(library().mutex);
  return library().counts;
}

void reset_counts() {
  const std::lock_guard lock(library().mutex);
  library().counts = {};
  library().failing.clear();
}

void fail_chunk(std::size_t place, int status) {
  const std::lock_guard lock(library().mutex);
  library().failing[place] = status;
}

}  // namespace fake_nvcomp

struct Properties {
  std::uint32_t version, cudart_version;
};

EXPORT Status nvcompGetProperties(Properties* properties) {
  if (const int failing = fake_cuda::failure("nvcompGetProperties")) return failing;
  *properties = {static_cast<std::uint32_t>(version()), 13000};
  return success;
}

#define DECODER(F)                                                                                           \
  EXPORT Status nvcompBatched##F##DecompressGetRequiredAlignments(Options options, Alignments* alignments) { \
    *alignments = alignments_##F;                                                                            \
    return answer("nvcompBatched" #F "DecompressGetRequiredAlignments", options);                            \
  }                                                                                                          \
  EXPORT Status nvcompBatched##F##DecompressGetTempSizeAsync(                                                \
      std::size_t chunks, std::size_t largest, Options options, std::size_t* size, std::size_t total) {      \
    *size = temp_size(chunks, largest, total);                                                               \
    if (version() >= 6000) return bad(invalid_value);                                                        \
    return answer("nvcompBatched" #F "DecompressGetTempSizeAsync", options);                                 \
  }                                                                                                          \
  EXPORT Status nvcompBatched##F##DecompressGetTempSize(std::size_t chunks, std::size_t largest,             \
                                                        Options options, std::size_t* size,                  \
                                                        std::size_t total, void*) {                          \
    *size = temp_size(chunks, largest, total);                                                               \
    if (version() < 6000) return bad(invalid_value);                                                         \
    return answer("nvcompBatched" #F "DecompressGetTempSizeAsync", options);                                 \
  }                                                                                                          \
  EXPORT Status nvcompBatched##F##DecompressAsync(                                                           \
      const void* const* from, const std::size_t* from_sizes, const std::size_t* rooms, std::size_t* sizes,  \
      std::size_t chunks, void* temp, std::size_t temp_bytes, void* const* to, Options options,              \
      Status* results, void* stream) {                                                                       \
    return put("nvcompBatched" #F "DecompressAsync", options,                                                \
               {from,                                                                                        \
                from_sizes,                                                                                  \
                rooms,                                                                                       \
                sizes,                                                                                       \
                chunks,                                                                                      \
                temp,                                                                                        \
                temp_bytes,                                                                                  \
                to,                                                                                          \
                results,                                                                                     \
                alignments_##F,                                                                              \
                decode_##F,                                                                                  \
                nullptr,                                                                                     \
                {}},                                                                                         \
               stream);                                                                                      \
  }

#define ENCODER(F)                                                                                           \
  EXPORT Status nvcompBatched##F##CompressGetRequiredAlignments(Options options, Alignments* alignments) {   \
    *alignments = encoding_alignments_##F;                                                                   \
    return answer("nvcompBatched" #F "CompressGetRequiredAlignments", options);                              \
  }                                                                                                          \
  EXPORT Status nvcompBatched##F##CompressGetTempSizeAsync(                                                  \
      std::size_t chunks, std::size_t largest, Options options, std::size_t* size, std::size_t total) {      \
    *size = temp_size(chunks, largest, total);                                                               \
    if (version() >= 6000) return bad(invalid_value);                                                        \
    return answer("nvcompBatched" #F "CompressGetTempSizeAsync", options);                                   \
  }                                                                                                          \
  EXPORT Status nvcompBatched##F##CompressGetTempSize(std::size_t chunks, std::size_t largest,               \
                                                      Options options, std::size_t* size, std::size_t total, \
                                                      void*) {                                               \
    *size = temp_size(chunks, largest, total);                                                               \
    if (version() < 6000) return bad(invalid_value);                                                         \
    return answer("nvcompBatched" #F "CompressGetTempSizeAsync", options);                                   \
  }                                                                                                          \
  EXPORT Status nvcompBatched##F##CompressGetMaxOutputChunkSize(std::size_t largest, Options options,        \
                                                                std::size_t* bound) {                        \
    *bound = bound_##F(largest);                                                                             \
    return answer("nvcompBatched" #F "CompressGetMaxOutputChunkSize", options);                              \
  }                                                                                                          \
  EXPORT Status nvcompBatched##F##CompressAsync(const void* const* from, const std::size_t* from_sizes,      \
                                                std::size_t, std::size_t chunks, void* temp,                 \
                                                std::size_t temp_bytes, void* const* to, std::size_t* sizes, \
                                                Options options, Status* results, void* stream) {            \
    return put("nvcompBatched" #F "CompressAsync", options,                                                  \
               {from,                                                                                        \
                from_sizes,                                                                                  \
                nullptr,                                                                                     \
                sizes,                                                                                       \
                chunks,                                                                                      \
                temp,                                                                                        \
                temp_bytes,                                                                                  \
                to,                                                                                          \
                results,                                                                                     \
                encoding_alignments_##F,                                                                     \
                encode_##F,                                                                                  \
                bound_##F,                                                                                   \
                {}},                                                                                         \
               stream);                                                                                      \
  }

DECODER(LZ4)
DECODER(Snappy)
DECODER(Deflate)
DECODER(Gzip)
DECODER(Zstd)
ENCODER(LZ4)
ENCODER(Zstd)
