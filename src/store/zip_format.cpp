#include "store/zip_format.hpp"

#include <algorithm>
#include <ctime>

#include "store/file.hpp"
#include "store/key.hpp"
#include "zarrive/error.hpp"

namespace zarrive::store::zip {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50,
                        kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                        kLocator64Signature = 0x07064b50;
constexpr std::uint64_t kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint32_t kSaturated = 0xffffffff;

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(ErrorCode::corrupt_store, "the zip archive is broken: " + what);
}

// Little-endian numbers of a piece of the file whose bounds have been checked.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint64_t>(bytes_[at + i]);
    return value;
  }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::size_t at) const { return number(at, 8); }
  std::string text(std::size_t at, std::size_t size) const {
    return std::string(reinterpret_cast<const char*>(bytes_.data()) + at, size);
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}
  void number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void u16(std::uint64_t value) { number(value, 2); }
  void u32(std::uint64_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }
  void text(const std::string& t) {
    const auto* p = reinterpret_cast<const std::byte*>(t.data());
    out_.insert(out_.end(), p, p + t.size());
  }

 private:
  std::vector<std::byte>& out_;
};

struct End {
  std::uint64_t at = 0;  // of the first of the end records: the directory lies before
  std::uint64_t count = 0, size = 0, offset = 0;
  bool zip64 = false;
  std::string comment;
};

// Looks for the end record from the back: it is 22 bytes and a comment of at most 65535, which reaches to the end of the file.
End find_end(int fd, std::uint64_t file_size) {
  const std::uint64_t tail_size = std::min<std::uint64_t>(file_size, kEndSize + 0xffff + kLocator64Size);
  std::vector<std::byte> tail(tail_size);
  const std::uint64_t tail_start = file_size - tail_size;
  read_exactly(fd, tail, tail_start);
  const Bytes bytes(tail);
  for (std::size_t back = kEndSize; back <= std::min<std::uint64_t>(tail_size, kEndSize + 0xffff); ++back) {
    const std::size_t at = tail_size - back;
    if (bytes.u32(at) != kEndSignature || bytes.u16(at + 20) != back - kEndSize) continue;
    End end;
    end.at = tail_start + at;
    end.count = bytes.u16(at + 10);
    end.size = bytes.u32(at + 12);
    end.offset = bytes.u32(at + 16);
    end.comment = bytes.text(at + kEndSize, back - kEndSize);
    const bool has_locator = at >= kLocator64Size && bytes.u32(at - kLocator64Size) == kLocator64Signature;
    if (!has_locator) {
      if (bytes.u16(at + 4) != 0 || bytes.u16(at + 6) != 0 || bytes.u16(at + 8) != end.count)
        throw Error(ErrorCode::unsupported, "zip archives split over several files are not read");
      return end;
    }
    // The zip64 record stands where the locator says; with bytes before the archive, directly before the locator.
    const std::uint64_t locator = end.at - kLocator64Size;
    if (bytes.u32(at - 16) != 0 || bytes.u32(at - 4) > 1)
      throw Error(ErrorCode::unsupported, "zip archives split over several files are not read");
    std::byte raw[kEnd64Size];
    for (const std::uint64_t record : {bytes.u64(at - 12), locator - kEnd64Size}) {
      if (locator < kEnd64Size || record > locator - kEnd64Size) continue;
      read_exactly(fd, raw, record);
      const Bytes end64{std::span<const std::byte>(raw)};
      if (end64.u32(0) != kEnd64Signature) continue;
      end.at = record;
      end.count = end64.u64(32);
      end.size = end64.u64(40);
      end.offset = end64.u64(48);
      end.zip64 = true;
      return end;
    }
    corrupt("the zip64 end record is not where its locator says");
  }
  corrupt(file_size < kEndSize
              ? "it has only " + std::to_string(file_size) + " bytes"
              : std::string("no end record in its last 65557 bytes; it is cut short or no zip archive"));
}

// The zip64 field holds, in this order, those of the numbers that are saturated in the record itself.
void read_zip64(const Bytes& record, std::size_t at, std::size_t length, Entry& entry) {
  const std::size_t end = at + length;
  while (end - at >= 4) {
    const std::uint16_t id = record.u16(at), size = record.u16(at + 2);
    at += 4;
    if (size > end - at) corrupt("an extra field of entry " + quoted(entry.name) + " is cut short");
    if (id == kZip64Extra) {
      std::size_t field = at;
      for (std::uint64_t* number : {&entry.size, &entry.stored_size, &entry.offset}) {
        if (*number != kSaturated) continue;
        if (at + size - field < 8)
          corrupt("the zip64 field of entry " + quoted(entry.name) + " is cut short");
        *number = record.u64(field);
        field += 8;
      }
      return;
    }
    at += size;
  }
}

