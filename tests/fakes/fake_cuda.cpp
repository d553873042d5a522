#include "fakes/fake_cuda.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fakes/fake_kernels.hpp"
#include "fakes/host_formats.hpp"

// The names and types are those of libcuda, written down again here so that the loader's are tested against something.
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Result = int;
constexpr Result ok = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3, stub_library = 34,
                 no_device = 100, invalid_image = 200, no_binary_for_gpu = 209, invalid_device = 101,
                 invalid_context = 201, invalid_handle = 400, not_found = 500, not_ready = 600;
constexpr std::size_t device_bytes = std::size_t{1} << 30;

struct Operation {
  std::function<void()> run;
  std::uint64_t number = 0;  // counted by its stream
};

struct Stream {
  int device = 0;
  std::deque<Operation> waiting;
  std::uint64_t put = 0;   // number of the last operation put in
  std::uint64_t done = 0;  // and of the last that ran
};

struct Event {
  int device = 0;
  Stream* stream = nullptr;  // where it was recorded last; null: nowhere
  std::uint64_t number = 0;
};

// Device memory: pages that nobody may touch but the driver while it works. What the block leaves of its pages is filled with `blank` and
// looked at when it is freed; a page that is nobody's follows.
struct Block {
  int device = 0;
  std::size_t size = 0;
  std::byte* pages = nullptr;
  std::size_t page_bytes = 0;
  int open = 0;  // how many are at work on it
};
constexpr std::size_t page = 4096;
constexpr std::size_t alignment = 256;
constexpr std::byte blank{0xAB};  // not zero, which could pass for data

struct Failure {
  int result = 0;
  int skip = 0;
};

struct Context {
  int device = 0;
  Stream legacy;  // the default stream
};

struct Machine {
  std::recursive_mutex mutex;  // host functions may call back
  bool initialised = false;
  std::vector<std::unique_ptr<Context>> contexts;
  std::map<std::uintptr_t, Block> device;
  std::map<std::uintptr_t, std::size_t> pinned;
  std::set<Stream*> streams;
  std::vector<std::unique_ptr<Stream>> destroyed;
  std::set<Event*> events;
  std::map<std::string, Failure> failures;
  std::mt19937_64 random{
      std::getenv("FAKE_CUDA_SEED") ? std::strtoull(std::getenv("FAKE_CUDA_SEED"), nullptr, 10) : 1};
  fake_cuda::Counts counts;
  int engine_formats = -1;  // -1: as the environment says
  int engine_longest = 0;
  std::size_t used[8] = {};
};

Machine& machine() {
  static Machine* const made = new Machine;
  return *made;
}

