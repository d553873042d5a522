// The commands. Each function adds its command and options to the command line; what the command does is kept as Commands::chosen when it is
// the one that was asked for, and runs after the whole line was understood.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "cli/session.hpp"

namespace zarrive::cli {

struct Commands {
  CLI::App& app;
  Session& session;
  std::function<void()> chosen = {};

  // A new command with its help: what it does, and examples below the options.
  CLI::App* add(const std::string& name, const std::string& what, const std::string& examples);
  // What to do when `command` was asked for; `options` is what its options were read into.
  template <class Options>
  void on(CLI::App* command, std::shared_ptr<Options> options, void (*action)(Session&, const Options&)) {
    command->callback(
        [this, options, action] { chosen = [this, options, action] { action(session, *options); }; });
  }
};

void add_info(Commands& commands);
void add_tree(Commands& commands);
void add_ls(Commands& commands);
void add_read(Commands& commands);
void add_write(Commands& commands);
void add_create(Commands& commands);
void add_attrs(Commands& commands);
void add_copy(Commands& commands);
void add_consolidate(Commands& commands);
void add_codecs(Commands& commands);
void add_conformance(Commands& commands);

// STORE and [NODE], as most commands take them.
struct NodeArguments {
  std::string store = {};
  std::string node = {};
};
void add_node_arguments(CLI::App* command, NodeArguments& arguments);

}  // namespace zarrive::cli
