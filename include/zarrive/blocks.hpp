// Chunk-aligned iteration: a selection in the blocks that its chunks cut it into, the next ones read while the caller works on one.
//
//   for (auto& block : array.blocks("0:100")) use(block.data, block.place);
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

#include "zarrive/array.hpp"
#include "zarrive/export.hpp"

namespace zarrive {

struct BlockOptions {
  ReadOptions read = {};
  std::size_t read_ahead =
      4;  // blocks that are read, or have been, beyond the one in hand; 0: each when it is asked for
  std::uint64_t max_bytes_ahead = 256u << 20;  // bound on the elements of those
};

// What a selection has of one chunk (of a sharded array: of one shard).
struct Block {
  NDArray data = {};         // of the shape that reading `selection` gives
  Selection selection = {};  // these elements, in the array
  Selection place = {};      // where they are in the result of the whole selection: result[place] = data
  Index chunk = {};          // the chunk's grid index

  // The elements as T; Error(invalid_argument) when they are of another type.
  template <class T>
  TypedArray<T> as() const {
    return TypedArray<T>(data);
  }
};

// The blocks of a selection, each chunk once: those of basic selections in C order of the result. Reading begins with begin(), each time
// anew. A block that cannot be read throws where the loop comes to it, after the blocks before it; then the loop is over. Leaving the loop
// early stops what is being read ahead, and waits for it.
class ZARRIVE_API BlockRange {
 public:
  class ZARRIVE_API Iterator {
   public:
    using value_type = Block;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Block& operator*() const;
    Block* operator->() const { return &**this; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const;

   private:
    friend class BlockRange;
    struct Run;
    std::shared_ptr<Run> run_;  // copies go on together
  };

  Iterator begin() const;
  std::default_sentinel_t end() const noexcept { return {}; }
  std::uint64_t size() const;  // number of blocks

 private:
  friend class Array;
  struct Plan;
  explicit BlockRange(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  std::shared_ptr<const Plan> plan_;
};

}  // namespace zarrive
