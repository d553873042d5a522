// The registry: (format, name) -> how to make the codec. Aliases are followed when a codec is made, so they
// may be added before what they name.
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "codec/builtin.hpp"
#include "zarrive/codec.hpp"

namespace zarrive {
namespace {

std::string format_name(ZarrFormat format) { return format == ZarrFormat::v2 ? "Zarr v2" : "Zarr v3"; }

using Key = std::pair<ZarrFormat, std::string>;

struct Entry {
  CodecInfo info = {};
  CodecFactory factory = {};  // null for aliases and refused codecs
  ZarrFormat target_format =
      ZarrFormat::v3;  // of aliases: where alias_of is to be found, and whose configuration form it is
};

}  // namespace

struct CodecRegistry::State {
  mutable std::shared_mutex mutex;
  std::map<Key, Entry> entries;

  // The entry that an alias comes to in the end; nullptr when it leads nowhere (or in a circle).
  const Entry* resolve(ZarrFormat format, std::string_view name) const {
    auto found = entries.find(Key(format, std::string(name)));
    for (int step = 0; found != entries.end() && step < 8; ++step) {
      const Entry& entry = found->second;
      if (entry.info.alias_of.empty()) return &entry;
      found = entries.find(Key(entry.target_format, entry.info.alias_of));
    }
    return nullptr;
  }

  void insert(Entry entry) {
    if (entry.info.name.empty()) throw Error(ErrorCode::invalid_argument, "a codec needs a name");
    std::unique_lock lock(mutex);
    Key key(entry.info.format, entry.info.name);
    const auto [place, inserted] = entries.try_emplace(std::move(key), std::move(entry));
    if (!inserted)
      throw Error(ErrorCode::already_exists, "codec '" + place->first.second + "' is registered for " +
                                                 format_name(place->first.first) + " already");
  }
};

CodecRegistry::CodecRegistry() : state_(std::make_shared<State>()) {}

CodecRegistry& CodecRegistry::global() {
  // Never destroyed: codecs may be made while other static objects go.
  static CodecRegistry& registry = *[] {
    auto* made = new CodecRegistry();
    add_builtin_array_codecs(*made);
    add_builtin_byte_codecs(*made);
    return made;
  }();
  return registry;
}

void CodecRegistry::add(CodecInfo info, CodecFactory factory) {
  if (!factory && info.refused.empty())
    throw Error(ErrorCode::invalid_argument,
                "codec '" + info.name + "' needs a factory, or a reason why it is refused");
  Entry entry;
  entry.info = std::move(info);
  entry.factory = std::move(factory);
  state_->insert(std::move(entry));
}

void CodecRegistry::add_alias(ZarrFormat format, std::string alias, std::string name) {
  Entry entry;
  entry.info.name = std::move(alias);
  entry.info.format = format;
  entry.info.alias_of = std::move(name);
  entry.target_format = format;
  state_->insert(std::move(entry));
}

void CodecRegistry::add_v2_alias(std::string alias, std::string id) {
  Entry entry;
  entry.info.name = std::move(alias);
  entry.info.format = ZarrFormat::v3;
  entry.info.alias_of = std::move(id);
  entry.target_format = ZarrFormat::v2;
  state_->insert(std::move(entry));
}

bool CodecRegistry::contains(std::string_view name, ZarrFormat format) const {
  std::shared_lock lock(state_->mutex);
  const Entry* entry = state_->resolve(format, name);
  return entry != nullptr && entry->info.refused.empty();
}

std::shared_ptr<const Codec> CodecRegistry::make(const CodecSpec& spec, const CodecOptions& options) const {
  CodecFactory factory;
  CodecOptions own_options = options;
  {
    std::shared_lock lock(state_->mutex);
    const Entry* entry = state_->resolve(options.format, spec.name);
    if (entry == nullptr)
      throw Error(ErrorCode::unsupported_codec,
                  "codec '" + spec.name + "' is not known for " + format_name(options.format) +
                      "; register it with CodecRegistry::add() before the array is opened");
    if (!entry->info.refused.empty())
      throw Error(ErrorCode::unsupported_codec,
                  "codec '" + spec.name + "' is not supported: " + entry->info.refused);
    factory = entry->factory;
    own_options.format = entry->info.format;
  }
  // Unlocked: a factory may look up the codecs inside its own.
  std::shared_ptr<Codec> codec = factory(spec, own_options);
  if (!codec) throw Error(ErrorCode::internal, "the factory of codec '" + spec.name + "' made nothing");
  codec->spec_ = spec;
  return codec;
}

std::vector<CodecInfo> CodecRegistry::list() const {
  std::shared_lock lock(state_->mutex);
  std::vector<CodecInfo> result;
  result.reserve(state_->entries.size());
  for (const auto& [key, entry] : state_->entries) {
    CodecInfo info = entry.info;
    if (!info.alias_of.empty()) {
      if (const Entry* target = state_->resolve(key.first, key.second)) {
        info.kind = target->info.kind;
        info.refused = target->info.refused;
      } else {
        info.refused = "it is another name of '" + info.alias_of + "', which is not registered";
      }
    }
    result.push_back(std::move(info));
  }
  return result;
}

}  // namespace zarrive
