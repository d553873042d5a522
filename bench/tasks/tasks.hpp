// The tasks of the bench as a user of Zarrive would write them.
#pragma once

#include <functional>
#include <vector>

#include "support/process.hpp"
#include "support/workload.hpp"
#include "zarrive/array.hpp"

namespace bench {

void read_all(const Arguments& arguments);
void read_into(const Arguments& arguments);
void plane(const Arguments& arguments);
void gather(const Arguments& arguments);
void slices(const Arguments& arguments);
void read_chunks(const Arguments& arguments);
void read_subchunks(const Arguments& arguments);
void roundtrip(const Arguments& arguments);
void open_consolidated(const Arguments& arguments);
void sharding(const Arguments& arguments);
void verify(const Arguments& arguments);

inline constexpr const char* program_name = "zarrive";

zarrive::Array open_bench_array(const Arguments& arguments);
zarrive::ReadOptions read_options(const Arguments& arguments);
zarrive::WriteOptions write_options(const Arguments& arguments);

// Calls body(worker, item) for all items, `concurrency` at a time, each worker a thread of its own.
void for_each_concurrently(std::size_t items, std::size_t concurrency,
                           const std::function<void(std::size_t worker, std::size_t item)>& body);

}  // namespace bench
