#include "gpu/transfer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "memory/strided.hpp"

namespace zarrive::gpu {

namespace {

// Never destroyed: the driver may be gone when the process ends.
class IdleStreams {
 public:
  static IdleStreams& all() {
    static IdleStreams* const streams = new IdleStreams;
    return *streams;
  }

  std::unique_ptr<Stream> take(const Device& device) {
    {
      std::lock_guard lock(mutex_);
      if (auto& idle = idle_[device.ordinal()]; !idle.empty()) {
        std::unique_ptr<Stream> stream = std::move(idle.back());
        idle.pop_back();
        return stream;
      }
    }
    return std::make_unique<Stream>(device);
  }

  void give_back(const Device& device, std::unique_ptr<Stream> stream) {
    std::lock_guard lock(mutex_);
    idle_[device.ordinal()].push_back(std::move(stream));
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<std::unique_ptr<Stream>>> idle_;
};

CudaAddress address_of(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); }

// Rows of a box: `height` runs of `width` bytes.
struct Rows {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t to_pitch = 0;
  std::size_t from_pitch = 0;
};

// What the driver takes as the distance of two rows (CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices so far).
constexpr std::int64_t max_pitch = std::numeric_limits<std::int32_t>::max();

// Calls rows(Rows) until all elements are covered. Visits them in any order.
template <class Body>
void for_each_rows(const ArrayView& to, const ArrayView& from, const Body& body) {
  if (to.shape != from.shape || to.type.item_size() != from.type.item_size())
    throw Error(ErrorCode::internal, "a copy between arrays that are not alike");
  detail::Walk<2> walk = detail::plan_walk<2>({&from, &to});
  if (walk.empty) return;
  Rows rows;
  rows.width = to.type.item_size();
  const auto item = static_cast<std::int64_t>(rows.width);
  if (!walk.loops.empty() && walk.loops.back().steps[0] == item && walk.loops.back().steps[1] == item) {
    rows.width *= static_cast<std::size_t>(walk.loops.back().count);
    walk.loops.pop_back();
  }
  // The longest loop that the driver can walk for us.
  const auto width = static_cast<std::int64_t>(rows.width);
  auto best = walk.loops.end();
  for (auto loop = walk.loops.begin(); loop != walk.loops.end(); ++loop) {
    const auto fits = [&](std::int64_t step) { return step >= width && step <= max_pitch; };
    if (fits(loop->steps[0]) && fits(loop->steps[1]) &&
        (best == walk.loops.end() || loop->count > best->count))
      best = loop;
  }
  if (best != walk.loops.end()) {
    rows.height = static_cast<std::size_t>(best->count);
    rows.from_pitch = static_cast<std::size_t>(best->steps[0]);
    rows.to_pitch = static_cast<std::size_t>(best->steps[1]);
    walk.loops.erase(best);
  }
  detail::for_each_position<2>(walk.data, walk.loops, [&](const std::array<std::byte*, 2>& at) {
    rows.from = at[0];
    rows.to = at[1];
    body(rows);
    return true;
  });
}

enum class Way { to_device, to_host };

void copy_elements(const Device& device, const ArrayView& to, const ArrayView& from, Way way,
                   CudaStream stream) {
  const bool up = way == Way::to_device;
  const ContextScope scope(device);
  for_each_rows(to, from, [&](const Rows& rows) {
    if (rows.height == 1)
      return up ? copy_to_device(device, rows.to, rows.from, rows.width, stream)
                : copy_to_host(device, rows.to, rows.from, rows.width, stream);
    CudaCopy2D copy;
    if (up) {
      copy.from_host = rows.from;
      copy.to_device = address_of(rows.to);
    } else {
      copy.from_device = address_of(rows.from);
      copy.to_host = rows.to;
    }
    copy.from_type = up ? cuda_memory_host : cuda_memory_device;
    copy.to_type = up ? cuda_memory_device : cuda_memory_host;
    copy.from_pitch = rows.from_pitch;
    copy.to_pitch = rows.to_pitch;
    copy.width = rows.width;
    copy.height = rows.height;
    check(device.driver(), device.driver().copy_2d(&copy, stream),
          "copying " + std::to_string(rows.height) + " rows of " + std::to_string(rows.width) + " bytes " +
              (up ? "to " : "from ") + device.name());
  });
}

}  // namespace

BorrowedStream::BorrowedStream(const Device& device)
    : device_(device), stream_(IdleStreams::all().take(device)) {}

BorrowedStream::~BorrowedStream() {
  if (idle_) IdleStreams::all().give_back(device_, std::move(stream_));
}

void BorrowedStream::synchronize() {
  idle_ = false;
  stream_->synchronize();
  idle_ = true;
}

Buffer to_device(const Buffer& bytes, const Prototype& prototype) {
  const Device& device = Device::get(prototype.space.device);
  Buffer copy = Buffer::allocate(bytes.size(), prototype);
  if (bytes.empty()) return copy;
  BorrowedStream stream(device);
  copy_to_device(device, copy.mutable_data(), bytes.host_span().data(), bytes.size(), stream.handle());
  stream.synchronize();
  return copy;
}

Buffer to_host(const Buffer& bytes) {
  const Device& device = Device::get(bytes.space().device);
  Buffer copy = Buffer::allocate(bytes.size(), pinned());
  if (bytes.empty()) return copy;
  BorrowedStream stream(device);
  copy_to_host(device, copy.mutable_data(), bytes.device_span().data(), bytes.size(), stream.handle());
  stream.synchronize();
  return copy;
}

void copy_to_device(const Device& device, const ArrayView& to, const ArrayView& from, CudaStream stream) {
  copy_elements(device, to, from, Way::to_device, stream);
}

void copy_to_host(const Device& device, const ArrayView& to, const ArrayView& from, CudaStream stream) {
  copy_elements(device, to, from, Way::to_host, stream);
}

bool set_bytes(const Device& device, const ArrayView& to, std::byte value, CudaStream stream) {
  if (!to.is_contiguous()) return false;
  if (to.size() == 0) return true;
  const ContextScope scope(device);
  check(
      device.driver(),
      device.driver().set_bytes(address_of(to.data), static_cast<unsigned char>(value), to.nbytes(), stream),
      "filling " + std::to_string(to.nbytes()) + " bytes of " + device.name());
  return true;
}

}  // namespace zarrive::gpu
