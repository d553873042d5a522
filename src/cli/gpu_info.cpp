#include "cli/gpu_info.hpp"

#include <ostream>

#include "cli/text.hpp"
#include "zarrive/gpu.hpp"

namespace zarrive::cli {

namespace {

std::string library_text(const gpu::LibraryInfo& library) {
  if (!library.reason.empty()) return "none: " + printable(library.reason);
  return (library.version.empty() ? "" : library.version + ", ") + printable(library.path);
}

std::string device_text(const gpu::DeviceInfo& device) {
  return printable(device.name) + ", compute capability " + std::to_string(device.compute_major) + "." +
         std::to_string(device.compute_minor) + ", " +
         counted(static_cast<std::uint64_t>(device.multiprocessors), "multiprocessor") + ", " +
         human_bytes(device.memory_bytes);
}

std::string engine_text(const gpu::EngineInfo& engine) {
  if (!engine.reason.empty()) return "none: " + engine.reason;
  std::string text;
  for (const std::string& format : engine.formats) text += format + ", ";
  return text + "streams of up to " + human_bytes(engine.longest);
}

Json engine_json(const gpu::EngineInfo& engine) {
  JsonArray formats(engine.formats.begin(), engine.formats.end());
  JsonObject object{
      {"usable", engine.reason.empty()}, {"formats", std::move(formats)}, {"longest_bytes", engine.longest}};
  if (!engine.reason.empty()) object.set("reason", engine.reason);
  return object;
}

Json library_json(const gpu::LibraryInfo& library) {
  JsonObject object{{"usable", library.reason.empty()}};
  if (!library.path.empty()) object.set("path", library.path);
  if (!library.version.empty()) object.set("version", library.version);
  if (!library.reason.empty()) object.set("reason", library.reason);
  return object;
}

Json system_json(const gpu::SystemInfo& system) {
  JsonArray devices;
  for (const gpu::DeviceInfo& device : system.devices)
    devices.emplace_back(JsonObject{{"space", "cuda:" + std::to_string(device.ordinal)},
                                    {"name", device.name},
                                    {"compute_capability", std::to_string(device.compute_major) + "." +
                                                               std::to_string(device.compute_minor)},
                                    {"multiprocessors", device.multiprocessors},
                                    {"memory_bytes", device.memory_bytes},
                                    {"engine", engine_json(device.engine)}});
  return JsonObject{{"driver", library_json(system.driver)},
                    {"devices", std::move(devices)},
                    {"kernels", library_json(system.kernels)},
                    {"cufile", library_json(system.cufile)},
                    {"nvcomp", library_json(system.nvcomp)}};
}

}  // namespace

void print_gpu_info(Session& session, bool json) {
  const gpu::SystemInfo system = gpu::system_info();
  std::ostream& out = session.out();
  if (json) {
    out << system_json(system).dump({.indent = 2}) << '\n';
    return;
  }
  out << info_line("driver", library_text(system.driver));
  for (const gpu::DeviceInfo& device : system.devices)
    out << info_line("cuda:" + std::to_string(device.ordinal), device_text(device))
        << info_line("  engine", engine_text(device.engine));
  out << info_line("kernels", library_text(system.kernels));
  out << info_line("cufile", library_text(system.cufile));
  out << info_line("nvcomp", library_text(system.nvcomp));
}

}  // namespace zarrive::cli
