// The list of built-in bytes-to-bytes codecs.
#include "codec/builtin.hpp"
#include "codec/byte_codecs.hpp"

namespace zarrive {

void add_builtin_byte_codecs(CodecRegistry& registry) {
  add_deflate(registry);
  add_zstd(registry);
}

}  // namespace zarrive
