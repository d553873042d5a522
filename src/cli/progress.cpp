#include "cli/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <utility>

namespace zarrive::cli {

namespace {

constexpr auto redraw = std::chrono::milliseconds(100);

std::string rate_text(double bytes_per_second) {
  static constexpr const char* units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t unit = 0;
  while (bytes_per_second >= 999.5 && unit + 1 < std::size(units)) {
    bytes_per_second /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, bytes_per_second < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s",
                bytes_per_second, units[unit]);
  return text;
}

std::string time_text(double seconds) {
  const auto whole = std::llround(std::min(seconds, 359999.0));
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  else std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

}  // namespace

Progress::Progress(std::ostream& err, bool terminal, int width, std::function<Clock::time_point()> now)
    : err_(err), terminal_(terminal), width_(width), now_(std::move(now)), start_(now_()), drawn_(start_) {}

Progress::~Progress() {
  if (visible_) err_ << "\r\033[K" << std::flush;
}

void Progress::expect(std::uint64_t units) {
  std::lock_guard lock(mutex_);
  expected_ += units;
}

void Progress::done(std::uint64_t units, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  done_ += units;
  bytes_ += bytes;
  if (!terminal_ || now_() - drawn_ < redraw) return;
  draw();
}

void Progress::draw() {
  drawn_ = now_();
  const double seconds = std::chrono::duration<double>(drawn_ - start_).count();
  err_ << '\r' << bar(done_, expected_, bytes_, seconds, width_) << "\033[K" << std::flush;
  visible_ = true;
}

std::string Progress::bar(std::uint64_t done, std::uint64_t expected, std::uint64_t bytes, double seconds,
                          int width) {
  const double fraction =
      expected ? std::min(1.0, static_cast<double>(done) / static_cast<double>(expected)) : 0;
  char percent[16];
  std::snprintf(percent, sizeof percent, " %3d %%  ", static_cast<int>(fraction * 100));
  std::string text = percent + rate_text(seconds > 0 ? static_cast<double>(bytes) / seconds : 0);
  if (fraction > 0 && seconds > 1) text += "  " + time_text(seconds * (1 - fraction) / fraction) + " left";
  const int room = std::min(40, width - 1 - 2 - static_cast<int>(text.size()) - 3);
  if (room < 5) return text.substr(1);
  const auto filled = static_cast<std::size_t>(fraction * room);
  std::string inside(filled, '=');
  if (filled < static_cast<std::size_t>(room)) inside += '>';
  inside.resize(static_cast<std::size_t>(room), ' ');
  return "[" + inside + "]" + text;
}

}  // namespace zarrive::cli
