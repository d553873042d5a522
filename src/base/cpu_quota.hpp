// How many CPUs the cgroups of this process allow it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace zarrive::detail {

// The smallest CPU limit on the way from this process's cgroup to the root, in whole CPUs, rounded up; nullopt when there is none.
// Reads <root>/proc/self/{cgroup,mountinfo} and the control files they lead to (v1 and v2); `root` is "" outside tests.
std::optional<std::size_t> cgroup_cpus(const std::string& root);

// CPUs in the affinity mask, at least 1.
std::size_t affinity_cpus();

// The value of ZARRIVE_NUM_THREADS, a decimal number from 1 to 4096; nullopt for null and for anything else.
std::optional<std::size_t> parse_thread_count(const char* text);

}  // namespace zarrive::detail
