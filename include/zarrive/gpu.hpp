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

struct DeviceInfo {
  int ordinal = 0;  // N of cuda:N
  std::string name = {};
  int compute_major = 0;  // compute capability, 9.0 of an H100
  int compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
};

struct SystemInfo {
  LibraryInfo driver = {};  // libcuda
  LibraryInfo cufile = {};  // libcufile
  LibraryInfo nvcomp = {};  // libnvcomp
  std::vector<DeviceInfo> devices = {};
};

// Loads the three when that has not happened yet. No error without one: its `reason` says why it is not used.
ZARRIVE_API SystemInfo system_info();

}  // namespace zarrive::gpu
