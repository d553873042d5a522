#include "gpu/device.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace zarrive::gpu {

namespace {

CudaAddress address_of(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); }

std::string bytes_text(std::size_t size) { return std::to_string(size) + " bytes"; }

}  // namespace

// Never destroyed: memory is freed while the process ends.
struct Devices {
  std::mutex mutex;
  std::map<int, std::unique_ptr<Device>> made;

  static Devices& all() {
    static Devices* const devices = new Devices;
    return *devices;
  }
  static std::unique_ptr<Device> make(const Driver& driver, int ordinal) {
    return std::unique_ptr<Device>(new Device(driver, ordinal));
  }
};

Device& Device::get(int ordinal) {
  if (const DriverStatus& status = driver_status(); !status.driver)
    throw Error(ErrorCode::unsupported,
                "there is no device cuda:" + std::to_string(ordinal) + ": " + status.reason);
  const Driver& driver = gpu::driver();
  if (ordinal < 0 || ordinal >= driver.devices)
    throw Error(ErrorCode::invalid_argument, "there is no device cuda:" + std::to_string(ordinal) +
                                                 "; the driver has " + std::to_string(driver.devices) +
                                                 ", counted from 0");
  Devices& devices = Devices::all();
  std::lock_guard lock(devices.mutex);
  std::unique_ptr<Device>& device = devices.made[ordinal];
  if (!device) device = Devices::make(driver, ordinal);
  return *device;
}

Device::Device(const Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {
  CudaDevice handle = 0;
  check(driver_, driver_.device_get(&handle, ordinal_), "opening " + name());
  check(driver_, driver_.primary_context_retain(&context_, handle), "making the context of " + name());
}

ContextScope::ContextScope(const Device& device) {
  const Driver& driver = gpu::driver();
  check(driver, driver.context_push(device.context()), "making " + device.name() + " current");
  driver_ = &driver;
}

ContextScope::ContextScope(const Device& device, std::nothrow_t) noexcept {
  if (driver_lives() && device.driver().context_push(device.context()) == cuda_success)
    driver_ = &device.driver();
}

ContextScope::~ContextScope() {
  CudaContext popped = nullptr;
  if (driver_) driver_->context_pop(&popped);
}

Event::Event(const Device& device) : device_(&device) {
  const ContextScope scope(device);
  check(device.driver(), device.driver().event_create(&event_, cuda_event_disable_timing),
        "making an event on " + device.name());
}

Event::~Event() {
  if (!event_) return;
  if (const ContextScope scope(*device_, std::nothrow); scope) device_->driver().event_destroy(event_);
}

Event::Event(Event&& other) noexcept : device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}

void Event::record(CudaStream stream) {
  const ContextScope scope(*device_);
  check(device_->driver(), device_->driver().event_record(event_, stream),
        "recording an event on " + device_->name());
}

void Event::wait() {
  const ContextScope scope(*device_);
  check(gpu::driver(), gpu::driver().event_synchronize(event_), "waiting for " + device_->name());
}

void Event::wait_in(CudaStream stream) {
  const ContextScope scope(*device_);
  check(device_->driver(), device_->driver().stream_wait_event(stream, event_, 0),
        "ordering two streams of " + device_->name());
}

bool Event::done() {
  const ContextScope scope(*device_);
  const CudaResult result = gpu::driver().event_query(event_);
  if (result == cuda_not_ready) return false;
  check(device_->driver(), result, "asking " + device_->name() + " how far it is");
  return true;
}

Stream::Stream(const Device& device) : device_(device) {
  const ContextScope scope(device);
  check(device.driver(), device.driver().stream_create(&stream_, cuda_stream_non_blocking),
        "making a stream on " + device.name());
}

Stream::~Stream() {
  if (const ContextScope scope(device_, std::nothrow); scope) device_.driver().stream_destroy(stream_);
}

void Stream::synchronize() { gpu::synchronize(device_, stream_); }

void synchronize(const Device& device, CudaStream stream) {
  const ContextScope scope(device);
  check(device.driver(), device.driver().stream_synchronize(stream), "waiting for " + device.name());
}

void synchronize(int device, void* stream) {
  synchronize(Device::get(device), static_cast<CudaStream>(stream));
}

void drain(const Device& device, CudaStream stream) noexcept {
  if (const ContextScope scope(device, std::nothrow); scope) device.driver().stream_synchronize(stream);
}

void copy_to_device(const Device& device, std::byte* to, const std::byte* from, std::size_t size,
                    CudaStream stream) {
  if (size == 0) return;
  const ContextScope scope(device);
  check(device.driver(), device.driver().copy_to_device(address_of(to), from, size, stream),
        "copying " + bytes_text(size) + " to " + device.name());
}

void copy_to_host(const Device& device, std::byte* to, const std::byte* from, std::size_t size,
                  CudaStream stream) {
  if (size == 0) return;
  const ContextScope scope(device);
  check(device.driver(), device.driver().copy_to_host(to, address_of(from), size, stream),
        "copying " + bytes_text(size) + " from " + device.name());
}

}  // namespace zarrive::gpu
