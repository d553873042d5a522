#include "support/process.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <stdexcept>

namespace bench {
namespace {

std::uint64_t base_bytes = 0;

// A line of /proc/self/status that counts kB, in bytes; 0 where there is none.
std::uint64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.rfind(name + ':', 0) == 0) return std::stoull(line.substr(name.size() + 1)) * 1024;
  return 0;
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  if (argc < 3)
    throw std::invalid_argument("usage: PROGRAM TASK ARRAY [--data DIR] [--size full|small|tiny] ...");
  Arguments out;
  out.task = argv[1];
  out.array = argv[2];
  for (int i = 3; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--sharded") {
      out.sharded = true;
      continue;
    }
    if (++i == argc) throw std::invalid_argument(option + " needs a value");
    const std::string value = argv[i];
    if (option == "--data") out.data = value;
    else if (option == "--size") out.size = value;
    else if (option == "--out") out.out = value;
    else if (option == "--threads") out.threads = std::stoul(value);
    else if (option == "--concurrency") out.concurrency = std::stoul(value);
    else if (option == "--chunk") out.chunk = std::stoull(value);
    else throw std::invalid_argument("no option " + option);
  }
  if (out.threads == 0 || out.concurrency == 0)
    throw std::invalid_argument("--threads and --concurrency are at least 1");
  return out;
}

void Stopwatch::start() {
  if (!started_) {
    started_ = true;
    std::ofstream("/proc/self/clear_refs") << "5";  // see proc(5); VmHWM starts again from VmRSS
    base_bytes = status_bytes("VmRSS");
  }
  from_ = std::chrono::steady_clock::now();
}

void Stopwatch::stop() {
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - from_).count();
}

void report(const std::string& program, const Arguments& arguments, const Stopwatch& watch,
            std::uint64_t sum) {
  std::printf(
      R"({"program": "%s", "task": "%s", "array": "%s", "seconds": %.6f, "sum": %llu, "peak_bytes": %llu, "base_bytes": %llu})"
      "\n",
      program.c_str(), arguments.task.c_str(), arguments.array.c_str(), watch.seconds(),
      static_cast<unsigned long long>(sum), static_cast<unsigned long long>(status_bytes("VmHWM")),
      static_cast<unsigned long long>(base_bytes));
}

void Unmap::operator()(std::byte* data) const { ::munmap(data, size); }

Memory map_memory(std::size_t size, bool present) {
  // NumPy asks for huge pages in the same way for what is larger than 4 MiB, so all contestants read into the like.
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  ::madvise(mapped, size, MADV_HUGEPAGE);
  Memory out(static_cast<std::byte*>(mapped), Unmap{size});
  if (present) std::memset(out.get(), 0xa5, size);
  return out;
}

int run_program(const std::string& program, int argc, char** argv, void (*task)(const Arguments&)) {
  try {
    task(parse_arguments(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return 1;
  }
}

}  // namespace bench
