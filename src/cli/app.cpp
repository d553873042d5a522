#include "cli/app.hpp"

#include <algorithm>
#include <iostream>
#include <new>
#include <utility>

#include "cli/commands.hpp"
#include "cli/text.hpp"
#include "zarrive/error.hpp"
#include "zarrive/version.hpp"

namespace zarrive::cli {

CLI::App* Commands::add(const std::string& name, const std::string& what, const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("Examples:\n" + examples + "\n");
  return command;
}

void add_node_arguments(CLI::App* command, NodeArguments& arguments) {
  command->add_option("STORE", arguments.store, "a folder, a .zip file, or a URL")->required();
  command->add_option("NODE", arguments.node, "path of the array or group in the store; absent: its root");
}

namespace {

constexpr const char* examples = R"(Examples:
  zarrive tree era5.zarr
  zarrive info era5.zarr surface/t2m
  zarrive read era5.zarr surface/t2m --select "0, 100:110, ::8"
  zarrive read era5.zarr surface/t2m -o t2m.npy
  zarrive copy old.zarr new.zarr --format 3

`zarrive COMMAND --help` shows the options and examples of a command.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
)";

void add_all(Commands& commands) {
  add_info(commands);
  add_tree(commands);
  add_ls(commands);
  add_read(commands);
  add_write(commands);
  add_create(commands);
  add_attrs(commands);
  add_copy(commands);
  add_consolidate(commands);
  add_codecs(commands);
  add_conformance(commands);
}

// One line on the error stream. A closed error stream is no reason to fail in another way.
void say(const Streams& streams, const std::string& text) noexcept {
  try {
    streams.err << "zarrive: " << printable(text) << std::endl;
  } catch (...) {
  }
}

// What was written before an error is not lost.
void flush(const Streams& streams) noexcept {
  try {
    streams.out.flush();
  } catch (...) {
  }
}

int wrong_usage(const CLI::App& app, const Streams& streams, std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  std::string command = "zarrive";
  for (const CLI::App* chosen : app.get_subcommands()) command += " " + chosen->get_name();
  say(streams, what + "; see `" + command + " --help`");
  return exit_usage;
}

// CLI11 would take the value in `attrs STORE set offset -5` for an option. JSON does not mind the blank that keeps it from that.
std::vector<std::string> with_negative_values(std::vector<std::string> arguments) {
  if (std::find(arguments.begin(), arguments.end(), "attrs") == arguments.end()) return arguments;
  for (std::string& argument : arguments) {
    const bool negative =
        argument.size() > 1 && argument[0] == '-' && argument[1] >= '0' && argument[1] <= '9';
    if (negative || argument == "-Infinity") argument.insert(0, " ");
  }
  return arguments;
}

int run_unguarded(CLI::App& app, Commands& commands, std::vector<std::string> arguments,
                  const Streams& streams) {
  if (arguments.empty()) {
    streams.err << app.help() << std::flush;
    return exit_usage;
  }
  try {
    arguments = with_negative_values(std::move(arguments));
    app.parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
    commands.chosen();
  } catch (const CLI::CallForHelp&) {
    streams.out << app.help();
  } catch (const CLI::CallForAllHelp&) {
    streams.out << app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion&) {
    streams.out << "zarrive " << version() << '\n';
  } catch (const CLI::ParseError& error) {
    return wrong_usage(app, streams, error.what());
  } catch (const UsageError& error) {
    return wrong_usage(app, streams, error.what());
  }
  streams.out.flush();
  return exit_done;
}

}  // namespace

int run(const std::vector<std::string>& arguments, const Streams& streams) {
  try {
    Session session(streams);
    CLI::App app("Zarr arrays (v2 and v3): look at them, read, write and copy them.", "zarrive");
    app.set_help_flag("-h,--help", "this text");
    app.set_help_all_flag("--help-all", "the help of all commands");
    app.set_version_flag("--version", std::string(version()), "the version");
    app.require_subcommand(1);
    app.fallthrough();
    app.get_formatter()->column_width(34);
    app.add_flag("--strict", session.strict,
                 "metadata that only lenient readers take is an error, not a warning");
    app.add_flag("-q,--quiet", session.quiet, "no warnings");
    app.add_option("-j,--jobs", session.jobs, "at most so many threads")
        ->check(CLI::Range(1, 4096))
        ->type_name("N");
    app.footer(examples);
    Commands commands{.app = app, .session = session};
    add_all(commands);
    return run_unguarded(app, commands, arguments, streams);
  } catch (const ClosedPipe&) {
    return exit_done;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled && streams.stop.stop_requested()) {
      say(streams, "interrupted");
      return exit_interrupted;
    }
    flush(streams);
    say(streams, error.what());
  } catch (const std::bad_alloc&) {
    say(streams, "[resource_limit] not enough memory");
  } catch (const std::exception& error) {
    say(streams, std::string("[internal] ") + error.what());
  }
  return exit_failed;
}

}  // namespace zarrive::cli
