#include "codec/device_encoder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "codec/byte_codecs.hpp"
#include "codec/device_part.hpp"
#include "gpu/transfer.hpp"

namespace zarrive {
namespace {

// Chunks begin at addresses that nvCOMP and every load of a kernel like.
constexpr std::uint64_t kAlignment = 256;

std::uint64_t aligned(std::uint64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

gpu::NvcompFormat format_of(DeviceContainer container) {
  return container == DeviceContainer::lz4 ? gpu::NvcompFormat::lz4 : gpu::NvcompFormat::zstd;
}

// What the host puts before what nvCOMP made: the size, of LZ4 as numcodecs has it.
std::size_t header_size(DeviceContainer container) { return container == DeviceContainer::lz4 ? 4 : 0; }

// Memory that is not there, or sizes that nvCOMP does not take: said before anything was put into the stream.
bool leaves_it_to_the_host(const Error& error) {
  return error.code() == ErrorCode::resource_limit || error.code() == ErrorCode::unsupported;
}

bool same_bytes(const Buffer& a, const Buffer& b) {
  const std::span<const std::byte> left = a.host_span(), right = b.host_span();
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

}  // namespace

// Pinned memory that the stream reads or writes. It is let go of when the stream has passed, also when an error comes before that.
class DeviceEncoder::InFlight {
 public:
  InFlight(const gpu::Device& device, gpu::CudaStream stream) : device_(device), stream_(stream) {}
  ~InFlight() {
    if (!passed_) gpu::drain(device_, stream_);
  }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  void hold(Buffer memory) { held_.push_back(std::move(memory)); }
  void wait() {
    gpu::synchronize(device_, stream_);
    held_.clear();
  }
  void finish() {
    wait();
    passed_ = true;
  }

 private:
  const gpu::Device& device_;
  const gpu::CudaStream stream_;
  bool passed_ = false;
  std::vector<Buffer> held_;
};

// Its elements, when they have to be made dense, and what they are encoded to.
std::uint64_t DeviceEncoder::Alike::footprint() const noexcept { return aligned(size) + aligned(room); }

std::unique_ptr<DeviceEncoder> DeviceEncoder::make(const gpu::Device& device, gpu::CudaStream stream,
                                                   const BoundChain& chain, const Options& options) {
  if (options.how == gpu::DeviceEncode::never) return nullptr;
  const std::optional<DeviceContainer> container = chain.device_encoding();
  if (container != DeviceContainer::lz4 && container != DeviceContainer::zstd) return nullptr;
  const gpu::Nvcomp* const nvcomp = gpu::nvcomp_status().library;
  if (!nvcomp || !nvcomp->of(format_of(*container)).encode) return nullptr;
  return std::unique_ptr<DeviceEncoder>(new DeviceEncoder(device, stream, *container, options));
}

DeviceEncoder::DeviceEncoder(const gpu::Device& device, gpu::CudaStream stream, DeviceContainer container,
                             const Options& options)
    : device_(device),
      stream_(stream),
      container_(container),
      fill_(options.fill),
      arena_limit_(options.max_bytes / 2),
      has_kernels_(gpu::Kernels::available()),
      coder_(device, format_of(container), gpu::NvcompCoder::Direction::encode,
             static_cast<std::size_t>(options.max_bytes - options.max_bytes / 2)),
      gathering_(device) {}

DeviceEncoder::Alike& DeviceEncoder::alike(std::uint64_t size) {
  const auto found = sizes_.find(size);
  if (found != sizes_.end()) return found->second;
  Alike kind{.size = size};
  try {
    kind.room = coder_.encoded_bound(static_cast<std::size_t>(size));
  } catch (const Error& error) {
    if (!leaves_it_to_the_host(error)) throw;
  }
  return sizes_.emplace(size, std::move(kind)).first->second;
}

bool DeviceEncoder::takes(const ArrayView& elements) {
  const std::uint64_t size = elements.nbytes();
  if (size == 0 || size > coder_.largest_chunk()) return false;
  if (!has_kernels_ && !elements.is_contiguous()) return false;
  // Beside it the chunk of fill, once.
  const Alike& kind = alike(size);
  return kind.room != 0 && kind.footprint() <= arena_limit_ / 2;
}

std::optional<std::vector<DeviceEncoder::Encoded>> DeviceEncoder::encode(std::span<const Chunk> chunks) {
  std::vector<Encoded> results(chunks.size());
  std::map<std::uint64_t, std::vector<std::size_t>> by_size;
  for (std::size_t i = 0; i < chunks.size(); ++i) by_size[chunks[i].elements.nbytes()].push_back(i);
  try {
    reserve(chunks);
    InFlight in_flight(device_, stream_);
    for (const auto& [size, members] : by_size) {
      Alike& kind = alike(size);
      const std::size_t most = static_cast<std::size_t>(arena_.size() / kind.footprint()) - 1;
      const bool wants_fill = fill_ && !kind.fill;
      Buffer fill;
      for (std::size_t first = 0; first < members.size(); first += most)
        encode_batch(chunks, std::span(members).subspan(first, std::min(most, members.size() - first)), kind,
                     results, wants_fill && first == 0 ? &fill : nullptr, in_flight);
      if (!fill_) continue;
      in_flight.wait();
      if (wants_fill) kind.fill = Buffer::copy_of(fill.host_span());
      for (const std::size_t i : members) results[i].only_fill = same_bytes(results[i].bytes, *kind.fill);
    }
    in_flight.finish();
  } catch (const Error& error) {
    if (!leaves_it_to_the_host(error)) throw;
    return std::nullopt;
  }
  if (container_ == DeviceContainer::lz4)
    for (std::size_t i = 0; i < chunks.size(); ++i)
      bytes_to_bytes::store_le32(results[i].bytes.mutable_data(),
                                 static_cast<std::uint32_t>(chunks[i].elements.nbytes()));
  return results;
}

// Room for a batch of the chunks of each size, and a chunk of fill; that, and as much as the limit allows. The stream is past what was there.
void DeviceEncoder::reserve(std::span<const Chunk> chunks) {
  std::map<std::uint64_t, std::uint64_t> needed;
  std::uint64_t most = 0;
  for (const Chunk& chunk : chunks) {
    const std::uint64_t footprint = alike(chunk.elements.nbytes()).footprint();
    std::uint64_t& bytes = needed.try_emplace(footprint, footprint).first->second;
    bytes = std::min(arena_limit_, bytes + footprint);
    most = std::max(most, bytes);
  }
  if (most <= arena_.size()) return;
  arena_ = {};
  arena_ = Buffer::allocate(static_cast<std::size_t>(most), cuda(device_.ordinal()), kAlignment);
}

// Its work follows that of the batch before it in the stream, and so uses the same memory.
void DeviceEncoder::encode_batch(std::span<const Chunk> chunks, std::span<const std::size_t> members,
                                 const Alike& alike, std::vector<Encoded>& results, Buffer* fill,
                                 InFlight& in_flight) {
  std::byte* next = arena_.mutable_data();
  const auto take = [&](std::uint64_t size) { return std::exchange(next, next + aligned(size)); };
  const auto size = static_cast<std::size_t>(alike.size), room = static_cast<std::size_t>(alike.room);
  std::vector<gpu::NvcompChunk> work;
  work.reserve(members.size() + 1);
  gathering_.clear();
  for (const std::size_t i : members) {
    const ArrayView& elements = chunks[i].elements;
    const std::byte* from = elements.data;
    if (!elements.is_contiguous()) {
      std::byte* const dense = take(size);
      gather(elements, dense, size);
      from = dense;
    }
    work.push_back({from, size, take(room), room});
  }
  if (fill) {
    const ArrayView& like = chunks[members[0]].elements;
    const NDArray filled = NDArray::allocate(like.type, like.shape, pinned());
    zarrive::fill(filled.view(), *fill_);
    in_flight.hold(filled.buffer());
    std::byte* const dense = take(size);
    gpu::copy_to_device(device_, dense, filled.view().data, size, stream_);
    work.push_back({dense, size, take(room), room});
  }
  if (!gathering_.empty()) gathering_.launch(stream_);

  gpu::NvcompOutcome outcome = coder_.run(work, stream_);
  const auto chunk_of = [&](std::size_t k) { return k < members.size() ? &chunks[members[k]] : nullptr; };
  if (const auto failures = outcome.failures(); !failures.empty())
    fail(chunk_of(failures[0].chunk), failures[0].reason);
  const std::vector<std::size_t> sizes = outcome.sizes();
  const std::size_t header = header_size(container_);
  std::size_t total = 0;
  for (std::size_t k = 0; k < work.size(); ++k) {
    if (sizes[k] == 0 || sizes[k] > room)
      fail(chunk_of(k), "it says that it wrote " + std::to_string(sizes[k]) +
                            " bytes, and there was room for " + std::to_string(room));
    total += header + sizes[k];
  }
  Buffer encoded = Buffer::allocate(total, pinned());
  in_flight.hold(encoded);
  std::size_t at = 0;
  for (std::size_t k = 0; k < work.size(); ++k) {
    std::byte* const to = encoded.mutable_data() + at;
    std::fill_n(to, header, std::byte{0});
    gpu::copy_to_host(device_, to + header, work[k].to, sizes[k], stream_);
    Buffer value = encoded.slice(at, header + sizes[k]);
    at += value.size();
    if (k < members.size()) results[members[k]].bytes = std::move(value);
    else *fill = std::move(value);
  }
}

void DeviceEncoder::gather(const ArrayView& elements, std::byte* dense, std::uint64_t room) {
  const gpu::Target from = device_target(elements, 0);
  const Strides steps = c_strides(elements.shape, elements.type.item_size());
  gpu::ChunkWork work;
  work.source = from.memory;
  work.layout = {.size = from.size, .block_size = 0, .width = 1, .shuffle = gpu::kernels::Shuffle::none};
  work.source_start = from.start;
  work.item_size = elements.type.item_size();
  for (std::size_t d = 0; d < elements.ndim(); ++d)
    work.axes.push_back({.count = elements.shape[d],
                         .source_step = elements.shape[d] > 1 ? elements.strides[d] : 0,
                         .target_step = steps[d]});
  work.target = {dense, static_cast<std::size_t>(room), 0};
  gathering_.add_chunk(work, 0);
}

void DeviceEncoder::fail(const Chunk* chunk, const std::string& reason) const {
  throw Error(
      ErrorCode::unavailable,
      std::string("nvCOMP cannot encode ") + (chunk ? "the chunk" : "a chunk of the fill value") + " as " +
          std::string(gpu::nvcomp_format_name(format_of(container_))) + " on " + device_.name() + ": " +
          reason,
      chunk ? ErrorPlace{.store = {}, .node = chunk->context->node, .key = chunk->context->key.value_or("")}
            : ErrorPlace{});
}

}  // namespace zarrive
