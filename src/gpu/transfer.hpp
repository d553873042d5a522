// Bytes and elements between the host and a device.
#pragma once

#include <memory>

#include "gpu/device.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::gpu {

// A stream of our own that is nobody else's while it is held, and kept for the next one after that.
class BorrowedStream {
 public:
  explicit BorrowedStream(const Device& device);
  ~BorrowedStream();
  BorrowedStream(const BorrowedStream&) = delete;
  BorrowedStream& operator=(const BorrowedStream&) = delete;

  CudaStream handle() const noexcept { return stream_->handle(); }
  // Everything put into it is done. A stream that fails is not kept.
  void synchronize();

 private:
  const Device& device_;
  std::unique_ptr<Stream> stream_;
  bool idle_ = false;
};

// A copy of host bytes in the device memory that `prototype` asks for, there when this returns. It crosses once, at full speed when `bytes`
// are pinned.
Buffer to_device(const Buffer& bytes, const Prototype& prototype);

// A copy of device bytes in pinned memory, there when this returns.
Buffer to_host(const Buffer& bytes);

// Copies elements between a view of host memory and one of device memory, of equal shape and item size and any strides, in stream order.
// Rows that lie behind each other go as one call of the driver, a box of rows likewise; elements with nothing between them in common cost
// a call each. The host memory stays as it is until the stream has passed.
void copy_to_device(const Device& device, const ArrayView& to, const ArrayView& from, CudaStream stream);
void copy_to_host(const Device& device, const ArrayView& to, const ArrayView& from, CudaStream stream);

// Sets elements of device memory to one byte value, in stream order; false, and nothing is done, unless they lie in one piece.
bool set_bytes(const Device& device, const ArrayView& to, std::byte value, CudaStream stream);

}  // namespace zarrive::gpu
