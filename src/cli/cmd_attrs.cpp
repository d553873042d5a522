// zarrive attrs: the attributes of a node, shown and changed.
#include <ostream>

#include "cli/commands.hpp"
#include "cli/creation.hpp"
#include "cli/undo.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {

namespace {

struct AttrsArguments {
  std::string store = {};
  std::vector<std::string> words = {};  // [NODE] [get [NAME] | set NAME JSON ... | delete NAME ...]
};

struct Request {
  std::string node = {};
  std::string action = "get";
  std::vector<std::string> words = {};
};

Request request_of(std::vector<std::string> words) {
  const auto is_action = [](const std::string& word) {
    return word == "get" || word == "set" || word == "delete";
  };
  Request request;
  if (!words.empty() && !is_action(words[0])) {
    request.node = words[0];
    words.erase(words.begin());
  }
  if (!words.empty()) {
    if (!is_action(words[0])) throw UsageError("get, set or delete expected, not \"" + words[0] + "\"");
    request.action = words[0];
    words.erase(words.begin());
  }
  if (request.action == "get" && words.size() > 1) throw UsageError("get takes one name");
  if (request.action == "set" && (words.empty() || words.size() % 2 != 0))
    throw UsageError("set takes names and values in turn: NAME JSON ...");
  if (request.action == "delete" && words.empty()) throw UsageError("delete takes names");
  request.words = std::move(words);
  return request;
}

const JsonObject& attributes_of(const Node& node) {
  return std::visit([](const auto& any) -> const JsonObject& { return any.attributes(); }, node);
}

const Error missing(const std::string& name, const Request& request, const Store& store) {
  return {ErrorCode::not_found,
          "there is no attribute \"" + name + "\"",
          {.store = store.name(), .node = request.node}};
}

void attrs(Session& session, const AttrsArguments& arguments) {
  const Request request = request_of(arguments.words);
  const auto store = request.action == "get" ? open_to_read(arguments.store) : open_to_write(arguments.store);
  Node node = open_node(store, request.node, session.group_options());
  JsonObject attributes = attributes_of(node);
  if (request.action == "get") {
    const Json* const value = request.words.empty() ? nullptr : attributes.find(request.words[0]);
    if (!request.words.empty() && !value) throw missing(request.words[0], request, *store);
    session.out() << (value ? *value : Json(attributes)).dump({.indent = 2}) << '\n';
    return;
  }
  if (request.action == "set") {
    for (std::size_t i = 0; i < request.words.size(); i += 2)
      attributes.set(request.words[i], parse_option_json(request.words[i + 1], request.words[i].c_str()));
  } else {
    for (const std::string& name : request.words) {
      if (!attributes.erase(name)) throw missing(name, request, *store);
    }
  }
  std::visit([&](auto& any) { any.set_attributes(std::move(attributes)); }, node);
  store->flush();
  warn_about_consolidated(session, *store, normalize_path(request.node));
}

}  // namespace

void add_attrs(Commands& commands) {
  CLI::App* command = commands.add("attrs", "shows or changes the attributes of a node",
                                   R"(  zarrive attrs era5.zarr surface/t2m
  zarrive attrs era5.zarr surface/t2m get units
  zarrive attrs era5.zarr surface/t2m set units '"K"' valid_min 0
  zarrive attrs era5.zarr surface/t2m delete valid_min

Values are JSON, so text stands in double quotes. A node that is called get, set or delete is written /get.)");
  auto arguments = std::make_shared<AttrsArguments>();
  command->add_option("STORE", arguments->store, "a folder, a .zip file, or a URL")->required();
  command->add_option("WORDS", arguments->words, "[NODE] [get [NAME] | set NAME JSON ... | delete NAME ...]")
      ->type_name("...");
  commands.on(command, arguments, attrs);
}

}  // namespace zarrive::cli