int setting(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

int device_count() { return setting("FAKE_CUDA_DEVICES", 2); }

thread_local std::vector<Context*> current;

// Every call: the lock, faults to inject, and that cuInit came first.
struct Call {
  explicit Call(const char* function, bool needs_init = true) : lock(machine().mutex) {
    Machine& m = machine();
    if (needs_init && !m.initialised) result = not_initialized;
    if (const auto failure = m.failures.find(function); failure != m.failures.end()) {
      if (failure->second.skip-- == 0) {
        result = failure->second.result;
        m.failures.erase(failure);
      }
    }
  }
  std::lock_guard<std::recursive_mutex> lock;
  Result result = ok;
};

#define BEGIN(...)                     \
  Call call(__VA_ARGS__);              \
  if (call.result) return call.result; \
  Machine& m = machine()

Result bad(Result result) {
  ++machine().counts.bad_calls;
  return result;
}

Stream* stream_of(void* handle) {
  if (!handle) return current.empty() ? nullptr : &current.back()->legacy;
  auto* const stream = static_cast<Stream*>(handle);
  return machine().streams.count(stream) ? stream : nullptr;
}

// Runs a stream up to an operation.
void run(Stream& stream, std::uint64_t until) {
  while (stream.done < until && !stream.waiting.empty()) {
    Operation operation = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    operation.run();
    stream.done = operation.number;
  }
}

void put(Stream& stream, std::function<void()> run) {
  stream.waiting.push_back({std::move(run), ++stream.put});
}

void run_everything(int device) {
  for (const auto& context : machine().contexts)
    if (context && context->device == device) run(context->legacy, context->legacy.put);
  for (Stream* stream : machine().streams)
    if (stream->device == device) run(*stream, stream->put);
}

// The block that [address, address + size) lies in; null when there is none.
Block* block_of(unsigned long long address, std::size_t size) {
  auto& blocks = machine().device;
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return nullptr;
  auto& [start, block] = *--after;
  const std::size_t offset = address - start;
  return offset > block.size || size > block.size - offset ? nullptr : &block;
}

void open(Block& block) {
  if (block.open++ == 0) ::mprotect(block.pages, block.page_bytes, PROT_READ | PROT_WRITE);
}
void close(Block& block) {
  if (--block.open == 0) ::mprotect(block.pages, block.page_bytes, PROT_NONE);
}

// Bytes of a device while this lives; null when there are none, or fewer.
class Bytes {
 public:
  Bytes(unsigned long long address, std::size_t size) : block_(block_of(address, size)) {
    if (!block_) return;
    open(*block_);
    data_ = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
  }
  ~Bytes() {
    if (block_) close(*block_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  std::byte* data() const { return data_; }

 private:
  Block* block_;
  std::byte* data_ = nullptr;
};

int engine_formats() {
  const int set = machine().engine_formats;
  return set >= 0 ? set : setting("FAKE_CUDA_DECOMPRESS", 0);
}
int engine_longest() {
  if (machine().engine_formats >= 0) return machine().engine_longest;
  return engine_formats() ? 4 << 20 : 0;
}

// All memory of a device, for a kernel.
class OpenDevice {
 public:
  explicit OpenDevice(int device) : device_(device) { each(open); }
  ~OpenDevice() { each(close); }
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;

 private:
  void each(void (*act)(Block&)) const {
    for (auto& [address, block] : machine().device)
      if (block.device == device_) act(block);
  }
  int device_;
};

bool is_pinned(const void* data, std::size_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  auto after = machine().pinned.upper_bound(address);
  if (after == machine().pinned.begin()) return false;
  const auto& [start, length] = *--after;
  return address + size <= start + length;
}

}  // namespace

namespace fake_cuda {

void fail(const char* function, int result, int skip) {
  std::lock_guard lock(machine().mutex);
  machine().failures[function] = {result, skip};
}

Counts counts() {
  std::lock_guard lock(machine().mutex);
  return machine().counts;
}

void reset_counts() {
  std::lock_guard lock(machine().mutex);
  Counts& all = machine().counts;
  all.bytes_to_device = all.bytes_to_host = all.bytes_on_device = 0;
  all.bad_calls = all.kernels = all.engine_calls = all.engine_streams = 0;
}

void set_decompression(int mask, int max_length) {
  std::lock_guard lock(machine().mutex);
  machine().engine_formats = mask;
  machine().engine_longest = max_length;
}

void peek(void* to, unsigned long long from, std::size_t size) {
  std::lock_guard lock(machine().mutex);
  if (const Bytes bytes(from, size); bytes.data()) std::memcpy(to, bytes.data(), size);
  else ++machine().counts.bad_calls;
}

void poke(unsigned long long to, const void* from, std::size_t size) {
  std::lock_guard lock(machine().mutex);
  if (const Bytes bytes(to, size); bytes.data()) std::memcpy(bytes.data(), from, size);
  else ++machine().counts.bad_calls;
}

bool holds(unsigned long long address, std::size_t size) {
  std::lock_guard lock(machine().mutex);
  return block_of(address, size) != nullptr;
}

bool put(void* handle, std::function<void()> work) {
  std::lock_guard lock(machine().mutex);
  Stream* const stream = stream_of(handle);
  if (!stream) {
    bad(invalid_handle);
    return false;
  }
  ::put(*stream, std::move(work));
  return true;
}

bool has_context() { return !current.empty(); }

int failure(const char* function) {
  if (const int always = setting((std::string("FAKE_") + function).c_str(), 0)) return always;
  std::lock_guard lock(machine().mutex);
  const auto failure = machine().failures.find(function);
  if (failure == machine().failures.end() || failure->second.skip-- != 0) return 0;
  const int result = failure->second.result;
  machine().failures.erase(failure);
  return result;
}

}  // namespace fake_cuda

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

EXPORT Result cuMemAlloc_v2(unsigned long long* address, std::size_t size) {
  BEGIN("cuMemAlloc_v2");
  if (current.empty()) return bad(invalid_context);
  if (size == 0) return bad(invalid_value);
  const int device = current.back()->device;
  if (size > device_bytes - m.used[device]) return out_of_memory;
  // At the end of its pages where alignment lets it, so that little can be written behind it unnoticed.
  const std::size_t page_bytes = (size + page - 1) / page * page;
  void* const place =
      ::mmap(nullptr, page_bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return out_of_memory;
  Block block{device, size, static_cast<std::byte*>(place), page_bytes, 0};
  open(block);
  std::memset(block.pages, std::to_integer<int>(blank), page_bytes);
  close(block);
  m.used[device] += size;
  ++m.counts.allocations;
  *address = reinterpret_cast<std::uintptr_t>(place) + (page_bytes - size) / alignment * alignment;
  m.device.emplace(*address, block);
  return ok;
}

EXPORT Result cuMemFree_v2(unsigned long long address) {
  BEGIN("cuMemFree_v2");
  if (current.empty()) return bad(invalid_context);
  const auto found = m.device.find(address);
  if (found == m.device.end()) return bad(invalid_value);
  run_everything(found->second.device);
  Block& block = found->second;
  open(block);
  const auto* const start = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address));
  const auto untouched = [](std::byte byte) { return byte == blank; };
  const bool intact = std::all_of(static_cast<const std::byte*>(block.pages), start, untouched) &&
                      std::all_of(start + block.size,
                                  static_cast<const std::byte*>(block.pages) + block.page_bytes, untouched);
  ::munmap(block.pages, block.page_bytes + page);
  m.used[block.device] -= block.size;
  m.device.erase(found);
  --m.counts.allocations;
  if (!intact) {
    std::fprintf(stderr, "fake driver: something was written just outside of a block of device memory\n");
    return bad(ok);
  }
  return ok;
}

EXPORT Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  BEGIN("cuMemGetInfo_v2");
  if (current.empty()) return bad(invalid_context);
  *total = device_bytes;
  *free = device_bytes - m.used[current.back()->device];
  return ok;
}

