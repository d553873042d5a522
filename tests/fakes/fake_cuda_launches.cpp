// What runs on a device: kernels and the decompression engine.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "fakes/fake_cuda_machine.hpp"
#include "fakes/fake_kernels.hpp"
#include "fakes/host_formats.hpp"

using namespace fake_cuda::machinery;

EXPORT Result cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned jit_options, int*,
                                void**, unsigned options) {
  BEGIN("cuLibraryLoadData");
  static_cast<void>(m);
  if (!library || !image || jit_options || options) return bad(invalid_value);
  // What is in the image does not matter here: it is code of another machine.
  *library = const_cast<void*>(image);
  return ok;
}

EXPORT Result cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  BEGIN("cuLibraryGetKernel");
  static_cast<void>(m);
  if (!kernel || !library) return bad(invalid_value);
  const fake_cuda::Kernel* const found = fake_cuda::find_kernel(name);
  if (!found) return not_found;
  *kernel = const_cast<fake_cuda::Kernel*>(found);
  return ok;
}

EXPORT Result cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                             void* handle, void** parameters, void** extra) {
  BEGIN("cuLaunchKernel");
  Stream* const stream = stream_of(handle);
  if (!stream || !function) return bad(invalid_handle);
  if (current.empty() || current.back()->device != stream->device) return bad(invalid_context);
  const auto* const kernel = static_cast<const fake_cuda::Kernel*>(function);
  const bool fits = block_x != 0 && (kernel->threads == 0 || block_x == kernel->threads);
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || !fits || block_y != 1 || block_z != 1 ||
      shared_bytes != 0 || !parameters || extra)
    return bad(invalid_value);
  ++m.counts.kernels;
  std::vector<std::vector<std::byte>> copies;
  for (std::size_t i = 0; i < kernel->parameter_sizes.size(); ++i) {
    const auto* const bytes = static_cast<const std::byte*>(parameters[i]);
    copies.emplace_back(bytes, bytes + kernel->parameter_sizes[i]);
  }
  put(*stream, [kernel, grid_x, block_x, device = stream->device, copies = std::move(copies)]() mutable {
    std::vector<void*> values;
    for (auto& copy : copies) values.push_back(copy.data());
    const OpenDevice open(device);
    kernel->run(values.data(), grid_x, block_x, machine().random);
  });
  return ok;
}

struct Decompression {  // CUmemDecompressParams
  std::size_t encoded, decoded;
  std::uint32_t* written;
  const void* from;
  void* to;
  unsigned algorithm;
  unsigned char rest[20];
};

// What a real engine does with a damaged stream is not known. This one writes no more than was expected and tells how much it would have
// been, or 0.
static void decompress(const Decompression& work) {
  const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
  const Bytes from(address(work.from), work.encoded);
  const Bytes to(address(work.to), work.decoded);
  const Bytes written(address(work.written), sizeof(std::uint32_t));
  if (!from.data() || !to.data() || !written.data()) return static_cast<void>(bad(invalid_value));
  const fakes::Bytes encoded(from.data(), from.data() + work.encoded);
  const std::size_t room = work.decoded + 1000;
  const std::optional<fakes::Bytes> decoded = work.algorithm == 1   ? fakes::decode_Deflate(encoded, room)
                                              : work.algorithm == 2 ? fakes::decode_Snappy(encoded, room)
                                                                    : fakes::decode_LZ4(encoded, room);
  if (decoded) std::copy_n(decoded->begin(), std::min(decoded->size(), work.decoded), to.data());
  const auto size = static_cast<std::uint32_t>(decoded ? decoded->size() : 0);
  std::memcpy(written.data(), &size, sizeof size);
}

EXPORT Result cuMemBatchDecompressAsync(Decompression* all, std::size_t count, unsigned flags,
                                        std::size_t* failed, void* handle) {
  BEGIN("cuMemBatchDecompressAsync");
  if (failed) *failed = SIZE_MAX;
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (current.empty() || current.back()->device != stream->device) return bad(invalid_context);
  if (!all || count == 0 || flags) return bad(invalid_value);
  const auto on_device = [&](const void* data, std::size_t size) {
    const Block* const block = block_of(reinterpret_cast<std::uintptr_t>(data), size);
    return block && block->device == stream->device;
  };
  const auto longest = static_cast<std::size_t>(engine_longest());
  for (std::size_t i = 0; i < count; ++i) {
    const Decompression& work = all[i];
    const unsigned format = work.algorithm;
    const bool known = format == 1 || format == 2 || format == 4;
    if (known && (static_cast<unsigned>(engine_formats()) & format) && work.encoded && work.decoded &&
        work.encoded <= longest && work.decoded <= longest && on_device(work.from, work.encoded) &&
        on_device(work.to, work.decoded) && on_device(work.written, sizeof(std::uint32_t)) &&
        reinterpret_cast<std::uintptr_t>(work.written) % sizeof(std::uint32_t) == 0 &&
        std::all_of(std::begin(work.rest), std::end(work.rest), [](unsigned char c) { return c == 0; }))
      continue;
    if (failed) *failed = i;
    return bad(invalid_value);
  }
  ++m.counts.engine_calls;
  m.counts.engine_streams += static_cast<long>(count);
  put(*stream, [works = std::vector<Decompression>(all, all + count)] {
    for (const Decompression& work : works) decompress(work);
  });
  return ok;
}
