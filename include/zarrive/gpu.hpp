// GPUs: what was found on this machine. Device memory itself is a memory space, cuda(0) and so on (zarrive/memory.hpp).
//
// The driver is opened at run time, at the first use of a device space; the same binary runs where there is none. So are cuFile, which
// reads files into device memory with no pass through the host's, and nvCOMP, which decodes chunks there: without them the bytes take
// other ways.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zarrive/export.hpp"

namespace zarrive::gpu {

// A vendor's library that was looked for.
struct LibraryInfo {
  std::string path = {};     // what was opened; empty: nothing
  std::string version = {};  // as the library says, "12.4"
  std::string reason = {};   // why it cannot be used; empty: it can
};

// The engine for decompression that some devices have beside their multiprocessors.
struct EngineInfo {
  std::vector<std::string> formats = {};  // that it takes: "deflate", "snappy", "lz4"
  std::uint64_t longest = 0;              // bytes that a stream may have, encoded or decoded
  std::string reason = {};                // why it cannot be used; empty: it can
};

struct DeviceInfo {
  int ordinal = 0;  // N of cuda:N
  std::string name = {};
  int compute_major = 0;  // compute capability, 9.0 of an H100
  int compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  EngineInfo engine = {};
};

// Where compressed chunks of a read into device memory are decoded.
enum class DeviceDecode : std::uint8_t {
  automatic,  // on the device what it decodes faster: many streams, none of them long; the host does the rest
  always,     // on the device whatever it has a decoder for
  never       // by the host: for data of unknown origin, whose streams no decoder of a vendor's should see
};

// Where chunks of a write from device memory are encoded.
enum class DeviceEncode : std::uint8_t {
  automatic,  // on the device what nvCOMP encodes (see WriteOptions::device_encode); the host does the rest
  never  // by the host: at the level of compression that the metadata states, the same bytes on every machine
};

// Which ways the bytes of a read took to device memory. See ReadOptions::device_report.
struct ZARRIVE_API ReadReport {
  // That cuFile read to their place; no stream waits for that, so only of reads without one.
  std::uint64_t direct = 0;
  // That the store's values held as they are: from pinned memory, with no copy on the host.
  std::uint64_t copied = 0;
  std::uint64_t device_decoded = 0;  // that the device decoded, from chunks that crossed compressed
  std::uint64_t engine_decoded = 0;  // of those, from chunks with streams that its decompression engine took
  std::uint64_t host_decoded = 0;    // that the host decoded into pinned memory
  std::uint64_t filled = 0;          // of chunks that are not stored
  std::uint64_t total() const noexcept { return direct + copied + device_decoded + host_decoded + filled; }
  // "12288 bytes: 0 direct, 4096 as stored, 0 decoded on the device, 8192 on the host, 0 filled"; what an
  // engine took is said in brackets after what was decoded on the device.
  std::string to_string() const;
};

struct SystemInfo {
  LibraryInfo driver = {};  // libcuda
  LibraryInfo cufile = {};  // libcufile
  LibraryInfo nvcomp = {};  // libnvcomp
  std::vector<DeviceInfo> devices = {};
  // Our own device code: `path` is "built in", or the file that ZARRIVE_GPU_KERNELS names.
  LibraryInfo kernels = {};
};

// Loads the three when that has not happened yet. No error without one: its `reason` says why it is not used.
ZARRIVE_API SystemInfo system_info();

// Waits for everything that was put into a stream of the caller's: a CUstream (cudaStream_t) of that device, null for its legacy default
// stream. What the stream writes to device memory is then there for calls that take no stream, such as Store::set. Error(unsupported)
// without a driver, Error(invalid_argument) for a device that is not there, Error(unavailable) when something in the stream failed.
ZARRIVE_API void synchronize(int device, void* stream);

}  // namespace zarrive::gpu
