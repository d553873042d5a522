// Stores by name: a path, file://, memory://, *.zip, and whatever third parties register.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "zarrive/export.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

enum class OpenMode : std::uint8_t {
  read,   // must be there; every write is Error(permission)
  write,  // must be there
  create  // made when it is not there
};

struct OpenStoreOptions {
  OpenMode mode = OpenMode::read;
  std::optional<Durability> durability = {};   // of stores on disks; absent: their own default
  bool follow_symlinks = false;                // of directories, see FilesystemStoreOptions
  std::optional<std::string> zip_folder = {};  // see ZipStoreOptions::folder
};

// Opens what `url` names:
//   era5.zarr, /data/era5.zarr    a directory; a zip archive when it is a file, or ends in ".zip" and is to be created
//   file:///data/era5%20v2.zarr   the same, percent-decoded; the host is empty or "localhost"
//   memory://name                 in this process's memory; the same name opens the same store. "memory://" is a fresh one each time
//   scheme://...                  what was registered for the scheme
// Error(not_found) when there is nothing (memory stores too, unless mode is create), Error(unsupported) for an unknown scheme,
// Error(invalid_argument) for a malformed URL.
ZARRIVE_API std::shared_ptr<Store> open_store(std::string_view url, const OpenStoreOptions& options = {});

// Makes stores of a scheme ("s3" for "s3://..."). Gets the whole URL. Mode read is enforced by open_store around what it returns.
using StoreFactory =
    std::function<std::shared_ptr<Store>(std::string_view url, const OpenStoreOptions& options)>;

// Schemes are letters, digits, '+', '-' and '.', starting with a letter, and compared without case. A later registration replaces an
// earlier one; "file" and "memory" cannot be replaced.
ZARRIVE_API void register_store_scheme(std::string_view scheme, StoreFactory factory);

// Drops a named memory store; those who have it open keep it. True when there was one.
ZARRIVE_API bool forget_memory_store(std::string_view name);

}  // namespace zarrive
