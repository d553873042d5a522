// The program as its own process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "support/shell.hpp"

namespace zarrive::cli {

struct Descriptors {
  int in = -1;  // -1: /dev/null
  int out = -1;
  int err = -1;
};

// Starts it with signals as a shell in the foreground leaves them.
inline pid_t start_program(const std::vector<std::string>& arguments, const Descriptors& descriptors) {
  std::vector<char*> argv = {const_cast<char*>(ZARRIVE_PROGRAM)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(descriptors.in < 0 ? null : descriptors.in, 0);
  ::dup2(descriptors.out < 0 ? null : descriptors.out, 1);
  ::dup2(descriptors.err < 0 ? null : descriptors.err, 2);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

// The exit code; 128 + n when signal n ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

using testing::ShellOutcome;

// A line of bash, with the program as $ZARRIVE; its output and error stream together.
inline ShellOutcome shell(const std::string& line) { return testing::shell(ZARRIVE_PROGRAM, line); }

}  // namespace zarrive::cli
