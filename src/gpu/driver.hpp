// The CUDA driver, found at run time.
#pragma once

#include <string>

#include "gpu/cuda_api.hpp"
#include "zarrive/error.hpp"

namespace zarrive::gpu {

// The driver's functions: all of them there, but for the optional ones, which may be null.
struct Driver {
#define ZARRIVE_CUDA_MEMBER(member, name, parameters) CudaResult(*member) parameters = nullptr;
  ZARRIVE_CUDA_FUNCTIONS(ZARRIVE_CUDA_MEMBER)
  ZARRIVE_CUDA_OPTIONAL_FUNCTIONS(ZARRIVE_CUDA_MEMBER)
#undef ZARRIVE_CUDA_MEMBER
  int version = 0;  // 12040 is CUDA 12.4
  int devices = 0;
};

// What loading it came to: `driver` is null when there is none that can be used, and `reason` then says why.
struct DriverStatus {
  const Driver* driver = nullptr;
  std::string path = {};
  std::string reason = {};
};

// Loaded and initialised by the first call in a process, nothing at load time of our library. A child forked after that has no driver: CUDA
// does not live through a fork. The environment variable ZARRIVE_LIBCUDA names another library, or "none".
const DriverStatus& driver_status();
// Error(unsupported) with the reason when there is none.
const Driver& driver();
// Whether this process may still use what it made with the driver: not after a fork. Destructors ask before they call the driver.
bool driver_lives() noexcept;

// "12.4" of 12040.
std::string version_text(int version);
// "CUDA_ERROR_OUT_OF_MEMORY: out of memory" as the driver words it.
std::string result_text(const Driver& driver, CudaResult result);
// Throws what is not success: resource_limit for lack of memory, else unavailable. `what` is what was tried: "copying 4096 bytes to cuda:0".
void check(const Driver& driver, CudaResult result, const std::string& what);

}  // namespace zarrive::gpu
