#include "codec/device_decoder.hpp"

#include <algorithm>
#include <utility>

#include "codec/blosc_device.hpp"
#include "codec/device_part.hpp"
#include "codec/device_values.hpp"

namespace zarrive {
namespace {

// Longer streams are decoded by the host in automatic mode: a warp takes one, and so long a stream keeps it busy when the others are done.
// The engine of a device has a limit of its own. (LZ4: 64 KiB blocks ran at 173 GB/s on an H200; zstd by nvCOMP: 256 KiB chunks 9 GB/s on an H100, 16 MiB frames 0.4 GB/s on an H200.)
constexpr std::uint64_t kLongestKernelStream = 4 << 20;
constexpr std::uint64_t kLongestNvcompStream = 1 << 20;
// Values begin at addresses that every load of a kernel likes.
constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kSmallestArena = 64 << 10;

std::uint64_t aligned(std::uint64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

std::string inner_chunk(const Context& context) {
  return context.shard && context.chunk_index ? "inner chunk " + to_string(*context.chunk_index) + ": " : "";
}

}  // namespace

struct DeviceDecoder::Wave {
  explicit Wave(const gpu::Device& device) : batch(device) {}

  gpu::DecodeBatch batch;
  Buffer arena;
  std::uint64_t used = 0;
  // What the device reads, or the batch points to, until the wave is over.
  std::vector<Buffer> held;
  std::vector<std::shared_ptr<const void>> lists;
  // Of each value: where it is from, for errors.
  struct Owner {
    ErrorPlace place;
    std::string inner;
  };
  std::vector<Owner> owners;
  struct ForNvcomp {
    std::vector<gpu::NvcompChunk> chunks;
    std::vector<std::size_t> owners;
    std::optional<gpu::NvcompOutcome> outcome;
  };
  std::map<gpu::NvcompFormat, ForNvcomp> nvcomp;
  bool launched = false;

  bool is_idle() const noexcept { return used == 0 && batch.empty() && held.empty(); }

