#include "zarrive/zip_store.hpp"

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "store/batch.hpp"
#include "store/failure.hpp"
#include "store/key.hpp"
#include "store/zip_state.hpp"

namespace zarrive {
namespace {

// A deflate block yields at most 258 bytes for 2 bits: 1032 for 1.
constexpr std::uint64_t kMostInflation = 1032;
constexpr std::uint64_t kGap = 64 << 10;

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(ErrorCode::corrupt_store, "the zip archive is broken: " + what);
}

void check_crc(std::span<const std::byte> bytes, std::uint32_t expected) {
  const std::uint32_t found = libdeflate_crc32(0, bytes.data(), bytes.size());
  if (found != expected)
    corrupt("the CRC-32 of the entry is " + std::to_string(found) + ", its directory says " +
            std::to_string(expected));
}

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const noexcept { libdeflate_free_decompressor(d); }
};

void inflate(std::span<const std::byte> from, std::span<std::byte> to) {
  thread_local const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(
      libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  std::size_t used = 0, made = 0;
  std::byte nothing{};  // never written: libdeflate wants an address even for no bytes
  const libdeflate_result result =
      libdeflate_deflate_decompress_ex(decompressor.get(), from.data(), from.size(),
                                       to.empty() ? &nothing : to.data(), to.size(), &used, &made);
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
    corrupt("the entry inflates to more than the " + std::to_string(to.size()) + " bytes it declares");
  if (result != LIBDEFLATE_SUCCESS) corrupt("the entry's deflate stream does not decode");
  if (made != to.size())
    corrupt("the entry inflates to " + std::to_string(made) + " bytes, it declares " +
            std::to_string(to.size()));
  if (used != from.size())
    corrupt("the entry's deflate stream ends after " + std::to_string(used) + " of " +
            std::to_string(from.size()) + " bytes");
}

}  // namespace

ZipStore::State::State(const std::string& archive, const ZipStoreOptions& opts)
    : path(archive),
      options(opts),
      max_value_size(opts.max_value_size != 0 ? opts.max_value_size : store::physical_memory()) {
  if (opts.folder && !opts.folder->empty()) check_key(*opts.folder);
  open_archive();
  choose_folder();
}

void ZipStore::State::open_archive() {
  // O_NONBLOCK: a FIFO must not hang us.
  store::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.ok()) {
    if (errno != ENOENT || options.mode != ZipMode::create)
      throw store::errno_error(errno, "opening the zip archive");
    dirty_ = true;  // even without a value there will be an archive
    return;
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw store::errno_error(errno, "looking at the zip archive");
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::invalid_argument, "a zip archive is a regular file; this is not one");
  archive_state_ = store::generation_of(status);
  mode_ = status.st_mode & 07777;
  store::zip::Directory directory = store::zip::read_directory(
      fd.get(), static_cast<std::uint64_t>(status.st_size), options.max_directory_size);
  comment_ = std::move(directory.comment);
  auto source = std::make_shared<Source>();
  source->fd = std::move(fd);
  source->limit = directory.start;

  // Where each entry's neighbour begins.
  std::vector<std::uint64_t> begins;
  begins.reserve(directory.entries.size() + 1);
  for (const store::zip::Entry& entry : directory.entries) begins.push_back(entry.offset);
  begins.push_back(directory.start);
  std::sort(begins.begin(), begins.end());

  for (store::zip::Entry& entry : directory.entries) {
    auto item = std::make_shared<Item>();
    item->source = source;
    item->span_end = *std::upper_bound(begins.begin(), begins.end(), entry.offset);
    item->generation = archive_state_ + "+" + std::to_string(entry.offset);
    const bool is_key = store::key_fault(entry.name).empty();
    if (is_key && entry.method != store::zip::kStored) cheap_ranges = false;
    std::string name = entry.name;
    item->entry = std::move(entry);
    if (is_key) {
      items.insert_or_assign(std::move(name), std::move(item));  // the last one counts
    } else {
      others_.push_back(std::move(item));
    }
  }
}

void ZipStore::State::choose_folder() {
  static constexpr std::string_view kRootDocuments[] = {"zarr.json", ".zgroup", ".zarray"};
  auto has_document = [&](const std::string& start) {
    return std::any_of(std::begin(kRootDocuments), std::end(kRootDocuments), [&](std::string_view document) {
      return items.contains(start + std::string(document));
    });
  };
  if (options.folder) {
    folder = *options.folder;
  } else if (!has_document("")) {
    std::vector<std::string> candidates;
    for (auto it = items.begin(); it != items.end() && candidates.size() < 2;) {
      const std::size_t slash = it->first.find('/');
      if (slash == std::string::npos) {
        ++it;
        continue;
      }
      const std::string top = it->first.substr(0, slash);
      if (has_document(top + "/")) candidates.push_back(top);
      it = items.lower_bound(top + '0');  // '0' comes after '/'
    }
    if (candidates.size() == 1) folder = candidates[0];
  }
  base = store::with_slash(folder);
}

ZipStore::State::ItemPtr ZipStore::State::find(const std::string& key) const {
  const std::shared_lock lock(items_mutex);
  const auto it = items.find(base + key);
  return it == items.end() ? nullptr : it->second;
}

