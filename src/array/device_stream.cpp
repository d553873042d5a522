#include "array/device_stream.hpp"

namespace zarrive {

bool goes_chunk_by_chunk(const Selection& selection, const ResolvedSelection& resolved,
                         const ArrayView& memory, const ArrayMetadata& metadata, bool lists) {
  if (!selection.field_names().empty() || !(memory.type == metadata.data_type)) return false;
  if (lists) return true;
  if (resolved.points) return false;
  for (const ResolvedDimension& dimension : resolved.dimensions)
    if (dimension.is_list()) return false;
  return true;
}

DeviceStream::DeviceStream(const MemorySpace& space, void* callers)
    : device_(gpu::Device::get(space.device)) {
  if (callers) stream_ = static_cast<gpu::CudaStream>(callers);
  else stream_ = own_.emplace(device_).handle();
}

void DeviceStream::synchronize() {
  if (own_) return own_->synchronize();
  gpu::synchronize(device_, stream_);
}

}  // namespace zarrive
