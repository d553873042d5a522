#include "zarrive/version.hpp"

#define ZARRIVE_TEXT_(x) #x
#define ZARRIVE_TEXT(x) ZARRIVE_TEXT_(x)

namespace zarrive {

std::string_view version() noexcept {
  return ZARRIVE_TEXT(ZARRIVE_VERSION_MAJOR) "." ZARRIVE_TEXT(ZARRIVE_VERSION_MINOR) "." ZARRIVE_TEXT(
      ZARRIVE_VERSION_PATCH);
}

}  // namespace zarrive
