// Batches for nvCOMP. The way of one:
//   1 plan     chunks in launches that fit into the budget, each with its place for moved chunks and nvCOMP's temporary memory
//   2 tables   addresses and sizes of all chunks, in pinned memory, and one copy of them to the device
//   3 launches each: copies of inputs that are not aligned, the call, copies of outputs that were not aligned. They share their memory,
//              since they follow each other in the stream
//   4 results  one copy of sizes and results back to the pinned memory, and an event behind it
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "gpu/nvcomp.hpp"
#include "zarrive/checked.hpp"

namespace zarrive::gpu {

namespace {

constexpr NvcompResult not_written = -1;  // what stands for a result until nvCOMP gives it

CudaAddress address_of(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); }

bool aligned(const std::byte* data, std::size_t alignment) { return address_of(data) % alignment == 0; }

std::size_t aligned_up(std::size_t offset, std::size_t alignment) {
  return static_cast<std::size_t>(ceil_divide(offset, alignment)) * alignment;
}

std::string bytes_text(std::size_t size) { return std::to_string(size) + " bytes"; }

void copy_on_device(const Device& device, std::byte* to, const std::byte* from, std::size_t size,
                    CudaStream stream) {
  check(device.driver(), device.driver().copy_on_device(address_of(to), address_of(from), size, stream),
        "copying " + bytes_text(size) + " on " + device.name());
}

// The arrays of a batch, in this order in one piece of memory; those that come back are at the end.
struct Tables {
  explicit Tables(std::size_t chunks) : count(chunks) {}
  std::size_t count;
  std::size_t from() const { return 0; }
  std::size_t from_sizes() const { return 8 * count; }
  std::size_t to() const { return 16 * count; }
  std::size_t rooms() const { return 24 * count; }
  std::size_t sizes() const { return 32 * count; }
  std::size_t results() const { return 40 * count; }
  std::size_t size() const { return 44 * count; }
  std::size_t size_of_answers() const { return size() - sizes(); }
};
static_assert(sizeof(void*) == 8 && sizeof(std::size_t) == 8 && sizeof(NvcompResult) == 4);

// A chunk, and where nvCOMP reads and writes it.
struct Placed {
  NvcompChunk chunk;
  std::size_t number = 0;           // in the caller's batch
  const std::byte* from = nullptr;  // chunk.from, or in our memory
  std::byte* to = nullptr;
};

struct Launch {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t largest = 0;  // of the decoded sizes
  std::size_t temp_offset = 0;
  std::size_t temp_size = 0;
  std::size_t size() const { return temp_offset + temp_size; }
};

}  // namespace

struct NvcompOutcome::State {
  State(const Device& device, std::size_t asked) : event(device), chunks(asked) {}
  Event event;
  std::size_t chunks;                // of the caller's batch
  std::vector<std::size_t> numbers;  // of those that were put in
  bool exact = false;                // each must have filled its room
  Buffer tables;                     // pinned

  template <class T>
  T read(std::size_t table, std::size_t k) const {
    T value;
    std::memcpy(&value, tables.data() + table + k * sizeof(T), sizeof value);
    return value;
  }
};

void NvcompOutcome::Release::operator()(State* state) const noexcept {
  try {
    state->event.wait();
  } catch (...) {  // the device is lost, or this is a forked child
  }
  delete state;
}

bool NvcompOutcome::done() { return state_->event.done(); }

void NvcompOutcome::wait() { state_->event.wait(); }

std::vector<NvcompOutcome::Failure> NvcompOutcome::failures() {
  wait();
  std::vector<Failure> found;
  const Tables tables(state_->numbers.size());
  for (std::size_t k = 0; k < tables.count; ++k) {
    const auto result = state_->read<NvcompResult>(tables.results(), k);
    const auto size = state_->read<std::size_t>(tables.sizes(), k);
    const auto room = state_->read<std::size_t>(tables.rooms(), k);
    std::string reason;
    if (result == not_written) reason = "nvCOMP gave no status";
    else if (result != nvcomp_success) reason = nvcomp_result_text(result);
    else if (state_->exact && size != room)
      reason = "it decoded to " + bytes_text(size) + ", not to " + std::to_string(room);
    if (!reason.empty()) found.push_back({state_->numbers[k], std::move(reason)});
  }
  std::sort(found.begin(), found.end(), [](const Failure& a, const Failure& b) { return a.chunk < b.chunk; });
  return found;
}

