// Decompression contexts, one of each a thread: making one costs more than decoding a small frame.
#pragma once

#include <libdeflate.h>
#include <zstd.h>

namespace zarrive {

ZSTD_DCtx* zstd_decompressor();  // reset; std::bad_alloc
libdeflate_decompressor* deflate_decompressor();

}  // namespace zarrive
