// A CUDA driver without a device, built as libcuda.so.1 and found by our own loader. It is stricter than a real one:
//   - device memory can be touched by nobody but the driver: a host that reads or writes it dies, and what is written just outside of a
//     block is found when it is freed;
//   - kernels run their bodies on the host when the stream gets to them, unit by unit in random order (FAKE_CUDA_SEED);
//   - streams do nothing until somebody waits for them, so that a missing wait gives wrong data;
//   - pinned memory is read when the stream gets there, so that reusing it too early gives wrong data;
//   - every handle is checked, freeing twice is counted; every call on a device needs a current context, also where real drivers do without.
#pragma once

#include <cstddef>
#include <functional>

#define FAKE_CUDA_API __attribute__((visibility("default")))

namespace fake_cuda {

struct Counts {
  long allocations = 0;  // of device memory that are alive
  long pinned = 0;       // blocks of pinned memory that are alive
  long streams = 0;
  long events = 0;
  long bad_calls = 0;        // freed twice, never made, copied past an end, called without a context
  long contexts_pushed = 0;  // less those popped, of all threads
  long kernels = 0;          // launched
  long engine_calls = 0;     // of cuMemBatchDecompressAsync
  long engine_streams = 0;   // in them
  std::size_t bytes_to_device = 0;
  std::size_t bytes_to_host = 0;
  std::size_t bytes_on_device = 0;
};

// What can go wrong: the next call of the function with this name gives this CUresult (once, after `skip` good calls).
FAKE_CUDA_API void fail(const char* function, int result, int skip);
FAKE_CUDA_API Counts counts();
FAKE_CUDA_API void reset_counts();  // of bytes and bad calls
// The decompression engine of every device: a mask of 1 (deflate), 2 (snappy), 4 (LZ4), and how many bytes a stream may have, encoded or
// decoded. Without this call the environment says it: FAKE_CUDA_DECOMPRESS=<mask>, of streams up to 4 MiB, and else there is none.
FAKE_CUDA_API void set_decompression(int mask, int max_length);
// What the device has there, for tests to look at without a stream: nothing is waited for.
FAKE_CUDA_API void peek(void* to, unsigned long long from, std::size_t size);

// For the fakes of libraries that work on the device.
FAKE_CUDA_API void poke(unsigned long long to, const void* from, std::size_t size);
FAKE_CUDA_API bool holds(unsigned long long address, std::size_t size);  // within one block that is alive
// Work for a stream (null: the default stream of the current context), done when the stream gets there. False: there is no such stream.
FAKE_CUDA_API bool put(void* stream, std::function<void()> work);
FAKE_CUDA_API bool has_context();  // this thread
// What was to go wrong with this call of a function; 0: nothing. (The environment can say so, too: FAKE_<function>=<result>, each time.)
FAKE_CUDA_API int failure(const char* function);

}  // namespace fake_cuda
