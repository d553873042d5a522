// `msgpack2` (and the older id `msgpack`): a chunk as one MessagePack array, the document of json2 in
// MessagePack's words. (numcodecs "msgpack2".)
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/json_list.hpp"
#include "codec/msgpack.hpp"

namespace zarrive {
namespace {

class MsgPack2Codec final : public ArrayToBytesCodec {
 public:
  MsgPack2Codec(bool single_floats, bool with_shape)
      : single_floats_(single_floats), with_shape_(with_shape) {}
  CodecCapabilities capabilities() const noexcept override { return {.strided = true}; }

  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override {
    if (!has_json_elements(decoded.type)) fail_type(*this, decoded.type, "objects, text, bool and numbers");
    return ArrayToBytesCodec::bind(decoded);
  }

  Buffer encode(const ArrayView& decoded, const ArraySpec&, const Context&) const override {
    return Buffer::adopt(write_msgpack(to_json_list(*this, decoded, with_shape_), single_floats_));
  }

  void decode(std::span<const std::byte> encoded, const ArraySpec&, const ArrayView& decoded,
              const Context&) const override {
    from_json_list(*this, read_msgpack(encoded), decoded, with_shape_);
  }

 private:
  bool single_floats_;
  bool with_shape_;
};

}  // namespace

std::shared_ptr<Codec> make_msgpack2(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const bool single_floats = configuration.boolean("use_single_float", false);
  // Texts and bytes are told apart by their MessagePack types; `raw` and `encoding` say how Python shows
  // them.
  for (const char* member : {"raw", "use_bin_type", "encoding"}) configuration.ignore(member);
  configuration.finish();
  return std::make_shared<MsgPack2Codec>(single_floats, spec.name != "msgpack");
}

}  // namespace zarrive