// No entry may reach over another or into the directory: what stands twice would be read twice (and makes small bombs big).
void check_layout(const Directory& directory) {
  struct Place {
    std::uint64_t begin, end;
    const Entry* entry;
  };
  std::vector<Place> places;
  places.reserve(directory.entries.size());
  for (const Entry& entry : directory.entries) {
    const std::uint64_t head = kLocalHeaderSize + entry.name.size();
    if (entry.offset > directory.start || head > directory.start - entry.offset ||
        entry.stored_size > directory.start - entry.offset - head)
      corrupt("entry " + quoted(entry.name) + " of " + std::to_string(entry.stored_size) + " bytes at " +
              std::to_string(entry.offset) + " does not lie before the directory at " +
              std::to_string(directory.start));
    places.push_back({entry.offset, entry.offset + head + entry.stored_size, &entry});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].begin < places[i - 1].end)
      corrupt("entries " + quoted(places[i - 1].entry->name) + " and " + quoted(places[i].entry->name) +
              " overlap");
}

}  // namespace

Directory read_directory(int fd, std::uint64_t file_size, std::uint64_t max_size) {
  End end = find_end(fd, file_size);
  if (end.size > max_size)
    throw Error(ErrorCode::resource_limit, "the zip archive's directory has " + std::to_string(end.size) +
                                               " bytes; the limit is " + std::to_string(max_size));
  if (end.size > end.at)
    corrupt("its directory of " + std::to_string(end.size) + " bytes does not fit before its end record");
  Directory directory;
  directory.start = end.at - end.size;
  directory.comment = std::move(end.comment);
  // Bytes before the archive (a self-extractor, say) move everything; offsets still count from where the archive began.
  if (end.offset > directory.start)
    corrupt("its directory should start at " + std::to_string(end.offset) + " but has to end at " +
            std::to_string(end.at));
  const std::uint64_t moved = directory.start - end.offset;

  std::vector<std::byte> raw(end.size);
  read_exactly(fd, raw, directory.start);
  const Bytes bytes(raw);
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (bytes.size() - at < kCentralSize || bytes.u32(at) != kCentralSignature)
      corrupt("no directory entry at byte " + std::to_string(at) + " of its directory");
    Entry entry;
    entry.made_by = bytes.u16(at + 4);
    entry.needed = bytes.u16(at + 6);
    entry.flags = bytes.u16(at + 8);
    entry.method = bytes.u16(at + 10);
    entry.time = bytes.u16(at + 12);
    entry.date = bytes.u16(at + 14);
    entry.crc = bytes.u32(at + 16);
    entry.stored_size = bytes.u32(at + 20);
    entry.size = bytes.u32(at + 24);
    const std::size_t name = bytes.u16(at + 28), extra = bytes.u16(at + 30), comment = bytes.u16(at + 32);
    entry.attributes = bytes.u32(at + 38);
    entry.offset = bytes.u32(at + 42);
    if (name + extra + comment > bytes.size() - at - kCentralSize)
      corrupt("the directory entry at byte " + std::to_string(at) + " of its directory is cut short");
    entry.name = bytes.text(at + kCentralSize, name);
    read_zip64(bytes, at + kCentralSize + name, extra, entry);
    if (entry.offset > ~std::uint64_t{0} - moved)
      corrupt("entry " + quoted(entry.name) + " has no possible offset");
    entry.offset += moved;
    directory.entries.push_back(std::move(entry));
    at += kCentralSize + name + extra + comment;
  }
  const std::uint64_t count = directory.entries.size();
  if (end.zip64 ? count != end.count : (count & 0xffff) != end.count)
    corrupt("its end record counts " + std::to_string(end.count) + " entries, its directory has " +
            std::to_string(count));
  check_layout(directory);
  return directory;
}

