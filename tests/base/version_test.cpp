#include "zarrive/version.hpp"

#include <gtest/gtest.h>

namespace zarrive {
namespace {

TEST(Version, OfTheLibraryIsThatOfTheHeaders) {
  EXPECT_EQ(version(), std::to_string(ZARRIVE_VERSION_MAJOR) + "." + std::to_string(ZARRIVE_VERSION_MINOR) +
                           "." + std::to_string(ZARRIVE_VERSION_PATCH));
}

}  // namespace
}  // namespace zarrive
