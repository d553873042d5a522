// The version of Zarrive: of these headers (macros) and of the library that is loaded (version()).
#pragma once

#include <string_view>

#include "zarrive/export.hpp"

// CMake reads these lines.
#define ZARRIVE_VERSION_MAJOR 0
#define ZARRIVE_VERSION_MINOR 1
#define ZARRIVE_VERSION_PATCH 0

namespace zarrive {

// "0.1.0": of the library that is linked, which may be newer than these headers in its last number.
ZARRIVE_API std::string_view version() noexcept;

}  // namespace zarrive
