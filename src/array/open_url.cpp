// The calls that take a URL: open the store, then the node in it.
#include "zarrive/array.hpp"
#include "zarrive/group.hpp"
#include "zarrive/open_store.hpp"

namespace zarrive {

Node open_node(std::string_view url, std::string_view path, const GroupOpenOptions& options) {
  return open_node(open_store(url, {.mode = options.mode}), path, options);
}

Group open_group(std::string_view url, std::string_view path, const GroupOpenOptions& options) {
  return open_group(open_store(url, {.mode = options.mode}), path, options);
}

Array open_array(std::string_view url, std::string_view path, const OpenOptions& options) {
  return open_array(open_store(url, {.mode = options.mode}), path, options);
}

Group create_group(std::string_view url, std::string_view path, const CreateGroupOptions& options) {
  return create_group(open_store(url, {.mode = OpenMode::create}), path, options);
}

Array create_array(std::string_view url, std::string_view path, const CreateOptions& options) {
  return create_array(open_store(url, {.mode = OpenMode::create}), path, options);
}

}  // namespace zarrive
