// Devices and contexts.
#include <cstring>

#include "fakes/fake_cuda_machine.hpp"

using namespace fake_cuda::machinery;

EXPORT Result cuInit(unsigned flags) {
  BEGIN("cuInit", false);
  if (const int result = setting("FAKE_CUDA_INIT", 0)) return result;
  if (flags) return bad(invalid_value);
  if (device_count() == 0) return no_device;
  m.contexts.resize(static_cast<std::size_t>(device_count()));
  m.initialised = true;
  return ok;
}

EXPORT Result cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion", false);
  static_cast<void>(m);
  *version = setting("FAKE_CUDA_VERSION", 13000);
  return ok;
}

EXPORT Result cuGetErrorName(Result error, const char** name) {
  switch (error) {
    case ok: *name = "CUDA_SUCCESS"; return ok;
    case invalid_value: *name = "CUDA_ERROR_INVALID_VALUE"; return ok;
    case out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return ok;
    case not_initialized: *name = "CUDA_ERROR_NOT_INITIALIZED"; return ok;
    case stub_library: *name = "CUDA_ERROR_STUB_LIBRARY"; return ok;
    case no_device: *name = "CUDA_ERROR_NO_DEVICE"; return ok;
    case invalid_image: *name = "CUDA_ERROR_INVALID_IMAGE"; return ok;
    case no_binary_for_gpu: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; return ok;
    case invalid_handle: *name = "CUDA_ERROR_INVALID_HANDLE"; return ok;
    case not_found: *name = "CUDA_ERROR_NOT_FOUND"; return ok;
    case not_ready: *name = "CUDA_ERROR_NOT_READY"; return ok;
    default: *name = nullptr; return invalid_value;
  }
}

EXPORT Result cuGetErrorString(Result error, const char** text) {
  const char* name = nullptr;
  if (cuGetErrorName(error, &name) != ok) {
    *text = nullptr;
    return invalid_value;
  }
  *text = error == out_of_memory ? "out of memory" : "as the fake driver says";
  return ok;
}

EXPORT Result cuDeviceGetCount(int* count) {
  BEGIN("cuDeviceGetCount");
  static_cast<void>(m);
  *count = device_count();
  return ok;
}

EXPORT Result cuDeviceGet(int* device, int ordinal) {
  BEGIN("cuDeviceGet");
  static_cast<void>(m);
  if (ordinal < 0 || ordinal >= device_count()) return bad(invalid_device);
  *device = ordinal;
  return ok;
}

EXPORT Result cuDeviceGetName(char* name, int size, int device) {
  BEGIN("cuDeviceGetName");
  static_cast<void>(m);
  std::strncpy(name, ("Fake device " + std::to_string(device)).c_str(), static_cast<std::size_t>(size));
  return ok;
}

EXPORT Result cuDeviceGetAttribute(int* value, int attribute, int) {
  BEGIN("cuDeviceGetAttribute");
  static_cast<void>(m);
  switch (attribute) {
    case 16: *value = 132; break;
    case 75: *value = 9; break;
    case 136: *value = engine_formats(); break;
    case 137: *value = engine_longest(); break;
    default: *value = 0;
  }
  return ok;
}

EXPORT Result cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  BEGIN("cuDeviceTotalMem_v2");
  static_cast<void>(m);
  *bytes = device_bytes;
  return ok;
}

EXPORT Result cuDevicePrimaryCtxRetain(void** context, int device) {
  BEGIN("cuDevicePrimaryCtxRetain");
  if (device < 0 || device >= device_count()) return bad(invalid_device);
  auto& made = m.contexts[static_cast<std::size_t>(device)];
  if (!made) {
    made = std::make_unique<Context>();
    made->device = made->legacy.device = device;
  }
  *context = made.get();
  return ok;
}

EXPORT Result cuCtxPushCurrent_v2(void* context) {
  BEGIN("cuCtxPushCurrent_v2");
  ++m.counts.contexts_pushed;
  current.push_back(static_cast<Context*>(context));
  return ok;
}

EXPORT Result cuCtxPopCurrent_v2(void** context) {
  BEGIN("cuCtxPopCurrent_v2");
  if (current.empty()) return bad(invalid_context);
  --m.counts.contexts_pushed;
  *context = current.back();
  current.pop_back();
  return ok;
}
