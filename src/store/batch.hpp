// Pieces that the base class and the wrappers share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "zarrive/store.hpp"

namespace zarrive::store {

// Bytes a request will hold when it completes, 0 when nothing tells.
std::uint64_t expected_bytes(const GetRequest& request);

// Bytes of all values of a result.
std::uint64_t bytes_of(const GetResult& result);

// The whole value is wanted, as one value (only then may it land in context->destination).
bool wants_whole(const GetRequest& request);

// context->destination when a value of `size` bytes may be written there by the host: contiguous, host accessible, of exactly this size,
// fixed-size elements. Empty span otherwise. (A zero-sized value is never placed.)
std::span<std::byte> placement(const GetRequest& request, std::uint64_t size);

// Whether a value of `size` bytes may be written, row by row, to a context->destination that is not in one piece.
bool takes_rows(const GetRequest& request, std::uint64_t size);

// A found result of a value that is all in memory: cuts the ranges out of `value` (shared, not copied) or, for a whole value, places it or moves
// it to where the context's prototype asks, when the host can read it and write there.
GetResult result_from_value(const GetRequest& request, const Buffer& value, Generation generation);

// Memory for `size` bytes as the context's prototype asks when the host can write there, pinned when they go on to a device, else from the pool.
Buffer allocate_value(const Context* context, std::size_t size);

// What a request gets; may throw.
using ReadOne = std::function<GetResult(const GetRequest&)>;
// Store::do_get for requests that do not wait: `read` on compute threads and the caller, in the order of the batch.
void get_by_workers(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options,
                    const std::string& store, const ReadOne& read);

}  // namespace zarrive::store