void NvcompOutcome::check() {
  const std::vector<Failure> found = failures();
  if (found.empty()) return;
  throw Error(state_->exact ? ErrorCode::corrupt_chunk : ErrorCode::unavailable,
              "chunk " + std::to_string(found[0].chunk) + " of " + std::to_string(state_->chunks) +
                  " failed: " + found[0].reason +
                  (found.size() > 1 ? "; and " + std::to_string(found.size() - 1) + " more" : ""));
}

std::vector<std::size_t> NvcompOutcome::sizes() {
  wait();
  std::vector<std::size_t> all(state_->chunks, 0);
  const Tables tables(state_->numbers.size());
  for (std::size_t k = 0; k < tables.count; ++k)
    all[state_->numbers[k]] = state_->read<std::size_t>(tables.sizes(), k);
  return all;
}

struct NvcompCoder::State {
  const Device& device;
  NvcompFormat format;
  bool decodes;
  std::size_t budget;
  const NvcompFunctions& functions;
  NvcompAlignments alignments = {};
  Event last;  // behind the work of the last batch
  Buffer tables = {};
  Buffer scratch = {};

  std::string word() const {
    return std::string(decodes ? "decoding " : "encoding ") + std::string(nvcomp_format_name(format));
  }
  std::size_t decoded_size(const NvcompChunk& chunk) const { return decodes ? chunk.room : chunk.size; }

  // A launch with `most` chunks from `first` on, or half of them and so on, that takes no more than the budget.
  Launch plan(std::span<const Placed> chunks, std::size_t first, std::size_t most, CudaStream stream) const;
  Launch launch_of(std::span<const Placed> chunks, std::size_t first, std::size_t count,
                   CudaStream stream) const;
  // Where the launch reads and writes: chunks that are not aligned get a place in our memory.
  void place(std::span<Placed> chunks) const;
  void launch(std::span<const Placed> chunks, const Launch& launch, CudaStream stream) const;
  std::vector<Placed> accept(std::span<const NvcompChunk> batch) const;
  std::size_t largest_chunk() const noexcept;
  std::size_t encoded_bound(std::size_t largest) const;
};

std::size_t NvcompCoder::State::largest_chunk() const noexcept {
  constexpr std::size_t gib4 = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t gib2 = std::numeric_limits<std::int32_t>::max();
  switch (format) {
    case NvcompFormat::lz4: return decodes ? gib4 : std::size_t{1} << 24;
    case NvcompFormat::deflate:
    case NvcompFormat::gzip: return gib4;
    case NvcompFormat::snappy:
    case NvcompFormat::zstd: break;
  }
  return gib2;
}

std::size_t NvcompCoder::State::encoded_bound(std::size_t largest) const {
  std::size_t bound = 0;
  const NvcompResult result = functions.encoded_bound(largest, {}, &bound);
  if (result != nvcomp_success)
    throw Error(ErrorCode::unsupported,
                word() + " of " + bytes_text(largest) + ": " + nvcomp_result_text(result));
  return bound;
}

std::vector<Placed> NvcompCoder::State::accept(std::span<const NvcompChunk> batch) const {
  std::vector<Placed> accepted;
  accepted.reserve(batch.size());
  std::size_t largest = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const NvcompChunk& chunk = batch[i];
    const auto which = [&] {
      return word() + ", chunk " + std::to_string(i) + " of " + std::to_string(batch.size()) + ": ";
    };
    if (decoded_size(chunk) > largest_chunk())
      throw Error(ErrorCode::unsupported, which() + "it has " + bytes_text(decoded_size(chunk)) +
                                              ", and nvCOMP's limit is " + std::to_string(largest_chunk()));
    if (decodes && chunk.room == 0) continue;
    if (chunk.size == 0) throw Error(ErrorCode::invalid_argument, which() + "there are no bytes");
    largest = std::max(largest, decoded_size(chunk));
    accepted.push_back({chunk, i});
  }
  if (decodes || accepted.empty()) return accepted;
  const std::size_t bound = encoded_bound(largest);
  for (const Placed& placed : accepted)
    if (placed.chunk.room < bound)
      throw Error(ErrorCode::invalid_argument, word() + ", chunk " + std::to_string(placed.number) +
                                                   ": there is room for " + bytes_text(placed.chunk.room) +
                                                   ", and " + std::to_string(bound) + " are needed");
  return accepted;
}

