// Devices: each is used through its primary context, which CUDA's runtime, CuPy and PyTorch use too.
#pragma once

#include <cstddef>
#include <new>
#include <string>

#include "gpu/driver.hpp"

namespace zarrive::gpu {

class Device {
 public:
  // The device with this ordinal; the same object at every call. Error(unsupported) without a driver, Error(invalid_argument) when there
  // are fewer devices, Error(unavailable) when its context cannot be made.
  static Device& get(int ordinal);

  const Driver& driver() const noexcept { return driver_; }
  int ordinal() const noexcept { return ordinal_; }
  CudaContext context() const noexcept { return context_; }  // retained until the process ends
  std::string name() const { return "cuda:" + std::to_string(ordinal_); }

 private:
  friend struct Devices;
  Device(const Driver& driver, int ordinal);
  const Driver& driver_;
  int ordinal_;
  CudaContext context_ = nullptr;
};

// While it lives, the device's context is current on this thread; what was current before is so again after it. Error(unsupported) in a
// forked child.
class ContextScope {
 public:
  explicit ContextScope(const Device& device);
  // For destructors: nothing is current when that cannot be, or in a forked child, which must leave GPU things alone.
  ContextScope(const Device& device, std::nothrow_t) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  explicit operator bool() const noexcept { return driver_ != nullptr; }

 private:
  const Driver* driver_ = nullptr;  // null: nothing was made current
};

// An event: a mark in a stream, for another stream or a thread to wait for. Like a stream, it is of no use in a forked child: every call is
// Error(unsupported) there.
class Event {
 public:
  explicit Event(const Device& device);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;

  void record(CudaStream stream);  // everything put into the stream so far
  void wait();                     // blocks this thread until that is done; at once when nothing was recorded
  void wait_in(CudaStream stream);  // what is put into the stream from now on comes after it
  bool done();

 private:
  const Device* device_;
  CudaEvent event_ = nullptr;
};

// A stream of our own, which does not wait for the legacy default stream.
class Stream {
 public:
  explicit Stream(const Device& device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  CudaStream handle() const noexcept { return stream_; }
  void synchronize();

 private:
  const Device& device_;
  CudaStream stream_ = nullptr;
};

// Waits until everything put into a stream is done.
void synchronize(const Device& device, CudaStream stream);
// The same for destructors, whose memory the stream may use: what goes wrong is not told.
void drain(const Device& device, CudaStream stream) noexcept;

// Copies in stream order. The memory stays the caller's; host memory that is not pinned is staged by the driver.
void copy_to_device(const Device& device, std::byte* to, const std::byte* from, std::size_t size,
                    CudaStream stream);
void copy_to_host(const Device& device, std::byte* to, const std::byte* from, std::size_t size,
                  CudaStream stream);

}  // namespace zarrive::gpu
