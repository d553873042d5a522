// A batch whose requests wait: I/O threads do the waiting, compute threads and the caller do the rest.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace zarrive::store {

// Items start while there is room, in requests and in bytes; each is a chain of steps, on I/O threads (to_io) or where computing is right
// (to_compute), and ends with finished(). Nobody ever waits for room: who makes room starts the next items. The caller of run()
// takes compute steps itself while it waits, so a batch completes even when every compute thread is busy (or is the caller).
// The first failure, or a stop, keeps further items from starting and further steps from doing anything.
class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  struct Limits {
    std::size_t max_requests = 1;
    std::uint64_t max_bytes = 0;
    std::stop_token stop = {};
  };
  using Start = std::function<void(std::size_t item)>;
  using Estimate =
      std::function<std::uint64_t(std::size_t item)>;  // bytes the item will hold; 0 when unknown

  static std::shared_ptr<Pipeline> make(std::size_t items, const Limits& limits, Estimate estimate);

  // Runs the batch: start(item) is called once for each and must queue the first step. Returns when all are finished; throws the first
  // failure, or Error(cancelled).
  void run(const Start& start);

  void to_io(std::size_t item, std::function<void()> step);
  void to_compute(std::size_t item, std::function<void()> step);
  void resize(std::size_t item, std::uint64_t bytes);  // what the item really holds
  void finished(std::size_t item);

 private:
  Pipeline(std::size_t items, const Limits& limits, Estimate estimate);
  std::optional<std::size_t> claim();
  void start_more();
  void take_compute_step();
  void perform(std::size_t item, const std::function<void()>& step);
  void fail(std::exception_ptr failure);

  const std::size_t items_;
  const Limits limits_;
  const Estimate estimate_;
  const Start* start_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Step {
    std::size_t item;
    std::function<void()> body;
  };
  std::deque<Step> compute_;
  std::vector<std::uint64_t> held_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;  // started, not finished
  std::uint64_t bytes_ = 0;
  std::uint64_t largest_ = 0;  // the estimate for items of unknown size
  std::exception_ptr failure_;
};

}  // namespace zarrive::store