Launch NvcompCoder::State::launch_of(std::span<const Placed> chunks, std::size_t first, std::size_t count,
                                     CudaStream stream) const {
  Launch launch{.first = first, .count = count};
  std::size_t moved = 0;
  std::size_t total = 0;
  for (const Placed& placed : chunks.subspan(first, count)) {
    const NvcompChunk& chunk = placed.chunk;
    if (!aligned(chunk.from, alignments.input)) moved = aligned_up(moved, alignments.input) + chunk.size;
    if (!aligned(chunk.to, alignments.output)) moved = aligned_up(moved, alignments.output) + chunk.room;
    launch.largest = std::max(launch.largest, decoded_size(chunk));
    total += decoded_size(chunk);
  }
  launch.temp_offset = aligned_up(moved, alignments.temp);
  const auto temp_size = decodes ? functions.decoding_temp_size : functions.encoding_temp_size;
  const auto temp_size_5 = decodes ? functions.decoding_temp_size_5 : functions.encoding_temp_size_5;
  const NvcompResult result = temp_size
                                  ? temp_size(count, launch.largest, {}, &launch.temp_size, total, stream)
                                  : temp_size_5(count, launch.largest, {}, &launch.temp_size, total);
  if (result != nvcomp_success)
    throw Error(ErrorCode::unsupported, word() + ", " + std::to_string(count) + " chunks of up to " +
                                            bytes_text(launch.largest) + ": " + nvcomp_result_text(result));
  return launch;
}

Launch NvcompCoder::State::plan(std::span<const Placed> chunks, std::size_t first, std::size_t most,
                                CudaStream stream) const {
  for (std::size_t count = most;; count /= 2) {
    const Launch launch = launch_of(chunks, first, count, stream);
    if (launch.size() <= budget) return launch;
    if (count == 1)
      throw Error(ErrorCode::resource_limit, word() + ", chunk " + std::to_string(chunks[first].number) +
                                                 " of " + bytes_text(launch.largest) + ": that takes " +
                                                 bytes_text(launch.size()) + " of memory on " +
                                                 device.name() + " beside its own, and the budget is " +
                                                 std::to_string(budget));
  }
}

void NvcompCoder::State::place(std::span<Placed> chunks) const {
  std::byte* const base = const_cast<std::byte*>(scratch.data());
  std::size_t moved = 0;
  for (Placed& placed : chunks) {
    const NvcompChunk& chunk = placed.chunk;
    placed.from = chunk.from;
    placed.to = chunk.to;
    if (!aligned(chunk.from, alignments.input)) {
      moved = aligned_up(moved, alignments.input);
      placed.from = base + moved;
      moved += chunk.size;
    }
    if (!aligned(chunk.to, alignments.output)) {
      moved = aligned_up(moved, alignments.output);
      placed.to = base + moved;
      moved += chunk.room;
    }
  }
}

void NvcompCoder::State::launch(std::span<const Placed> chunks, const Launch& launch,
                                CudaStream stream) const {
  const std::span<const Placed> ours = chunks.subspan(launch.first, launch.count);
  for (const Placed& placed : ours)
    if (placed.from != placed.chunk.from)
      copy_on_device(device, const_cast<std::byte*>(placed.from), placed.chunk.from, placed.chunk.size,
                     stream);
  // What the tables hold is nvCOMP's to read on the device, so these are but addresses here.
  const Tables layout(chunks.size());
  std::byte* const base = const_cast<std::byte*>(tables.data());
  const auto words = [&](std::size_t table) { return base + table + 8 * launch.first; };
  const auto from = reinterpret_cast<const void* const*>(words(layout.from()));
  const auto from_sizes = reinterpret_cast<const std::size_t*>(words(layout.from_sizes()));
  const auto to = reinterpret_cast<void* const*>(words(layout.to()));
  const auto rooms = reinterpret_cast<const std::size_t*>(words(layout.rooms()));
  const auto sizes = reinterpret_cast<std::size_t*>(words(layout.sizes()));
  const auto results = reinterpret_cast<NvcompResult*>(base + layout.results() + 4 * launch.first);
  void* const temp = const_cast<std::byte*>(scratch.data()) + launch.temp_offset;
  const NvcompResult result = decodes ? functions.decode(from, from_sizes, rooms, sizes, launch.count, temp,
                                                         launch.temp_size, to, {}, results, stream)
                                      : functions.encode(from, from_sizes, launch.largest, launch.count, temp,
                                                         launch.temp_size, to, sizes, {}, results, stream);
  if (result != nvcomp_success)
    throw Error(ErrorCode::unavailable, word() + " of " + std::to_string(launch.count) + " chunks on " +
                                            device.name() + ": " + nvcomp_result_text(result));
  for (const Placed& placed : ours)
    if (placed.to != placed.chunk.to)
      copy_on_device(device, placed.chunk.to, placed.to, placed.chunk.room, stream);
}

