// The command as a function: a command line and streams in, an exit code out. main() and the tests call it.
#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"

namespace zarrive::cli {

// `arguments` without the program's name. Throws nothing: errors go to streams.err in one line, and into the exit code.
int run(const std::vector<std::string>& arguments, const Streams& streams);

}  // namespace zarrive::cli