std::uint64_t data_offset(int fd, const Entry& entry, std::uint64_t directory_start) {
  std::byte raw[kLocalHeaderSize];
  read_exactly(fd, raw, entry.offset);
  const Bytes header{std::span<const std::byte>(raw)};
  if (header.u32(0) != kLocalSignature)
    corrupt("entry " + quoted(entry.name) + " has no header at " + std::to_string(entry.offset));
  const std::uint64_t name = header.u16(26), extra = header.u16(28);
  if (name != entry.name.size() || header.u16(8) != entry.method)
    corrupt("the header of entry " + quoted(entry.name) + " says something else than the directory");
  const std::uint64_t start =
      entry.offset + kLocalHeaderSize + name + extra;  // no overflow: the offset lies in the file
  if (start > directory_start || entry.stored_size > directory_start - start)
    corrupt("entry " + quoted(entry.name) + " reaches into the directory");
  std::string local_name(name, '\0');
  read_exactly(fd, std::as_writable_bytes(std::span(local_name.data(), local_name.size())),
               entry.offset + kLocalHeaderSize);
  if (local_name != entry.name)
    corrupt("the header of entry " + quoted(entry.name) + " has the name " + quoted(local_name));
  return start;
}

std::vector<std::byte> local_header(const Entry& entry) {
  const bool zip64 = entry.size >= kSaturated;
  std::vector<std::byte> out;
  out.reserve(kLocalHeaderSize + entry.name.size() + 20);
  Writer w(out);
  w.u32(kLocalSignature);
  w.u16(entry.needed);
  w.u16(entry.flags);
  w.u16(entry.method);
  w.u16(entry.time);
  w.u16(entry.date);
  w.u32(entry.crc);
  w.u32(zip64 ? kSaturated : entry.stored_size);
  w.u32(zip64 ? kSaturated : entry.size);
  w.u16(entry.name.size());
  w.u16(zip64 ? 20 : 0);
  w.text(entry.name);
  if (zip64) {
    w.u16(kZip64Extra);
    w.u16(16);
    w.u64(entry.size);
    w.u64(entry.stored_size);
  }
  return out;
}

std::vector<std::byte> directory_bytes(const std::vector<const Entry*>& entries, std::uint64_t start,
                                       const std::string& comment) {
  std::vector<std::byte> out;
  Writer w(out);
  for (const Entry* entry : entries) {
    std::vector<std::uint64_t> wide;
    auto narrow = [&](std::uint64_t number) -> std::uint32_t {
      if (number < kSaturated) return static_cast<std::uint32_t>(number);
      wide.push_back(number);
      return kSaturated;
    };
    const std::uint32_t size = narrow(entry->size), stored = narrow(entry->stored_size),
                        offset = narrow(entry->offset);
    w.u32(kCentralSignature);
    w.u16(entry->made_by);
    w.u16(wide.empty() ? entry->needed : std::max<std::uint16_t>(45, entry->needed));
    w.u16(entry->flags);
    w.u16(entry->method);
    w.u16(entry->time);
    w.u16(entry->date);
    w.u32(entry->crc);
    w.u32(stored);
    w.u32(size);
    w.u16(entry->name.size());
    w.u16(wide.empty() ? 0 : 4 + 8 * wide.size());
    w.u16(0);  // comment
    w.u16(0);  // disk
    w.u16(0);  // internal attributes
    w.u32(entry->attributes);
    w.u32(offset);
    w.text(entry->name);
    if (!wide.empty()) {
      w.u16(kZip64Extra);
      w.u16(8 * wide.size());
      for (const std::uint64_t number : wide) w.u64(number);
    }
  }
  const std::uint64_t size = out.size(), end = start + size, count = entries.size();
  if (count >= 0xffff || size >= kSaturated || start >= kSaturated) {
    w.u32(kEnd64Signature);
    w.u64(kEnd64Size - 12);
    w.u16(3 << 8 | 45);
    w.u16(45);
    w.u32(0);
    w.u32(0);
    w.u64(count);
    w.u64(count);
    w.u64(size);
    w.u64(start);
    w.u32(kLocator64Signature);
    w.u32(0);
    w.u64(end);
    w.u32(1);
  }
  w.u32(kEndSignature);
  w.u16(0);
  w.u16(0);
  w.u16(std::min<std::uint64_t>(count, 0xffff));
  w.u16(std::min<std::uint64_t>(count, 0xffff));
  w.u32(std::min<std::uint64_t>(size, kSaturated));
  w.u32(std::min<std::uint64_t>(start, kSaturated));
  w.u16(comment.size());
  w.text(comment);
  return out;
}

void set_time(Entry& entry) {
  const std::time_t now = std::time(nullptr);
  std::tm t{};
  if (::gmtime_r(&now, &t) == nullptr || t.tm_year < 80) return;
  entry.time = static_cast<std::uint16_t>(t.tm_hour << 11 | t.tm_min << 5 | t.tm_sec / 2);
  entry.date = static_cast<std::uint16_t>((t.tm_year - 80) << 9 | (t.tm_mon + 1) << 5 | t.tm_mday);
}

}  // namespace zarrive::store::zip
