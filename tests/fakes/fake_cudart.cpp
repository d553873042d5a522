// The CUDA runtime over the fake driver, for programs that nvcc compiled: what the examples call and what <<<>>> becomes, on device 0.
// The names and types are those of libcudart.
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
int cuInit(unsigned flags);
int cuGetErrorString(int error, const char** text);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cuCtxPushCurrent_v2(void* context);
int cuMemHostAlloc(void** data, std::size_t size, unsigned flags);
int cuMemFreeHost(void* data);
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamDestroy_v2(void* stream);
int cuStreamSynchronize(void* stream);
int cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryGetKernel(void** kernel, void* library, const char* name);
int cuLaunchKernel(void* kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void* stream, void** parameters, void** extra);
}

namespace {

using Error = int;
constexpr Error success = 0, invalid_device_function = 98, missing_configuration = 52;

struct Size3 {  // dim3
  unsigned x, y, z;
};

struct FatBinary {  // what nvcc puts around an image
  int magic;
  int version;
  const void* image;
  void* rest;
};

struct Module {
  const void* image = nullptr;
  void* library = nullptr;  // once it is loaded
};

struct Function {
  Module* module = nullptr;
  std::string name;
};

struct Configuration {
  Size3 grid, block;
  std::size_t shared_bytes;
  void* stream;
};

// Kept to the end: programs unregister their modules after their static objects are gone.
std::mutex& mutex() {
  static auto* const made = new std::mutex;
  return *made;
}
std::map<const void*, Function>& functions() {
  static auto* const made = new std::map<const void*, Function>;
  return *made;
}

thread_local std::vector<Configuration> configurations;
thread_local Error last_error = success;

Error keep(Error error) {
  if (error) last_error = error;
  return error;
}

// The runtime makes the primary context of its device current in each thread that calls it.
Error enter() {
  thread_local bool entered = false;
  if (entered) return success;
  void* context = nullptr;
  Error error = cuInit(0);
  if (!error) error = cuDevicePrimaryCtxRetain(&context, 0);
  if (!error) error = cuCtxPushCurrent_v2(context);
  entered = error == success;
  return error;
}

}  // namespace

#define ENTER() \
  if (const Error error = enter()) return keep(error)

EXPORT const char* cudaGetErrorString(Error error) {
  const char* text = nullptr;
  return cuGetErrorString(error, &text) ? "unrecognized error code" : text;
}

EXPORT Error cudaGetLastError() { return std::exchange(last_error, success); }

EXPORT Error cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  ENTER();
  return keep(cuStreamCreate(stream, flags));
}

EXPORT Error cudaStreamDestroy(void* stream) {
  ENTER();
  return keep(cuStreamDestroy_v2(stream));
}

EXPORT Error cudaStreamSynchronize(void* stream) {
  ENTER();
  return keep(cuStreamSynchronize(stream));
}

// Memory of both sides: here, pinned memory is.
EXPORT Error cudaMallocManaged(void** data, std::size_t size, unsigned) {
  ENTER();
  return keep(cuMemHostAlloc(data, size, 0));
}

EXPORT Error cudaFree(void* data) {
  ENTER();
  return data ? keep(cuMemFreeHost(data)) : success;
}

EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  auto* const module = new Module{static_cast<const FatBinary*>(wrapper)->image, nullptr};
  return reinterpret_cast<void**>(module);
}

EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

EXPORT void __cudaUnregisterFatBinary(void** handle) {
  auto* const module = reinterpret_cast<Module*>(handle);
  std::lock_guard lock(mutex());
  std::erase_if(functions(), [&](const auto& entry) { return entry.second.module == module; });
  delete module;
}

EXPORT char __cudaInitModule(void**) { return 1; }

EXPORT void __cudaRegisterFunction(void** handle, const char* host_function, char*, const char* name, int,
                                   void*, void*, void*, void*, int*) {
  std::lock_guard lock(mutex());
  functions()[host_function] = {reinterpret_cast<Module*>(handle), name};
}

EXPORT unsigned __cudaPushCallConfiguration(Size3 grid, Size3 block, std::size_t shared_bytes, void* stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

EXPORT Error __cudaPopCallConfiguration(Size3* grid, Size3* block, std::size_t* shared_bytes, void* stream) {
  if (configurations.empty()) return keep(missing_configuration);
  const Configuration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared_bytes = c.shared_bytes;
  *static_cast<void**>(stream) = c.stream;
  return success;
}

EXPORT Error __cudaGetKernel(void** kernel, const void* host_function) {
  ENTER();
  std::lock_guard lock(mutex());
  const auto found = functions().find(host_function);
  if (found == functions().end()) return keep(invalid_device_function);
  Module& module = *found->second.module;
  if (!module.library) {
    const Error error =
        cuLibraryLoadData(&module.library, module.image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error) return keep(error);
  }
  return keep(cuLibraryGetKernel(kernel, module.library, found->second.name.c_str()));
}

EXPORT Error __cudaLaunchKernel(void* kernel, Size3 grid, Size3 block, void** parameters,
                                std::size_t shared_bytes, void* stream) {
  ENTER();
  return keep(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                             static_cast<unsigned>(shared_bytes), stream, parameters, nullptr));
}

// What <<<>>> becomes with the nvcc of CUDA 12.
EXPORT Error cudaLaunchKernel(const void* host_function, Size3 grid, Size3 block, void** parameters,
                              std::size_t shared_bytes, void* stream) {
  void* kernel = nullptr;
  if (const Error error = __cudaGetKernel(&kernel, host_function)) return error;
  return __cudaLaunchKernel(kernel, grid, block, parameters, shared_bytes, stream);
}
