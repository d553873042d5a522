// Many boxes one after another, or a few at a time, whose data is looked at and let go.
#include "tasks/tasks.hpp"

namespace bench {
namespace {

// All cubes of edge `piece`, each worker into a buffer that it keeps.
void read_tiles(const Arguments& arguments, std::uint64_t piece) {
  const Recipe recipe = arguments.recipe();
  const zarrive::Array array = open_bench_array(arguments);
  const std::vector<Place> places = tiles(recipe.edge, piece);
  const Place extent = {piece, piece, piece};
  const zarrive::Shape shape(extent.begin(), extent.end());
  zarrive::ReadOptions options = read_options(arguments);
  options.max_concurrency = std::max<std::size_t>(arguments.threads / arguments.concurrency, 1);
  std::vector<std::uint64_t> sums(arguments.concurrency);

  Stopwatch watch;
  watch.start();
  std::vector<std::vector<std::byte>> buffers(arguments.concurrency);
  for (auto& buffer : buffers) buffer.resize(piece * piece * piece * recipe.item_size());
  for_each_concurrently(places.size(), arguments.concurrency, [&](std::size_t worker, std::size_t item) {
    std::byte* const data = buffers[worker].data();
    array.read_into(zarrive::Selection::box(places[item], extent),
                    zarrive::ArrayView(data, array.data_type(), shape), options);
    sums[worker] += sample_box(data, places[item], extent, recipe.float32);
  });
  watch.stop();
  std::uint64_t sum = 0;
  for (const std::uint64_t part : sums) sum += part;
  report(program_name, arguments, watch, sum);
}

}  // namespace

void read_chunks(const Arguments& arguments) { read_tiles(arguments, arguments.recipe().chunk); }

void read_subchunks(const Arguments& arguments) {
  const Recipe recipe = arguments.recipe();
  read_tiles(arguments, recipe.inner != 0 ? recipe.inner : recipe.chunk);
}

void slices(const Arguments& arguments) {
  const Recipe recipe = arguments.recipe();
  const zarrive::Array array = open_bench_array(arguments);
  const Place extent = slice_extent(recipe.edge);
  const zarrive::Shape shape(extent.begin(), extent.end());
  std::vector<std::byte> data(extent[0] * extent[1] * extent[2] * recipe.item_size());
  const zarrive::ArrayView view(data.data(), array.data_type(), shape);
  std::uint64_t sum = 0;
  Stopwatch watch;
  for (const Place& place : slice_places(recipe.edge)) {
    watch.start();
    array.read_into(zarrive::Selection::box(place, extent), view, read_options(arguments));
    watch.stop();
    sum += check_box(data.data(), place, extent, recipe.float32);
  }
  report(program_name, arguments, watch, sum);
}

}  // namespace bench
