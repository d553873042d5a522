#include "gpu/driver.hpp"

#include <cstdint>
#include <memory>

#include "base/thread_pool.hpp"
#include "gpu/shared_library.hpp"

namespace zarrive::gpu {

namespace {

// The first that loads kernels by cuLibraryLoadData.
constexpr int oldest_version = 12000;

struct Loaded {
  Driver driver = {};
  DriverStatus status = {};
  std::uint64_t generation = 0;  // of the process that loaded it
};

void load(Loaded& loaded) {
  const SharedLibrary library("ZARRIVE_LIBCUDA", {"libcuda.so.1", "libcuda.so"});
  DriverStatus& status = loaded.status;
  Driver& driver = loaded.driver;
  status.path = library.path();
  if (!library.is_open()) {
    status.reason = "no CUDA driver: " + library.reason();
    return;
  }
#define ZARRIVE_CUDA_LOAD(member, name, parameters)                                                          \
  driver.member = reinterpret_cast<decltype(driver.member)>(library.symbol(#name));                          \
  if (!driver.member) {                                                                                      \
    status.reason = "the CUDA driver " + library.path() + " has no function " #name ", which CUDA 12.0 has"; \
    return;                                                                                                  \
  }
  ZARRIVE_CUDA_FUNCTIONS(ZARRIVE_CUDA_LOAD)
#undef ZARRIVE_CUDA_LOAD
#define ZARRIVE_CUDA_LOAD_OPTIONAL(member, name, parameters) \
  driver.member = reinterpret_cast<decltype(driver.member)>(library.symbol(#name));
  ZARRIVE_CUDA_OPTIONAL_FUNCTIONS(ZARRIVE_CUDA_LOAD_OPTIONAL)
#undef ZARRIVE_CUDA_LOAD_OPTIONAL
  const CudaResult started = driver.init(0);
  if (started == cuda_stub_library) {
    status.reason =
        library.path() + " is the toolkit's stub, which programs link with; there is no driver behind it";
    return;
  }
  if (started == cuda_no_device) {
    status.reason = "the CUDA driver " + library.path() + " sees no device";
    return;
  }
  if (started != cuda_success) {
    status.reason = "cuInit of " + library.path() + ": " + result_text(driver, started);
    return;
  }
  if (driver.driver_version(&driver.version) != cuda_success || driver.version < oldest_version) {
    status.reason = "the CUDA driver " + library.path() + " is of version " + version_text(driver.version) +
                    "; " + version_text(oldest_version) + " or newer is needed";
    return;
  }
  if (const CudaResult counted = driver.device_count(&driver.devices);
      counted != cuda_success || driver.devices == 0) {
    status.reason = "the CUDA driver " + library.path() + " sees no device";
    return;
  }
  status.driver = &driver;
}

}  // namespace

const DriverStatus& driver_status() {
  static const std::unique_ptr<const Loaded> loaded = [] {
    auto made = std::make_unique<Loaded>();
    made->generation = detail::fork_generation();
    load(*made);
    return made;
  }();
  if (loaded->generation == detail::fork_generation() || !loaded->status.driver) return loaded->status;
  static const DriverStatus forked{nullptr, loaded->status.path,
                                   "this process was forked from one that used the GPU already, and CUDA "
                                   "does not live through that; start it afresh "
                                   "(multiprocessing: 'spawn')"};
  return forked;
}

const Driver& driver() {
  const DriverStatus& status = driver_status();
  if (!status.driver) throw Error(ErrorCode::unsupported, status.reason);
  return *status.driver;
}

bool driver_lives() noexcept { return driver_status().driver != nullptr; }

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string result_text(const Driver& driver, CudaResult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.error_name(result, &name) != cuda_success || !name)
    return "CUDA error " + std::to_string(result);
  if (driver.error_string(result, &text) != cuda_success || !text) return name;
  return std::string(name) + ": " + text;
}

void check(const Driver& driver, CudaResult result, const std::string& what) {
  if (result == cuda_success) return;
  throw Error(result == cuda_out_of_memory ? ErrorCode::resource_limit : ErrorCode::unavailable,
              what + ": " + result_text(driver, result));
}

}  // namespace zarrive::gpu
