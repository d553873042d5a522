// bench_gpu info: which GPU this machine has, as one line of JSON.
// bench_gpu run [--data DIR] [--size full|small|tiny] [--runs N] [--threads N] [--device N]: a line for every row of the bench on a GPU. The
// arrays A to G are there already (bench_generate). Exit status 1 when a row could not be measured, or had a wrong value.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "gpu/gpu.hpp"
#include "zarrive/executor.hpp"
#include "zarrive/gpu.hpp"

namespace {

zarrive::JsonObject library(const zarrive::gpu::LibraryInfo& info) {
  return {{"path", info.path}, {"version", info.version}, {"reason", info.reason}};
}

void say_info() {
  const zarrive::gpu::SystemInfo system = zarrive::gpu::system_info();
  zarrive::JsonArray devices;
  for (const zarrive::gpu::DeviceInfo& device : system.devices)
    devices.emplace_back(zarrive::JsonObject{
        {"name", device.name},
        {"compute_capability",
         std::to_string(device.compute_major) + '.' + std::to_string(device.compute_minor)},
        {"multiprocessors", device.multiprocessors},
        {"memory_bytes", device.memory_bytes}});
  zarrive::JsonObject out{{"driver", library(system.driver)},
                          {"cufile", library(system.cufile)},
                          {"nvcomp", library(system.nvcomp)},
                          {"kernels", library(system.kernels)},
                          {"devices", std::move(devices)}};
  bench::say(std::move(out));
}

bench::GpuArguments parse(int argc, char** argv) {
  bench::GpuArguments out;
  out.threads = zarrive::cpu_quota();
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (++i == argc) throw std::invalid_argument(option + " needs a value");
    const std::string value = argv[i];
    if (option == "--data") out.data = value;
    else if (option == "--size") out.size = value;
    else if (option == "--runs") out.runs = std::stoul(value);
    else if (option == "--threads") out.threads = std::stoul(value);
    else if (option == "--device") out.device = std::stoi(value);
    else throw std::invalid_argument("no option " + option);
  }
  if (out.runs == 0 || out.threads == 0) throw std::invalid_argument("--runs and --threads are at least 1");
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "info") {
      say_info();
      return 0;
    }
    if (command != "run") throw std::invalid_argument("usage: bench_gpu info | bench_gpu run [OPTION...]");
    const bench::GpuArguments arguments = parse(argc, argv);
    ::setenv("ZARRIVE_NUM_THREADS", std::to_string(arguments.threads).c_str(), 1);
    const bench::Ceilings ceilings = bench::measure_ceilings(arguments);
    const bool arrays = bench::measure_arrays(arguments, ceilings);
    const bool chunks = bench::measure_chunks(arguments, ceilings);
    return arrays && chunks ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gpu: %s\n", error.what());
    return 1;
  }
}