  std::byte* take(std::uint64_t size) {
    std::byte* const memory = arena.mutable_data() + used;
    used += aligned(size);
    return memory;
  }
};

std::unique_ptr<DeviceDecoder> DeviceDecoder::make(const gpu::Device& device, gpu::CudaStream stream,
                                                   gpu::DeviceDecode how, std::uint64_t budget,
                                                   std::uint64_t expected) {
  if (how == gpu::DeviceDecode::never || !gpu::Kernels::available()) return nullptr;
  // Half of the budget is for nvCOMP, whose zstd wants a lot for itself, the rest for two waves.
  const std::uint64_t arena = std::max(kSmallestArena, std::min(budget / 4, aligned(expected)));
  return std::unique_ptr<DeviceDecoder>(new DeviceDecoder(device, stream, how, arena, budget / 2));
}

DeviceDecoder::DeviceDecoder(const gpu::Device& device, gpu::CudaStream stream, gpu::DeviceDecode how,
                             std::uint64_t arena_size, std::uint64_t nvcomp_budget)
    : device_(device),
      stream_(stream),
      how_(how),
      // Nobody says that it never writes past what a broken stream should decode to, so only who asks for all that the device has gets it.
      engine_(how == gpu::DeviceDecode::always ? gpu::find_engine(device) : gpu::Engine{}),
      arena_size_(arena_size),
      nvcomp_budget_(nvcomp_budget) {}

// What is under way still uses our memory.
DeviceDecoder::~DeviceDecoder() {
  for (const auto& wave : waves_)
    if (wave && !wave->is_idle()) gpu::drain(device_, stream_);
}

gpu::NvcompCoder& DeviceDecoder::coder(gpu::NvcompFormat format) {
  const auto found = coders_.find(format);
  if (found != coders_.end()) return found->second;
  return coders_
      .try_emplace(format, gpu::NvcompCoder(device_, format, gpu::NvcompCoder::Direction::decode,
                                            std::max(nvcomp_budget_, kSmallestArena)))
      .first->second;
}

// The wave that is put together, with room for so many bytes.
DeviceDecoder::Wave& DeviceDecoder::wave_with(std::uint64_t bytes) {
  if (waves_[0] && waves_[0]->used > 0 && waves_[0]->used + bytes > arena_size_) {
    launch(*waves_[0]);
    if (waves_[1]) wait(*waves_[1]);
    std::swap(waves_[0], waves_[1]);
  }
  if (!waves_[0]) {
    waves_[0] = std::make_unique<Wave>(device_);
    waves_[0]->arena =
        Buffer::allocate(static_cast<std::size_t>(arena_size_), cuda(device_.ordinal()), kAlignment);
  }
  return *waves_[0];
}

DeviceDecoder::Taken DeviceDecoder::add(const BoundChain& chain, const Buffer& encoded,
                                        const ChunkPart& whole_part, const ArrayView& whole_output,
                                        const Context& context) {
  if (whole_part.empty()) return Taken::yes;
  ChunkPart part = whole_part;
  ArrayView output = whole_output;
  DeviceSteps steps;
  if (!chain.device_steps(steps, part, output)) return Taken::no;
  chain.check_encoded_size(encoded.size());
  const ArraySpec& stored = chain.encoded_array();
  const std::uint64_t item = stored.type.item_size();
  const std::span<const std::byte> bytes = chain.without_checksums(encoded.host_span(), context);
  // What has to be decoded, and whether by something that is there.
  const DeviceValue value = DeviceValue::parse(steps.container, bytes, stored.nbytes(), engine_);
  if (!value.has_decoders()) return Taken::no;
  if (how_ == gpu::DeviceDecode::automatic && (value.longest_kernel_stream() > kLongestKernelStream ||
                                               value.longest_nvcomp_stream() > kLongestNvcompStream))
    return Taken::no;
  // Sums lie dense beside the stored elements, which may be of a narrower type.
  const std::uint64_t sums = steps.delta ? multiply(stored.size(), steps.delta->width, "a chunk") : 0;
  const std::uint64_t needed = aligned(bytes.size()) + aligned(value.scratch_size()) + aligned(sums);
  if (needed > arena_size_) return Taken::no;

  const Strides strides = c_strides(stored.shape, steps.delta ? steps.delta->width : item);
  const DevicePart placed = device_part(part, strides, output);
  const std::lock_guard lock(mutex_);
  Wave& wave = wave_with(needed);
  const std::size_t owner = wave.owners.size();
  wave.owners.push_back(
      {{.store = {}, .node = context.node, .key = context.key.value_or("")}, inner_chunk(context)});
  wave.held.push_back(encoded);
  wave.lists.push_back(placed.lists);
  std::byte* const device_bytes = wave.take(bytes.size());
  std::byte* const scratch = wave.take(value.scratch_size());
  gpu::copy_to_device(device_, device_bytes, bytes.data(), bytes.size(), stream_);

  const DeviceValue::Streams streams = value.on_device(device_bytes, scratch);
  for (const gpu::EngineStream& stream : streams.engine) wave.batch.add_engine_stream(stream, owner);
  for (const gpu::kernels::Stream& stream : streams.kernel) wave.batch.add_stream(stream, owner);
  for (const auto& [format, chunk] : streams.nvcomp) {
    wave.nvcomp[format].chunks.push_back(chunk);
    wave.nvcomp[format].owners.push_back(owner);
  }
  for (const gpu::kernels::ChecksumRange& range : streams.checksums) wave.batch.add_checksum(range, owner);
  gpu::ChunkWork work;
  work.source = streams.decoded;
  work.layout = streams.layout;
  work.item_size = static_cast<std::size_t>(item);
  if (steps.delta) {
    // Dense first, then summed up where it lies.
    std::byte* const summed = wave.take(sums);
    gpu::ChunkWork first = work;
    const auto step = static_cast<std::int64_t>(steps.delta->width);
    first.operations = steps.before_delta;
    first.axes = {
        {.count = stored.size(), .source_step = static_cast<std::int64_t>(item), .target_step = step}};
    first.target = {summed, static_cast<std::size_t>(sums), 0};
    wave.batch.add_chunk(first, owner, gpu::Pass::before_deltas);
    wave.batch.add_delta(
        {reinterpret_cast<std::uint8_t*>(summed), stored.size(), steps.delta->width, steps.delta->boolean});
    work.source = summed;
    work.layout = {.size = sums, .block_size = 0, .width = 1, .shuffle = gpu::kernels::Shuffle::none};
    work.item_size = steps.delta->width;
  }
  work.source_start = placed.source_start;
  work.operations = steps.operations;
  work.axes = placed.axes;
  work.target = device_target(output, placed.target_start);
  wave.batch.add_chunk(work, owner);
  return streams.engine.empty() ? Taken::yes : Taken::with_engine;
}

void DeviceDecoder::add_block(const NDArray& block, const ChunkPart& part, const ArrayView& output) {
  const ArrayView& view = block.view();
  const ChunkPart from = part.from_own_output();
  const DevicePart placed = device_part(from, view.strides, output);
  const std::uint64_t bytes = view.nbytes();
  const std::lock_guard lock(mutex_);
  Wave& wave = wave_with(bytes);
  // A block of its own when it is larger than what waves share.
  Buffer own;
  std::byte* memory = nullptr;
  if (aligned(bytes) > arena_size_) {
    own = Buffer::allocate(static_cast<std::size_t>(bytes), cuda(device_.ordinal()), kAlignment);
    memory = own.mutable_data();
    wave.held.push_back(own);
  } else {
    memory = wave.take(bytes);
  }
  wave.held.push_back(block.buffer());
  wave.lists.push_back(placed.lists);
  gpu::copy_to_device(device_, memory, view.data, static_cast<std::size_t>(bytes), stream_);
  gpu::ChunkWork work;
  work.source = memory;
  work.layout = {.size = bytes, .block_size = 0, .width = 1, .shuffle = gpu::kernels::Shuffle::none};
  work.item_size = view.type.item_size();
  work.source_start = placed.source_start;
  work.axes = placed.axes;
  work.target = device_target(output, placed.target_start);
  wave.owners.push_back({});
  wave.batch.add_chunk(work, wave.owners.size() - 1);
}

void DeviceDecoder::add_fill(const ChunkPart& part, const ArrayView& output, const FillValue& value) {
  const Strides none(part.ndim(), 0);
  const DevicePart placed = device_part(part, none, output);
  const std::lock_guard lock(mutex_);
  Wave& wave = wave_with(0);
  wave.lists.push_back(placed.lists);
  wave.batch.add_fill(value.bytes(), placed.axes, device_target(output, placed.target_start));
}

void DeviceDecoder::launch(Wave& wave) {
  wave.launched = true;
  for (auto& [format, work] : wave.nvcomp) work.outcome = coder(format).run(work.chunks, stream_);
  wave.batch.launch(stream_);
}

void DeviceDecoder::wait(Wave& wave) {
  if (!wave.launched) return;
  wave.batch.wait();
  std::optional<std::pair<std::size_t, std::string>> first;
  const auto note = [&](std::size_t owner, const std::string& what) {
    if (!first || owner < first->first) first = {owner, what};
  };
  for (auto& [format, work] : wave.nvcomp) {
    if (!work.outcome) continue;
    for (const gpu::NvcompOutcome::Failure& failure : work.outcome->failures())
      note(work.owners[failure.chunk], "nvCOMP cannot decode its " +
                                           std::string(gpu::nvcomp_format_name(format)) +
                                           " data: " + failure.reason);
  }
  for (const gpu::DecodeBatch::Failure& failure : wave.batch.failures())
    note(static_cast<std::size_t>(failure.owner),
         failure.status == gpu::kernels::status_no_value
             ? "an element has a value that the array's data type cannot hold"
             : "a compressed stream is damaged, or does not decode to the size that is stated for it");
  if (first) {
    const Wave::Owner& owner = wave.owners[first->first];
    throw Error(ErrorCode::corrupt_chunk,
                owner.inner + first->second + " (decoded on " + device_.name() + ")", owner.place);
  }
  wave.batch.clear();
  wave.held.clear();
  wave.lists.clear();
  wave.owners.clear();
  wave.nvcomp.clear();
  wave.used = 0;
  wave.launched = false;
}

void DeviceDecoder::finish() {
  const std::lock_guard lock(mutex_);
  if (waves_[0] && !waves_[0]->is_idle()) launch(*waves_[0]);
  if (waves_[1]) wait(*waves_[1]);
  if (waves_[0]) wait(*waves_[0]);
}

}  // namespace zarrive
