// Writing an archive. A session is a temporary file beside the archive: it begins with a copy of the live entries, values are appended (room
// is reserved first, so writers write side by side), and flush adds the documents from memory and the directory, syncs, and renames
// it over the archive. After that the session is over; the values stay readable through the open file.
#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "store/failure.hpp"
#include "store/key.hpp"
#include "store/zip_state.hpp"

namespace zarrive {
namespace {

constexpr std::uint16_t kMadeByUnix = 3 << 8 | 45;
constexpr std::uint32_t kRegularFile = 0100644u << 16;
constexpr std::uint64_t kCloseEnough = 64
                                       << 10;  // bytes between entries that are copied along without a look

std::string next_generation() {
  static std::atomic<std::uint64_t> counter{0};
  return "written-" + std::to_string(++counter);
}

store::zip::Entry entry_for(const std::string& name, std::span<const std::byte> value) {
  store::zip::Entry entry;
  if (name.size() > 0xffff)
    throw Error(ErrorCode::invalid_argument, "a name in a zip archive has at most 65535 bytes");
  entry.name = name;
  entry.size = entry.stored_size = value.size();
  entry.crc = libdeflate_crc32(0, value.data(), value.size());
  const bool ascii =
      std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  entry.flags = ascii ? 0 : store::zip::kUtf8Flag;
  entry.made_by = kMadeByUnix;
  entry.needed = value.size() >= 0xffffffff ? 45 : 20;
  entry.attributes = kRegularFile;
  store::zip::set_time(entry);
  return entry;
}

// Bytes from file to file; inside the kernel, and shared rather than copied where the file system can.
void copy_bytes(int from, std::uint64_t offset, std::uint64_t size, int to, std::uint64_t at) {
  while (size > 0) {
    auto in = static_cast<off64_t>(offset), out = static_cast<off64_t>(at);
    const ssize_t n = ::copy_file_range(from, &in, to, &out, std::min<std::uint64_t>(size, 1u << 30), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    offset += static_cast<std::uint64_t>(n);
    at += static_cast<std::uint64_t>(n);
    size -= static_cast<std::uint64_t>(n);
  }
  std::vector<std::byte> block(std::min<std::uint64_t>(size, 1 << 20));
  while (size > 0) {  // other file systems, old kernels
    const std::span<std::byte> part = std::span(block).first(std::min<std::uint64_t>(size, block.size()));
    store::read_exactly(from, part, offset);
    store::write_at(to, part, at);
    offset += part.size();
    at += part.size();
    size -= part.size();
  }
}

}  // namespace

// Where an entry, its data and its data descriptor end; junk behind it is left out when there is much of it.
std::uint64_t ZipStore::State::span_end_of(const Item& item) const {
  const std::uint64_t least =
      item.entry.offset + store::zip::kLocalHeaderSize + item.entry.name.size() + item.entry.stored_size;
  if (item.span_end - least <= kCloseEnough) return item.span_end;
  const std::uint64_t data = store::zip::data_offset(item.source->fd.get(), item.entry, item.source->limit);
  constexpr std::uint64_t kLargestDescriptor = 24;
  return std::min(item.span_end, data + item.entry.stored_size + kLargestDescriptor);
}

// With the session lock held alone.
void ZipStore::State::start_session() {
  auto session = std::make_unique<Session>();
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  session->directory =
      store::Fd(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!session->directory.ok()) throw store::errno_error(errno, "opening the directory of the zip archive");
  session->file = std::make_unique<store::TemporaryFile>(session->directory.get());
  if (!session->file->ok())
    throw store::errno_error(session->file->error(), "making a temporary file beside the zip archive");
  const int to = session->file->fd();
  if (mode_ && ::fchmod(to, *mode_) != 0)
    throw store::errno_error(errno, "giving the new zip archive the old one's permissions");

  std::vector<ItemPtr> live;
  {
    const std::shared_lock lock(items_mutex);
    for (const auto& [name, item] : items)
      if (item->source) live.push_back(item);
  }
  live.insert(live.end(), others_.begin(), others_.end());
  std::sort(live.begin(), live.end(),
            [](const ItemPtr& a, const ItemPtr& b) { return a->entry.offset < b->entry.offset; });

  auto source = std::make_shared<Source>();
  source->fd = store::Fd(::fcntl(to, F_DUPFD_CLOEXEC, 0));
  if (!source->fd.ok()) throw store::errno_error(errno, "keeping the new zip archive open");
  std::vector<std::shared_ptr<Item>> moved;
  moved.reserve(live.size());
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < live.size();) {
    // Neighbours go together.
    const std::uint64_t begin = live[i]->entry.offset;
    std::uint64_t stop = begin;
    const std::uint64_t at = end;
    const std::size_t first = i;
    while (i < live.size() && live[i]->entry.offset == stop && live[i]->source == live[first]->source) {
      auto item = std::make_shared<Item>();
      item->entry = live[i]->entry;
      item->generation = live[i]->generation;
      stop = span_end_of(*live[i]);
      item->entry.offset = at + (live[i]->entry.offset - begin);
      item->span_end = at + (stop - begin);
      const std::uint64_t data = live[i]->data_start;
      item->data_start = data == 0 ? 0 : data - begin + at;
      item->source = source;
      moved.push_back(std::move(item));
      ++i;
    }
    copy_bytes(live[first]->source->fd.get(), begin, stop - begin, to, at);
    end = at + (stop - begin);
  }
  source->limit = end;
  session->source = source;
  session->end = end;

