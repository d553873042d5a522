// The list of built-in bytes-to-bytes codecs, and of codecs that are known by name but refused.
#include <utility>

#include "codec/builtin.hpp"
#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

// Names that another list has already are left to it.
void refuse(CodecRegistry& registry, ZarrFormat format, std::string name, CodecKind kind,
            std::string reason) {
  CodecInfo info;
  info.name = std::move(name);
  info.format = format;
  info.kind = kind;
  info.refused = std::move(reason);
  try {
    registry.add(std::move(info), nullptr);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::already_exists) throw;
  }
}

void add_refused(CodecRegistry& registry) {
  const char* const pickle = "a pickle runs code of its writer when it is read";
  refuse(registry, ZarrFormat::v2, "pickle", CodecKind::array_to_bytes, pickle);
  refuse(registry, ZarrFormat::v3, "numcodecs.pickle", CodecKind::array_to_bytes, pickle);

  const char* const pcodec = "Pcodec has no implementation that a C++ program can link";
  refuse(registry, ZarrFormat::v2, "pcodec", CodecKind::array_to_bytes, pcodec);
  for (const char* name :
       {"numcodecs.pcodec", "zarrs.pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"})
    refuse(registry, ZarrFormat::v3, name, CodecKind::array_to_bytes, pcodec);

  for (const char* format : {"tiff", "jpeg", "jpeg2k", "jpegxl", "jpegxr", "png", "webp", "lerc"})
    refuse(registry, ZarrFormat::v2, std::string("imagecodecs_") + format, CodecKind::array_to_bytes,
           "each chunk is a whole image file, and image formats are not built in");
  for (const char* format : {"lzw", "packbits", "delta", "floatpred", "bitorder", "lz4h5"})
    refuse(registry, ZarrFormat::v2, std::string("imagecodecs_") + format, CodecKind::bytes_to_bytes,
           "this codec of imagecodecs is not built in");

  refuse(registry, ZarrFormat::v2, "grib", CodecKind::array_to_bytes,
         "each chunk is a GRIB message, which needs the ecCodes library");
  refuse(registry, ZarrFormat::v2, "n5_wrapper", CodecKind::array_to_bytes,
         "it wraps the blocks of an N5 container, which is not a Zarr store");
  for (const char* name : {"gdeflate", "zarrs.gdeflate"})
    refuse(registry, ZarrFormat::v3, name, CodecKind::bytes_to_bytes, "GDeflate is not built in");
}

}  // namespace

void add_builtin_byte_codecs(CodecRegistry& registry) {
  add_base64(registry);
  add_blosc(registry);
  add_bz2(registry);
  add_checksums(registry);
  add_conditional(registry);
  add_deflate(registry);
  add_lz4(registry);
  add_lzma(registry);
  add_shuffle(registry);
  add_zstd(registry);
  add_refused(registry);
}

}  // namespace zarrive
