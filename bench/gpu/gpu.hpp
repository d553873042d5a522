// The bench of reads into device memory: what the machine gives at most, then arrays against that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "support/workload.hpp"
#include "zarrive/array.hpp"
#include "zarrive/json.hpp"

namespace bench {

struct GpuArguments {
  std::string data = "build-bench/data";
  std::string size = "full";
  int device = 0;
  std::size_t runs = 5;
  std::size_t threads = 1;

  std::uint64_t scale() const { return scale_of(size); }
  std::string folder() const { return data + '/' + size; }
};

// Seconds of each of `runs` calls, after one that does not count.
std::vector<double> measure(std::size_t runs, const std::function<void()>& once);
double median(std::vector<double> values);

// One line of JSON on stdout. A row is a thing that was measured, or a thing that could not be, with the reason as "error".
void say(zarrive::JsonObject row);
// {"seconds": the median, "all_seconds": [...], "gbs": bytes / median / 1e9}
zarrive::JsonObject speed(std::uint64_t bytes, const std::vector<double>& seconds);

// Bytes a second of the best size, or number of threads.
struct Ceilings {
  double to_device = 0;  // pinned memory to the device
  double read = 0;       // files in the page cache to pinned memory
};
Ceilings measure_ceilings(const GpuArguments& arguments);

// A thing that is read whole into device memory; says its row. `check` gets all elements, dense, in host memory, and throws when one is
// wrong. `row` is what the row says besides.
void measure_array(const GpuArguments& arguments, const Ceilings& ceilings, const zarrive::Array& array,
                   std::uint64_t stored_bytes, const std::function<void(const std::byte*)>& check,
                   zarrive::JsonObject row);
// The bytes of all files below a folder.
std::uint64_t stored_bytes(const std::string& folder);

// Arrays A to G; false when one could not be measured.
bool measure_arrays(const GpuArguments& arguments, const Ceilings& ceilings);
// Chunks of several sizes of each codec; likewise.
bool measure_chunks(const GpuArguments& arguments, const Ceilings& ceilings);

}  // namespace bench