GetResult ZipStore::State::read(const GetRequest& request, const Item& item) const {
  if (!item.source) return store::result_from_value(request, item.pending, item.generation);
  const store::zip::Entry& entry = item.entry;
  if ((entry.flags & store::zip::kEncryptedFlag) != 0)
    throw Error(ErrorCode::unsupported, "the zip entry is encrypted");
  const bool stored = entry.method == store::zip::kStored;
  if (!stored && entry.method != store::zip::kDeflated)
    throw Error(ErrorCode::unsupported, "the zip entry is compressed by method " +
                                            std::to_string(entry.method) +
                                            "; stored (0) and deflated (8) entries can be read");
  if (stored ? entry.stored_size != entry.size : entry.size / kMostInflation > entry.stored_size)
    corrupt("the entry cannot have " + std::to_string(entry.size) + " bytes when " +
            std::to_string(entry.stored_size) + " are stored");

  const int fd = item.source->fd.get();
  std::uint64_t start = item.data_start;
  if (start == 0) item.data_start = start = store::zip::data_offset(fd, entry, item.source->limit);

  GetResult result;
  result.status = GetStatus::found;
  result.total_size = entry.size;
  result.generation = item.generation;
  const bool whole = store::wants_whole(request);
  if (stored && !whole) {
    result.values = store::read_ranges(fd, start, entry.size, request, kGap, max_value_size);
    return result;
  }
  if (std::max(entry.size, entry.stored_size) > max_value_size)
    throw Error(ErrorCode::resource_limit, "the zip entry has " + std::to_string(entry.size) +
                                               " bytes; the limit for one value is " +
                                               std::to_string(max_value_size));
  // The value whole: into the caller's memory when it may land there, else into our own.
  const std::span<std::byte> place = store::placement(request, entry.size);
  Buffer value;
  if (!place.empty()) {
    value = Buffer::borrow(place, request.context->destination->space);
    result.placed = true;
  } else {
    if (entry.size > 0)
      value = store::allocate_value(whole ? request.context : nullptr, static_cast<std::size_t>(entry.size));
  }
  if (stored) {
    store::read_exactly(fd, value.mutable_host_span(), start);
  } else {
    Buffer packed = store::allocate_value(nullptr, static_cast<std::size_t>(entry.stored_size));
    store::read_exactly(fd, packed.mutable_host_span(), start);
    inflate(packed.host_span(), value.mutable_host_span());
  }
  check_crc(value.host_span(), entry.crc);
  if (!whole) return store::result_from_value(request, value, item.generation);
  result.values.push_back(std::move(value));
  return result;
}

// --- the store ---

ZipStore::ZipStore(std::filesystem::path path, const ZipStoreOptions& options) {
  try {
    state_ = std::make_unique<State>(path.string(), options);
    if (options.mode != ZipMode::read) {
      const std::filesystem::path directory = path.parent_path();
      store::sweep_directory(directory.empty() ? "." : directory.string());
    }
  } catch (...) {
    throw store::as_error(std::current_exception(), path.string(), {});
  }
}

ZipStore::~ZipStore() {
  if (!state_ || state_->options.mode == ZipMode::read) return;
  try {
    state_->flush();
  } catch (...) {
    // The archive is as it was; flush() is there for those who want to know.
  }
}

std::string ZipStore::name() const { return state_->path; }
const std::string& ZipStore::folder() const noexcept { return state_->folder; }

// keeps_values stays: an entry's checksum and its bytes are read one after the other, and must agree.
StoreCapabilities ZipStore::capabilities() const {
  return {.writable = state_->options.mode != ZipMode::read,
          .cheap_ranges = state_->cheap_ranges,
          .coalesce_gap = kGap};
}

GetResult ZipStore::do_get_one(const GetRequest& request) {
  const State::ItemPtr item = state_->find(request.key);
  if (!item) return {};
  return state_->read(request, *item);
}

std::optional<std::uint64_t> ZipStore::do_size(const std::string& key) {
  const State::ItemPtr item = state_->find(key);
  if (!item) return std::nullopt;
  return item->entry.size;
}

std::vector<std::string> ZipStore::do_list(const std::string& prefix) {
  const std::string start = state_->base + store::with_slash(prefix);
  std::vector<std::string> keys;
  const std::shared_lock lock(state_->items_mutex);
  for (auto it = state_->items.lower_bound(start); it != state_->items.end() && it->first.starts_with(start);
       ++it)
    keys.push_back(it->first.substr(state_->base.size()));
  return keys;
}

DirectoryListing ZipStore::do_list_dir(const std::string& prefix) {
  const std::string start = state_->base + store::with_slash(prefix);
  DirectoryListing listing;
  const std::shared_lock lock(state_->items_mutex);
  auto it = state_->items.lower_bound(start);
  while (it != state_->items.end() && it->first.starts_with(start)) {
    const std::size_t slash = it->first.find('/', start.size());
    if (slash == std::string::npos) {
      listing.keys.push_back(it->first.substr(state_->base.size()));
      ++it;
    } else {
      const std::string sub = it->first.substr(0, slash);
      listing.prefixes.push_back(sub.substr(state_->base.size()));
      it = state_->items.lower_bound(sub + '0');  // '0' comes after '/'
    }
  }
  return listing;
}

void ZipStore::do_set_one(const std::string& key, const Buffer& value, const Context*,
                          Durability durability) {
  state_->write(key, value, true);
  if (durability == Durability::full) state_->flush();
}

bool ZipStore::do_set_if_absent(const std::string& key, const Buffer& value) {
  return state_->write(key, value, false);
}
void ZipStore::do_erase_one(const std::string& key) { state_->erase(key); }
void ZipStore::do_erase_prefix(const std::string& prefix) { state_->erase_prefix(prefix); }
void ZipStore::finish_batch(Durability) { state_->flush(); }

void ZipStore::flush() {
  if (state_->options.mode == ZipMode::read) return;
  try {
    state_->flush();
  } catch (...) {
    throw store::as_error(std::current_exception(), name(), {});
  }
}

}  // namespace zarrive
