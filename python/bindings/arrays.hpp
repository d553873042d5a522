// Arrays as Python objects: the core's, with the handle of its store for pickling.
#pragma once

#include "common.hpp"
#include "stores.hpp"

namespace zarrive::python {

struct ArrayHandle {
  Array array;
  StoreHandle store;
};

// From keyword arguments that python/zarrive has put in order: shape, data_type, chunks, shards, codecs, ...
CreateOptions create_options(const nb::dict& given);
std::optional<ZarrFormat> format_of(const std::optional<int>& format);
ShardOrder shard_order_of(const std::string& name);  // "C", "F" or "morton"

}  // namespace zarrive::python
