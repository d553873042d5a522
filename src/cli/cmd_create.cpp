// zarrive create: the metadata of a new array or group.
#include "cli/commands.hpp"
#include "cli/creation.hpp"
#include "cli/text.hpp"
#include "cli/undo.hpp"

namespace zarrive::cli {

namespace {

struct CreateArguments {
  NodeArguments node = {};
  std::optional<std::string> shape = {};
  std::string dtype = {};
  bool group = false;
  CreationArguments creation = {};
};

// Makes the node by `make`, or leaves nothing.
template <class Make>
void create_node(Session& session, const CreateArguments& arguments, const Make& make) {
  const auto store = open_to_create(arguments.node.store);
  const std::string path = normalize_path(arguments.node.node);
  NewNode undo(store, path, arguments.creation.overwrite);
  make(store, path);
  store->flush();
  undo.keep();
  warn_about_consolidated(session, *store, path);
}

void create(Session& session, const CreateArguments& arguments) {
  const CreationArguments& creation = arguments.creation;
  if (arguments.group) {
    if (arguments.shape || !arguments.dtype.empty())
      throw UsageError("a group has neither --shape nor --dtype");
    CreateGroupOptions options{
        .format = parse_format(creation.format), .attributes = {}, .overwrite = creation.overwrite};
    options.attributes = creation_options(creation, {}, DataType(), session).attributes;
    create_node(session, arguments,
                [&](const auto& store, const std::string& path) { create_group(store, path, options); });
    return;
  }
  if (!arguments.shape || arguments.dtype.empty())
    throw UsageError("a new array needs --shape and --dtype (or say --group)");
  const CreateOptions options = creation_options(creation, parse_shape(*arguments.shape, "--shape"),
                                                 DataType::parse(arguments.dtype), session);
  make_metadata(options);  // what cannot be is found before the store is touched
  create_node(session, arguments,
              [&](const auto& store, const std::string& path) { create_array(store, path, options); });
}

}  // namespace

void add_create(Commands& commands) {
  CLI::App* command =
      commands.add("create", "makes a new array, or a group",
                   R"(  zarrive create out.zarr speed --shape 365,721,1440 --dtype float32 --chunks 1,721,1440
  zarrive create out.zarr cells --shape 4096,4096,4096 --dtype uint8 --chunks 64,64,64 --shards 1024,1024,1024
  zarrive create out.zarr flags --shape 1000 --dtype uint8 --codecs '["bytes", "crc32c"]' --fill 255
  zarrive create old.zarr t --shape 100,100 --dtype '<i2' --format 2 --compressor '{"id": "zlib", "level": 1}'
  zarrive create out.zarr surface --group --attributes '{"title": "Surface fields"}')");
  auto arguments = std::make_shared<CreateArguments>();
  add_node_arguments(command, arguments->node);
  command->add_option("--shape", arguments->shape, "lengths of the dimensions: 10,20,30")->type_name("SHAPE");
  command->add_option("--dtype", arguments->dtype, "float32, '<f4', 'datetime64[ms]', ...")
      ->type_name("TYPE");
  command->add_flag("--group", arguments->group, "a group, with --attributes");
  add_creation_options(command, arguments->creation);
  commands.on(command, arguments, create);
}

}  // namespace zarrive::cli
