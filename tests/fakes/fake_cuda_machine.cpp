#include "fakes/fake_cuda_machine.hpp"

#include <sys/mman.h>

#include <cstring>

namespace fake_cuda::machinery {

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

Result bad(Result result) {
  ++machine().counts.bad_calls;
  return result;
}

Stream* stream_of(void* handle) {
  if (!handle) return current.empty() ? nullptr : &current.back()->legacy;
  auto* const stream = static_cast<Stream*>(handle);
  return machine().streams.count(stream) ? stream : nullptr;
}

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

int engine_formats() {
  const int set = machine().engine_formats;
  return set >= 0 ? set : setting("FAKE_CUDA_DECOMPRESS", 0);
}
int engine_longest() {
  if (machine().engine_formats >= 0) return machine().engine_longest;
  return engine_formats() ? 4 << 20 : 0;
}

bool is_pinned(const void* data, std::size_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  auto after = machine().pinned.upper_bound(address);
  if (after == machine().pinned.begin()) return false;
  const auto& [start, length] = *--after;
  return address + size <= start + length;
}

}  // namespace fake_cuda::machinery

namespace fake_cuda {

using namespace machinery;

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
  machinery::put(*stream, std::move(work));
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
