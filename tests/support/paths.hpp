// Where tests find data, and a folder of their own to write in.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace zarrive::testing {

// tests/data of the checkout: copies of what the tests need. $ZARRIVE_TEST_DATA wins.
std::filesystem::path test_data_dir();

// The large shared set of real stores, ../shared/fixtures beside the checkout ($ZARRIVE_FIXTURES wins); nullopt when it
// is not there.
std::optional<std::filesystem::path> fixtures_dir();

// An empty folder that goes away with the object.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace zarrive::testing
