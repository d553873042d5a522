#include "base/cpu_quota.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/executor.hpp"

namespace zarrive {
namespace detail {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool lists(std::string_view list, std::string_view item) {
  return ("," + std::string(list) + ",").find("," + std::string(item) + ",") != std::string::npos;
}

struct Mount {
  std::string root;   // the cgroup that is seen at `point`
  std::string point;  // where it is mounted
};

// The mount of the unified hierarchy (v2), or of the one with the cpu controller (v1). See proc(5), mountinfo:
// id parent major:minor root point options [optional fields] - type source super_options.
std::optional<Mount> find_mount(const std::string& root, bool v2) {
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const auto words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    if (v2 ? dash[1] == "cgroup2" : dash[1] == "cgroup" && lists(dash[3], "cpu"))
      return Mount{words[3], words[4]};
  }
  return std::nullopt;
}

std::optional<std::size_t> cpus(std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<std::size_t>(ceil_divide(*quota, *period));
}

std::optional<std::size_t> limit_of(const std::string& directory, bool v2) {
  if (v2) {
    std::ifstream in(directory + "/cpu.max");
    std::string quota, period;
    in >> quota >> period;
    return cpus(number(quota), number(period));  // "max" is no number
  }
  std::ifstream quota_file(directory + "/cpu.cfs_quota_us"), period_file(directory + "/cpu.cfs_period_us");
  std::string quota, period;
  quota_file >> quota;
  period_file >> period;
  return cpus(number(quota), number(period));  // -1 is no number
}

}  // namespace

std::optional<std::size_t> cgroup_cpus(const std::string& root) {
  std::optional<std::size_t> least;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool v2 = controllers.empty();
    if (!v2 && !lists(controllers, "cpu")) continue;
    const auto mount = find_mount(root, v2);
    if (!mount) continue;
    // Inside a container the path may be the host's; then the mount shows the part below its own root.
    std::string path = line.substr(second + 1);
    if (mount->root != "/" && (path + "/").starts_with(mount->root + "/")) path.erase(0, mount->root.size());
    while (path.ends_with('/')) path.pop_back();
    for (;; path.erase(path.rfind('/'))) {
      if (const auto limit = limit_of(root + mount->point + path, v2))
        least = std::min(least.value_or(*limit), *limit);
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least;
}

std::size_t affinity_cpus() {
  // The mask must be at least as large as the kernel's, which nobody tells: grow until it fits.
  for (std::size_t most = 1024; most <= (std::size_t{1} << 20); most *= 4) {
    std::vector<unsigned long> mask(most / (8 * sizeof(unsigned long)));
    auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
    const std::size_t bytes = mask.size() * sizeof(unsigned long);
    if (sched_getaffinity(0, bytes, set) == 0) return std::max(1, CPU_COUNT_S(bytes, set));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

std::optional<std::size_t> parse_thread_count(const char* text) {
  const auto value = text ? number(text) : std::nullopt;
  if (!value || *value < 1 || *value > 4096) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

}  // namespace detail

std::size_t cpu_quota() {
  const std::size_t affinity = detail::affinity_cpus();
  return std::clamp<std::size_t>(detail::cgroup_cpus("").value_or(affinity), 1, affinity);
}

}  // namespace zarrive
