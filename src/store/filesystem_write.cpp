// A safe write: a temporary file in the directory of the key (exclusive, so nobody else's), the bytes, a sync when it must be durable, and
// a rename over the key. Then, when durable, a sync of the directory, and of the directories above whose entries may not be on the disk.
//
// Directories come and go with their keys: writers make them, erasers remove them when empty. A writer whose directory vanishes before its
// temporary file is in it starts again; once the file is there nobody can remove the directory.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "store/failure.hpp"
#include "store/filesystem_state.hpp"
#include "store/key.hpp"

namespace zarrive {
namespace {

constexpr int kAttempts = 100;
constexpr std::size_t kMostRemembered = 100'000;

[[noreturn]] void fail_taken(int error, const std::string& key) {
  if (error == EISDIR || error == EEXIST || error == ENOTEMPTY)
    throw Error(ErrorCode::invalid_argument,
                "cannot write " + store::quoted(key) +
                    ": other keys lie below it (a directory of that name is there), and in a file system a "
                    "name is a file or a directory");
  throw Error(
      ErrorCode::invalid_argument,
      "cannot write " + store::quoted(key) +
          ": a part of it is itself a key (a file), and in a file system a name is a file or a directory");
}

}  // namespace

FilesystemStore::State::Opened FilesystemStore::State::open_directory(const std::string& relative,
                                                                      int& error) const {
  Opened opened;
  error = 0;
  if (relative.empty()) {
    opened.fd = root.fd();
    return opened;
  }
  opened.owned = root.open(relative, O_PATH | O_DIRECTORY, error);
  opened.fd = opened.owned.get();
  return opened;
}

// Opens the directory, making it and its parents when they are not there.
FilesystemStore::State::Opened FilesystemStore::State::make_directory(const std::string& relative) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    int error = 0;
    Opened opened = open_directory(relative, error);
    if (error == 0) return opened;
    if (error == ENOTDIR) fail_taken(error, relative);
    if (error != ENOENT) fail(error, "opening the directory of the key");
    // From the root down; ENOENT means that an eraser was faster: again from the start.
    for (std::size_t end = relative.find('/'); error == ENOENT; end = relative.find('/', end + 1)) {
      const std::string path = relative.substr(0, end);
      const auto [above, part] = store::split_key(path);
      int above_error = 0;
      const Opened parent = open_directory(above, above_error);
      if (above_error == ENOENT) break;
      if (above_error == ENOTDIR) fail_taken(above_error, relative);
      if (above_error != 0) fail(above_error, "opening the directory of the key");
      if (::mkdirat(parent.fd, part.c_str(), 0777) == 0) {
        forget(path);
      } else if (errno == ENOENT) {
        break;
      } else if (errno != EEXIST) {
        fail(errno, "making directory '" + path + "'");
      }
      if (end == std::string::npos) break;
    }
  }
  throw Error(ErrorCode::unavailable,
              "the directory of the key is removed as fast as it is made, or the store itself was removed");
}

bool FilesystemStore::State::write(const std::string& key, std::span<const std::byte> value, bool replace,
                                   bool durable) {
  if (store::has_temporary_part(key))
    throw Error(ErrorCode::invalid_argument,
                "names like '.zarrive-tmp-...~' are reserved for temporary files");
  const auto [directory, name] = store::split_key(key);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Opened parent = make_directory(directory);
    store::TemporaryFile file(parent.fd);
    if (file.error() == ENOENT) continue;  // removed since it was opened
    if (!file.ok()) fail(file.error(), "making a temporary file for the key");
    store::write_at(file.fd(), value, 0);
    store::stamp(file.fd());
    if (durable) store::sync_file(file.fd(), "the file");
    file.close();
    const int error = file.rename_to(name, replace);
    if (error == EEXIST && !replace) {
      struct stat status {};
      if (::fstatat(parent.fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode))
        fail_taken(EISDIR, key);
      return false;
    }
    if (error == EISDIR || error == ENOTDIR || error == EEXIST || error == ENOTEMPTY) fail_taken(error, key);
    if (error != 0) fail(error, "renaming the temporary file to the key");
    if (durable) {
      sync_directory(directory);
      sync_entries_of(directory);
    } else {
      dirty_ = true;
    }
    return true;
  }
  throw Error(ErrorCode::unavailable,
              "the directory of the key is removed as fast as it is made, or the store itself was removed");
}

void FilesystemStore::State::sync_directory(const std::string& relative) {
  int error = 0;
  const store::Fd fd = root.open(relative, O_RDONLY | O_DIRECTORY, error);
  if (is_missing(error)) return;  // erased meanwhile
  if (!fd.ok()) fail(error, "opening the directory of the key to sync it");
  store::sync_file(fd.get(), "the directory of the key");
}

// The entries of a directory and of those above it, each in its parent. A directory is remembered when all above it are synced too.
void FilesystemStore::State::sync_entries_of(const std::string& directory) {
  std::vector<std::string> synced;
  for (std::string path = directory; !path.empty();) {
    {
      const std::lock_guard lock(mutex_);
      if (durable_directories_.contains(path)) break;
    }
    std::string above = store::split_key(path).first;
    sync_directory(above);
    synced.push_back(std::move(path));
    path = std::move(above);
  }
  const std::lock_guard lock(mutex_);
  if (durable_directories_.size() >= kMostRemembered) durable_directories_.clear();
  durable_directories_.insert(synced.begin(), synced.end());
}

void FilesystemStore::State::forget(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  durable_directories_.erase(directory);
}

void FilesystemStore::State::erase(const std::string& key) {
  if (store::has_temporary_part(key)) return;
  const auto [directory, name] = store::split_key(key);
  int error = 0;
  {
    const Opened parent = open_directory(directory, error);
    if (is_missing(error)) return;
    if (error != 0) fail(error, "opening the directory of the key");
    if (::unlinkat(parent.fd, name.c_str(), 0) != 0) {
      if (is_missing(errno) || errno == EISDIR) return;
      fail(errno, "removing the file");
    }
  }
  dirty_ = true;
  if (store::is_metadata_key(key)) sync_directory(directory);
  remove_empty_directories(directory);
}

// Up to the root, as long as they are empty.
void FilesystemStore::State::remove_empty_directories(std::string directory) {
  while (!directory.empty()) {
    const auto [above, part] = store::split_key(directory);
    int error = 0;
    const Opened parent = open_directory(above, error);
    if (error != 0 || ::unlinkat(parent.fd, part.c_str(), AT_REMOVEDIR) != 0) return;
    forget(directory);
    directory = above;
  }
}

void FilesystemStore::State::sync_everything() {
  if (!dirty_.exchange(false)) return;
  int error = 0;
  const store::Fd fd = root.open("", O_RDONLY | O_DIRECTORY, error);
  if (!fd.ok()) fail(error, "opening the store to sync it");
  if (::syncfs(fd.get()) != 0) {
    dirty_ = true;
    fail(errno, "syncing the file system of the store");
  }
}

}  // namespace zarrive
