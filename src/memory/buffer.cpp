#include <cstring>

#include "zarrive/memory.hpp"

namespace zarrive {

Buffer Buffer::allocate(std::size_t size, const Prototype& prototype, std::size_t alignment) {
  Buffer buffer;
  buffer.space_ = prototype.space;
  if (size == 0) return buffer;
  auto memory = (prototype.allocator ? prototype.allocator : default_allocator(prototype.space))
                    ->allocate(size, alignment);
  if (!memory)
    throw Error(ErrorCode::resource_limit, "the allocator of " + prototype.space.name() +
                                               " gave no memory for " + std::to_string(size) + " bytes");
  buffer.data_ = memory.get();
  buffer.size_ = size;
  buffer.owner_ = std::move(memory);
  return buffer;
}

Buffer Buffer::copy_of(std::span<const std::byte> bytes) {
  Buffer buffer = allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.mutable_data(), bytes.data(), bytes.size());
  return buffer;
}

Buffer Buffer::from_string(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  const std::size_t size = owner->size();
  return share(std::move(owner), data, size);
}

Buffer Buffer::adopt(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::byte* data = owner->data();
  const std::size_t size = owner->size();
  return share(std::move(owner), data, size);
}

Buffer Buffer::borrow(std::span<const std::byte> bytes, MemorySpace space) {
  return share(nullptr, bytes.data(), bytes.size(), space);
}

Buffer Buffer::share(std::shared_ptr<const void> owner, const std::byte* data, std::size_t size,
                     MemorySpace space) {
  Buffer buffer;
  buffer.owner_ = std::move(owner);
  buffer.data_ = data;
  buffer.size_ = size;
  buffer.space_ = space;
  return buffer;
}

std::span<const std::byte> Buffer::host_span() const {
  if (!space_.host_accessible())
    throw Error(ErrorCode::invalid_argument,
                "a buffer in " + space_.name() + " cannot be read by the host; copy it to host memory first");
  return {data_, size_};
}

std::span<std::byte> Buffer::mutable_host_span() {
  return {const_cast<std::byte*>(host_span().data()), size_};
}

std::string_view Buffer::text() const {
  const auto bytes = host_span();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> Buffer::device_span() const {
  if (space_.kind != MemoryKind::cuda)
    throw Error(ErrorCode::invalid_argument, "a buffer in " + space_.name() + " is not device memory");
  return {data_, size_};
}

Buffer Buffer::slice(std::size_t offset, std::size_t size) const {
  if (offset > size_ || size > size_ - offset)
    throw Error(ErrorCode::out_of_bounds, "bytes " + std::to_string(offset) + " to " +
                                              std::to_string(offset) + " + " + std::to_string(size) +
                                              " of a buffer of " + std::to_string(size_) + " bytes");
  Buffer part = *this;
  if (offset) part.data_ += offset;
  part.size_ = size;
  return part;
}

}  // namespace zarrive
