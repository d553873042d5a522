// Where bytes go, in order, when their place in memory is not in one piece: the elements of a view of any strides, in C order, or a window
// that slides over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "zarrive/export.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {

// The view is a sequence of runs, pieces of memory of one length. A codec or a store either hands over pieces that still are in the cache (write),
// or decodes into the runs itself (run, then advance).
class ZARRIVE_API ByteSink {
 public:
  // `destination`: of a fixed-size type, host memory. `finish`, when given, is called on parts of it (ranges of its first dimension)
  // soon after they were written: what remains to be done to the elements, while they are in the cache.
  explicit ByteSink(const ArrayView& destination, std::function<void(const ArrayView& part)> finish = {});
  // Nothing keeps the bytes: they come to lie in `window`, one window after the other, and `take` gets each when it is full, the last one
  // when the sink is closed. `size` bytes in all; when `wanted` of them have come the sink is done().
  using Take = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;
  ByteSink(std::span<std::byte> window, std::uint64_t size, std::uint64_t wanted, Take take);
  ~ByteSink();
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  // The length of the runs of a view, in bytes.
  static std::size_t run_size(const ArrayView& destination);

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t remaining() const noexcept { return size_ - position_; }
  // True when all that is wanted has come: a decoder may stop, or go on to the end.
  bool done() const noexcept { return position_ >= wanted_; }
  std::uint64_t wanted() const noexcept { return wanted_; }
  // What is left of the run at the position; empty at the end only.
  std::span<std::byte> run() const noexcept { return run_; }
  // True when writing past the cache pays: the destination is larger than the cache, and nobody reads it at once.
  bool streams() const noexcept { return streams_; }
  // The first `count` bytes of run() have been written.
  void advance(std::size_t count);
  // The next bytes. Error(corrupt_chunk) when they are more than there is room for.
  void write(std::span<const std::byte> bytes);
  // Error(corrupt_chunk) unless all that is wanted has been written.
  void close();

 private:
  struct Loop {
    std::uint64_t count;
    std::int64_t step;
    std::uint64_t at = 0;
  };
  void next_run();
  std::span<const std::byte> write_runs(std::span<const std::byte> bytes);
  void finish_rows();
  void take_window();

  ArrayView destination_;
  std::function<void(const ArrayView&)> finish_;
  std::vector<Loop> loops_;  // over runs, outermost first
  std::byte* run_begin_ = nullptr;
  std::size_t run_size_ = 0;
  std::span<std::byte> run_;
  std::uint64_t position_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t wanted_ = 0;
  Take take_ = {};                 // of windows
  std::size_t row_dimension_ = 0;  // the first of more than one element
  std::uint64_t row_size_ = 0;     // bytes of one index of it
  std::uint64_t rows_finished_ = 0;
  bool streams_ = false;
};

}  // namespace zarrive
