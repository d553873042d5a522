// The benchmark that TensorStore has for its sharding codec, tensorstore/driver/zarr3/sharding_benchmark_test.cc: 1024^3 uint8 in memory, fill
// value 42, codec `bytes` alone, as one shard with inner chunks of `chunk`^3, or as chunks of that size. Sizes other than full divide
// the edge, not the chunks. The values are ours, modulo 256, for a sum over zeros would check nothing.
#include <numeric>

#include "tasks/tasks.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/memory_store.hpp"

namespace bench {
namespace {

zarrive::CreateOptions options_of(const Arguments& arguments, std::uint64_t edge) {
  zarrive::CreateOptions options;
  options.shape = {edge, edge, edge};
  options.data_type = "uint8";
  options.fill_value = 42;
  if (!arguments.sharded) {
    options.chunks = {arguments.chunk, arguments.chunk, arguments.chunk};
    options.codecs = {zarrive::codecs::bytes()};
    return options;
  }
  options.chunks = options.shape;
  options.codecs = {zarrive::codecs::sharding({arguments.chunk, arguments.chunk, arguments.chunk},
                                              {zarrive::codecs::bytes(zarrive::ByteOrder::none)})};
  return options;
}

}  // namespace

void sharding(const Arguments& arguments) {
  const std::uint64_t edge = 1024 / arguments.scale();
  const std::size_t size = edge * edge * edge;
  const Memory source = map_memory(size, true);
  for (std::uint64_t z = 0, at = 0; z < edge; ++z)
    for (std::uint64_t y = 0; y < edge; ++y)
      for (std::uint64_t x = 0; x < edge; ++x) source[at++] = static_cast<std::byte>(row_offset(z, y) + x);

  zarrive::Array array =
      zarrive::create_array(std::make_shared<zarrive::MemoryStore>(), "", options_of(arguments, edge));
  const zarrive::ArrayView view(source.get(), array.data_type(), array.shape());
  Stopwatch watch;
  if (arguments.task == "sharding_write") watch.start();
  array.write({}, view, write_options(arguments));
  if (arguments.task == "sharding_write") watch.stop();
  if (arguments.task == "sharding_read") watch.start();
  const zarrive::NDArray result = array.read({}, read_options(arguments));
  if (arguments.task == "sharding_read") watch.stop();
  if (!std::equal(source.get(), source.get() + size, result.view().data))
    throw std::runtime_error("what was read is not what was written");
  const auto* values = reinterpret_cast<const std::uint8_t*>(result.view().data);
  report(program_name, arguments, watch, std::accumulate(values, values + size, std::uint64_t{0}));
}

}  // namespace bench