EXPORT Result cuMemHostAlloc(void** data, std::size_t size, unsigned flags) {
  BEGIN("cuMemHostAlloc");
  if (current.empty()) return bad(invalid_context);
  if (size == 0 || flags > 7) return bad(invalid_value);
  *data = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  if (!*data) return out_of_memory;
  m.pinned[reinterpret_cast<std::uintptr_t>(*data)] = size;
  ++m.counts.pinned;
  return ok;
}

EXPORT Result cuMemFreeHost(void* data) {
  BEGIN("cuMemFreeHost");
  const auto found = m.pinned.find(reinterpret_cast<std::uintptr_t>(data));
  if (found == m.pinned.end()) return bad(invalid_value);
  for (int device = 0; device < device_count(); ++device) run_everything(device);
  m.pinned.erase(found);
  std::free(data);
  --m.counts.pinned;
  return ok;
}

EXPORT Result cuPointerGetAttributes(unsigned count, int* attributes, void** data,
                                     unsigned long long address) {
  BEGIN("cuPointerGetAttributes");
  const Block* const block = block_of(address, 1);
  const bool on_device = block != nullptr;
  const int device = block ? block->device : 0;
  const bool pinned = is_pinned(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)), 1);
  for (unsigned i = 0; i < count; ++i) switch (attributes[i]) {
      case 1:
        *static_cast<void**>(data[i]) =
            on_device ? m.contexts[static_cast<std::size_t>(device)].get() : nullptr;
        break;
      case 2: *static_cast<unsigned*>(data[i]) = on_device ? 2u : pinned ? 1u : 0u; break;
      case 9: *static_cast<int*>(data[i]) = on_device ? device : pinned ? 0 : -2; break;
      default: return bad(invalid_value);
    }
  return ok;
}

