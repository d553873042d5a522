// The one exception type of Zarrive: a code to branch on, and a message that says where, what and what to do.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "zarrive/export.hpp"

namespace zarrive {

// What kind of thing went wrong. Missing, corrupt and failed are different codes on purpose.
enum class ErrorCode {
  not_found,              // a node or store is not there (a missing *chunk* is no error: it is fill)
  already_exists,         // creating what is there already
  invalid_argument,       // the caller asked for something meaningless
  out_of_bounds,          // an index or byte range outside what exists
  invalid_metadata,       // a metadata document breaks the specification
  unsupported_codec,      // the codec is unknown, refused or not built in; the node stays inspectable
  unsupported_data_type,  // likewise for a data type
  unsupported,            // another extension point or operation that is not there
  corrupt_chunk,          // stored chunk bytes do not decode to what the metadata says
  corrupt_store,          // the container itself (zip directory, index) is broken
  permission,             // the operating system or service said no; or a read-only store was written
  unavailable,            // I/O failed and may work later
  resource_limit,         // a bound on memory, depth or size was reached
  cancelled,              // stopped by std::stop_token
  internal                // a bug in Zarrive
};

// The name of a code as it stands in messages, e.g. "corrupt_chunk".
ZARRIVE_API std::string_view to_string(ErrorCode code) noexcept;

// Where an error happened. Each layer fills in what it knows while the error passes through it.
struct ErrorPlace {
  std::string store = {};  // e.g. "era5.zarr"; never holds credentials
  std::string node = {};   // path of the array or group, e.g. "surface/t2m"
  std::string key = {};    // store key or chunk key below the node, e.g. "c/3/0/1"
};

// what() reads "[corrupt_chunk] era5.zarr: surface/t2m: c/3/0/1: <message>"; absent parts are left out.
class ZARRIVE_API Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, ErrorPlace place = {});

  ErrorCode code() const noexcept;
  const std::string& message() const noexcept;  // what was found, what was expected, what to do
  const ErrorPlace& place() const noexcept;
  const char* what() const noexcept override;

  // The same error with the members of `place` that were still empty filled in.
  Error with(const ErrorPlace& place) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;  // shared: copying an exception must not throw
};

}  // namespace zarrive
