// Reading keys as files. A read is open, fstat, pread, close; nothing is looked up before the open.
#include "zarrive/filesystem_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

#include "store/batch.hpp"
#include "store/device_placement.hpp"
#include "store/failure.hpp"
#include "store/filesystem_state.hpp"
#include "store/key.hpp"

namespace zarrive {

FilesystemStore::State::State(const std::string& root_path, const FilesystemStoreOptions& opts)
    : path(root_path),
      options(opts),
      max_value_size(opts.max_value_size != 0 ? opts.max_value_size : store::physical_memory()),
      root(root_path, opts.follow_symlinks) {}

bool FilesystemStore::State::is_missing(int error) noexcept { return error == ENOENT || error == ENOTDIR; }

void FilesystemStore::State::fail(int error, const std::string& doing) {
  if (error == ELOOP)
    throw Error(
        ErrorCode::permission,
        doing + ": a part of the key is a symbolic link; open the store with follow_symlinks to allow that");
  if (error == ENXIO) throw Error(ErrorCode::unsupported, doing + ": not a regular file");
  throw store::errno_error(error, doing);
}

store::Fd FilesystemStore::State::open_value(const std::string& key, int flags, struct stat& status) const {
  if (store::has_temporary_part(key)) return {};
  int error = 0;
  // O_NONBLOCK: opening a FIFO or a device must not wait for its other end. O_PATH opens nothing, and openat2 takes no such flags with it.
  if ((flags & O_PATH) == 0) flags |= O_NONBLOCK | O_NOCTTY;
  store::Fd fd = root.open(key, flags, error);
  if (!fd.ok()) {
    if (is_missing(error)) return {};
    fail(error, "opening the file");
  }
  if (::fstat(fd.get(), &status) != 0) fail(errno, "looking at the file");
  if (S_ISDIR(status.st_mode)) return {};
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::unsupported, "the file is not a regular file (a pipe, socket or device)");
  return fd;
}

GetResult FilesystemStore::State::read(const GetRequest& request, store::ReadAhead* ahead) const {
  struct stat status {};
  const store::Fd fd = open_value(request.key, O_RDONLY, status);
  if (!fd.ok()) return {};

  GetResult result;
  result.status = GetStatus::found;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  result.total_size = size;
  result.generation = store::generation_of(status);
  if (size <= max_value_size && store::read_to_device(fd.get(), size, request, result)) return result;
  if (ahead) ahead->before_read(request, fd.get(), size);
  if (!store::wants_whole(request)) {
    result.values = store::read_ranges(fd.get(), 0, size, request, options.coalesce_gap, max_value_size);
    return result;
  }
  const std::span<std::byte> to = store::placement(request, size);
  // Memory that begins 16 bytes behind a page, as malloc gives it, is read into at a fifth of the speed; a window between helps.
  constexpr std::size_t kFastAlignment = 32;
  constexpr std::uint64_t kWorthWindow = 64 << 10;
  const bool misaligned = !to.empty() && size >= kWorthWindow &&
                          reinterpret_cast<std::uintptr_t>(to.data()) % kFastAlignment != 0;
  if (misaligned || (to.empty() && store::takes_rows(request, size))) {
    store::read_rows(fd.get(), *request.context->destination, 0);
    result.values.push_back(misaligned ? Buffer::borrow(to, request.context->destination->space) : Buffer());
    result.placed = true;
    return result;
  }
  if (!to.empty()) {
    store::read_exactly(fd.get(), to, 0);
    result.values.push_back(Buffer::borrow(to, request.context->destination->space));
    result.placed = true;
    return result;
  }
  if (size > max_value_size)
    throw Error(ErrorCode::resource_limit, "the file has " + std::to_string(size) +
                                               " bytes; the limit for one value is " +
                                               std::to_string(max_value_size) + "; read ranges of it");
  Buffer value;
  if (size > 0) {
    value = store::allocate_value(request.context, static_cast<std::size_t>(size));
    store::read_exactly(fd.get(), value.mutable_host_span(), 0);
  }
  result.values.push_back(std::move(value));
  return result;
}

FilesystemStore::FilesystemStore(std::filesystem::path root, const FilesystemStoreOptions& options) {
  const std::string path = root.string();
  try {
    if (path.empty()) throw Error(ErrorCode::invalid_argument, "the path of the store is empty");
    if (options.create) std::filesystem::create_directories(root);
    state_ = std::make_unique<State>(path, options);
  } catch (...) {
    throw store::as_error(std::current_exception(), path, {});
  }
}

FilesystemStore::~FilesystemStore() = default;

std::string FilesystemStore::name() const { return state_->path; }

StoreCapabilities FilesystemStore::capabilities() const {
  return {.writable = state_->options.writable,
          .keeps_values = false,
          .coalesce_gap = state_->options.coalesce_gap};
}

Durability FilesystemStore::default_durability() const { return state_->options.durability; }

GetResult FilesystemStore::do_get_one(const GetRequest& request) { return state_->read(request, nullptr); }

void FilesystemStore::do_get(std::span<const GetRequest> batch, const GetSink& sink,
                             const GetOptions& options) {
  store::ReadAhead ahead(batch, [this](const std::string& key, struct stat& status) {
    return state_->open_value(key, O_RDONLY, status);
  });
  store::get_by_workers(batch, sink, options, name(),
                        [&](const GetRequest& request) { return state_->read(request, &ahead); });
}

std::optional<std::uint64_t> FilesystemStore::do_size(const std::string& key) {
  struct stat status {};
  if (!state_->open_value(key, O_PATH, status).ok()) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

void FilesystemStore::do_set_one(const std::string& key, const Buffer& value, const Context*,
                                 Durability durability) {
  state_->write(key, value.host_span(), true, durability == Durability::full || store::is_metadata_key(key));
}

bool FilesystemStore::do_set_if_absent(const std::string& key, const Buffer& value) {
  return state_->write(key, value.host_span(), false,
                       state_->options.durability != Durability::none || store::is_metadata_key(key));
}

void FilesystemStore::do_erase_one(const std::string& key) { state_->erase(key); }
void FilesystemStore::do_erase_prefix(const std::string& prefix) { state_->erase_tree(prefix); }

void FilesystemStore::finish_batch(Durability) { state_->sync_everything(); }
void FilesystemStore::flush() {
  try {
    state_->sync_everything();
  } catch (...) {
    throw store::as_error(std::current_exception(), name(), {});
  }
}

}  // namespace zarrive
