// cuFile without a disk that could reach a device, built as libcufile.so.0: it reads files into the memory of the fake driver, at once as
// cuFile does, and knows nothing of streams. Stricter than the real one: files must be open for direct I/O, a context must be current.
//
// What can go wrong is said by fake_cuda::fail: "cuFileHandleRegister" with an error of cuFile (5008), "cuFileRead" with an errno (5) or
// with an error of cuFile (-5044). What is settled when the library starts is said by the environment: FAKE_CUFILE_VERSION;
// FAKE_cuFileDriverOpen and so on, an error; FAKE_CUFILE_FORCED=1, the configuration forces compatibility mode; FAKE_CUFILE_BUSY=1,
// somebody has opened it before.
//
// Built a second time as cuFile 1.13, which has no functions of parameters: libcufile_old.so.0. There FAKE_CUFILE_CONFIGURED=1 is a
// configuration file that does not allow compatibility mode.
#pragma once

#include <cstddef>

#define FAKE_CUFILE_API __attribute__((visibility("default")))

namespace fake_cufile {

struct Counts {
  long handles = 0;     // registered
  long registered = 0;  // ever
  long reads = 0;
  long bad_calls = 0;
};

FAKE_CUFILE_API Counts counts();
FAKE_CUFILE_API void reset_counts();                  // of all but handles
FAKE_CUFILE_API void read_at_most(std::size_t size);  // in one call; 0: no limit

}  // namespace fake_cufile
