// The list of array-to-array and array-to-bytes codecs under all their names.
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/builtin.hpp"

namespace zarrive {
namespace {

using Factory = std::shared_ptr<Codec> (*)(const CodecSpec&, const CodecOptions&);

void add_codec(CodecRegistry& registry, ZarrFormat format, const char* name, CodecKind kind,
               Factory factory) {
  CodecInfo info;
  info.name = name;
  info.format = format;
  info.kind = kind;
  registry.add(std::move(info), factory);
}

// Listed so that it is named in messages and lists, but not usable.
void add_refused(CodecRegistry& registry, ZarrFormat format, const char* name, CodecKind kind,
                 const char* why) {
  CodecInfo info;
  info.name = name;
  info.format = format;
  info.kind = kind;
  info.refused = why;
  registry.add(std::move(info), nullptr);
}

}  // namespace

void add_builtin_array_codecs(CodecRegistry& registry) {
  constexpr auto v2 = ZarrFormat::v2;
  constexpr auto v3 = ZarrFormat::v3;
  constexpr auto aa = CodecKind::array_to_array;
  constexpr auto ab = CodecKind::array_to_bytes;

  add_codec(registry, v3, "transpose", aa, make_transpose);

  add_codec(registry, v3, "bytes", ab, make_bytes);
  registry.add_alias(v3, "endian", "bytes");
  for (const ZarrFormat format : {v2, v3}) {
    add_codec(registry, format, "vlen-utf8", ab, make_vlen_utf8);
    add_codec(registry, format, "vlen-bytes", ab, make_vlen_bytes);
  }

  add_refused(registry, v3, "sharding_indexed", ab, "not yet supported");
}

}  // namespace zarrive
