// The state of the fake driver, and what its calls have in common. The calls are in fake_cuda.cpp (devices and contexts),
// fake_cuda_memory.cpp, fake_cuda_streams.cpp and fake_cuda_launches.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fakes/fake_cuda.hpp"

// The names and types are those of libcuda, written down again here so that the loader's are tested against something.
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace fake_cuda::machinery {

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

Machine& machine();
int setting(const char* name, int otherwise);  // of the environment
int device_count();
extern thread_local std::vector<Context*> current;

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

Result bad(Result result);                      // counts it
Stream* stream_of(void* handle);                // null for a handle that is none
void run(Stream& stream, std::uint64_t until);  // up to an operation
void put(Stream& stream, std::function<void()> work);
void run_everything(int device);

// The block that [address, address + size) lies in; null when there is none.
Block* block_of(unsigned long long address, std::size_t size);
void open(Block& block);
void close(Block& block);
bool is_pinned(const void* data, std::size_t size);

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

// Of the decompression engine: formats as in set_decompression, and the longest stream.
int engine_formats();
int engine_longest();

}  // namespace fake_cuda::machinery
