#include "support/paths.hpp"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

namespace zarrive::testing {

namespace fs = std::filesystem;

fs::path test_data_dir() {
  if (const char* set = std::getenv("ZARRIVE_TEST_DATA")) return set;
  return fs::path(ZARRIVE_SOURCE_DIR) / "tests" / "data";
}

std::optional<fs::path> fixtures_dir() {
  const char* set = std::getenv("ZARRIVE_FIXTURES");
  fs::path dir = set ? fs::path(set) : fs::path(ZARRIVE_SOURCE_DIR).parent_path() / "shared" / "fixtures";
  if (!fs::is_directory(dir)) return std::nullopt;
  return dir;
}

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "zarrive-test-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace zarrive::testing
