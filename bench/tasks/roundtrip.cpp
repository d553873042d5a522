// Reads an array and writes a copy with the same metadata, decoding and encoding every chunk, as many at a time as there are threads.
// Whether the copy is right is for `verify` to say.
#include <stdexcept>

#include "tasks/tasks.hpp"
#include "zarrive/filesystem_store.hpp"

namespace bench {

void roundtrip(const Arguments& arguments) {
  if (arguments.out.empty()) throw std::invalid_argument("roundtrip needs --out DIR");
  const Recipe recipe = arguments.recipe();
  const zarrive::Array source = open_bench_array(arguments);
  zarrive::FilesystemStoreOptions store_options;
  store_options.create = true;
  zarrive::Array copy =
      zarrive::create_array(std::make_shared<zarrive::FilesystemStore>(arguments.out, store_options), "",
                            source.metadata(), /*overwrite=*/true);
  const std::vector<Place> places = tiles(recipe.edge, recipe.chunk);
  const Place extent = {recipe.chunk, recipe.chunk, recipe.chunk};
  const zarrive::Shape shape(extent.begin(), extent.end());
  zarrive::ReadOptions read;
  zarrive::WriteOptions write;
  read.max_concurrency = write.max_concurrency = 1;

  Stopwatch watch;
  watch.start();
  std::vector<std::vector<std::byte>> buffers(arguments.threads);
  for (auto& buffer : buffers) buffer.resize(recipe.chunk * recipe.chunk * recipe.chunk * recipe.item_size());
  for_each_concurrently(places.size(), arguments.threads, [&](std::size_t worker, std::size_t item) {
    const zarrive::Selection box = zarrive::Selection::box(places[item], extent);
    const zarrive::ArrayView view(buffers[worker].data(), source.data_type(), shape);
    source.read_into(box, view, read);
    copy.write(box, view, write);
  });
  watch.stop();
  report(program_name, arguments, watch, 0);
}

}  // namespace bench