NvcompCoder::NvcompCoder(const Device& device, NvcompFormat format, Direction direction, std::size_t budget) {
  const NvcompStatus& status = nvcomp_status();
  if (!status.library) throw Error(ErrorCode::unsupported, "there is no nvCOMP: " + status.reason);
  const NvcompFunctions& functions = status.library->of(format);
  const bool decodes = direction == Direction::decode;
  if (!decodes && !functions.encode)
    throw Error(ErrorCode::unsupported, std::string(nvcomp_format_name(format)) +
                                            " is not encoded on the device, only lz4 and zstd are");
  const ContextScope scope(device);
  state_ = std::make_unique<State>(State{device, format, decodes, budget, functions, {}, Event(device)});
  const NvcompResult result =
      (decodes ? functions.decoding_alignments : functions.encoding_alignments)({}, &state_->alignments);
  const NvcompAlignments& found = state_->alignments;
  if (result != nvcomp_success || found.input == 0 || found.output == 0 || found.temp == 0)
    throw Error(ErrorCode::unavailable,
                state_->word() + ", asking for alignments: " + nvcomp_result_text(result));
}

NvcompCoder::~NvcompCoder() = default;
NvcompCoder::NvcompCoder(NvcompCoder&&) noexcept = default;
NvcompCoder& NvcompCoder::operator=(NvcompCoder&&) noexcept = default;

std::size_t NvcompCoder::largest_chunk() const noexcept { return state_->largest_chunk(); }

std::size_t NvcompCoder::encoded_bound(std::size_t largest) const {
  if (state_->decodes)
    throw Error(ErrorCode::invalid_argument, "a decoder was asked how large encoded chunks may be");
  return state_->encoded_bound(largest);
}

NvcompOutcome NvcompCoder::run(std::span<const NvcompChunk> batch, CudaStream stream) {
  State& state = *state_;
  const Device& device = state.device;
  const ContextScope scope(device);

  std::vector<Placed> chunks = state.accept(batch);
  std::vector<Launch> launches;
  if (!chunks.empty()) {
    if (state.launch_of(chunks, 0, chunks.size(), stream).size() > state.budget) {
      // What a launch takes goes by its largest chunk, so like goes with like.
      std::stable_sort(chunks.begin(), chunks.end(), [&](const Placed& a, const Placed& b) {
        return state.decoded_size(a.chunk) > state.decoded_size(b.chunk);
      });
    }
    for (std::size_t first = 0, most = chunks.size(); first < chunks.size();) {
      launches.push_back(state.plan(chunks, first, std::min(most, chunks.size() - first), stream));
      first += launches.back().count;
      most = 2 * launches.back().count;
    }
  }

  NvcompOutcome outcome;
  outcome.state_.reset(new NvcompOutcome::State(device, batch.size()));
  NvcompOutcome::State& result = *outcome.state_;
  result.exact = state.decodes;
  if (chunks.empty()) return outcome;

  // Memory that is let go of here is not in use any more: freeing waits for the device.
  const Tables layout(chunks.size());
  const Prototype on_device = cuda(device.ordinal());
  std::size_t needed = 0;
  for (const Launch& launch : launches) needed = std::max(needed, launch.size());
  if (state.tables.size() < layout.size()) state.tables = Buffer::allocate(layout.size(), on_device, 256);
  if (state.scratch.size() < needed) {
    state.scratch = {};
    state.scratch = Buffer::allocate(needed, on_device, 256);
  }

  for (const Launch& launch : launches) state.place(std::span(chunks).subspan(launch.first, launch.count));
  result.tables = Buffer::allocate(layout.size(), pinned());
  std::byte* const host = result.tables.mutable_data();
  const auto write = [&](std::size_t table, std::size_t k, auto value) {
    std::memcpy(host + table + k * sizeof value, &value, sizeof value);
  };
  result.numbers.reserve(chunks.size());
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    const Placed& placed = chunks[k];
    write(layout.from(), k, placed.from);
    write(layout.from_sizes(), k, placed.chunk.size);
    write(layout.to(), k, placed.to);
    write(layout.rooms(), k, placed.chunk.room);
    write(layout.sizes(), k, std::size_t{0});
    write(layout.results(), k, not_written);
    result.numbers.push_back(placed.number);
  }

  try {
    state.last.wait_in(stream);
    copy_to_device(device, state.tables.mutable_data(), host, layout.size(), stream);
    for (const Launch& launch : launches) state.launch(chunks, launch, stream);
    copy_to_host(device, host + layout.sizes(), state.tables.data() + layout.sizes(),
                 layout.size_of_answers(), stream);
    result.event.record(stream);
    state.last.record(stream);
  } catch (...) {
    drain(device, stream);  // what was put in uses the memory of the outcome
    throw;
  }
  return outcome;
}

}  // namespace zarrive::gpu
