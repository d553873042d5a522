// zarrive copy: nodes from store to store, from format to format. Chunks keep their shape; where the codecs mean the same in both formats
// their bytes are copied as they are, else they are decoded and encoded.
#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/creation.hpp"
#include "cli/describe.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "cli/undo.hpp"
#include "zarrive/error.hpp"
#include "zarrive/executor.hpp"

namespace zarrive::cli {

namespace {

constexpr std::size_t chunks_at_once =
    4096;  // indices held at one time; their bytes are bounded by the store's batch

struct CopyArguments {
  std::string source = {};
  std::string destination = {};
  std::string from = {};
  std::string to = {};
  int format = 0;  // 0: the source's
  bool overwrite = false;
};

class Copier {
 public:
  Copier(Session& session, std::shared_ptr<Store> destination, std::string root,
         std::optional<ZarrFormat> format)
      : session_(session),
        destination_(std::move(destination)),
        root_(std::move(root)),
        format_(format),
        progress_(session.err(), session.streams().err_is_terminal, session.streams().width) {}

  void copy(const Node& node, bool overwrite) { copy(node, root_, overwrite); }

 private:
  void copy(const Node& node, const std::string& to, bool overwrite) {
    if (const Array* const array = std::get_if<Array>(&node)) copy_array(*array, to, overwrite);
    else copy_group(std::get<Group>(node), to, overwrite);
  }

  void copy_group(const Group& group, const std::string& to, bool overwrite) {
    session_.check_stop();
    const ZarrFormat format = format_.value_or(group.format());
    create_group(destination_, to,
                 {.format = format, .attributes = group.attributes(), .overwrite = overwrite});
    if (format == ZarrFormat::v3 && group.format() == format && !group.metadata().extra_members.empty()) {
      GroupMetadata metadata = group.metadata();
      metadata.consolidated.reset();
      for (const auto& [name, document] : metadata.to_documents())
        destination_->set(join_key(to, name), Buffer::from_string(document_text(document, format)));
    }
    for (const NodeInfo& child : group.children())
      copy(group.open(child.name), join_key(to, child.name), false);
    if (group.is_consolidated() && to == root_) consolidate_metadata(destination_, to);
  }

  void copy_array(const Array& source, const std::string& to, bool overwrite) {
    session_.check_stop();
    bool chunks_stay = true;
    ArrayMetadata metadata = source.metadata();
    if (format_ && *format_ != metadata.format) metadata = convert_format(metadata, *format_, &chunks_stay);
    Array target = create_array(destination_, to, std::move(metadata), overwrite);
    std::vector<Index> indices;
    const auto flush = [&] {
      progress_.expect(indices.size());
      if (chunks_stay) copy_encoded(source, target, indices);
      else copy_decoded(source, target, indices);
      indices.clear();
    };
    for_each_index(source, [&](const Index& index) {
      indices.push_back(index);
      if (indices.size() == chunks_at_once) flush();
    });
    if (!indices.empty()) flush();
  }

  // The chunks that are stored, or, where the store cannot list, all that could be.
  static void for_each_index(const Array& array, const std::function<void(const Index&)>& visit) {
    if (array.store()->capabilities().listable) {
      for_each_chunk_key(array, [&](const std::string&, const Index& index) { visit(index); });
      return;
    }
    const Shape grid = array.grid_shape();
    if (element_count(grid) == 0) return;
    Index index(grid.size(), 0);
    while (true) {
      visit(index);
      std::size_t d = grid.size();
      while (d > 0 && ++index[d - 1] == grid[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

  // One batch: the destination asks for each value when it has room for it, and that is when it is read.
  void copy_encoded(const Array& source, Array& target, const std::vector<Index>& indices) {
    const auto array = std::make_shared<const ArrayMetadata>(target.metadata());
    std::vector<Context> contexts(indices.size());
    std::vector<SetRequest> batch(indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      batch[i].key = target.chunk_key(indices[i]);
      contexts[i].key = batch[i].key;
      contexts[i].node = target.path();
      contexts[i].array = array;
      contexts[i].chunk_index = indices[i];
      batch[i].context = &contexts[i];
      batch[i].produce = [this, &source, &indices, i] {
        std::optional<Buffer> encoded = source.read_encoded_chunk(indices[i]);
        progress_.done(1, encoded ? encoded->size() : 0);
        return encoded;
      };
    }
    destination_->set(batch, {.stop = session_.stop(), .max_concurrency = session_.jobs});
  }

  void copy_decoded(const Array& source, Array& target, const std::vector<Index>& indices) {
    const auto copy_one = [&](std::size_t i) {
      const NDArray chunk = source.read_chunk(indices[i], session_.read_options());
      target.write_chunk(indices[i], chunk.view(), session_.write_options());
      progress_.done(1, chunk.view().nbytes());
    };
    Executor::global().parallel_for(indices.size(), copy_one,
                                    {.max_concurrency = session_.jobs, .stop = session_.stop()});
  }

  Session& session_;
  std::shared_ptr<Store> destination_;
  std::string root_;  // of the copy, in the destination
  std::optional<ZarrFormat> format_;
  Progress progress_;
};

// A copy into itself would never end, or delete what it copies.
void check_apart(const Store& source, const std::string& from, const Store& destination,
                 const std::string& to) {
  const auto place = [](const Store& store, const std::string& node) {
    std::error_code error;
    std::string path = std::filesystem::weakly_canonical(store.name(), error).string();
    if (error) path = store.name();
    while (path.ends_with('/')) path.pop_back();
    return path + "/" + (node.empty() ? "" : node + "/");
  };
  const std::string a = place(source, from);
  const std::string b = place(destination, to);
  if (a.starts_with(b) || b.starts_with(a)) {
    throw Error(ErrorCode::invalid_argument, "source and destination lie within each other",
                {.store = destination.name(), .node = to});
  }
}

void copy(Session& session, const CopyArguments& arguments) {
  std::optional<ZarrFormat> format;
  if (arguments.format != 0) format = parse_format(arguments.format);
  const auto source = open_to_read(arguments.source);
  const std::string from = normalize_path(arguments.from);
  const std::string to = normalize_path(arguments.to);
  const Node node = open_node(source, from, session.group_options());
  const auto destination = open_to_create(arguments.destination);
  check_apart(*source, from, *destination, to);

  NewNode undo(destination, to, arguments.overwrite);
  Copier(session, destination, to, format).copy(node, arguments.overwrite);
  destination->flush();
  undo.keep();
  if (!to.empty())
    warn_about_consolidated(session, *destination, to.substr(0, std::min(to.rfind('/'), to.size())));
}

}  // namespace

void add_copy(Commands& commands) {
  CLI::App* command =
      commands.add("copy", "copies nodes between stores and formats", R"(  zarrive copy era5.zarr era5.zip
  zarrive copy old.zarr new.zarr --format 3
  zarrive copy era5.zarr small.zarr --from surface/t2m --to t2m)");
  auto arguments = std::make_shared<CopyArguments>();
  command->add_option("SOURCE", arguments->source, "the store to copy from")->required();
  command
      ->add_option("DESTINATION", arguments->destination, "the store to copy to; made when it is not there")
      ->required();
  command->add_option("--from", arguments->from, "the node to copy; absent: everything")->type_name("NODE");
  command->add_option("--to", arguments->to, "where to put it; absent: the root")->type_name("NODE");
  command->add_option("--format", arguments->format, "Zarr format of the copy, 2 or 3; absent: as it is")
      ->type_name("N");
  command->add_flag("--overwrite", arguments->overwrite, "delete what is there first");
  commands.on(command, arguments, copy);
}

}  // namespace zarrive::cli
