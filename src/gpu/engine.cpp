#include "gpu/engine.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace zarrive::gpu {

Engine find_engine(const Driver& driver, int ordinal, std::string* reason) {
  const auto none = [&](const char* why) {
    if (reason) *reason = why;
    return Engine{};
  };
  if (reason) reason->clear();
  if (!driver.decompress_batch) return none("the driver has no cuMemBatchDecompressAsync, as of CUDA 12.8");
  if (const char* const wish = std::getenv("ZARRIVE_GPU_ENGINE"); wish && std::string_view(wish) == "off")
    return none("switched off by ZARRIVE_GPU_ENGINE=off");
  CudaDevice handle = 0;
  int formats = 0, longest = 0;
  if (driver.device_get(&handle, ordinal) != cuda_success ||
      driver.device_attribute(&formats, cuda_attribute_decompress_algorithms, handle) != cuda_success ||
      driver.device_attribute(&longest, cuda_attribute_decompress_longest, handle) != cuda_success ||
      formats <= 0 || longest <= 0)
    return none("the device has none");
  return {static_cast<unsigned>(formats), static_cast<std::uint64_t>(longest)};
}

void decompress(const Device& device, std::span<CudaDecompression> streams, CudaStream stream) {
  if (streams.empty()) return;
  const ContextScope scope(device);
  std::size_t failed = SIZE_MAX;  // none in particular
  const CudaResult result =
      device.driver().decompress_batch(streams.data(), streams.size(), 0, &failed, stream);
  if (result == cuda_success) return;
  std::string what = "decompressing " + std::to_string(streams.size()) + " streams on " + device.name();
  if (failed < streams.size())
    what += ", of them number " + std::to_string(failed) + " (" + std::to_string(streams[failed].encoded) +
            " bytes, decoded " + std::to_string(streams[failed].decoded) + ")";
  check(device.driver(), result, what);
}

}  // namespace zarrive::gpu
