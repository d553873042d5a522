// A group with consolidated metadata, and one array of it. The sum is the number of nodes below the group and the array's elements.
#include "tasks/tasks.hpp"
#include "zarrive/group.hpp"

namespace bench {

void open_consolidated(const Arguments& arguments) {
  Stopwatch watch;
  watch.start();
  zarrive::GroupOpenOptions options;
  options.consolidated = zarrive::Consolidated::require;
  const zarrive::Group group =
      zarrive::open_group(arguments.data + '/' + arguments.size + "/group.zarr", "", options);
  const zarrive::Array array = group.open_array("station7/variable42");
  watch.stop();
  std::uint64_t sum = array.size();
  group.walk([&](const zarrive::NodeInfo&) { ++sum; });
  report(program_name, arguments, watch, sum);
}

}  // namespace bench
