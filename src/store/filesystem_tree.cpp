// Listing and erasing trees of files.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/utf8.hpp"
#include "store/failure.hpp"
#include "store/filesystem_state.hpp"
#include "store/key.hpp"

namespace zarrive {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

bool FilesystemStore::State::scan(Directory& directory, bool sweep) const {
  int error = 0;
  store::Fd fd = root.open(directory.path, O_RDONLY | O_DIRECTORY, error);
  if (is_missing(error)) return false;
  if (!fd.ok()) fail(error, "opening directory '" + directory.path + "'");
  struct stat itself {};
  if (::fstat(fd.get(), &itself) != 0) fail(errno, "looking at directory '" + directory.path + "'");
  directory.device = itself.st_dev;
  directory.inode = itself.st_ino;
  const int number = ::dup(fd.get());  // fdopendir takes one over
  const std::unique_ptr<DIR, CloseDirectory> entries(number < 0 ? nullptr : ::fdopendir(number));
  if (!entries) {
    error = errno;
    if (number >= 0) ::close(number);
    fail(error, "listing directory '" + directory.path + "'");
  }
  while (true) {
    errno = 0;
    const struct dirent* entry = ::readdir(entries.get());
    if (!entry) {
      if (errno != 0) fail(errno, "listing directory '" + directory.path + "'");
      return true;
    }
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (store::is_temporary_name(name)) {
      if (sweep && options.writable && store::is_stale_temporary(fd.get(), name) &&
          ::unlinkat(fd.get(), name.c_str(), 0) == 0)
        ++directory.swept;
      continue;
    }
    if (!is_utf8(name)) continue;
    unsigned char type = entry->d_type;
    if (type == DT_UNKNOWN) {
      struct stat status {};
      if (::fstatat(fd.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      type = static_cast<unsigned char>(IFTODT(status.st_mode));
    }
    if (type == DT_REG) directory.files.push_back(name);
    if (type == DT_DIR) directory.directories.push_back(name);
    struct stat target {};
    if (type == DT_LNK && root.follows_symlinks() && ::fstatat(fd.get(), name.c_str(), &target, 0) == 0) {
      if (S_ISREG(target.st_mode)) directory.linked_files.push_back(name);
      if (S_ISDIR(target.st_mode)) directory.linked_directories.push_back(name);
    }
  }
}

std::vector<FilesystemStore::State::Directory> FilesystemStore::State::walk(const std::string& prefix,
                                                                            bool links) const {
  // The directories above one, so that a link back to one of them is seen: it has no end.
  struct Above {
    dev_t device;
    ino_t inode;
    std::shared_ptr<const Above> above;
  };
  struct Open {
    std::string path;
    std::shared_ptr<const Above> above;
  };
  std::vector<Directory> found;
  std::vector<Open> open = {{prefix, nullptr}};
  while (!open.empty()) {
    Directory directory{.path = std::move(open.back().path)};
    std::shared_ptr<const Above> above = std::move(open.back().above);
    open.pop_back();
    if (!scan(directory, true)) continue;
    if (root.follows_symlinks()) {
      bool endless = false;
      for (const Above* a = above.get(); a && !endless; a = a->above.get())
        endless = a->device == directory.device && a->inode == directory.inode;
      if (endless) continue;
      above = std::make_shared<const Above>(Above{directory.device, directory.inode, std::move(above)});
    }
    const std::string start = store::with_slash(directory.path);
    for (const std::string& name : directory.directories) open.push_back({start + name, above});
    if (links)
      for (const std::string& name : directory.linked_directories) open.push_back({start + name, above});
    found.push_back(std::move(directory));
  }
  return found;
}

std::vector<std::string> FilesystemStore::do_list(const std::string& prefix) {
  if (store::has_temporary_part(prefix)) return {};
  std::vector<std::string> keys;
  for (const State::Directory& directory : state_->walk(prefix, true)) {
    const std::string start = store::with_slash(directory.path);
    for (const std::string& name : directory.files) keys.push_back(start + name);
    for (const std::string& name : directory.linked_files) keys.push_back(start + name);
  }
  return keys;
}

DirectoryListing FilesystemStore::do_list_dir(const std::string& prefix) {
  DirectoryListing listing;
  State::Directory directory{.path = prefix};
  if (store::has_temporary_part(prefix) || !state_->scan(directory, true)) return listing;
  const std::string start = store::with_slash(prefix);
  for (const auto* names : {&directory.files, &directory.linked_files})
    for (const std::string& name : *names) listing.keys.push_back(start + name);
  for (const auto* names : {&directory.directories, &directory.linked_directories})
    for (const std::string& name : *names) listing.prefixes.push_back(start + name);
  return listing;
}

std::size_t FilesystemStore::sweep_temporaries() {
  std::size_t swept = 0;
  for (const State::Directory& directory : state_->walk({}, false)) swept += directory.swept;
  return swept;
}

// Metadata documents first: what a crash leaves behind is no array with chunks missing. Of links, the link goes, never what it points to.
void FilesystemStore::State::erase_tree(const std::string& prefix) {
  if (store::has_temporary_part(prefix)) return;
  const std::vector<Directory> tree = walk(prefix, false);
  for (const bool documents : {true, false}) {
    for (const Directory& directory : tree) {
      int error = 0;
      const Opened opened = open_directory(directory.path, error);
      if (is_missing(error)) continue;
      if (error != 0) fail(error, "opening directory '" + directory.path + "'");
      for (const auto* names : {&directory.files, &directory.linked_files, &directory.linked_directories}) {
        for (const std::string& name : *names) {
          if (store::is_metadata_key(name) != documents) continue;
          if (::unlinkat(opened.fd, name.c_str(), 0) != 0 && errno != ENOENT && errno != EISDIR)
            fail(errno, "removing '" + store::with_slash(directory.path) + name + "'");
          dirty_ = true;
        }
      }
    }
  }
  for (auto directory = tree.rbegin(); directory != tree.rend(); ++directory) {
    if (directory->path.empty()) continue;
    const auto [above, part] = store::split_key(directory->path);
    int error = 0;
    const Opened parent = open_directory(above, error);
    // Not empty: a writer was faster, or something that is no key lies there.
    if (error == 0 && ::unlinkat(parent.fd, part.c_str(), AT_REMOVEDIR) == 0) forget(directory->path);
  }
  if (!prefix.empty()) remove_empty_directories(store::split_key(prefix).first);
}

}  // namespace zarrive