EXPORT Result cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t size, void* handle) {
  BEGIN("cuMemcpyHtoDAsync_v2");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (!block_of(to, size)) return bad(invalid_value);
  m.counts.bytes_to_device += size;
  if (is_pinned(from, size)) {
    put(*stream, [to, from, size] {
      if (const Bytes bytes(to, size); bytes.data()) std::memcpy(bytes.data(), from, size);
      else bad(invalid_value);
    });
  } else {
    auto staged = std::make_shared<std::vector<std::byte>>(size);
    std::memcpy(staged->data(), from, size);
    put(*stream, [to, staged] {
      if (const Bytes bytes(to, staged->size()); bytes.data())
        std::memcpy(bytes.data(), staged->data(), staged->size());
      else bad(invalid_value);
    });
  }
  return ok;
}

EXPORT Result cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t size, void* handle) {
  BEGIN("cuMemcpyDtoHAsync_v2");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (!block_of(from, size)) return bad(invalid_value);
  m.counts.bytes_to_host += size;
  put(*stream, [to, from, size] {
    if (const Bytes bytes(from, size); bytes.data()) std::memcpy(to, bytes.data(), size);
    else bad(invalid_value);
  });
  if (!is_pinned(to, size)) run(*stream, stream->put);  // as the driver does with pageable memory
  return ok;
}

EXPORT Result cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t size,
                                   void* handle) {
  BEGIN("cuMemcpyDtoDAsync_v2");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (!block_of(from, size) || !block_of(to, size)) return bad(invalid_value);
  m.counts.bytes_on_device += size;
  put(*stream, [to, from, size] {
    const Bytes target(to, size);
    const Bytes source(from, size);
    if (target.data() && source.data()) std::memmove(target.data(), source.data(), size);
    else bad(invalid_value);
  });
  return ok;
}

struct Copy2D {  // CUDA_MEMCPY2D
  std::size_t from_x, from_y;
  unsigned from_type;
  const void* from_host;
  unsigned long long from_device;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  unsigned to_type;
  void* to_host;
  unsigned long long to_device;
  void* to_array;
  std::size_t to_pitch;
  std::size_t width, height;
};

// Between the host and a device, as rows. Host memory that is not pinned is staged on the way up, and refused on the way down, for nobody
// of ours needs that.
EXPORT Result cuMemcpy2DAsync_v2(const Copy2D* copy, void* handle) {
  BEGIN("cuMemcpy2DAsync_v2");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  const Copy2D c = *copy;
  const bool up = c.from_type == 1 && c.to_type == 2;
  if ((!up && !(c.from_type == 2 && c.to_type == 1)) || c.from_x || c.from_y || c.to_x || c.to_y ||
      c.from_pitch < c.width || c.to_pitch < c.width || c.width == 0 || c.height == 0)
    return bad(invalid_value);
  const std::size_t device_pitch = up ? c.to_pitch : c.from_pitch,
                    host_pitch = up ? c.from_pitch : c.to_pitch;
  const unsigned long long device = up ? c.to_device : c.from_device;
  auto* const host = static_cast<std::byte*>(up ? const_cast<void*>(c.from_host) : c.to_host);
  const std::size_t host_size = host_pitch * (c.height - 1) + c.width;
  const bool staged = !is_pinned(host, host_size);
  if (!block_of(device, device_pitch * (c.height - 1) + c.width) || (staged && !up))
    return bad(invalid_value);
  auto stage = std::make_shared<std::vector<std::byte>>(staged ? host_size : 0);
  if (staged) std::memcpy(stage->data(), host, host_size);
  (up ? m.counts.bytes_to_device : m.counts.bytes_to_host) += c.width * c.height;
  put(*stream, [=, width = c.width, height = c.height] {
    const Bytes there(device, device_pitch * (height - 1) + width);
    if (!there.data()) return static_cast<void>(bad(invalid_value));
    for (std::size_t y = 0; y < height; ++y) {
      std::byte* const row = there.data() + y * device_pitch;
      if (up) std::memcpy(row, (staged ? stage->data() : host) + y * host_pitch, width);
      else std::memcpy(host + y * host_pitch, row, width);
    }
  });
  return ok;
}

EXPORT Result cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t count, void* handle) {
  BEGIN("cuMemsetD8Async");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (!block_of(to, count)) return bad(invalid_value);
  m.counts.bytes_on_device += count;
  put(*stream, [=] {
    if (const Bytes bytes(to, count); bytes.data()) std::memset(bytes.data(), value, count);
    else bad(invalid_value);
  });
  return ok;
}

