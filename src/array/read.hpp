// The steps of a read that several files share.
#pragma once

#include "array/caller.hpp"
#include "array/transfer.hpp"

namespace zarrive {

// Reads into the caller's memory, which is the host's, or, when `device` is given, device memory of the array's own elements and a selection
// of ranges only.
void read_pieces(const ArrayParts& array, const ResolvedSelection& selection, Caller caller,
                 const ReadOptions& options, DeviceRead* device);

// Reads into device memory: chunk by chunk where the selection is made of ranges, else all of it by way of pinned memory.
void read_to_device(const ArrayParts& array, const Selection& selection, const ResolvedSelection& resolved,
                    const ArrayView& destination, const ReadOptions& options);

}  // namespace zarrive
