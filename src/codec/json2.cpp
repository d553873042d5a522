// `json2` (and the older id `json`): a chunk as one JSON list. (numcodecs "json2".)
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/json_list.hpp"

namespace zarrive {
namespace {

class Json2Codec final : public ArrayToBytesCodec {
 public:
  Json2Codec(JsonDumpOptions dump, bool allow_nan, bool with_shape)
      : dump_(dump), allow_nan_(allow_nan), with_shape_(with_shape) {}
  CodecCapabilities capabilities() const noexcept override { return {.strided = true}; }

  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override {
    if (!has_json_elements(decoded.type)) fail_type(*this, decoded.type, "objects, text, bool and numbers");
    return ArrayToBytesCodec::bind(decoded);
  }

  Buffer encode(const ArrayView& decoded, const ArraySpec&, const Context&) const override {
    return Buffer::from_string(to_json_list(*this, decoded, with_shape_).dump(dump_));
  }

  void decode(std::span<const std::byte> encoded, const ArraySpec&, const ArrayView& decoded,
              const Context&) const override {
    const std::string_view text(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    Json list;
    try {
      list = Json::parse(text, {.allow_nan = allow_nan_, .reject_duplicate_names = false});
    } catch (const Error& error) {
      fail_chunk(*this, "the bytes are no JSON document: " + error.message());
    }
    from_json_list(*this, list, decoded, with_shape_);
  }

 private:
  JsonDumpOptions dump_;
  bool allow_nan_;
  bool with_shape_;
};

}  // namespace

std::shared_ptr<Codec> make_json2(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const std::string encoding = configuration.string("encoding", "utf-8");
  JsonDumpOptions dump;
  dump.ensure_ascii = configuration.boolean("ensure_ascii", true);
  dump.sort_keys = configuration.boolean("sort_keys", true);
  const bool allow_nan = configuration.boolean("allow_nan", true);
  // Python takes true for one space; null and absent write one line.
  if (const Json* indent = configuration.find("indent")) {
    if (indent->is_bool()) dump.indent = indent->as_bool() ? 1 : 0;
    else dump.indent = static_cast<int>(configuration.integer("indent", 0, 0, 64));
  }
  dump.spaces = false;
  if (const Json* separators = configuration.find("separators")) {
    const Json spaced(JsonArray{Json(", "), Json(": ")});
    const Json tight(JsonArray{Json(","), Json(":")});
    if (*separators == spaced) dump.spaces = true;
    else if (!(*separators == tight))
      configuration.fail("'separators' is " + separators->dump() +
                         ", expected [\",\", \":\"] or [\", \", \": \"]");
  }
  for (const char* member : {"skipkeys", "check_circular", "strict"}) configuration.ignore(member);
  configuration.finish();
  if (encoding != "utf-8" && encoding != "utf8" && encoding != "ascii")
    throw Error(ErrorCode::unsupported_codec,
                "codec '" + spec.name + "': 'encoding' is \"" + encoding + "\", only utf-8 is supported");
  if (encoding == "ascii") dump.ensure_ascii = true;
  return std::make_shared<Json2Codec>(dump, allow_nan, spec.name != "json");
}

}  // namespace zarrive
