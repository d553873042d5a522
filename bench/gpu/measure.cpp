// What is done around each thing that is measured.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "gpu/gpu.hpp"
#include "support/process.hpp"
#include "zarrive/gpu.hpp"

namespace bench {

std::vector<double> measure(std::size_t runs, const std::function<void()>& once) {
  once();
  std::vector<double> seconds;
  for (std::size_t run = 0; run < runs; ++run) {
    const auto from = std::chrono::steady_clock::now();
    once();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
  }
  return seconds;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void say(zarrive::JsonObject row) {
  std::printf("%s\n", zarrive::Json(std::move(row)).dump().c_str());
  std::fflush(stdout);
}

zarrive::JsonObject speed(std::uint64_t bytes, const std::vector<double>& seconds) {
  const double middle = median(seconds);
  zarrive::JsonArray all;
  for (const double s : seconds) all.emplace_back(s);
  return {{"seconds", middle},
          {"all_seconds", std::move(all)},
          {"gbs", static_cast<double>(bytes) / middle / 1e9}};
}

std::uint64_t stored_bytes(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

namespace {

// What no read may leave there.
constexpr int unread = 0xA5;

zarrive::JsonObject ways(const zarrive::gpu::ReadReport& report) {
  return {{"direct", report.direct},
          {"as stored", report.copied},
          {"decoded on the device", report.device_decoded},
          {"decoded on the host", report.host_decoded},
          {"filled", report.filled}};
}

// The bytes that had to cross to the device: chunks that it decodes cross as they are stored, all others decoded.
double crossing(const zarrive::gpu::ReadReport& report, std::uint64_t stored) {
  return static_cast<double>(report.direct + report.copied + report.host_decoded) +
         static_cast<double>(report.device_decoded) / static_cast<double>(report.total()) *
             static_cast<double>(stored);
}

}  // namespace

void measure_array(const GpuArguments& arguments, const Ceilings& ceilings, const zarrive::Array& array,
                   std::uint64_t stored, const std::function<void(const std::byte*)>& check,
                   zarrive::JsonObject row) {
  const zarrive::gpu::Device& device = zarrive::gpu::Device::get(arguments.device);
  const std::size_t size = zarrive::byte_count(array.shape(), array.data_type().item_size());
  const Memory memory = map_memory(size, true);
  const zarrive::ArrayView host(memory.get(), array.data_type(), array.shape());
  const std::vector<double> host_seconds = measure(arguments.runs, [&] { array.read_into({}, host); });

  const zarrive::NDArray result =
      zarrive::NDArray::allocate(array.data_type(), array.shape(), zarrive::cuda(arguments.device));
  zarrive::gpu::Stream stream(device);
  const auto read = [&](const zarrive::ReadOptions& options) {
    array.read_into({}, result.view(), options);
    if (options.stream) stream.synchronize();
  };
  // Times a way of reading. Then once more, over memory that holds something else, and back.
  const auto timed = [&](const char* name, const zarrive::ReadOptions& options) {
    const std::vector<double> seconds = measure(arguments.runs, [&] { read(options); });
    row.set(name, speed(size, seconds));
    std::memset(memory.get(), unread, size);
    zarrive::gpu::copy_to_device(device, result.view().data, memory.get(), size, stream.handle());
    stream.synchronize();
    read(options);
    zarrive::gpu::copy_to_host(device, memory.get(), result.view().data, size, stream.handle());
    stream.synchronize();
    check(memory.get());
  };
  row.set("decoded_bytes", size);
  row.set("stored_bytes", stored);
  row.set("host", speed(size, host_seconds));
  zarrive::gpu::ReadReport report;
  zarrive::ReadOptions options;
  options.device_report = &report;
  timed("device", options);
  row.set("ways", ways(report));
  const double copy_seconds = crossing(report, stored) / ceilings.to_device;
  const double read_seconds = static_cast<double>(stored) / ceilings.read;
  const double least = std::max(copy_seconds, read_seconds);
  row.set("ceiling", zarrive::JsonObject{{"seconds", least},
                                         {"gbs", static_cast<double>(size) / least / 1e9},
                                         {"of", copy_seconds > read_seconds ? "copy" : "read"}});
  if (report.device_decoded + report.host_decoded > 0) {
    options.device_decode = zarrive::gpu::DeviceDecode::always;
    timed("device_decodes", options);
    row.set("device_decodes_ways", ways(report));
    options.device_decode = zarrive::gpu::DeviceDecode::never;
    timed("host_decodes", options);
    options.device_decode = zarrive::gpu::DeviceDecode::automatic;
  }
  options.stream = stream.handle();
  timed("stream", options);
  say(std::move(row));
}

}  // namespace bench
