#include "base/cpu_quota.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "zarrive/executor.hpp"

namespace zarrive {
namespace {

namespace fs = std::filesystem;

// A file tree that looks like /proc and /sys/fs/cgroup.
class Root {
 public:
  Root() {
    char name[] = "/tmp/zarrive_cgroup_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Root() { fs::remove_all(path_); }
  Root& file(const std::string& name, const std::string& text) {
    fs::create_directories((path_ + name).substr(0, (path_ + name).rfind('/')));
    std::ofstream(path_ + name) << text;
    return *this;
  }
  std::optional<std::size_t> cpus() const { return detail::cgroup_cpus(path_); }

 private:
  std::string path_;
};

const char* const v2_mount =
    "25 20 0:22 / /proc rw - proc proc rw\n30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 "
    "rw\nnonsense\n";
const char* const v1_mount =
    "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n31 24 0:27 / /sys/fs/cgroup/cpu rw - "
    "cgroup cgroup rw,cpu,cpuacct\n";

TEST(CpuQuota, NothingToRead) {
  EXPECT_EQ(Root().cpus(), std::nullopt);
  EXPECT_EQ(Root().file("/proc/self/cgroup", "0::/a\n").cpus(), std::nullopt);
  EXPECT_EQ(Root()
                .file("/proc/self/cgroup", "nonsense\n1:two\n0::/a\n")
                .file("/proc/self/mountinfo", v2_mount)
                .cpus(),
            std::nullopt);
}

TEST(CpuQuota, Version2TakesTheLeastOnTheWayUp) {
  Root root;
  root.file("/proc/self/cgroup", "0::/system.slice/job/\n").file("/proc/self/mountinfo", v2_mount);
  root.file("/sys/fs/cgroup/system.slice/job/cpu.max", "max 100000\n");
  EXPECT_EQ(root.cpus(), std::nullopt);
  root.file("/sys/fs/cgroup/system.slice/cpu.max", "350000 100000\n");
  EXPECT_EQ(root.cpus(), 4u);  // rounded up
  root.file("/sys/fs/cgroup/system.slice/job/cpu.max", "200000 100000\n");
  EXPECT_EQ(root.cpus(), 2u);
  root.file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(root.cpus(), 1u);
}

TEST(CpuQuota, Version2InAContainer) {
  Root root;
  root.file("/proc/self/cgroup", "0::/\n")
      .file("/proc/self/mountinfo", v2_mount)
      .file("/sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(root.cpus(), 3u);
  root.file("/sys/fs/cgroup/cpu.max", "0 100000");
  EXPECT_EQ(root.cpus(), std::nullopt);
  root.file("/sys/fs/cgroup/cpu.max", "100000 0");
  EXPECT_EQ(root.cpus(), std::nullopt);
  root.file("/sys/fs/cgroup/cpu.max", "99999999999999999999999 1");
  EXPECT_EQ(root.cpus(), std::nullopt);
}

TEST(CpuQuota, Version1) {
  Root root;
  root.file("/proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/docker/abc\n")
      .file("/proc/self/mountinfo", v1_mount);
  EXPECT_EQ(root.cpus(), std::nullopt);
  root.file("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1")
      .file("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000");
  EXPECT_EQ(root.cpus(), std::nullopt);
  root.file("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "150000");
  EXPECT_EQ(root.cpus(), 2u);
}

TEST(CpuQuota, Version1WithTheHostsPathInAContainer) {
  Root root;
  root.file("/proc/self/cgroup", "4:cpu:/docker/abc/sub\n");
  root.file("/proc/self/mountinfo", "31 24 0:27 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  root.file("/sys/fs/cgroup/cpu/sub/cpu.cfs_quota_us", "500000")
      .file("/sys/fs/cgroup/cpu/sub/cpu.cfs_period_us", "100000");
  EXPECT_EQ(root.cpus(), 5u);
}

TEST(CpuQuota, OfThisProcess) {
  EXPECT_GE(cpu_quota(), 1u);
  EXPECT_LE(cpu_quota(), detail::affinity_cpus());
  std::size_t narrowed = 0;
  std::thread([&] {  // the mask is a thread's
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE; ++c)
      if (CPU_ISSET(c, &before)) {
        CPU_SET(c, &one);
        break;
      }
    sched_setaffinity(0, sizeof one, &one);
    narrowed = cpu_quota();
  })
      .join();
  EXPECT_EQ(narrowed, 1u);
}

TEST(CpuQuota, ThreadCountText) {
  EXPECT_EQ(detail::parse_thread_count("1"), 1u);
  EXPECT_EQ(detail::parse_thread_count("4096"), 4096u);
  for (const char* text : {"", "0", "-1", "4097", "2x", " 2", "99999999999999999999"})
    EXPECT_EQ(detail::parse_thread_count(text), std::nullopt) << text;
  EXPECT_EQ(detail::parse_thread_count(nullptr), std::nullopt);
}

}  // namespace
}  // namespace zarrive
