// zarrive info: what a node is, how it is stored, how large it is and how much of it is there.
#include <iomanip>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/describe.hpp"
#include "cli/gpu_info.hpp"
#include "cli/text.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {

namespace {

struct InfoArguments {
  NodeArguments node = {};
  bool json = false;
  bool sizes = false;
  bool gpu = false;
};

void print_attributes(std::ostream& out, const JsonObject& attributes) {
  if (attributes.empty()) return;
  out << info_line("attributes", std::to_string(attributes.size()));
  constexpr std::size_t longest = 500;  // characters; `zarrive attrs` prints all
  for (const auto& [name, value] : attributes) {
    std::string text = value.dump();
    if (text.size() > longest) {
      std::size_t end = longest;
      while ((static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80) --end;  // not within a character
      text = text.substr(0, end) + "...";
    }
    out << "  " << printable(name) << ": " << printable(text) << '\n';
  }
}

std::string bytes_text(std::uint64_t bytes) {
  return bytes < 1024 ? human_bytes(bytes) : human_bytes(bytes) + " (" + grouped(bytes) + " bytes)";
}

std::string size_text(const Array& array) {
  const std::uint64_t elements = array.size();
  std::string text = counted(elements, "element");
  if (array.data_type().is_variable()) return text;
  const auto bytes = checked_multiply(elements, array.data_type().item_size());
  return text + ", " + (bytes ? bytes_text(*bytes) : "more than 2^64 bytes");
}

// Of the chunks in shards. None where the codecs cannot be made: `info` says what there is all the same.
std::optional<Shape> chunks_in_shards(const Array& array) {
  try {
    return array.inner_chunk_shape();
  } catch (const Error&) {
    return std::nullopt;
  }
}

// `chunk` is the word for what is stored under one key.
std::string stored_text(Session& session, const Array& array, bool sizes, const char* chunk) {
  const std::string total = counted(array.metadata().chunk_count(), chunk);
  const auto stored = stored_chunks(session, array, sizes);
  if (!stored) return "unknown number of " + total + " (the store cannot list)";
  std::string text = grouped(stored->count) + " of " + total;
  if (!stored->bytes) return text;
  text += ", " + bytes_text(*stored->bytes);
  const double all = static_cast<double>(array.size()) * static_cast<double>(array.data_type().item_size());
  if (!array.data_type().is_variable() && *stored->bytes > 0 &&
      stored->count == array.metadata().chunk_count()) {
    char ratio[64];
    std::snprintf(ratio, sizeof ratio, ", ratio %.2f", all / static_cast<double>(*stored->bytes));
    text += ratio;
  }
  return text;
}

void print_dimensions(std::ostream& out, const ArrayMetadata& metadata) {
  if (metadata.dimension_names.empty()) return;
  std::string names;
  for (const auto& name : metadata.dimension_names)
    names += (names.empty() ? "" : ", ") + (name ? printable(*name) : "-");
  out << info_line("dimensions", names);
}

void print_array_info(Session& session, const Array& array, bool sizes) {
  std::ostream& out = session.out();
  const ArrayMetadata& metadata = array.metadata();
  out << info_line("array", "/" + printable(array.path()));
  out << info_line("format", "Zarr v" + std::to_string(static_cast<int>(metadata.format)));
  out << info_line("type", printable(metadata.data_type.name()));
  out << info_line("shape", shape_text(metadata.shape));
  print_dimensions(out, metadata);
  const auto inner = chunks_in_shards(array);
  out << info_line(inner ? "shards" : "chunks",
                   chunks_text(metadata.chunk_grid) + ", grid " + shape_text(array.grid_shape()));
  if (inner) out << info_line("chunks", shape_text(*inner) + " in each shard");
  if (metadata.format == ZarrFormat::v2 && metadata.order != 'C')
    out << info_line("order", std::string(1, metadata.order));
  out << info_line("codecs", codecs_text(metadata));
  const FillValue& fill = metadata.fill_value;
  out << info_line("fill",
                   fill.is_undefined()
                       ? "null (reads as zeros)"
                       : printable((metadata.format == ZarrFormat::v2 ? fill.to_v2() : fill.to_v3()).dump()));
  out << info_line("size", size_text(array));
  out << info_line("stored", stored_text(session, array, sizes, inner ? "shard" : "chunk"));
  print_attributes(out, metadata.attributes);
}

void print_group_info(Session& session, const Group& group) {
  std::ostream& out = session.out();
  std::uint64_t arrays = 0;
  std::uint64_t groups = 0;
  for (const NodeInfo& child : group.children()) ++(child.type == NodeType::array ? arrays : groups);
  out << info_line("group", "/" + printable(group.path()));
  out << info_line("format", "Zarr v" + std::to_string(static_cast<int>(group.format())) +
                                 (group.is_consolidated() ? ", consolidated" : ""));
  out << info_line("children", counted(arrays, "array") + ", " + counted(groups, "group"));
  print_attributes(out, group.attributes());
}

void info(Session& session, const InfoArguments& arguments) {
  if (arguments.gpu) return print_gpu_info(session, arguments.json);
  if (arguments.node.store.empty()) throw UsageError("info takes a STORE, or --gpu");
  const Node node =
      open_node(open_to_read(arguments.node.store), arguments.node.node, session.group_options());
  const Array* const array = std::get_if<Array>(&node);
  if (arguments.json) {
    const Json json = array ? array_json(array->metadata()) : group_json(std::get<Group>(node).metadata());
    session.out() << json.dump({.indent = 2}) << '\n';
  } else if (array) {
    print_array_info(session, *array, arguments.sizes);
  } else {
    print_group_info(session, std::get<Group>(node));
  }
}

}  // namespace

void add_info(Commands& commands) {
  CLI::App* command = commands.add("info", "what a node is, how it is stored, how large, how much is there",
                                   R"(  zarrive info era5.zarr
  zarrive info era5.zarr surface/t2m
  zarrive info era5.zarr surface/t2m --json | jq .shape
  zarrive info --gpu)");
  auto arguments = std::make_shared<InfoArguments>();
  add_node_arguments(command, arguments->node);
  command->get_option("STORE")->required(false);
  command->add_flag("--gpu", arguments->gpu, "of this machine instead: which GPUs can be used, or why none");
  command->add_flag("--json", arguments->json,
                    "one JSON object in the words of v3 metadata; the v2 document under \"v2\"");
  command->add_flag("--sizes", arguments->sizes, "ask for the size of every chunk, also over a network");
  commands.on(command, arguments, info);
}

}  // namespace zarrive::cli
