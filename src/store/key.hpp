// What every store needs to know about keys: validity, quoting for messages, prefixes, and which keys are metadata documents.
#pragma once

#include <string>
#include <string_view>

namespace zarrive::store {

// Empty when `key` is a valid key, else what is wrong with it.
std::string key_fault(std::string_view key);

// The key between quotes for a message: control and non-UTF-8 bytes as \xNN, long keys cut in the middle.
std::string quoted(std::string_view key);

// "prefix/" for a non-empty prefix, "" for the empty one.
std::string with_slash(std::string_view prefix);

// True for zarr.json, .zarray, .zgroup, .zattrs and .zmetadata, at any depth.
bool is_metadata_key(std::string_view key);

}  // namespace zarrive::store
