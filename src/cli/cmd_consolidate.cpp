// zarrive consolidate: all metadata below a group in one document.
#include "cli/commands.hpp"

namespace zarrive::cli {

namespace {

void consolidate(Session&, const NodeArguments& arguments) {
  const auto store = open_to_write(arguments.store);
  consolidate_metadata(store, arguments.node);
  store->flush();
}

}  // namespace

void add_consolidate(Commands& commands) {
  CLI::App* command = commands.add("consolidate", "gathers the metadata below a group in one document",
                                   "  zarrive consolidate era5.zarr");
  auto arguments = std::make_shared<NodeArguments>();
  add_node_arguments(command, *arguments);
  commands.on(command, arguments, consolidate);
}

}  // namespace zarrive::cli
