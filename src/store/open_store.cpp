#include "zarrive/open_store.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "store/failure.hpp"
#include "store/key.hpp"
#include "zarrive/filesystem_store.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"
#include "zarrive/zip_store.hpp"

namespace zarrive {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, StoreFactory, std::less<>> schemes;
  std::map<std::string, std::shared_ptr<Store>, std::less<>> memories;
};

// Never destroyed: stores may be opened while the process exits.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

// In lower case; nullopt when it is no scheme.
std::optional<std::string> scheme_of(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return std::nullopt;
  std::string scheme;
  for (const char c : text) {
    if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.') return std::nullopt;
    scheme += lower(c);
  }
  return scheme;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : lower(c) >= 'a' && lower(c) <= 'f' ? lower(c) - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1,
              low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      throw Error(ErrorCode::invalid_argument, "'%' in a URL is followed by two hexadecimal digits");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (out.find('\0') != std::string::npos)
    throw Error(ErrorCode::invalid_argument, "a path cannot contain a NUL character");
  return out;
}

std::shared_ptr<Store> open_memory(std::string_view name, const OpenStoreOptions& options) {
  if (name.empty()) return std::make_shared<MemoryStore>();
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto it = r.memories.find(name);
  if (it != r.memories.end()) return it->second;
  const std::string full = "memory://" + std::string(name);
  if (options.mode != OpenMode::create)
    throw Error(ErrorCode::not_found, "there is no memory store of this name");
  return r.memories.emplace(std::string(name), std::make_shared<MemoryStore>(full)).first->second;
}

std::shared_ptr<Store> open_path(const std::string& path, const OpenStoreOptions& options) {
  if (path.empty()) throw Error(ErrorCode::invalid_argument, "the path of a store cannot be empty");
  std::error_code fault;
  const std::filesystem::file_status status = std::filesystem::status(path, fault);
  const bool there = std::filesystem::exists(status);
  if (!there && options.mode != OpenMode::create) {
    if (status.type() == std::filesystem::file_type::not_found)
      throw Error(ErrorCode::not_found, "there is no such directory or file");
    throw store::errno_error(fault.value(), "looking at the path");
  }
  const bool zip = there ? !std::filesystem::is_directory(status) : path.ends_with(".zip");
  if (zip) {
    const ZipMode mode = options.mode == OpenMode::read    ? ZipMode::read
                         : options.mode == OpenMode::write ? ZipMode::update
                                                           : ZipMode::create;
    return std::make_shared<ZipStore>(path, ZipStoreOptions{.mode = mode, .folder = options.zip_folder});
  }
  return std::make_shared<FilesystemStore>(
      path, FilesystemStoreOptions{.create = options.mode == OpenMode::create,
                                   .writable = options.mode != OpenMode::read,
                                   .durability = options.durability.value_or(Durability::none),
                                   .follow_symlinks = options.follow_symlinks});
}

std::shared_ptr<Store> open_any(std::string_view url, const OpenStoreOptions& options) {
  const std::size_t mark = url.find("://");
  const std::optional<std::string> scheme =
      mark == std::string_view::npos ? std::nullopt : scheme_of(url.substr(0, mark));
  if (!scheme) {
    if (url.find('\0') != std::string_view::npos)
      throw Error(ErrorCode::invalid_argument, "a path cannot contain a NUL character");
    return open_path(std::string(url), options);
  }
  const std::string_view rest = url.substr(mark + 3);
  if (*scheme == "memory") return open_memory(rest, options);
  if (*scheme == "file") {
    const std::size_t slash = rest.find('/');
    const std::string_view host = rest.substr(0, slash);
    if (slash == std::string_view::npos || (!host.empty() && host != "localhost"))
      throw Error(ErrorCode::invalid_argument,
                  "a file URL reads file:///absolute/path; found host " + store::quoted(host));
    return open_path(percent_decoded(rest.substr(slash)), options);
  }
  StoreFactory factory;
  {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const auto it = r.schemes.find(*scheme);
    if (it != r.schemes.end()) factory = it->second;
  }
  if (!factory)
    throw Error(ErrorCode::unsupported, "no store is known for '" + *scheme +
                                            "://'; there are paths, file://, memory:// and what "
                                            "register_store_scheme has added");
  std::shared_ptr<Store> made = factory(url, options);
  if (!made) throw Error(ErrorCode::internal, "the factory of '" + *scheme + "://' made no store");
  return made;
}

}  // namespace

std::shared_ptr<Store> open_store(std::string_view url, const OpenStoreOptions& options) {
  std::shared_ptr<Store> opened;
  try {
    opened = open_any(url, options);
  } catch (...) {
    // The name of the store without what a URL may hide: user:password@ and a query with a signature.
    std::string shown(url.substr(0, url.find("://") == std::string_view::npos ? url.size() : url.find('?')));
    if (const std::size_t mark = shown.find("://"); mark != std::string::npos) {
      const std::size_t at = shown.substr(0, shown.find('/', mark + 3)).rfind('@');
      if (at != std::string::npos && at > mark) shown.erase(mark + 3, at - mark - 2);
    }
    throw store::as_error(std::current_exception(), shown, {});
  }
  if (options.mode == OpenMode::read && opened->capabilities().writable)
    return std::make_shared<ReadOnlyStore>(std::move(opened));
  return opened;
}

void register_store_scheme(std::string_view scheme, StoreFactory factory) {
  const std::optional<std::string> name = scheme_of(scheme);
  if (!name || *name == "file" || *name == "memory")
    throw Error(ErrorCode::invalid_argument,
                store::quoted(scheme) + " cannot be registered as a store scheme");
  if (!factory) throw Error(ErrorCode::invalid_argument, "a store scheme needs a factory");
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.schemes.insert_or_assign(*name, std::move(factory));
}

bool forget_memory_store(std::string_view name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto it = r.memories.find(name);
  if (it == r.memories.end()) return false;
  r.memories.erase(it);
  return true;
}

}  // namespace zarrive
