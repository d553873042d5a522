// zarrive conformance: the interface that the Zarr conformance tests call.
#include <ostream>

#include "cli/commands.hpp"
#include "cli/elements.hpp"
#include "cli/slabs.hpp"

namespace zarrive::cli {

namespace {

struct ConformanceArguments {
  std::string array_path = {};
};

void conformance(Session& session, const ConformanceArguments& arguments) {
  const Array array = open_array(open_to_read(arguments.array_path), {}, session.open_options());
  const auto append = [&](std::string& text, std::uint64_t, const std::byte* element) {
    append_json(text, array.data_type(), element);
    text += '\n';
  };
  for_each_slab(resolve({}, array.shape()), array.metadata().chunk_grid, array.data_type().item_size(),
                slab_bytes / 8, {}, [&](const Slab& slab) {
                  const NDArray part = array.read(slab.selection, session.read_options());
                  format_elements(part.view(), session.jobs, append,
                                  [&](const std::string& text) { session.out() << text; });
                  session.check_stop();
                });
}

}  // namespace

void add_conformance(Commands& commands) {
  CLI::App* command =
      commands.add("conformance", "prints each element in C order, one a line, in fill-value JSON form",
                   "  zarrive conformance --array_path=store.zarr/array");
  auto arguments = std::make_shared<ConformanceArguments>();
  command->add_option("--array_path", arguments->array_path, "folder of the array")
      ->required()
      ->type_name("DIR");
  commands.on(command, arguments, conformance);
}

}  // namespace zarrive::cli
