#include "support/peak_memory.hpp"

#include <fstream>
#include <string>

namespace zarrive::testing_support {

std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  return 0;
}

}  // namespace zarrive::testing_support
