#include "support/shell.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

namespace zarrive::testing {

ShellOutcome shell(const std::string& program, const std::string& line) {
  ::setenv("ZARRIVE", program.c_str(), 1);
  const std::string command = "exec 2>&1; set -o pipefail; " + line;
  std::string quoted = "bash -c '";
  for (const char c : command) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  FILE* const pipe = ::popen((quoted + "'").c_str(), "r");
  ShellOutcome outcome;
  if (!pipe) return outcome;
  char buffer[4096];
  for (std::size_t n; (n = ::fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.out.append(buffer, n);
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

}  // namespace zarrive::testing
