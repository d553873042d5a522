// Turning whatever a store threw into an Error that says where it happened.
#pragma once

#include <exception>
#include <string>

#include "zarrive/error.hpp"

namespace zarrive::store {

// `failure` as a zarrive::Error with the store's name and the key filled in where they were empty. Out-of-memory becomes resource_limit,
// operating-system errors permission or unavailable, anything else internal with its text.
Error as_error(const std::exception_ptr& failure, const std::string& store, const std::string& key);
std::exception_ptr placed(const std::exception_ptr& failure, const std::string& store,
                          const std::string& key);

// An Error gets its place filled in; other exceptions stay as they are (they are the caller's own, out of a sink or produce).
std::exception_ptr placed_if_error(const std::exception_ptr& failure, const std::string& store,
                                   const std::string& key);

// The code for an errno of a file operation, and "<what>: <text of the errno>" as its message.
ErrorCode code_of_errno(int number) noexcept;
Error errno_error(int number, const std::string& what);

}  // namespace zarrive::store
