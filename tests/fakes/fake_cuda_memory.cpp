// Memory and copies.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "fakes/fake_cuda_machine.hpp"

using namespace fake_cuda::machinery;

EXPORT Result cuMemAlloc_v2(unsigned long long* address, std::size_t size) {
  BEGIN("cuMemAlloc_v2");
  if (current.empty()) return bad(invalid_context);
  if (size == 0) return bad(invalid_value);
  const int device = current.back()->device;
  if (size > device_bytes - m.used[device]) return out_of_memory;
  // At the end of its pages where alignment lets it, so that little can be written behind it unnoticed.
  const std::size_t page_bytes = (size + page - 1) / page * page;
  void* const place =
      ::mmap(nullptr, page_bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return out_of_memory;
  Block block{device, size, static_cast<std::byte*>(place), page_bytes, 0};
  open(block);
  std::memset(block.pages, std::to_integer<int>(blank), page_bytes);
  close(block);
  m.used[device] += size;
  ++m.counts.allocations;
  *address = reinterpret_cast<std::uintptr_t>(place) + (page_bytes - size) / alignment * alignment;
  m.device.emplace(*address, block);
  return ok;
}

EXPORT Result cuMemFree_v2(unsigned long long address) {
  BEGIN("cuMemFree_v2");
  if (current.empty()) return bad(invalid_context);
  const auto found = m.device.find(address);
  if (found == m.device.end()) return bad(invalid_value);
  run_everything(found->second.device);
  Block& block = found->second;
  open(block);
  const auto* const start = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address));
  const auto untouched = [](std::byte byte) { return byte == blank; };
  const bool intact = std::all_of(static_cast<const std::byte*>(block.pages), start, untouched) &&
                      std::all_of(start + block.size,
                                  static_cast<const std::byte*>(block.pages) + block.page_bytes, untouched);
  ::munmap(block.pages, block.page_bytes + page);
  m.used[block.device] -= block.size;
  m.device.erase(found);
  --m.counts.allocations;
  if (!intact) {
    std::fprintf(stderr, "fake driver: something was written just outside of a block of device memory\n");
    return bad(ok);
  }
  return ok;
}

EXPORT Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  BEGIN("cuMemGetInfo_v2");
  if (current.empty()) return bad(invalid_context);
  *total = device_bytes;
  *free = device_bytes - m.used[current.back()->device];
  return ok;
}

EXPORT Result cuMemHostAlloc(void** data, std::size_t size, unsigned flags) {
  BEGIN("cuMemHostAlloc");
  if (current.empty()) return bad(invalid_context);
  if (size == 0 || flags > 7) return bad(invalid_value);
  *data = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  if (!*data) return out_of_memory;
  m.pinned[reinterpret_cast<std::uintptr_t>(*data)] = size;
  ++m.counts.pinned;
  return ok;
}

EXPORT Result cuMemFreeHost(void* data) {
  BEGIN("cuMemFreeHost");
  const auto found = m.pinned.find(reinterpret_cast<std::uintptr_t>(data));
  if (found == m.pinned.end()) return bad(invalid_value);
  for (int device = 0; device < device_count(); ++device) run_everything(device);
  m.pinned.erase(found);
  std::free(data);
  --m.counts.pinned;
  return ok;
}

EXPORT Result cuPointerGetAttributes(unsigned count, int* attributes, void** data,
                                     unsigned long long address) {
  BEGIN("cuPointerGetAttributes");
  const Block* const block = block_of(address, 1);
  const bool on_device = block != nullptr;
  const int device = block ? block->device : 0;
  const bool pinned = is_pinned(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)), 1);
  for (unsigned i = 0; i < count; ++i) switch (attributes[i]) {
      case 1:
        *static_cast<void**>(data[i]) =
            on_device ? m.contexts[static_cast<std::size_t>(device)].get() : nullptr;
        break;
      case 2: *static_cast<unsigned*>(data[i]) = on_device ? 2u : pinned ? 1u : 0u; break;
      case 9: *static_cast<int*>(data[i]) = on_device ? device : pinned ? 0 : -2; break;
      default: return bad(invalid_value);
    }
  return ok;
}

