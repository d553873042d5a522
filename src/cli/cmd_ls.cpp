// zarrive ls: the keys of a store.
#include <algorithm>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/text.hpp"
#include "zarrive/error.hpp"
#include "zarrive/executor.hpp"

namespace zarrive::cli {

namespace {

struct LsArguments {
  std::string store = {};
  std::string prefix = {};
  bool sizes = false;
  bool recursive = false;
};

struct Entry {
  std::string name;
  std::string key;  // empty for a prefix
};

void print(Session& session, Store& store, const std::vector<Entry>& entries, bool with_sizes) {
  std::vector<std::string> sizes(entries.size());
  if (with_sizes) {
    Executor::global().parallel_for(entries.size(),
                                    [&](std::size_t i) {
                                      if (entries[i].key.empty()) return;
                                      const auto size = store.size(entries[i].key);
                                      sizes[i] = size ? grouped(*size) : "gone";
                                    },
                                    {.max_concurrency = session.jobs, .stop = session.stop()});
  }
  std::size_t width = 0;
  for (const std::string& size : sizes) width = std::max(width, size.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (with_sizes) session.out() << pad_left(sizes[i], width) << "  ";
    session.out() << printable(entries[i].name) << '\n';
  }
}

void list_recursively(Session& session, Store& store, const std::string& prefix, std::size_t skip,
                      bool sizes) {
  session.check_stop();
  const DirectoryListing listing = store.list_dir(prefix);
  std::vector<Entry> entries;
  for (const std::string& key : listing.keys) entries.push_back({key.substr(skip), key});
  print(session, store, entries, sizes);
  for (const std::string& below : listing.prefixes) list_recursively(session, store, below, skip, sizes);
}

void ls(Session& session, const LsArguments& arguments) {
  const auto store = open_to_read(arguments.store);
  const std::string prefix = normalize_path(arguments.prefix);
  const std::size_t skip = prefix.empty() ? 0 : prefix.size() + 1;
  const DirectoryListing listing = store->list_dir(prefix);
  if (listing.keys.empty() && listing.prefixes.empty() && !prefix.empty()) {
    const auto size = store->size(prefix);
    if (!size)
      throw Error(ErrorCode::not_found, "no key begins with \"" + prefix + "\"", {.store = store->name()});
    print(session, *store, {{prefix, prefix}}, arguments.sizes);
    return;
  }
  if (arguments.recursive) {
    list_recursively(session, *store, prefix, skip, arguments.sizes);
    return;
  }
  std::vector<Entry> entries;
  for (const std::string& key : listing.keys) entries.push_back({key.substr(skip), key});
  for (const std::string& below : listing.prefixes) entries.push_back({below.substr(skip) + "/", ""});
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  print(session, *store, entries, arguments.sizes);
}

}  // namespace

void add_ls(Commands& commands) {
  CLI::App* command = commands.add("ls", "the keys of a store", R"(  zarrive ls era5.zarr
  zarrive ls era5.zarr surface/t2m -l
  zarrive ls era5.zarr -r)");
  auto arguments = std::make_shared<LsArguments>();
  command->add_option("STORE", arguments->store, "a folder, a .zip file, or a URL")->required();
  command->add_option("PREFIX", arguments->prefix, "list what is directly below it; absent: the root");
  command->add_flag("-l,--long", arguments->sizes, "with sizes in bytes");
  command->add_flag("-r,--recursive", arguments->recursive, "every key below, not only the next level");
  commands.on(command, arguments, ls);
}

}  // namespace zarrive::cli
