// What every program of the bench does around its task: reads the command line, takes the time, and says one line of JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "support/workload.hpp"

namespace bench {

// PROGRAM TASK ARRAY [--data DIR] [--size full] [--threads N] [--concurrency N] [--out DIR] ..., the same for us, the limits and the peers.
struct Arguments {
  std::string task = {};
  std::string array = {};  // a letter; "-" for tasks without one
  std::string data = "build-bench/data";
  std::string size = "full";
  std::string out = {};         // where roundtrip writes
  std::size_t threads = 1;      // that the library may use
  std::size_t concurrency = 1;  // requests that the caller has out at once
  // of the sharding benchmark
  std::uint64_t chunk = 64;
  bool sharded = false;

  std::uint64_t scale() const { return scale_of(size); }
  Recipe recipe() const { return bench::recipe(array.at(0), scale()); }
  std::string path() const { return data + '/' + size + '/' + array + ".zarr"; }
};
Arguments parse_arguments(int argc, char** argv);  // std::invalid_argument

// Takes time in pieces; what lies between stop and start (checking sums) is not counted.
class Stopwatch {
 public:
  // The first start also makes the peak of resident memory start from what is resident now.
  void start();
  void stop();
  double seconds() const { return seconds_; }

 private:
  bool started_ = false;
  double seconds_ = 0;
  std::chrono::steady_clock::time_point from_;
};

// {"program": ..., "task": ..., "array": ..., "seconds": ..., "sum": ..., "peak_bytes": ..., "base_bytes": ...} on one line of stdout.
// base_bytes is what was resident when the watch was first started, peak_bytes the most since then.
void report(const std::string& program, const Arguments& arguments, const Stopwatch& watch,
            std::uint64_t sum);

// Memory as a caller brings it along: on huge pages where the system gives them. With `present` every page is there and written to.
struct Unmap {
  std::size_t size = 0;
  void operator()(std::byte* data) const;
};
using Memory = std::unique_ptr<std::byte[], Unmap>;
Memory map_memory(std::size_t size, bool present);

// main() around a task: exit 1 and one line on stderr for exceptions.
int run_program(const std::string& program, int argc, char** argv, void (*task)(const Arguments&));

}  // namespace bench
