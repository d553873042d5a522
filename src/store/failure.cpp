#include "store/failure.hpp"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

namespace zarrive::store {

Error as_error(const std::exception_ptr& failure, const std::string& store, const std::string& key) {
  const ErrorPlace place{.store = store, .node = {}, .key = key};
  try {
    std::rethrow_exception(failure);
  } catch (const Error& e) {
    return e.with(place);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_limit, "out of memory", place);
  } catch (const std::length_error& e) {
    return Error(ErrorCode::resource_limit, std::string("too large: ") + e.what(), place);
  } catch (const std::system_error& e) {
    const bool from_errno =
        e.code().category() == std::generic_category() || e.code().category() == std::system_category();
    return Error(from_errno ? code_of_errno(e.code().value()) : ErrorCode::unavailable, e.what(), place);
  } catch (const std::exception& e) {
    return Error(ErrorCode::internal, std::string("unexpected exception: ") + e.what(), place);
  } catch (...) {
    return Error(ErrorCode::internal, "unexpected exception of unknown type", place);
  }
}

std::exception_ptr placed(const std::exception_ptr& failure, const std::string& store,
                          const std::string& key) {
  return std::make_exception_ptr(as_error(failure, store, key));
}

std::exception_ptr placed_if_error(const std::exception_ptr& failure, const std::string& store,
                                   const std::string& key) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& e) {
    return std::make_exception_ptr(e.with({.store = store, .node = {}, .key = key}));
  } catch (...) {
    return failure;
  }
}

ErrorCode code_of_errno(int number) noexcept {
  switch (number) {
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::permission;
    case ENAMETOOLONG:
    case EISDIR:
    case ENOTDIR:
    case EINVAL: return ErrorCode::invalid_argument;
    case ENOENT: return ErrorCode::not_found;
    case EEXIST: return ErrorCode::already_exists;
    case ENOMEM:
    case EMFILE:
    case ENFILE: return ErrorCode::resource_limit;
    default: return ErrorCode::unavailable;
  }
}

Error errno_error(int number, const std::string& what) {
  return Error(code_of_errno(number), what + ": " + std::generic_category().message(number));
}

}  // namespace zarrive::store