EXPORT Result cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t size, void* handle) {
  BEGIN("cuMemcpyHtoDAsync_v2");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (!block_of(to, size)) return bad(invalid_value);
  m.counts.bytes_to_device += size;
  if (is_pinned(from, size)) {
    put(*stream, [to, from, size] {
      if (const Bytes bytes(to, size); bytes.data()) std::memcpy(bytes.data(), from, size);
      else bad(invalid_value);
    });
  } else {
    auto staged = std::make_shared<std::vector<std::byte>>(size);
    std::memcpy(staged->data(), from, size);
    put(*stream, [to, staged] {
      if (const Bytes bytes(to, staged->size()); bytes.data())
        std::memcpy(bytes.data(), staged->data(), staged->size());
      else bad(invalid_value);
    });
  }
  return ok;
}

EXPORT Result cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t size, void* handle) {
  BEGIN("cuMemcpyDtoHAsync_v2");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (!block_of(from, size)) return bad(invalid_value);
  m.counts.bytes_to_host += size;
  put(*stream, [to, from, size] {
    if (const Bytes bytes(from, size); bytes.data()) std::memcpy(to, bytes.data(), size);
    else bad(invalid_value);
  });
  if (!is_pinned(to, size)) run(*stream, stream->put);  // as the driver does with pageable memory
  return ok;
}

EXPORT Result cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t size,
                                   void* handle) {
  BEGIN("cuMemcpyDtoDAsync_v2");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (!block_of(from, size) || !block_of(to, size)) return bad(invalid_value);
  m.counts.bytes_on_device += size;
  put(*stream, [to, from, size] {
    const Bytes target(to, size);
    const Bytes source(from, size);
    if (target.data() && source.data()) std::memmove(target.data(), source.data(), size);
    else bad(invalid_value);
  });
  return ok;
}

struct Copy2D {  // CUDA_MEMCPY2D
  std::size_t from_x, from_y;
  unsigned from_type;
  const void* from_host;
  unsigned long long from_device;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  unsigned to_type;
  void* to_host;
  unsigned long long to_device;
  void* to_array;
  std::size_t to_pitch;
  std::size_t width, height;
};

// Between the host and a device, as rows. Host memory that is not pinned is staged on the way up, and refused on the way down, for nobody
// of ours needs that.
EXPORT Result cuMemcpy2DAsync_v2(const Copy2D* copy, void* handle) {
  BEGIN("cuMemcpy2DAsync_v2");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  const Copy2D c = *copy;
  const bool up = c.from_type == 1 && c.to_type == 2;
  if ((!up && !(c.from_type == 2 && c.to_type == 1)) || c.from_x || c.from_y || c.to_x || c.to_y ||
      c.from_pitch < c.width || c.to_pitch < c.width || c.width == 0 || c.height == 0)
    return bad(invalid_value);
  const std::size_t device_pitch = up ? c.to_pitch : c.from_pitch,
                    host_pitch = up ? c.from_pitch : c.to_pitch;
  const unsigned long long device = up ? c.to_device : c.from_device;
  auto* const host = static_cast<std::byte*>(up ? const_cast<void*>(c.from_host) : c.to_host);
  const std::size_t host_size = host_pitch * (c.height - 1) + c.width;
  const bool staged = !is_pinned(host, host_size);
  if (!block_of(device, device_pitch * (c.height - 1) + c.width) || (staged && !up))
    return bad(invalid_value);
  auto stage = std::make_shared<std::vector<std::byte>>(staged ? host_size : 0);
  if (staged) std::memcpy(stage->data(), host, host_size);
  (up ? m.counts.bytes_to_device : m.counts.bytes_to_host) += c.width * c.height;
  put(*stream, [=, width = c.width, height = c.height] {
    const Bytes there(device, device_pitch * (height - 1) + width);
    if (!there.data()) return static_cast<void>(bad(invalid_value));
    for (std::size_t y = 0; y < height; ++y) {
      std::byte* const row = there.data() + y * device_pitch;
      if (up) std::memcpy(row, (staged ? stage->data() : host) + y * host_pitch, width);
      else std::memcpy(host + y * host_pitch, row, width);
    }
  });
  return ok;
}

EXPORT Result cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t count, void* handle) {
  BEGIN("cuMemsetD8Async");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  if (!block_of(to, count)) return bad(invalid_value);
  m.counts.bytes_on_device += count;
  put(*stream, [=] {
    if (const Bytes bytes(to, count); bytes.data()) std::memset(bytes.data(), value, count);
    else bad(invalid_value);
  });
  return ok;
}
