// A bar on the terminal: [======>    ] 41 %  1.2 GB/s  0:12 left. Nothing at all where there is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>

namespace zarrive::cli {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  Progress(std::ostream& err, bool terminal, int width, std::function<Clock::time_point()> now = Clock::now);
  ~Progress();  // takes the bar away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // From any thread. Units are what the fraction is of (chunks), bytes what the rate is of.
  void expect(std::uint64_t units);  // more to do
  void done(std::uint64_t units, std::uint64_t bytes);

  static std::string bar(std::uint64_t done, std::uint64_t expected, std::uint64_t bytes, double seconds,
                         int width);

 private:
  void draw();
  std::ostream& err_;
  const bool terminal_;
  const int width_;
  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  Clock::time_point start_;
  Clock::time_point drawn_;
  bool visible_ = false;
  std::uint64_t expected_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace zarrive::cli