  // Nobody writes now (the session lock), so the map is as it was.
  const std::unique_lock lock(items_mutex);
  others_.clear();
  for (std::shared_ptr<Item>& item : moved) {
    const auto it = items.find(item->entry.name);
    if (it != items.end()) {
      it->second = std::move(item);
    } else {
      others_.push_back(std::move(item));
    }
  }
  session_ = std::move(session);
}

void ZipStore::State::put(const std::string& name, ItemPtr item) {
  const std::unique_lock lock(items_mutex);
  std::swap(items[name], item);
}

bool ZipStore::State::write(const std::string& key, const Buffer& value, bool replace) {
  const std::string name = base + key;
  if (!replace && find(key)) return false;
  auto item = std::make_shared<Item>();
  item->entry = entry_for(name, value.host_span());
  item->generation = next_generation();
  const bool in_memory = store::is_metadata_key(key);
  if (in_memory) item->pending = Buffer::copy_of(value.host_span());

  std::shared_lock writing(session_mutex_);
  while (!in_memory && !session_) {
    writing.unlock();
    {
      const std::unique_lock alone(session_mutex_);
      if (!session_) start_session();
    }
    writing.lock();
  }
  if (!in_memory) {
    const std::vector<std::byte> header = store::zip::local_header(item->entry);
    const std::uint64_t size = header.size() + value.size();
    item->entry.offset = session_->end.fetch_add(size);
    item->span_end = item->entry.offset + size;
    item->data_start = item->entry.offset + header.size();
    item->source = session_->source;
    store::write_at(session_->file->fd(), header, item->entry.offset);
    store::write_at(session_->file->fd(), value.host_span(), item->data_start);
  }
  ItemPtr mine = std::move(item);
  const std::unique_lock lock(items_mutex);
  dirty_ = true;
  if (!replace) return items.try_emplace(name, std::move(mine)).second;
  std::swap(items[name], mine);
  return true;
}

void ZipStore::State::erase(const std::string& key) {
  const std::shared_lock writing(session_mutex_);
  const std::unique_lock lock(items_mutex);
  if (items.erase(base + key) > 0) dirty_ = true;
}

void ZipStore::State::erase_prefix(const std::string& prefix) {
  const std::string start = base + store::with_slash(prefix);
  const std::shared_lock writing(session_mutex_);
  const std::unique_lock lock(items_mutex);
  auto end = items.lower_bound(start);
  const auto begin = end;
  while (end != items.end() && end->first.starts_with(start)) ++end;
  if (begin != end) dirty_ = true;
  items.erase(begin, end);
}

void ZipStore::State::flush() {
  const std::unique_lock alone(session_mutex_);
  if (!dirty_) return;
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (!there && errno != ENOENT) throw store::errno_error(errno, "looking at the zip archive");
  if ((there ? store::generation_of(status) : Generation()) != archive_state_)
    throw Error(ErrorCode::unavailable,
                "the zip archive was changed by somebody else since it was opened; what was written here is "
                "not in it");
  if (!session_) start_session();

  // Nothing changes in memory before the new archive stands.
  const int fd = session_->file->fd();
  std::uint64_t end = session_->end;
  std::vector<std::pair<std::string, ItemPtr>> settled;
  std::vector<const store::zip::Entry*> entries;
  {
    const std::shared_lock lock(items_mutex);
    for (const auto& [name, item] : items) {
      if (item->source) {
        entries.push_back(&item->entry);
        continue;
      }
      auto kept = std::make_shared<Item>();
      kept->entry = item->entry;
      kept->generation = item->generation;
      kept->source = session_->source;
      const std::vector<std::byte> header = store::zip::local_header(kept->entry);
      kept->entry.offset = end;
      kept->data_start = end + header.size();
      kept->span_end = end + header.size() + item->pending.size();
      store::write_at(fd, header, end);
      store::write_at(fd, item->pending.host_span(), kept->data_start);
      end = kept->span_end;
      entries.push_back(&kept->entry);
      settled.emplace_back(name, std::move(kept));
    }
  }
  for (const ItemPtr& item : others_) entries.push_back(&item->entry);
  std::sort(entries.begin(), entries.end(),
            [](const auto* a, const auto* b) { return a->offset < b->offset; });
  const std::vector<std::byte> directory = store::zip::directory_bytes(entries, end, comment_);
  store::write_at(fd, directory, end);
  // A flush that failed may have left more behind.
  if (::ftruncate(fd, static_cast<off_t>(end + directory.size())) != 0)
    throw store::errno_error(errno, "cutting the zip archive");
  store::stamp(fd);
  store::sync_file(fd, "the zip archive");
  // From here on the session is over, whatever happens: when the rename fails the values are still readable through their source, and the
  // next flush starts from them.
  const std::unique_ptr<Session> session = std::move(session_);
  session->file->close();
  const std::string name = std::filesystem::path(path).filename().string();
  if (const int error = session->file->rename_to(name, true); error != 0)
    throw store::errno_error(error, "putting the new zip archive into place");

  struct stat now {};
  if (::fstat(session->source->fd.get(), &now) == 0) {
    archive_state_ = store::generation_of(now);
    mode_ = now.st_mode & 07777;
  }
  dirty_ = false;
  for (auto& [key, item] : settled) put(key, std::move(item));
  store::sync_file(session->directory.get(), "the directory of the zip archive");
}

}  // namespace zarrive
