#include "store/pipeline.hpp"

#include <algorithm>

#include "zarrive/error.hpp"
#include "zarrive/executor.hpp"

namespace zarrive::store {

Pipeline::Pipeline(std::size_t items, const Limits& limits, Estimate estimate)
    : items_(items), limits_(limits), estimate_(std::move(estimate)), held_(items, 0) {}

std::shared_ptr<Pipeline> Pipeline::make(std::size_t items, const Limits& limits, Estimate estimate) {
  return std::shared_ptr<Pipeline>(new Pipeline(items, limits, std::move(estimate)));
}

void Pipeline::run(const Start& start) {
  start_ = &start;
  start_more();
  std::unique_lock lock(mutex_);
  while (running_ > 0) {
    changed_.wait(lock, [&] { return running_ == 0 || !compute_.empty(); });
    lock.unlock();
    take_compute_step();
    lock.lock();
  }
  if (failure_) std::rethrow_exception(failure_);
  if (next_ < items_)
    throw Error(ErrorCode::cancelled, "the batch was stopped after " + std::to_string(next_) + " of " +
                                          std::to_string(items_) + " requests");
}

// With the lock held: the next item, when there is one and there is room for it.
std::optional<std::size_t> Pipeline::claim() {
  if (failure_ || next_ == items_ || running_ >= limits_.max_requests || limits_.stop.stop_requested())
    return std::nullopt;
  std::uint64_t bytes = estimate_(next_);
  if (bytes == 0) bytes = largest_;
  const std::uint64_t room = limits_.max_bytes - std::min(limits_.max_bytes, bytes_);
  if (running_ > 0 && bytes > room) return std::nullopt;
  ++running_;
  held_[next_] = bytes;
  bytes_ += bytes;
  return next_++;
}

void Pipeline::start_more() {
  while (true) {
    std::optional<std::size_t> item;
    {
      const std::lock_guard lock(mutex_);
      item = claim();
    }
    if (!item) return;
    perform(*item, [&] { (*start_)(*item); });
  }
}

void Pipeline::to_io(std::size_t item, std::function<void()> step) {
  Executor::global().submit_io(
      [self = shared_from_this(), item, step = std::move(step)] { self->perform(item, step); });
}

void Pipeline::to_compute(std::size_t item, std::function<void()> step) {
  {
    const std::lock_guard lock(mutex_);
    compute_.push_back({item, std::move(step)});
  }
  changed_.notify_all();
  try {
    Executor::global().submit_compute([self = shared_from_this()] { self->take_compute_step(); });
  } catch (...) {
    // No thread to be had: the caller takes the step.
  }
}

void Pipeline::take_compute_step() {
  Step step{};
  {
    const std::lock_guard lock(mutex_);
    if (compute_.empty()) return;
    step = std::move(compute_.front());
    compute_.pop_front();
  }
  perform(step.item, step.body);
}

void Pipeline::perform(std::size_t item, const std::function<void()>& step) {
  bool failed = false;
  {
    const std::lock_guard lock(mutex_);
    failed = failure_ != nullptr;
  }
  try {
    if (!failed) return step();
  } catch (...) {
    fail(std::current_exception());
  }
  finished(item);
}

void Pipeline::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
}

void Pipeline::resize(std::size_t item, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ += bytes - held_[item];
  held_[item] = bytes;
  largest_ = std::max(largest_, bytes);
}

void Pipeline::finished(std::size_t item) {
  std::optional<std::size_t> next;
  {
    // One step: run() must not see an idle pipeline while items are left.
    const std::lock_guard lock(mutex_);
    bytes_ -= held_[item];
    held_[item] = 0;
    --running_;
    next = claim();
    if (running_ == 0) changed_.notify_all();
  }
  if (next) {
    perform(*next, [&] { (*start_)(*next); });
    start_more();
  }
}

}  // namespace zarrive::store
