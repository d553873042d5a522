#include "codec/device_read.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "gpu/cufile.hpp"
#include "gpu/transfer.hpp"

namespace zarrive {
namespace {

// Memory cut from pinned slabs one piece after another; a slab lives as long as one of its pieces. Pinned memory comes in blocks of 2 MiB and up,
// far too much for a small chunk.
class SlabAllocator final : public Allocator {
 public:
  std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) override {
    const std::shared_ptr<Allocator> pinned = default_allocator({MemoryKind::pinned, 0});
    if (size > kSlab / 4) return pinned->allocate(size, alignment);
    const std::lock_guard lock(mutex_);
    std::size_t at = round_up(used_, alignment);
    if (!slab_ || at + size > kSlab) {
      slab_ = pinned->allocate(kSlab, alignment);
      at = 0;
    }
    used_ = at + size;
    return {slab_, slab_.get() + at};
  }

 private:
  static constexpr std::size_t kSlab = 8 << 20;
  static std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

  std::mutex mutex_;
  std::shared_ptr<std::byte> slab_;
  std::size_t used_ = 0;
};

// The value of every byte of an element, when they are all alike.
std::optional<std::byte> only_byte(std::span<const std::byte> element) {
  if (element.empty()) return std::nullopt;
  for (const std::byte byte : element)
    if (byte != element[0]) return std::nullopt;
  return element[0];
}

}  // namespace

DeviceRead::DeviceRead(const gpu::Device& device, gpu::CudaStream stream, const Options& options)
    : device_(device),
      stream_(stream),
      max_bytes_(options.max_bytes),
      direct_(!options.ordered && gpu::cufile_status().library != nullptr),
      slabs_(std::make_shared<SlabAllocator>()),
      decoder_(DeviceDecoder::make(device, stream, options.decode, options.max_device_bytes,
                                   2 * options.expected)) {}

DeviceRead::~DeviceRead() {
  if (!finished_) gpu::drain(device_, stream_);
}

DeviceRead& DeviceRead::of(const Context& context) {
  if (!context.device_read)
    throw Error(ErrorCode::internal, "a chunk is to be decoded to device memory outside a read into it");
  return *context.device_read;
}

void DeviceRead::count_direct(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  report_.direct += bytes;
}

NDArray DeviceRead::block(const DataType& type, const Shape& shape) const {
  return NDArray::allocate(type, shape, encoded_memory());
}

void DeviceRead::place(const BoundChain& chain, const Buffer& encoded, const ChunkPart& part,
                       const ArrayView& output, const Context& context) {
  const ArraySpec& chunk = chain.decoded();
  if (chain.is_memory_layout() && !chain.finishes_in_place() && part.is_ranges()) {
    chain.check_encoded_size(encoded.size());
    const ArrayView elements(const_cast<std::byte*>(encoded.data()), chunk.type, chunk.shape,
                             encoded.space());
    copy(part.of_chunk(elements), encoded, part, output);
    const std::lock_guard lock(mutex_);
    report_.copied += part.size() * chunk.type.item_size();
    return;
  }
  if (decoder_) {
    using Taken = DeviceDecoder::Taken;
    if (const Taken taken = decoder_->add(chain, encoded, part, output, context); taken != Taken::no) {
      const std::uint64_t bytes = part.size() * chunk.type.item_size();
      const std::lock_guard lock(mutex_);
      (chain.has_byte_codecs() ? report_.device_decoded : report_.copied) += bytes;
      if (taken == Taken::with_engine) report_.engine_decoded += bytes;
      return;
    }
  }
  const NDArray decoded = block(chunk.type, part.extents());
  chain.decode_part(encoded, part.to_own_output(), decoded.view(), context);
  place_block(decoded, part, output);
}

void DeviceRead::place_block(const NDArray& block, const ChunkPart& part, const ArrayView& output) {
  if (part.is_ranges()) copy(block.view(), block.buffer(), part, output);
  else decoder_->add_block(block, part, output);
  const std::lock_guard lock(mutex_);
  report_.host_decoded += block.view().nbytes();
}

void DeviceRead::fill(const ChunkPart& part, const ArrayView& output, const FillValue& value) {
  if (part.empty()) return;
  const std::optional<std::byte> byte = only_byte(value.bytes());
  const bool set =
      byte && part.is_ranges() && gpu::set_bytes(device_, part.of_output(output), *byte, stream_);
  if (!set && decoder_) {
    decoder_->add_fill(part, output, value);
  } else if (!set) {
    const NDArray filled = block(output.type, part.extents());
    zarrive::fill(filled.view(), value);
    copy(filled.view(), filled.buffer(), part, output);
  }
  const std::lock_guard lock(mutex_);
  report_.filled += part.size() * output.type.item_size();
}

void DeviceRead::copy(const ArrayView& from, const Buffer& memory, const ChunkPart& part,
                      const ArrayView& output) {
  if (part.empty()) return;
  ArrayView to = part.of_output(output);
  to.type = from.type;
  gpu::copy_to_device(device_, to, from, stream_);
  hold(memory);
}

void DeviceRead::hold(const Buffer& memory) {
  const std::lock_guard lock(mutex_);
  held_.push_back(memory);
  held_bytes_ += memory.size();
  if (held_bytes_ < max_bytes_ / 2) return;
  // Half of the memory is waiting for the stream: the other half, which was before it there, has to be through.
  if (earlier_mark_) earlier_mark_->wait();
  else earlier_mark_.emplace(device_);
  earlier_mark_->record(stream_);
  earlier_ = std::exchange(held_, {});
  held_bytes_ = 0;
}

void DeviceRead::finish(bool wait) {
  if (decoder_) decoder_->finish();
  const std::lock_guard lock(mutex_);
  std::vector<Buffer> all = std::move(earlier_);
  all.insert(all.end(), held_.begin(), held_.end());
  held_.clear();
  if (!wait && !all.empty()) {
    auto kept = std::make_unique<std::vector<Buffer>>(std::move(all));
    const gpu::ContextScope scope(device_);
    const gpu::CudaResult given = device_.driver().launch_host_function(
        stream_, [](void* buffers) { delete static_cast<std::vector<Buffer>*>(buffers); }, kept.get());
    if (given == gpu::cuda_success) {
      static_cast<void>(kept.release());  // the stream's now
      finished_ = true;
      return;
    }
    all = std::move(*kept);
  }
  gpu::synchronize(device_, stream_);
  finished_ = true;
}

gpu::ReadReport DeviceRead::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace zarrive
