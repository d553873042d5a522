// zarrive tree: the groups and arrays below a node.
#include <optional>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/text.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {

namespace {

struct TreeArguments {
  NodeArguments node = {};
  bool json = false;
  std::optional<std::size_t> depth = {};
};

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Tree {
 public:
  Tree(Session& session, const TreeArguments& arguments) : session_(session), arguments_(arguments) {}

  void print(const Node& node) {
    const Group* const group = std::get_if<Group>(&node);
    const std::string& path = group ? group->path() : std::get<Array>(node).path();
    session_.out() << (path.empty() ? "/" : printable(path))
                   << (group ? "" : "  " + array_text(std::get<Array>(node))) << '\n';
    if (group) print_children(*group, "", 1);
    if (broken_) throw *broken_;
  }

  Json json(const Node& node) {
    const Group* const group = std::get_if<Group>(&node);
    Json result =
        json_node(last_part(group ? group->path() : std::get<Array>(node).path()),
                  group ? NodeType::group : NodeType::array, group ? json_children(*group, 1) : JsonArray{});
    if (broken_) throw *broken_;
    return result;
  }

 private:
  static std::string array_text(const Array& array) {
    return shape_text(array.shape()) + " " + printable(array.data_type().name());
  }

  bool too_deep(std::size_t depth) const { return arguments_.depth && depth > *arguments_.depth; }

  // One node that cannot be read does not hide the others; the first such error is what the command ends with.
  void broken(const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw error;
    if (!broken_) broken_ = error;
  }

  void print_children(const Group& group, const std::string& indent, std::size_t depth) {
    if (too_deep(depth)) return;
    const std::vector<NodeInfo> children = group.children();
    for (std::size_t i = 0; i < children.size(); ++i) {
      session_.check_stop();
      const bool last = i + 1 == children.size();
      session_.out() << indent << (last ? "└── " : "├── ") << printable(children[i].name);
      print_child(group, children[i], indent + (last ? "    " : "│   "), depth);
    }
  }

  void print_child(const Group& group, const NodeInfo& child, const std::string& indent, std::size_t depth) {
    std::optional<Node> node;
    try {
      node = group.open(child.name);
    } catch (const Error& error) {
      broken(error);
      session_.out() << "  (" << to_string(error.code()) << ")\n";
      return;
    }
    if (const Array* const array = std::get_if<Array>(&*node)) {
      session_.out() << "  " << array_text(*array) << '\n';
    } else {
      session_.out() << '\n';
      print_children(std::get<Group>(*node), indent, depth + 1);
    }
  }

  static Json json_node(const std::string& name, NodeType type, JsonArray children) {
    JsonObject object;
    object.set("name", name);
    object.set("node_type", type == NodeType::array ? "array" : "group");
    object.set("children", std::move(children));
    return object;
  }

  JsonArray json_children(const Group& group, std::size_t depth) {
    JsonArray result;
    if (too_deep(depth)) return result;
    for (const NodeInfo& child : group.children()) {
      session_.check_stop();
      JsonArray below;
      if (child.type == NodeType::group) {
        try {
          below = json_children(group.open_group(child.name), depth + 1);
        } catch (const Error& error) {
          broken(error);
        }
      }
      result.push_back(json_node(child.name, child.type, std::move(below)));
    }
    return result;
  }

  Session& session_;
  const TreeArguments& arguments_;
  std::optional<Error> broken_;
};

void tree(Session& session, const TreeArguments& arguments) {
  const Node node =
      open_node(open_to_read(arguments.node.store), arguments.node.node, session.group_options());
  Tree tree(session, arguments);
  if (!arguments.json) {
    tree.print(node);
  } else {
    session.out() << tree.json(node).dump({.indent = 2}) << '\n';
  }
}

}  // namespace

void add_tree(Commands& commands) {
  CLI::App* command = commands.add("tree", "the groups and arrays below a node", R"(  zarrive tree era5.zarr
  zarrive tree era5.zarr surface --depth 1
  zarrive tree era5.zarr --json)");
  auto arguments = std::make_shared<TreeArguments>();
  add_node_arguments(command, arguments->node);
  command->add_flag("--json", arguments->json, "nested objects of name, node_type and children");
  command->add_option("--depth", arguments->depth, "at most so many levels below the node")->type_name("N");
  commands.on(command, arguments, tree);
}

}  // namespace zarrive::cli
