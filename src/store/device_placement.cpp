#include "store/device_placement.hpp"

#include <span>

#include "gpu/cufile.hpp"
#include "gpu/transfer.hpp"
#include "store/batch.hpp"
#include "store/failure.hpp"
#include "store/key.hpp"

namespace zarrive::store {

bool wants_device(const GetRequest& request) {
  return request.context && request.context->prototype &&
         !request.context->prototype->space.host_accessible() && !is_metadata_key(request.key);
}

GetResult on_device(const Store& store, const GetRequest& request, GetResult result) {
  if (result.status != GetStatus::found || result.placed) return result;
  const Prototype& prototype = *request.context->prototype;
  try {
    for (Buffer& value : result.values)
      if (value.space() != prototype.space) value = gpu::to_device(value, prototype);
  } catch (...) {
    result = {};
    result.status = GetStatus::error;
    result.error = placed(std::current_exception(), store.name(), request.key);
  }
  return result;
}

bool is_on_device(const SetRequest& request) {
  return !request.produce && !request.value.space().host_accessible();
}

std::vector<SetRequest> by_way_of_host(std::span<const SetRequest> batch) {
  std::vector<SetRequest> requests(batch.begin(), batch.end());
  for (SetRequest& request : requests)
    if (is_on_device(request))
      request.produce = [value = request.value]() -> std::optional<Buffer> { return gpu::to_host(value); };
  return requests;
}

namespace {

// Below this a call of cuFile costs more than the way through pinned memory (KvikIO measured 16 KiB to 1 MiB).
constexpr std::uint64_t kWorthDirect = 64 << 10;

// Device memory of the caller's that the whole value may land in.
const ArrayView* device_place(const GetRequest& request, std::uint64_t size) {
  if (!request.context || !request.context->destination || !wants_whole(request)) return nullptr;
  const ArrayView& to = *request.context->destination;
  return !to.space.host_accessible() && to.is_contiguous() && to.nbytes() == size ? &to : nullptr;
}

void read_directly(const gpu::CufileFile& file, const gpu::Device& device, std::byte* to, std::uint64_t size,
                   std::uint64_t offset) {
  const std::size_t found = file.read(device, to, static_cast<std::size_t>(size), offset);
  if (found != size)
    throw Error(ErrorCode::unavailable, "the file ended after " + std::to_string(offset + found) +
                                            " bytes while it was read; it had " +
                                            std::to_string(offset + size) + " or more a moment ago");
}

}  // namespace

bool read_to_device(int fd, std::uint64_t size, const GetRequest& request, GetResult& result) {
  const ArrayView* const place = device_place(request, size);
  if ((!place && !wants_device(request)) || size < kWorthDirect) return false;
  const gpu::CufileOpening opening = gpu::cufile_open(fd);
  if (!opening.file) return false;
  const MemorySpace space = place ? place->space : request.context->prototype->space;
  const gpu::Device& device = gpu::Device::get(space.device);
  if (place) {
    read_directly(*opening.file, device, place->data, size, 0);
    result.values.push_back(Buffer::borrow({place->data, static_cast<std::size_t>(size)}, space));
    result.placed = true;
    return true;
  }
  const std::vector<ByteRange> whole(1);
  for (const ByteRange& range : request.ranges.empty() ? whole : request.ranges) {
    const ByteRange::Resolved at = range.resolve(size);
    Buffer value = Buffer::allocate(static_cast<std::size_t>(at.length), *request.context->prototype);
    if (at.length > 0) read_directly(*opening.file, device, value.mutable_data(), at.length, at.offset);
    result.values.push_back(std::move(value));
  }
  return true;
}

}  // namespace zarrive::store
