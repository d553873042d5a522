// The arrays A to G, as the other programs of the bench read them.
#include <exception>

#include "gpu/gpu.hpp"
#include "zarrive/open_store.hpp"

namespace bench {

bool measure_arrays(const GpuArguments& arguments, const Ceilings& ceilings) {
  bool good = true;
  for (const char name : all_arrays) {
    zarrive::JsonObject row{{"kind", "array"}, {"name", std::string(1, name)}};
    try {
      const Recipe recipe = bench::recipe(name, arguments.scale());
      const std::string folder = arguments.folder() + '/' + name + ".zarr";
      measure_array(
          arguments, ceilings, zarrive::open_array(folder), stored_bytes(folder),
          [&](const std::byte* data) { check_cube(data, recipe.edge, recipe.float32, arguments.threads); },
          row);
    } catch (const std::exception& error) {
      good = false;
      row.set("error", error.what());
      say(std::move(row));
    }
  }
  return good;
}

}  // namespace bench
