// Reads and writes of one array: the plan, its batch, and what happens to each chunk.
#pragma once

#include "array/memo_cache.hpp"
#include "memory/scratch.hpp"
#include "zarrive/array.hpp"

namespace zarrive {

// What a read or write needs of an array.
struct ArrayParts {
  std::shared_ptr<Store> store = {};
  std::string path = {};
  std::shared_ptr<const ArrayMetadata> metadata = {};
  const CodecChain* chain = nullptr;
  MemoCache* memos = nullptr;
};

// `destination` has the result shape of `selection`. See Array::read_into.
void run_read(const ArrayParts& array, const Selection& selection, const ArrayView& destination,
              const ReadOptions& options);

// `source` has the result shape of `selection`. See Array::write.
void run_write(const ArrayParts& array, const Selection& selection, const ArrayView& source,
               const WriteOptions& options);

// See Array::read_parts and Array::write_parts.
std::vector<bool> run_read_parts(const ArrayParts& array, std::span<const ChunkAccess> accesses,
                                 const ArrayView& output, const ReadOptions& options);
void run_write_parts(const ArrayParts& array, std::span<const ChunkAccess> accesses, const ArrayView& source,
                     const WriteOptions& options);

// The caller's side of a read or write.
struct Transfer {
  enum Direction { read, write } direction;
  const ArrayView& view;
  bool convert;
};
// Error unless the view has the selection's shape, memory that its elements can live in, and the array's type or one that it may be converted to.
void check_transfer(const Transfer& transfer, const Selection& selection, const ResolvedSelection& resolved,
                    const ArrayMetadata& metadata);
// Likewise of a list, whose parts lie in their chunks and in the view.
void check_transfer(const Transfer& transfer, std::span<const ChunkAccess> accesses,
                    const ArrayMetadata& metadata);

// Chunks of one batch: contexts are made for this many at a time, so that a selection of any number of chunks needs bounded memory.
inline constexpr std::uint64_t kMaxBatch = 65536;

// Gives an error that passes through its place; other exceptions pass unchanged.
template <class Function>
decltype(auto) with_place(const ErrorPlace& place, Function&& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw error.with(place);
  }
}

}  // namespace zarrive
