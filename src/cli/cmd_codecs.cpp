// zarrive codecs: which codecs this build knows.
#include <algorithm>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/text.hpp"
#include "zarrive/codec.hpp"

namespace zarrive::cli {

namespace {

struct CodecsArguments {
  bool json = false;
};

const char* kind_name(CodecKind kind) {
  switch (kind) {
    case CodecKind::array_to_array: return "array to array";
    case CodecKind::array_to_bytes: return "array to bytes";
    case CodecKind::bytes_to_bytes: return "bytes to bytes";
  }
  return "";
}

std::string note(const CodecInfo& codec) {
  if (!codec.refused.empty()) return "refused: " + codec.refused;
  return codec.alias_of.empty() ? "" : "is " + codec.alias_of;
}

void codecs(Session& session, const CodecsArguments& arguments) {
  const std::vector<CodecInfo> all = CodecRegistry::global().list();
  if (arguments.json) {
    JsonArray list;
    for (const CodecInfo& codec : all) {
      JsonObject object{{"name", codec.name},
                        {"zarr_format", static_cast<int>(codec.format)},
                        {"kind", kind_name(codec.kind)}};
      if (!codec.alias_of.empty()) object.set("alias_of", codec.alias_of);
      if (!codec.refused.empty()) object.set("refused", codec.refused);
      list.emplace_back(std::move(object));
    }
    session.out() << Json(std::move(list)).dump({.indent = 2}) << '\n';
    return;
  }
  std::size_t width = 0;
  for (const CodecInfo& codec : all) width = std::max(width, codec.name.size());
  for (const CodecInfo& codec : all) {
    std::string text = "v" + std::to_string(static_cast<int>(codec.format)) + "  " +
                       pad_right(codec.name, width) + "  " + pad_right(kind_name(codec.kind), 14) + "  " +
                       note(codec);
    text.erase(text.find_last_not_of(' ') + 1);
    session.out() << text << '\n';
  }
}

}  // namespace

void add_codecs(Commands& commands) {
  CLI::App* command =
      commands.add("codecs", "the codecs that this build knows", "  zarrive codecs\n  zarrive codecs --json");
  auto arguments = std::make_shared<CodecsArguments>();
  command->add_flag("--json", arguments->json, "a JSON list");
  commands.on(command, arguments, codecs);
}

}  // namespace zarrive::cli
