// Zip archives made by hand, with any lie a test needs.
#pragma once

#include <libdeflate.h>

#include <cstdint>
#include <string>
#include <vector>

namespace zarrive::test {

struct ZipMember {
  std::string name = {};
  std::string data = {};  // as it stands in the archive
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::string local_extra = {};
  bool descriptor = false;  // sizes after the data instead of in the local header
  bool zip64 = false;       // sizes and offset in a zip64 field
  // Overrides of what is written:
  std::string local_name = {};
  std::int64_t offset = -1;
  std::int64_t stored_size = -1;
};

inline ZipMember stored(const std::string& name, const std::string& value) {
  return {.name = name,
          .data = value,
          .size = value.size(),
          .crc = libdeflate_crc32(0, value.data(), value.size())};
}

inline ZipMember deflated(const std::string& name, const std::string& value) {
  libdeflate_compressor* c = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_deflate_compress_bound(c, value.size()), '\0');
  out.resize(libdeflate_deflate_compress(c, value.data(), value.size(), out.data(), out.size()));
  libdeflate_free_compressor(c);
  ZipMember member = stored(name, value);
  member.data = out;
  member.method = 8;
  return member;
}

inline std::string little(std::uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

struct ZipLies {
  std::string before = {};  // bytes before the archive
  std::string comment = {};
  bool zip64_end = false;
  std::int64_t count = -1, directory_size = -1, directory_offset = -1;
  std::string directory_tail = {};  // more bytes in the directory
};

inline std::string make_zip(const std::vector<ZipMember>& members, const ZipLies& lies = {}) {
  std::string out, directory;
  for (const ZipMember& m : members) {
    const std::uint64_t offset = m.offset >= 0 ? static_cast<std::uint64_t>(m.offset) : out.size();
    const std::uint64_t stored_size =
        m.stored_size >= 0 ? static_cast<std::uint64_t>(m.stored_size) : m.data.size();
    const std::uint16_t flags = static_cast<std::uint16_t>(m.flags | (m.descriptor ? 8 : 0));
    const std::string& local_name = m.local_name.empty() ? m.name : m.local_name;
    const bool no_sizes = m.descriptor;
    out += "PK\3\4" + little(m.zip64 ? 45 : 20, 2) + little(flags, 2) + little(m.method, 2) + little(0, 4) +
           little(no_sizes ? 0 : m.crc, 4) +
           little(no_sizes  ? 0
                  : m.zip64 ? 0xffffffff
                            : stored_size,
                  4) +
           little(no_sizes  ? 0
                  : m.zip64 ? 0xffffffff
                            : m.size,
                  4) +
           little(local_name.size(), 2) + little(m.local_extra.size(), 2) + local_name + m.local_extra +
           m.data;
    if (m.descriptor) out += "PK\7\10" + little(m.crc, 4) + little(stored_size, 4) + little(m.size, 4);
    const std::string extra = m.zip64
                                  ? little(0x5455, 2) + little(1, 2) + "x" + little(1, 2) + little(24, 2) +
                                        little(m.size, 8) + little(stored_size, 8) + little(offset, 8)
                                  : std::string();
    directory += "PK\1\2" + little(20, 2) + little(20, 2) + little(flags, 2) + little(m.method, 2) +
                 little(0, 4) + little(m.crc, 4) + little(m.zip64 ? 0xffffffff : stored_size, 4) +
                 little(m.zip64 ? 0xffffffff : m.size, 4) + little(m.name.size(), 2) +
                 little(extra.size(), 2) + little(3, 2) + little(0, 8) +
                 little(m.zip64 ? 0xffffffff : offset, 4) + m.name + extra + "com";
  }
  directory += lies.directory_tail;
  const std::uint64_t count = lies.count >= 0 ? static_cast<std::uint64_t>(lies.count) : members.size();
  const std::uint64_t size =
      lies.directory_size >= 0 ? static_cast<std::uint64_t>(lies.directory_size) : directory.size();
  const std::uint64_t start =
      lies.directory_offset >= 0 ? static_cast<std::uint64_t>(lies.directory_offset) : out.size();
  out += directory;
  const std::uint64_t end = out.size();
  if (lies.zip64_end)
    out += "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) + little(count, 8) +
           little(count, 8) + little(size, 8) + little(start, 8) + "PK\6\7" + little(0, 4) + little(end, 8) +
           little(1, 4);
  out += "PK\5\6" + little(0, 4) + little(lies.zip64_end ? 0xffff : count, 2) +
         little(lies.zip64_end ? 0xffff : count, 2) + little(lies.zip64_end ? 0xffffffff : size, 4) +
         little(lies.zip64_end ? 0xffffffff : start, 4) + little(lies.comment.size(), 2) + lies.comment;
  return lies.before + out;
}

}  // namespace zarrive::test
