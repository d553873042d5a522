// The options that say what a new array is to be, shared by `create` and `write`.
#pragma once

#include <optional>
#include <string>

#include "cli/commands.hpp"

namespace zarrive::cli {

struct CreationArguments {
  std::string chunks = {};
  std::string shards = {};
  int format = 3;
  std::string codecs = {};
  std::string compressor = {};
  std::string filters = {};
  std::string order = "C";
  std::optional<std::string> fill = {};
  std::string dimension_names = {};
  std::string attributes = {};
  bool overwrite = false;
};

void add_creation_options(CLI::App* command, CreationArguments& arguments);
// UsageError names the option that is wrong.
CreateOptions creation_options(const CreationArguments& arguments, Shape shape, const DataType& type,
                               Session& session);
// Whether any of them was given, so that a command which creates nothing can say that they do not go together.
bool describes_array(const CreationArguments& arguments);

// JSON of an option's value; UsageError naming the option.
Json parse_option_json(const std::string& text, const char* option);
// JSON, or the text itself as a string when it is no JSON: NaN, 0, "a b", a b.
Json parse_value(const std::string& text);
ZarrFormat parse_format(int number);

}  // namespace zarrive::cli
