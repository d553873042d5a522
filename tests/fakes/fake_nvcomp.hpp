// nvCOMP without a device, built as libnvcomp.so.5: it decodes on the host when the fake driver's stream gets there. Stricter than the real
// one: chunks, tables and temporary memory that are not aligned as it said, or too small, are counted; options must be zeros; and it writes
// over all of its temporary memory before it reads a chunk.
//
// What can go wrong is said by fake_cuda::fail with the name of a function and one of nvCOMP's statuses, and for one chunk by fail_chunk.
// FAKE_NVCOMP_VERSION in the environment is the version (5310): sizes of temporary memory must be asked for as that has it.
#pragma once

#include <cstddef>

#define FAKE_NVCOMP_API __attribute__((visibility("default")))

namespace fake_nvcomp {

inline constexpr int no_status = -77;

struct Counts {
  long launches = 0;
  long chunks = 0;
  long bad_calls = 0;
  std::size_t largest_temp = 0;
};

FAKE_NVCOMP_API Counts counts();
FAKE_NVCOMP_API void reset_counts();
// The chunk with this place in the next launch gets this status (no_status: none is written), and nothing is decoded.
FAKE_NVCOMP_API void fail_chunk(std::size_t place, int status);

}  // namespace fake_nvcomp
