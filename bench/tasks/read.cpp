// Whole arrays, a plane, rows.
#include "tasks/tasks.hpp"

namespace bench {

namespace {

void read_and_check(const Arguments& arguments, const zarrive::Array& array) {
  const Recipe recipe = arguments.recipe();
  Stopwatch watch;
  watch.start();
  const zarrive::NDArray result = array.read({}, read_options(arguments));
  watch.stop();
  report(program_name, arguments, watch,
         check_cube(result.view().data, recipe.edge, recipe.float32, arguments.threads));
}

}  // namespace

// Into memory that the library makes.
void read_all(const Arguments& arguments) { read_and_check(arguments, open_bench_array(arguments)); }

// What another program has written; not a task that is timed, though it says how long it took.
void verify(const Arguments& arguments) { read_and_check(arguments, zarrive::open_array(arguments.out)); }

// Into memory that the caller has, all pages present.
void read_into(const Arguments& arguments) {
  const Recipe recipe = arguments.recipe();
  const zarrive::Array array = open_bench_array(arguments);
  const Memory destination = map_memory(recipe.bytes(), true);
  Stopwatch watch;
  watch.start();
  array.read_into({}, zarrive::ArrayView(destination.get(), array.data_type(), array.shape()),
                  read_options(arguments));
  watch.stop();
  report(program_name, arguments, watch,
         check_cube(destination.get(), recipe.edge, recipe.float32, arguments.threads));
}

void plane(const Arguments& arguments) {
  const Recipe recipe = arguments.recipe();
  const zarrive::Array array = open_bench_array(arguments);
  const std::uint64_t x = plane_x(recipe.edge);
  const zarrive::Selection selection{zarrive::ellipsis, x};
  Stopwatch watch;
  watch.start();
  const zarrive::NDArray result = array.read(selection, read_options(arguments));
  watch.stop();
  report(program_name, arguments, watch,
         check_box(result.view().data, {0, 0, x}, {recipe.edge, recipe.edge, 1}, recipe.float32));
}

// array[rows, y, :] with sorted rows.
void gather(const Arguments& arguments) {
  const Recipe recipe = arguments.recipe();
  const zarrive::Array array = open_bench_array(arguments);
  const std::vector<std::uint64_t> rows = gather_rows(recipe.edge);
  const std::uint64_t y = gather_y(recipe.edge);
  const std::vector<std::int64_t> indices(rows.begin(), rows.end());
  Stopwatch watch;
  watch.start();
  const zarrive::NDArray result =
      array.read(zarrive::oindex({indices, y, zarrive::ellipsis}), read_options(arguments));
  watch.stop();
  const std::size_t row_bytes = recipe.edge * recipe.item_size();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    sum +=
        check_box(result.view().data + i * row_bytes, {rows[i], y, 0}, {1, 1, recipe.edge}, recipe.float32);
  report(program_name, arguments, watch, sum);
}

}  // namespace bench
