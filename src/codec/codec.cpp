#include "zarrive/codec.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace zarrive {

bool Codec::add_device_steps(const ArraySpec&, DeviceSteps&) const { return false; }

// --- defaults of the three kinds ---

std::shared_ptr<const ArrayToArrayCodec> ArrayToArrayCodec::bind(const ArraySpec&) const {
  return std::static_pointer_cast<const ArrayToArrayCodec>(shared_from_this());
}
ArraySpec ArrayToArrayCodec::encoded_spec(const ArraySpec& decoded) const { return decoded; }
std::optional<ArrayView> ArrayToArrayCodec::view_as_encoded(const ArrayView&) const { return std::nullopt; }
std::optional<std::vector<std::size_t>> ArrayToArrayCodec::transposition(std::size_t) const {
  return std::nullopt;
}

std::shared_ptr<const ArrayToBytesCodec> ArrayToBytesCodec::bind(const ArraySpec&) const {
  return std::static_pointer_cast<const ArrayToBytesCodec>(shared_from_this());
}
std::optional<std::uint64_t> ArrayToBytesCodec::encoded_size(const ArraySpec&) const { return std::nullopt; }
std::optional<Shape> ArrayToBytesCodec::inner_chunk_shape() const { return std::nullopt; }
bool ArrayToBytesCodec::is_memory_layout(const ArraySpec&) const { return false; }
void ArrayToBytesCodec::finish_in_place(const ArrayView&) const {
  throw Error(ErrorCode::internal,
              "codec '" + name() +
                  "' cannot decode in place: its encoded bytes are not the array as it lies in memory");
}
bool ArrayToBytesCodec::finishes_in_place(const ArraySpec&) const { return true; }
std::unique_ptr<PartialDecode> ArrayToBytesCodec::decode_partial(PartialRequest, const ArraySpec&,
                                                                 const Context&) const {
  throw Error(ErrorCode::internal, "codec '" + name() + "' has no partial decoding");
}
std::unique_ptr<PartialEncode> ArrayToBytesCodec::encode_partial(PartialRequest, const ArraySpec&,
                                                                 const Context&) const {
  throw Error(ErrorCode::internal, "codec '" + name() + "' has no partial encoding");
}

std::shared_ptr<const BytesToBytesCodec> BytesToBytesCodec::bind(const BytesSpec&) const {
  return std::static_pointer_cast<const BytesToBytesCodec>(shared_from_this());
}
std::optional<std::uint64_t> BytesToBytesCodec::encoded_size(std::uint64_t) const { return std::nullopt; }
std::optional<DeviceContainer> BytesToBytesCodec::device_encoding() const { return std::nullopt; }
bool BytesToBytesCodec::can_decode_ranges(const Context&) const { return false; }
std::unique_ptr<PartialDecode> BytesToBytesCodec::decode_ranges(std::vector<ByteRange>, RangeSink,
                                                                std::optional<std::uint64_t>,
                                                                const Context&) const {
  throw Error(ErrorCode::internal, "codec '" + name() + "' cannot decode ranges");
}
bool BytesToBytesCodec::decode_in_order(std::span<const std::byte>, ByteSink&, const Context&) const {
  return false;
}
std::optional<std::span<const std::byte>> BytesToBytesCodec::decode_view(std::span<const std::byte>,
                                                                         const Context&) const {
  return std::nullopt;
}

// --- ByteOutput ---

ByteOutput::ByteOutput(std::span<std::byte> destination)
    : expected_(destination.size()), limit_(destination.size()), destination_(destination), fixed_(true) {}

ByteOutput::ByteOutput(std::optional<std::uint64_t> expected, std::uint64_t limit)
    : expected_(expected), limit_(limit) {}

std::span<std::byte> ByteOutput::reserve(std::uint64_t size) {
  if (expected_ && size > *expected_)
    throw Error(ErrorCode::corrupt_chunk, "decodes to at least " + std::to_string(size) +
                                              " bytes, expected are " + std::to_string(*expected_));
  if (size > limit_)
    throw Error(ErrorCode::resource_limit, "decodes to at least " + std::to_string(size) +
                                               " bytes, the limit is " + std::to_string(limit_));
  if (fixed_) return destination_.first(static_cast<std::size_t>(size));
  if (size > buffer_.size()) {
    // Doubling keeps the copies of a growing output below its final size.
    const std::uint64_t ceiling = std::min(limit_, expected_.value_or(limit_));
    const std::uint64_t doubled = buffer_.size() > ceiling / 2 ? ceiling : 2 * std::uint64_t{buffer_.size()};
    Buffer larger =
        Buffer::allocate(static_cast<std::size_t>(std::max(size, doubled)), Prototype{{}, pool_allocator()});
    if (!buffer_.empty()) std::memcpy(larger.mutable_data(), buffer_.data(), buffer_.size());
    buffer_ = std::move(larger);
  }
  return {buffer_.mutable_data(), static_cast<std::size_t>(size)};
}

void ByteOutput::finish(std::uint64_t size) {
  if (expected_ && size != *expected_)
    throw Error(ErrorCode::corrupt_chunk,
                "decodes to " + std::to_string(size) + " bytes, expected are " + std::to_string(*expected_));
  if (size > (fixed_ ? destination_.size() : buffer_.size()))
    throw Error(ErrorCode::internal,
                "a codec finished " + std::to_string(size) + " bytes that it never reserved");
  size_ = size;
}

void ByteOutput::assign(std::span<const std::byte> bytes) {
  const std::span<std::byte> room = reserve(bytes.size());
  if (!bytes.empty()) std::memmove(room.data(), bytes.data(), bytes.size());
  finish(bytes.size());
}

std::span<const std::byte> ByteOutput::bytes() const noexcept {
  return {fixed_ ? destination_.data() : buffer_.data(), static_cast<std::size_t>(size_)};
}

Buffer ByteOutput::take() {
  if (fixed_) return Buffer::borrow(destination_.first(static_cast<std::size_t>(size_)));
  return std::exchange(buffer_, Buffer()).slice(0, static_cast<std::size_t>(std::exchange(size_, 0)));
}

}  // namespace zarrive
