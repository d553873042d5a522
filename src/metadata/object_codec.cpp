#include "metadata/object_codec.hpp"

#include <algorithm>
#include <array>

#include "metadata/reading.hpp"

namespace zarrive::metadata {

namespace {

struct ObjectCodec {
  std::string_view id;
  TypeId type;
};

constexpr std::array object_codecs{
    ObjectCodec{"vlen-utf8", TypeId::string},  ObjectCodec{"vlen-bytes", TypeId::bytes},
    ObjectCodec{"categorize", TypeId::string}, ObjectCodec{"json2", TypeId::object},
    ObjectCodec{"json", TypeId::object},       ObjectCodec{"msgpack2", TypeId::object},
    ObjectCodec{"msgpack", TypeId::object},    ObjectCodec{"vlen-array", TypeId::object},
    ObjectCodec{"pickle", TypeId::object},
};

// Codecs of numcodecs that take bytes or numbers only.
constexpr std::array<std::string_view, 23> other_codecs{"adler32",
                                                        "astype",
                                                        "base64",
                                                        "bitround",
                                                        "blosc",
                                                        "bz2",
                                                        "crc32",
                                                        "crc32c",
                                                        "delta",
                                                        "fixedscaleoffset",
                                                        "fletcher32",
                                                        "gzip",
                                                        "jenkins_lookup3",
                                                        "lz4",
                                                        "lzma",
                                                        "packbits",
                                                        "pcodec",
                                                        "quantize",
                                                        "shuffle",
                                                        "snappy",
                                                        "zfpy",
                                                        "zlib",
                                                        "zstd"};

}  // namespace

DataType object_type(const std::vector<CodecSpec>& filters, const std::optional<CodecSpec>& compressor) {
  std::vector<const CodecSpec*> codecs;
  codecs.reserve(filters.size() + 1);
  for (const CodecSpec& filter : filters) codecs.push_back(&filter);
  if (compressor) codecs.push_back(&*compressor);
  bool unknown = false;
  std::string names;
  for (const CodecSpec* codec : codecs) {
    const auto known = std::find_if(object_codecs.begin(), object_codecs.end(),
                                    [&](const ObjectCodec& c) { return c.id == codec->name; });
    if (known != object_codecs.end()) return DataType(known->type);
    if (std::find(other_codecs.begin(), other_codecs.end(), codec->name) == other_codecs.end())
      unknown = true;
    names += (names.empty() ? "" : ", ") + quoted(codec->name);
  }
  if (unknown) return DataType(TypeId::object);
  throw Error(
      ErrorCode::invalid_metadata,
      "the data type \"|O\" needs an object codec among \"filters\" (vlen-utf8, vlen-bytes, vlen-array, "
      "json2, msgpack2, categorize), found " +
          (names.empty() ? std::string("none") : "only " + names));
}

}  // namespace zarrive::metadata
