#include "codec/byte_codecs.hpp"

#include <algorithm>
#include <utility>

namespace zarrive::bytes_to_bytes {

void add(CodecRegistry& registry, ZarrFormat format, std::string name, Maker make) {
  CodecInfo info;
  info.name = std::move(name);
  info.format = format;
  info.kind = CodecKind::bytes_to_bytes;
  registry.add(std::move(info), [make = std::move(make)](const CodecSpec& spec, const CodecOptions& options) {
    Configuration configuration(spec, options);
    std::shared_ptr<Codec> codec = make(configuration, options);
    configuration.finish();
    return codec;
  });
}

void corrupt(const std::string& message) { throw Error(ErrorCode::corrupt_chunk, message); }

Buffer output_buffer(std::size_t size) { return Buffer::allocate(size, Prototype{{}, pool_allocator()}); }

Buffer trimmed(Buffer buffer, std::size_t size) {
  if (size >= buffer.size() - buffer.size() / 4) return buffer.slice(0, size);
  Buffer exact = output_buffer(size);
  if (size != 0) std::memcpy(exact.mutable_data(), buffer.data(), size);
  return exact;
}

StreamedOutput::StreamedOutput(ByteOutput& output, std::uint64_t guess)
    : output_(output), ceiling_(std::min(output.limit(), output.expected_size().value_or(output.limit()))) {
  const std::uint64_t first =
      output.expected_size() ? ceiling_ : std::min(std::max<std::uint64_t>(guess, 256), ceiling_);
  reserved_ = output_.reserve(first);
}

std::span<std::byte> StreamedOutput::room() {
  if (size_ == reserved_.size()) {
    if (size_ == ceiling_) return {&overflow_, 1};
    reserved_ = output_.reserve(size_ > ceiling_ / 2 ? ceiling_ : size_ * 2);
  }
  return reserved_.subspan(static_cast<std::size_t>(size_));
}

void StreamedOutput::written(std::size_t count) {
  if (count != 0 && size_ == ceiling_) output_.reserve(size_ + count);  // throws: more than there may be
  size_ += count;
}

}  // namespace zarrive::bytes_to_bytes
