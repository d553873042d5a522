// The zip container (APPNOTE.TXT 6.3): its central directory read with suspicion, and written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "zarrive/memory.hpp"

namespace zarrive::store::zip {

inline constexpr std::uint64_t kLocalHeaderSize = 30;
inline constexpr std::uint16_t kStored = 0, kDeflated = 8;
inline constexpr std::uint16_t kEncryptedFlag = 1, kDescriptorFlag = 8, kUtf8Flag = 0x800;

struct Entry {
  std::string name = {};     // as bytes in the archive
  std::uint64_t offset = 0;  // of the local header in the file
  std::uint64_t stored_size = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = kStored;
  std::uint16_t flags = 0;
  std::uint16_t made_by = 0;
  std::uint16_t needed = 20;
  std::uint16_t time = 0, date = 0;
  std::uint32_t attributes = 0;
};

struct Directory {
  std::vector<Entry> entries = {};  // in the order of the directory, duplicates included
  std::uint64_t start = 0;          // of the central directory in the file: local entries lie before
  std::string comment = {};
};

// Reads and checks the directory of a file of `file_size` bytes. Error(corrupt_store) says what is wrong; Error(resource_limit) when the
// directory is larger than `max_size`; Error(unsupported) for archives of several files or with an encrypted directory.
Directory read_directory(int fd, std::uint64_t file_size, std::uint64_t max_size);

// Where the bytes of an entry start, from its local header, which must fit the directory. Error(corrupt_store).
std::uint64_t data_offset(int fd, const Entry& entry, std::uint64_t directory_start);

// The local header of a stored entry whose sizes and CRC are known.
std::vector<std::byte> local_header(const Entry& entry);

// Central directory and end records, for a directory that starts at `start`.
std::vector<std::byte> directory_bytes(const std::vector<const Entry*>& entries, std::uint64_t start,
                                       const std::string& comment);

// Now, as DOS time and date (UTC).
void set_time(Entry& entry);

}  // namespace zarrive::store::zip
