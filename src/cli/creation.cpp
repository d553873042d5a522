#include "cli/creation.hpp"

#include "cli/text.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {

namespace {

// A v3 codec: its name, or {"name": ..., "configuration": {...}}.
CodecSpec v3_codec(const Json& value, const char* option) {
  CodecSpec codec;
  if (value.is_string()) {
    codec.name = value.as_string();
    if (codec.name == "zstd") return codecs::zstd();
    if (codec.name == "gzip") return codecs::gzip();
    if (codec.name == "blosc") return codecs::blosc();
    if (codec.name == "bytes") return codecs::bytes();
    return codec;
  }
  const Json* const name = value.find("name");
  const Json* const configuration = value.find("configuration");
  if (!name || !name->is_string() || (configuration && !configuration->is_object()))
    throw UsageError(std::string(option) +
                     " takes codecs as \"name\" or {\"name\": ..., \"configuration\": {...}}; found " +
                     value.dump());
  codec.name = name->as_string();
  if (configuration) codec.configuration = configuration->as_object();
  return codec;
}

// A v2 codec: its id, or {"id": ..., parameters}.
CodecSpec v2_codec(const Json& value, const char* option) {
  CodecSpec codec;
  if (value.is_string()) {
    codec.name = value.as_string();
    return codec;
  }
  const Json* const id = value.find("id");
  if (!id || !id->is_string())
    throw UsageError(std::string(option) + " takes codecs as \"id\" or {\"id\": ...}; found " + value.dump());
  codec.name = id->as_string();
  codec.configuration = value.as_object();
  codec.configuration.erase("id");
  return codec;
}

std::vector<CodecSpec> codec_list(const std::string& text, ZarrFormat format, const char* option) {
  const Json value = parse_option_json(text, option);
  if (!value.is_array())
    throw UsageError(std::string(option) + " takes a JSON list of codecs; found " + text);
  std::vector<CodecSpec> list;
  for (const Json& codec : value.as_array())
    list.push_back(format == ZarrFormat::v3 ? v3_codec(codec, option) : v2_codec(codec, option));
  return list;
}

void set_codecs(CreateOptions& options, const CreationArguments& arguments) {
  const bool v3 = options.format == ZarrFormat::v3;
  if (v3 && (!arguments.filters.empty() || arguments.order != "C"))
    throw UsageError("--filters and --order are for --format 2; v3 arrays take --codecs");
  if (!v3 && !arguments.codecs.empty())
    throw UsageError("--codecs is for --format 3; v2 arrays take --filters and --compressor");
  if (!arguments.codecs.empty() && !arguments.compressor.empty())
    throw UsageError("--codecs and --compressor exclude each other");
  if (!arguments.codecs.empty()) options.codecs = codec_list(arguments.codecs, ZarrFormat::v3, "--codecs");
  if (!arguments.filters.empty())
    options.filters = codec_list(arguments.filters, ZarrFormat::v2, "--filters");
  if (arguments.compressor.empty()) return;
  const Json compressor = parse_value(arguments.compressor);
  const bool none = compressor.is_null() || (compressor.is_string() && compressor.as_string() == "none");
  if (v3) {
    options.codecs = std::vector<CodecSpec>();
    if (!none) options.codecs->push_back(v3_codec(compressor, "--compressor"));
  } else {
    options.compressor = none ? CodecSpec{} : v2_codec(compressor, "--compressor");
  }
}

void set_names(CreateOptions& options, const std::string& text) {
  if (text.empty()) return;
  if (text.front() == '[') {
    const Json names = parse_option_json(text, "--dimension-names");
    for (const Json& name : names.as_array())
      options.dimension_names.push_back(name.is_null() ? std::nullopt : std::optional(name.as_string()));
    return;
  }
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    options.dimension_names.emplace_back(text.substr(start, comma - start));
    start = comma + 1;
  }
}

}  // namespace

void add_creation_options(CLI::App* command, CreationArguments& arguments) {
  command->add_option("--chunks", arguments.chunks, "shape of a chunk; absent: chosen, about a mebibyte")
      ->type_name("SHAPE");
  command
      ->add_option("--shards", arguments.shards,
                   "v3: shape of a shard, what is stored under one key; each edge a multiple of the chunk's")
      ->type_name("SHAPE");
  command->add_option("--format", arguments.format, "Zarr format, 2 or 3 (default 3)")->type_name("N");
  command
      ->add_option("--codecs", arguments.codecs,
                   "v3: JSON list of codecs, each a name or {\"name\", \"configuration\"}")
      ->type_name("JSON");
  command->add_option("--compressor", arguments.compressor, "the last codec alone: a name, JSON, or none")
      ->type_name("CODEC");
  command->add_option("--filters", arguments.filters, "v2: JSON list of filters")->type_name("JSON");
  command->add_option("--order", arguments.order, "v2: order of elements in a chunk")
      ->check(CLI::IsMember({"C", "F"}))
      ->type_name("C|F");
  command->add_option("--fill", arguments.fill, "fill value, in JSON")->type_name("VALUE");
  command->add_option("--dimension-names", arguments.dimension_names, "time,lat,lon or a JSON list")
      ->type_name("NAMES");
  command->add_option("--attributes", arguments.attributes, "a JSON object")->type_name("JSON");
  command->add_flag("--overwrite", arguments.overwrite, "delete what is there first");
}

bool describes_array(const CreationArguments& arguments) {
  return !arguments.chunks.empty() || !arguments.shards.empty() || !arguments.codecs.empty() ||
         !arguments.compressor.empty() || !arguments.filters.empty() || arguments.fill ||
         !arguments.dimension_names.empty() || !arguments.attributes.empty();
}

CreateOptions creation_options(const CreationArguments& arguments, Shape shape, const DataType& type,
                               Session& session) {
  CreateOptions options;
  options.shape = std::move(shape);
  options.data_type = type;
  options.chunks = parse_shape(arguments.chunks, "--chunks");
  options.shards = parse_shape(arguments.shards, "--shards");
  options.format = parse_format(arguments.format);
  if (options.format != ZarrFormat::v3 && !arguments.shards.empty())
    throw UsageError("--shards is for --format 3; v2 has no shards");
  options.order = arguments.order[0];
  set_codecs(options, arguments);
  if (arguments.fill) options.fill_value = parse_value(*arguments.fill);
  set_names(options, arguments.dimension_names);
  if (!arguments.attributes.empty()) {
    const Json attributes = parse_option_json(arguments.attributes, "--attributes");
    if (!attributes.is_object())
      throw UsageError("--attributes takes a JSON object; found " + arguments.attributes);
    options.attributes = attributes.as_object();
  }
  options.overwrite = arguments.overwrite;
  options.metadata = session.metadata_options();
  return options;
}

Json parse_option_json(const std::string& text, const char* option) {
  try {
    return Json::parse(text);
  } catch (const Error& error) {
    throw UsageError(std::string(option) + " takes JSON: " + error.message());
  }
}

Json parse_value(const std::string& text) {
  try {
    return Json::parse(text, {.allow_nan = false});  // "NaN" is a string in the metadata
  } catch (const Error&) {
    return text;
  }
}

ZarrFormat parse_format(int number) {
  if (number != 2 && number != 3) throw UsageError("--format is 2 or 3; found " + std::to_string(number));
  return static_cast<ZarrFormat>(number);
}

}  // namespace zarrive::cli
