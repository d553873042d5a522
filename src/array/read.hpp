// The steps of a read that several files share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "array/caller.hpp"
#include "array/pieces.hpp"
#include "array/transfer.hpp"

namespace zarrive {

// What an array's read or write is about.
struct Job {
  const Pieces& pieces;
  std::function<Caller(const ArrayView& memory)>
      caller;  // memory of the shape of the caller's, seen as the pieces see it
};

// Reads into the caller's memory, which is the host's, or, when `device` is given, device memory of the array's own elements and pieces that
// are ranges, or what DeviceRead takes. `stored` is empty, or gets for each piece whether its chunk is stored (1) or missing (0).
void read_pieces(const ArrayParts& array, const Pieces& pieces, Caller caller, const ReadOptions& options,
                 DeviceRead* device, std::span<std::uint8_t> stored);

// Reads into device memory: chunk by chunk where the pieces are ranges, else all of it by way of pinned memory.
void read_to_device(const ArrayParts& array, const Job& job, const ArrayView& destination,
                    const ReadOptions& options, std::span<std::uint8_t> stored);

}  // namespace zarrive
