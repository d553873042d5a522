// Lines of bash that run the command.
#pragma once

#include <string>

namespace zarrive::testing {

struct ShellOutcome {
  int code = -1;  // 128 + n when signal n ended it
  std::string out = {};
};

// A line of bash, with `program` as $ZARRIVE; its output and error stream together.
ShellOutcome shell(const std::string& program, const std::string& line);

}  // namespace zarrive::testing
