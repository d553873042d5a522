#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>

#include "zarrive/error.hpp"
#include "zarrive/executor.hpp"

namespace zarrive {

struct IoBudget::State {
  const std::size_t max_requests;
  const std::uint64_t max_bytes;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::size_t requests = 0;
  std::uint64_t bytes = 0;
  std::list<std::uint64_t>
      queue;  // bytes wanted by those who wait; first come, first served, so large requests do not starve

  bool has_room(std::uint64_t wanted) const {
    return requests == 0 || (requests < max_requests && bytes <= max_bytes && wanted <= max_bytes - bytes);
  }
};

IoBudget::IoBudget(std::size_t max_requests, std::uint64_t max_bytes)
    : state_(new State{std::max<std::size_t>(max_requests, 1), max_bytes, {}, {}, 0, 0, {}}) {}
IoBudget::~IoBudget() = default;

void IoBudget::acquire(std::uint64_t bytes, const std::stop_token& stop) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto place = s.queue.insert(s.queue.end(), bytes);
  const bool granted =
      s.changed.wait(lock, stop, [&] { return s.queue.begin() == place && s.has_room(bytes); });
  s.queue.erase(place);
  if (granted) {
    ++s.requests;
    s.bytes += bytes;
  }
  lock.unlock();
  s.changed.notify_all();  // the next in the queue may have room too
  if (!granted)
    throw Error(ErrorCode::cancelled,
                "stopped while waiting for room for a request of " + std::to_string(bytes) + " bytes");
}

void IoBudget::release(std::uint64_t bytes) noexcept {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->requests > 0) --state_->requests;
    state_->bytes -= std::min(bytes, state_->bytes);
  }
  state_->changed.notify_all();
}

}  // namespace zarrive
