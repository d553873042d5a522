// Throwing invalid_metadata with values quoted safely.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/shown.hpp"
#include "zarrive/data_type.hpp"
#include "zarrive/error.hpp"
#include "zarrive/json.hpp"

namespace zarrive::types {

[[noreturn]] inline void metadata_fail(std::string message) {
  throw Error(ErrorCode::invalid_metadata, std::move(message));
}

// Runs `make`; what would be the caller's mistake is the document's mistake here.
template <class Make>
auto as_metadata(const std::string& where, Make make) {
  try {
    return make();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument) throw;
    metadata_fail(where + ": " + e.message());
  }
}

// A plain decimal number without sign or leading zeros.
std::optional<std::uint64_t> decimal(std::string_view text);

// A NumPy typestr. Without `order_needed` the byte order may be left out (little).
DataType from_typestr(std::string_view text, bool order_needed);

}  // namespace zarrive::types