EXPORT Result cuStreamCreate(void** handle, unsigned flags) {
  BEGIN("cuStreamCreate");
  if (current.empty()) return bad(invalid_context);
  if (flags > 1) return bad(invalid_value);
  auto* const stream = new Stream;
  stream->device = current.back()->device;
  m.streams.insert(stream);
  ++m.counts.streams;
  *handle = stream;
  return ok;
}

EXPORT Result cuStreamDestroy_v2(void* handle) {
  BEGIN("cuStreamDestroy_v2");
  if (current.empty()) return bad(invalid_context);
  auto* const stream = static_cast<Stream*>(handle);
  if (!m.streams.count(stream)) return bad(invalid_handle);
  run(*stream, stream->put);  // what was put in is still done
  for (Event* event : m.events)
    if (event->stream == stream) event->stream = nullptr;
  m.streams.erase(stream);
  m.destroyed.emplace_back(stream);  // other streams may still wait for what it did
  --m.counts.streams;
  return ok;
}

EXPORT Result cuStreamSynchronize(void* handle) {
  BEGIN("cuStreamSynchronize");
  if (current.empty()) return bad(invalid_context);
  static_cast<void>(m);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  run(*stream, stream->put);
  return ok;
}

EXPORT Result cuStreamWaitEvent(void* handle, void* mark, unsigned) {
  BEGIN("cuStreamWaitEvent");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  auto* const event = static_cast<Event*>(mark);
  if (!stream || !m.events.count(event)) return bad(invalid_handle);
  if (Stream* const other = event->stream) {
    const std::uint64_t number = event->number;
    put(*stream, [other, number] { run(*other, number); });
  }
  return ok;
}

EXPORT Result cuEventCreate(void** mark, unsigned) {
  BEGIN("cuEventCreate");
  if (current.empty()) return bad(invalid_context);
  auto* const event = new Event;
  event->device = current.back()->device;
  m.events.insert(event);
  ++m.counts.events;
  *mark = event;
  return ok;
}

EXPORT Result cuEventDestroy_v2(void* mark) {
  BEGIN("cuEventDestroy_v2");
  if (current.empty()) return bad(invalid_context);
  auto* const event = static_cast<Event*>(mark);
  if (!m.events.count(event)) return bad(invalid_handle);
  m.events.erase(event);
  delete event;
  --m.counts.events;
  return ok;
}

EXPORT Result cuEventRecord(void* mark, void* handle) {
  BEGIN("cuEventRecord");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  auto* const event = static_cast<Event*>(mark);
  if (!stream || !m.events.count(event)) return bad(invalid_handle);
  event->stream = stream;
  event->number = stream->put;
  return ok;
}

EXPORT Result cuEventQuery(void* mark) {
  BEGIN("cuEventQuery");
  if (current.empty()) return bad(invalid_context);
  auto* const event = static_cast<Event*>(mark);
  if (!m.events.count(event)) return bad(invalid_handle);
  if (!event->stream || event->stream->done >= event->number) return ok;
  run(*event->stream, event->stream->done + 1);  // asking often enough gets there
  return event->stream->done >= event->number ? ok : not_ready;
}

EXPORT Result cuEventSynchronize(void* mark) {
  BEGIN("cuEventSynchronize");
  if (current.empty()) return bad(invalid_context);
  auto* const event = static_cast<Event*>(mark);
  if (!m.events.count(event)) return bad(invalid_handle);
  if (event->stream) run(*event->stream, event->number);
  return ok;
}

EXPORT Result cuLaunchHostFunc(void* handle, void (*function)(void*), void* argument) {
  BEGIN("cuLaunchHostFunc");
  if (current.empty()) return bad(invalid_context);
  static_cast<void>(m);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  put(*stream, [function, argument] { function(argument); });
  return ok;
}

EXPORT Result cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned jit_options, int*,
                                void**, unsigned options) {
  BEGIN("cuLibraryLoadData");
  static_cast<void>(m);
  if (!library || !image || jit_options || options) return bad(invalid_value);
  // What is in the image does not matter here: it is code of another machine.
  *library = const_cast<void*>(image);
  return ok;
}

