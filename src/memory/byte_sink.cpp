// ByteSink: rows of a strided view, filled in order.
#include "zarrive/byte_sink.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "memory/streaming_copy.hpp"

namespace zarrive {
namespace {

// Rows are written past the cache when they have at least so many bytes and the view spans more than caches hold: Blosc chunks of 128^3
// into an array of 1024^3, against writing through the cache: stored float32 (rows of 512 bytes) 2.7 times as fast, lz4 and shuffle 1.6
// times; uint16 (256 bytes) 1.4 times. Rows that do not begin with a cache line: 1.0 to 1.9 times. (The cache size that the system
// states is no help: it may count all caches of the socket together.)
constexpr std::size_t kMinStreamedRun = 128;
constexpr std::uint64_t kCached = 32 << 20;
// Bytes after which written rows are finished: with what decoders keep there, they still lie in a second-level cache.
constexpr std::uint64_t kFinishAfter = 64 << 10;

struct Dimension {
  std::uint64_t count;
  std::int64_t step;
};

// Dimensions in C order, those of one element left out, those joined that are walked with one step.
std::vector<Dimension> joined_dimensions(const ArrayView& view) {
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < view.ndim(); ++d) {
    if (view.shape[d] == 1) continue;
    if (!dimensions.empty() &&
        dimensions.back().step == view.strides[d] * static_cast<std::int64_t>(view.shape[d]))
      dimensions.back() = {dimensions.back().count * view.shape[d], view.strides[d]};
    else dimensions.push_back({view.shape[d], view.strides[d]});
  }
  return dimensions;
}

// Takes the last dimension away when its elements lie side by side; gives the length of a run.
std::size_t take_run(std::vector<Dimension>& dimensions, std::size_t item_size) {
  if (dimensions.empty() || dimensions.back().step != static_cast<std::int64_t>(item_size)) return item_size;
  const std::uint64_t count = dimensions.back().count;
  dimensions.pop_back();
  return static_cast<std::size_t>(count) * item_size;
}

}  // namespace

std::size_t ByteSink::run_size(const ArrayView& destination) {
  std::vector<Dimension> dimensions = joined_dimensions(destination);
  return take_run(dimensions, destination.type.item_size());
}

ByteSink::ByteSink(const ArrayView& destination, std::function<void(const ArrayView&)> finish)
    : destination_(destination), finish_(std::move(finish)), size_(destination.nbytes()), wanted_(size_) {
  std::vector<Dimension> dimensions = joined_dimensions(destination);
  run_size_ = take_run(dimensions, destination.type.item_size());
  run_begin_ = destination.data;
  if (size_ != 0) run_ = {run_begin_, run_size_};
  std::uint64_t span = run_size_;
  for (const Dimension& dimension : dimensions) {
    loops_.push_back({dimension.count, dimension.step});
    span += (dimension.count - 1) * static_cast<std::uint64_t>(std::abs(dimension.step));
  }
  streams_ = !finish_ && run_size_ >= kMinStreamedRun && span > kCached;
  while (row_dimension_ + 1 < destination.ndim() && destination.shape[row_dimension_] == 1) ++row_dimension_;
  row_size_ = destination.ndim() == 0 || size_ == 0 ? size_ : size_ / destination.shape[row_dimension_];
}

ByteSink::ByteSink(std::span<std::byte> window, std::uint64_t size, std::uint64_t wanted, Take take)
    : run_begin_(window.data()),
      run_size_(window.size()),
      run_(window.first(static_cast<std::size_t>(std::min<std::uint64_t>(window.size(), size)))),
      size_(size),
      wanted_(wanted),
      take_(std::move(take)) {}

ByteSink::~ByteSink() {
  if (streams_) detail::fence();
}

// What the window holds is handed over, and the window is free again.
void ByteSink::take_window() {
  const auto count = static_cast<std::size_t>(run_.data() - run_begin_);
  take_(position_ - count, {run_begin_, count});
  run_ = {run_begin_, static_cast<std::size_t>(std::min<std::uint64_t>(run_size_, remaining()))};
}

void ByteSink::next_run() {
  if (take_) return take_window();
  for (std::size_t d = loops_.size(); d-- > 0;) {
    Loop& loop = loops_[d];
    if (++loop.at < loop.count) {
      run_begin_ += loop.step;
      run_ = {run_begin_, run_size_};
      if (!streams_ && d + 1 == loops_.size() && loop.count - loop.at > detail::kRowsAhead)
        detail::fetch_row(run_begin_ + static_cast<std::int64_t>(detail::kRowsAhead) * loop.step, run_size_);
      return;
    }
    run_begin_ -= static_cast<std::int64_t>(loop.count - 1) * loop.step;
    loop.at = 0;
  }
  run_ = {};
}

void ByteSink::advance(std::size_t count) {
  position_ += count;
  run_ = run_.subspan(count);
  if (run_.empty()) next_run();
  if (finish_ && position_ - rows_finished_ * row_size_ >= kFinishAfter) finish_rows();
}

void ByteSink::write(std::span<const std::byte> bytes) {
  if (bytes.size() > remaining())
    throw Error(ErrorCode::corrupt_chunk, "decodes to at least " + std::to_string(position_ + bytes.size()) +
                                              " bytes, expected are " + std::to_string(size_));
  while (!bytes.empty()) {
    if (run_.size() == run_size_ && bytes.size() >= run_size_ && !loops_.empty()) {
      bytes = write_runs(bytes);
      continue;
    }
    const std::size_t count = std::min(bytes.size(), run_.size());
    if (streams_) detail::copy_streaming(run_.data(), bytes.data(), count);
    else detail::copy_large(run_.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    advance(count);
  }
}

// Whole runs at the position, as far as the innermost loop goes; gives what is left of the bytes.
std::span<const std::byte> ByteSink::write_runs(std::span<const std::byte> bytes) {
  Loop& loop = loops_.back();
  std::uint64_t count = std::min<std::uint64_t>(loop.count - loop.at, bytes.size() / run_size_);
  if (finish_) count = std::min<std::uint64_t>(count, std::max<std::uint64_t>(1, kFinishAfter / run_size_));
  detail::copy_rows(run_begin_, loop.step, bytes.data(), run_size_, static_cast<std::size_t>(count),
                    loop.count - loop.at, streams_);
  loop.at += count - 1;
  run_begin_ += static_cast<std::int64_t>(count - 1) * loop.step;
  position_ += (count - 1) * run_size_;
  advance(run_size_);
  return bytes.subspan(static_cast<std::size_t>(count) * run_size_);
}

void ByteSink::close() {
  if (!done())
    throw Error(ErrorCode::corrupt_chunk,
                "decodes to " + std::to_string(position_) + " bytes, expected are " + std::to_string(size_));
  if (take_ && run_.data() != run_begin_) take_window();
  if (finish_) finish_rows();
  if (streams_) detail::fence();
}

void ByteSink::finish_rows() {
  if (row_size_ == 0) return;
  if (destination_.ndim() == 0) {
    if (position_ == size_) finish_(destination_);
    return;
  }
  const std::uint64_t complete = position_ / row_size_;
  if (complete == rows_finished_) return;
  Shape start(destination_.ndim(), 0), extent = destination_.shape;
  start[row_dimension_] = rows_finished_;
  extent[row_dimension_] = complete - rows_finished_;
  rows_finished_ = complete;
  finish_(destination_.box(start, extent));
}

}  // namespace zarrive
