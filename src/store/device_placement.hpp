// Values whose context asks for device memory.
#pragma once

#include "zarrive/store.hpp"

namespace zarrive::store {

// The context asks for device memory and the key is not one of metadata, which stays on the host whatever the context says.
bool wants_device(const GetRequest& request);

// What a store found for such a request, its values in that memory; those that are there already stay.
GetResult on_device(const Store& store, const GetRequest& request, GetResult result);

// Whether a value to be written is in device memory.
bool is_on_device(const SetRequest& request);
// The same requests, values in device memory brought to the host when the store is ready for them.
std::vector<SetRequest> by_way_of_host(std::span<const SetRequest> batch);

// Reads what a request wants for a device from an open file of `size` bytes, straight there by cuFile: into context->destination, or into new
// memory. False, and nothing is done, where nothing goes to a device, where cuFile does not read this file, or the value is too small for it.
bool read_to_device(int fd, std::uint64_t size, const GetRequest& request, GetResult& result);

}  // namespace zarrive::store
