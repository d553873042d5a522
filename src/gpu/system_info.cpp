#include <utility>

#include "gpu/cufile.hpp"
#include "gpu/driver.hpp"
#include "gpu/engine.hpp"
#include "gpu/kernels.hpp"
#include "gpu/nvcomp.hpp"
#include "zarrive/gpu.hpp"

namespace zarrive::gpu {

std::string ReadReport::to_string() const {
  return std::to_string(total()) + " bytes: " + std::to_string(direct) + " direct, " +
         std::to_string(copied) + " as stored, " + std::to_string(device_decoded) + " decoded on the device" +
         (engine_decoded ? " (" + std::to_string(engine_decoded) + " with its engine)" : "") + ", " +
         std::to_string(host_decoded) + " on the host, " + std::to_string(filled) + " filled";
}

namespace {

EngineInfo engine_info(const Driver& driver, int ordinal) {
  EngineInfo info;
  const Engine engine = find_engine(driver, ordinal, &info.reason);
  for (const auto& [format, name] : {std::pair(EngineFormat::deflate, "deflate"),
                                     {EngineFormat::snappy, "snappy"},
                                     {EngineFormat::lz4, "lz4"}})
    if (engine.formats & static_cast<unsigned>(format)) info.formats.emplace_back(name);
  info.longest = engine.longest;
  return info;
}

DeviceInfo device_info(const Driver& driver, int ordinal) {
  DeviceInfo info{.ordinal = ordinal};
  CudaDevice device = 0;
  check(driver, driver.device_get(&device, ordinal), "opening cuda:" + std::to_string(ordinal));
  char name[256] = {};
  if (driver.device_name(name, sizeof name - 1, device) == cuda_success) info.name = name;
  driver.device_attribute(&info.compute_major, cuda_attribute_compute_major, device);
  driver.device_attribute(&info.compute_minor, cuda_attribute_compute_minor, device);
  driver.device_attribute(&info.multiprocessors, cuda_attribute_multiprocessors, device);
  std::size_t bytes = 0;
  if (driver.device_total_memory(&bytes, device) == cuda_success) info.memory_bytes = bytes;
  info.engine = engine_info(driver, ordinal);
  return info;
}

template <class Status>
LibraryInfo library_info(const Status& status) {
  return {status.path, status.version, status.reason};
}

}  // namespace

SystemInfo system_info() {
  const DriverStatus& status = driver_status();
  SystemInfo info;
  info.driver.path = status.path;
  info.driver.reason = status.reason;
  const KernelsStatus kernels = kernels_status();
  info.kernels = {kernels.path, {}, kernels.reason};
  info.cufile = library_info(cufile_status());
  info.nvcomp = library_info(nvcomp_status());
  if (!status.driver) return info;
  info.driver.version = version_text(status.driver->version);
  for (int ordinal = 0; ordinal < status.driver->devices; ++ordinal)
    info.devices.push_back(device_info(*status.driver, ordinal));
  return info;
}

}  // namespace zarrive::gpu
