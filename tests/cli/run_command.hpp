// The command in this process, with strings for its streams.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "support/paths.hpp"

namespace zarrive::cli {

struct Outcome {
  int code = -1;
  std::string out = {};
  std::string err = {};
};

struct RunOptions {
  std::string in = {};
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  std::stop_token stop = {};
};

inline Outcome run_command(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
  std::istringstream in(options.in);
  std::ostringstream out;
  std::ostringstream err;
  Outcome outcome;
  outcome.code = run(arguments, {.in = in,
                                 .out = out,
                                 .err = err,
                                 .out_is_terminal = options.out_is_terminal,
                                 .err_is_terminal = options.err_is_terminal,
                                 .width = 80,
                                 .stop = options.stop});
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

// The output of a command that must succeed without a word on the error stream.
inline std::string output_of(const std::vector<std::string>& arguments, const std::string& in = {}) {
  const Outcome outcome = run_command(arguments, {.in = in});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// A folder, and stores in it.
class CommandTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::vector<std::string> names_in_folder() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  testing::TempDir folder_;
};

// Expects one line on the error stream that says `says`, nothing on the output, and the code.
inline void expect_failure(const Outcome& outcome, int code, const std::string& says) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("zarrive: ")) << outcome.err;
  EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace zarrive::cli