EXPORT Result cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  BEGIN("cuLibraryGetKernel");
  static_cast<void>(m);
  if (!kernel || !library) return bad(invalid_value);
  const fake_cuda::Kernel* const found = fake_cuda::find_kernel(name);
  if (!found) return not_found;
  *kernel = const_cast<fake_cuda::Kernel*>(found);
  return ok;
}

EXPORT Result cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                             void* handle, void** parameters, void** extra) {
  BEGIN("cuLaunchKernel");
  Stream* const stream = stream_of(handle);
  if (!stream || !function) return bad(invalid_handle);
  if (current.empty() || current.back()->device != stream->device) return bad(invalid_context);
  const auto* const kernel = static_cast<const fake_cuda::Kernel*>(function);
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x != kernel->threads || block_y != 1 ||
      block_z != 1 || shared_bytes != 0 || !parameters || extra)
    return bad(invalid_value);
  ++m.counts.kernels;
  const auto* const bytes = static_cast<const std::byte*>(parameters[0]);
  put(*stream, [kernel, device = stream->device,
                copy = std::vector<std::byte>(bytes, bytes + kernel->parameter_size)] {
    const OpenDevice open(device);
    kernel->run(copy.data(), machine().random);
  });
  return ok;
}

struct Decompression {  // CUmemDecompressParams
  std::size_t encoded, decoded;
  std::uint32_t* written;
  const void* from;
  void* to;
  unsigned algorithm;
  unsigned char rest[20];
};

// What a real engine does with a damaged stream is not known. This one writes no more than was expected and tells how much it would have
// been, or 0.
static void decompress(const Decompression& work) {
  const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
  const Bytes from(address(work.from), work.encoded);
  const Bytes to(address(work.to), work.decoded);
  const Bytes written(address(work.written), sizeof(std::uint32_t));
  if (!from.data() || !to.data() || !written.data()) return static_cast<void>(bad(invalid_value));
  const fakes::Bytes encoded(from.data(), from.data() + work.encoded);
  const std::size_t room = work.decoded + 1000;
  const std::optional<fakes::Bytes> decoded = work.algorithm == 1   ? fakes::decode_Deflate(encoded, room)
                                              : work.algorithm == 2 ? fakes::decode_Snappy(encoded, room)
                                                                    : fakes::decode_LZ4(encoded, room);
  if (decoded) std::copy_n(decoded->begin(), std::min(decoded->size(), work.decoded), to.data());
  const auto size = static_cast<std::uint32_t>(decoded ? decoded->size() : 0);
  std::memcpy(written.data(), &size, sizeof size);
}

EXPORT Result cuMemBatchDecompressAsync(Decompression* all, std::size_t count, unsigned flags,
                                        std::size_t* failed, void* handle) {
  BEGIN("cuMemBatchDecompressAsync");
  if (failed) *failed = SIZE_MAX;
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (current.empty() || current.back()->device != stream->device) return bad(invalid_context);
  if (!all || count == 0 || flags) return bad(invalid_value);
  const auto on_device = [&](const void* data, std::size_t size) {
    const Block* const block = block_of(reinterpret_cast<std::uintptr_t>(data), size);
    return block && block->device == stream->device;
  };
  const auto longest = static_cast<std::size_t>(engine_longest());
  for (std::size_t i = 0; i < count; ++i) {
    const Decompression& work = all[i];
    const unsigned format = work.algorithm;
    const bool known = format == 1 || format == 2 || format == 4;
    if (known && (static_cast<unsigned>(engine_formats()) & format) && work.encoded && work.decoded &&
        work.encoded <= longest && work.decoded <= longest && on_device(work.from, work.encoded) &&
        on_device(work.to, work.decoded) && on_device(work.written, sizeof(std::uint32_t)) &&
        reinterpret_cast<std::uintptr_t>(work.written) % sizeof(std::uint32_t) == 0 &&
        std::all_of(std::begin(work.rest), std::end(work.rest), [](unsigned char c) { return c == 0; }))
      continue;
    if (failed) *failed = i;
    return bad(invalid_value);
  }
  ++m.counts.engine_calls;
  m.counts.engine_streams += static_cast<long>(count);
  put(*stream, [works = std::vector<Decompression>(all, all + count)] {
    for (const Decompression& work : works) decompress(work);
  });
  return ok;
}
