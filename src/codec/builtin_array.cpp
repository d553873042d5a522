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

}  // namespace

void add_builtin_array_codecs(CodecRegistry& registry) {
  constexpr auto v2 = ZarrFormat::v2;
  constexpr auto v3 = ZarrFormat::v3;
  constexpr auto aa = CodecKind::array_to_array;
  constexpr auto ab = CodecKind::array_to_bytes;

  // Zarr v3's own and registered codecs.
  add_codec(registry, v3, "transpose", aa, make_transpose);
  add_codec(registry, v3, "reshape", aa, make_reshape);
  add_codec(registry, v3, "bitround", aa, make_bitround);
  add_codec(registry, v3, "scale_offset", aa, make_scale_offset);
  add_codec(registry, v3, "cast_value", aa, make_cast_value);
  add_codec(registry, v3, "bytes", ab, make_bytes);
  add_codec(registry, v3, "packbits", ab, make_packbits);
  add_codec(registry, v3, "sharding_indexed", ab, make_sharding);
  add_codec(registry, v3, "optional", ab, make_optional);
  registry.add_alias(v3, "zarrs.optional", "optional");
  registry.add_alias(v3, "endian", "bytes");
  registry.add_alias(v3, "numcodecs.bitround", "bitround");
  registry.add_alias(v3, "https://codec.zarrs.dev/array_to_array/bitround", "bitround");

  // numcodecs, in v2 and as numcodecs.* in v3.
  const std::pair<const char*, Factory> filters[] = {
      {"delta", make_delta},
      {"fixedscaleoffset", make_fixed_scale_offset},
      {"quantize", make_quantize},
      {"astype", make_astype},
      {"packbits", make_packbits_filter},
      {"categorize", make_categorize},
  };
  for (const auto& [id, make] : filters) {
    add_codec(registry, v2, id, aa, make);
    registry.add_v2_alias(std::string("numcodecs.") + id, id);
  }
  add_codec(registry, v2, "bitround", aa, make_bitround);

  // Elements of variable length: the same bytes in both formats.
  for (const ZarrFormat format : {v2, v3}) {
    add_codec(registry, format, "vlen-utf8", ab, make_vlen_utf8);
    add_codec(registry, format, "vlen-bytes", ab, make_vlen_bytes);
  }
  add_codec(registry, v2, "vlen-array", ab, make_vlen_array);
  add_codec(registry, v2, "json2", ab, make_json2);
  add_codec(registry, v2, "msgpack2", ab, make_msgpack2);
  registry.add_alias(v2, "json", "json2");
  registry.add_alias(v2, "msgpack", "msgpack2");

#ifdef ZARRIVE_HAVE_ZFP
  add_codec(registry, v3, "zfp", ab, make_zfp);
  add_codec(registry, v2, "zfpy", ab, make_zfpy);
#else
  // Listed so that they are named in messages and lists, but not usable.
  for (const auto& [format, name] : {std::pair{v3, "zfp"}, std::pair{v2, "zfpy"}}) {
    CodecInfo info;
    info.name = name;
    info.format = format;
    info.kind = ab;
    info.refused = "not built in (Zarrive was built without libzfp)";
    registry.add(std::move(info), nullptr);
  }
#endif
  registry.add_alias(v3, "zarrs.zfp", "zfp");
  registry.add_alias(v3, "https://codec.zarrs.dev/array_to_bytes/zfp", "zfp");
  registry.add_v2_alias("numcodecs.zfpy", "zfpy");
  registry.add_v2_alias("https://codec.zarrs.dev/array_to_bytes/zfpy", "zfpy");
}

}  // namespace zarrive
