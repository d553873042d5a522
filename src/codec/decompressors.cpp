#include "codec/decompressors.hpp"

#include <memory>
#include <new>

namespace zarrive {

ZSTD_DCtx* zstd_decompressor() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  return context.get();
}

libdeflate_decompressor* deflate_decompressor() {
  struct Free {
    void operator()(libdeflate_decompressor* held) const { libdeflate_free_decompressor(held); }
  };
  thread_local std::unique_ptr<libdeflate_decompressor, Free> held(libdeflate_alloc_decompressor());
  if (!held) throw std::bad_alloc();
  return held.get();
}

}  // namespace zarrive
