#include "gpu/decode.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "gpu/chunk_plan.hpp"

namespace zarrive::gpu {

namespace {

constexpr std::size_t none = ~std::size_t{0};
constexpr std::size_t table_alignment = 16;
constexpr std::size_t fill_alignment = 8;
constexpr std::uint32_t size_unknown = UINT32_MAX;  // more than any engine takes

std::size_t aligned(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

bool same(const Operation& a, const Operation& b) {
  return a.kind == b.kind && a.from == b.from && a.to == b.to && a.rounding == b.rounding &&
         a.out_of_range == b.out_of_range && a.bits == b.bits && a.scale == b.scale && a.offset == b.offset;
}

}  // namespace

// Offsets of the tables in what is uploaded. Statuses and the sizes that the engine tells come first: they alone come back.
struct DecodeBatch::Tables {
  std::size_t statuses = 0;
  std::size_t sizes = 0;
  std::size_t checksums = 0;
  std::size_t streams = 0;
  std::size_t chunks[2] = {};
  std::size_t deltas = 0;
  std::size_t dimensions = 0;
  std::size_t places = 0;
  std::size_t operations = 0;
  std::size_t fills = 0;
  std::size_t size = 0;

  template <class T>
  std::size_t take(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= table_alignment);
    const std::size_t at = size;
    size = aligned(size + count * sizeof(T), table_alignment);
    return at;
  }
};

DecodeBatch::DecodeBatch(const Device& device) : device_(device), event_(device) {}

DecodeBatch::~DecodeBatch() {
  try {
    wait();
  } catch (const Error&) {  // the device is lost, and nothing runs on it any more
  }
}

void DecodeBatch::add_checksum(const kernels::ChecksumRange& range, std::uint64_t owner) {
  checksums_.push_back(range);
  owners_[0].push_back(owner);
}

void DecodeBatch::add_stream(const kernels::Stream& stream, std::uint64_t owner) {
  streams_.push_back(stream);
  owners_[1].push_back(owner);
}

void DecodeBatch::add_engine_stream(const EngineStream& stream, std::uint64_t owner) {
  engine_streams_.push_back({.encoded = stream.encoded,
                             .decoded = stream.decoded,
                             .from = stream.source,
                             .to = stream.target,
                             .algorithm = static_cast<unsigned>(stream.format)});
  engine_owners_.push_back(owner);
}

void DecodeBatch::add_delta(const kernels::Delta& delta) {
  if ((delta.width != 1 && delta.width != 2 && delta.width != 4 && delta.width != 8) ||
      (delta.boolean && delta.width != 1))
    throw Error(ErrorCode::invalid_argument, "there is no delta of " + std::to_string(delta.width) +
                                                 (delta.boolean ? "-byte bools" : "-byte integers"));
  if (delta.count != 0) deltas_.push_back(delta);
}

void DecodeBatch::add_chunk(const ChunkWork& work, std::uint64_t owner, Pass pass) {
  const std::optional<ChunkPlan> plan = plan_chunk(work);
  if (!plan) return;
  std::vector<std::size_t> lists(plan->axes.size(), none);
  for (std::size_t d = 0; d < lists.size(); ++d)
    if (const Axis& axis = plan->axes[d]; axis.places) lists[d] = add_known_places(axis.places, axis.count);
  add(*plan, lists, work.operations, none, owner, pass);
}

void DecodeBatch::add_fill(std::span<const std::byte> element, std::vector<Axis> axes, const Target& target) {
  // One element stands for all, so lists are taken without their places in a source.
  std::vector<std::vector<Place>> own;
  for (Axis& axis : axes) {
    axis.source_step = 0;
    if (!axis.places || axis.count == 0) continue;
    std::vector<Place>& list = own.emplace_back(axis.places, axis.places + axis.count);
    for (Place& place : list) place.source = 0;
    axis.places = list.data();
  }
  ChunkWork work;
  work.item_size = work.layout.size = element.size();
  work.target = target;
  work.axes = std::move(axes);
  const std::optional<ChunkPlan> plan = plan_chunk(work);
  if (!plan) return;
  std::vector<std::size_t> lists(plan->axes.size(), none);
  for (std::size_t d = 0; d < lists.size(); ++d)
    if (const Axis& axis = plan->axes[d]; axis.places) lists[d] = append_places(axis.places, axis.count);
  const std::size_t at = fills_.size();
  fills_.resize(aligned(at + element.size(), fill_alignment));
  std::memcpy(fills_.data() + at, element.data(), element.size());
  add(*plan, lists, {}, at, 0, Pass::last);  // no owner: it cannot fail
}

void DecodeBatch::add(const ChunkPlan& plan, std::span<const std::size_t> lists,
                      std::span<const Operation> operations, std::size_t fill, std::uint64_t owner,
                      Pass pass) {
  Chunks& chunks = passes_[static_cast<std::size_t>(pass)];
  chunks.first_dimension.push_back(dimensions_.size());
  chunks.first_operation.push_back(add_operations(operations));
  chunks.fill.push_back(fill);
  for (std::size_t d = 0; d < lists.size(); ++d) {
    const Axis& axis = plan.axes[d];
    dimensions_.push_back({axis.count, axis.source_step, axis.target_step, nullptr});
    dimension_places_.push_back(lists[d]);
  }
  chunks.chunks.push_back(plan.chunk);
  chunks.chunks.back().first_unit = chunks.units;
  chunks.units += (plan.chunk.elements - 1) / kernels::Assemble::tile + 1;
  owners_[pass == Pass::last ? 3 : 2].push_back(owner);
}

std::size_t DecodeBatch::add_operations(std::span<const Operation> operations) {
  // Chunks of one array have the same, so the last are mostly it.
  const std::size_t count = operations.size();
  if (count <= operations_.size() && std::equal(operations.begin(), operations.end(),
                                                operations_.end() - static_cast<std::ptrdiff_t>(count), same))
    return operations_.size() - count;
  operations_.insert(operations_.end(), operations.begin(), operations.end());
  return operations_.size() - count;
}

std::size_t DecodeBatch::append_places(const Place* places, std::uint64_t count) {
  places_.insert(places_.end(), places, places + count);
  return places_.size() - static_cast<std::size_t>(count);
}

std::size_t DecodeBatch::add_known_places(const Place* places, std::uint64_t count) {
  const auto [known, is_new] = known_places_.try_emplace({places, count}, places_.size());
  if (is_new) append_places(places, count);
  return known->second;
}

std::size_t DecodeBatch::status_count() const noexcept {
  std::size_t count = 0;
  for (const std::vector<std::uint64_t>& owners : owners_) count += owners.size();
  return count;
}

bool DecodeBatch::empty() const noexcept {
  return status_count() == 0 && engine_streams_.empty() && deltas_.empty();
}
std::size_t DecodeBatch::table_bytes() const noexcept { return tables().size; }

DecodeBatch::Tables DecodeBatch::tables() const noexcept {
  Tables result;
  result.statuses = result.take<std::uint32_t>(status_count());
  result.sizes = result.take<std::uint32_t>(engine_streams_.size());
  result.checksums = result.take<kernels::ChecksumRange>(checksums_.size());
  result.streams = result.take<kernels::Stream>(streams_.size());
  for (std::size_t pass = 0; pass < 2; ++pass)
    result.chunks[pass] = result.take<kernels::Chunk>(passes_[pass].chunks.size());
  result.deltas = result.take<kernels::Delta>(deltas_.size());
  result.dimensions = result.take<kernels::Dimension>(dimensions_.size());
  result.places = result.take<Place>(places_.size());
  result.operations = result.take<Operation>(operations_.size());
  result.fills = result.take<std::byte>(fills_.size());
  return result;
}

// In host memory what will lie at device_tables_, so that pointers are the device's.
void DecodeBatch::write_tables(const Tables& tables, std::byte* to) const {
  const std::byte* const base = device_tables_.data();
  const auto put = [&](std::size_t at, const auto& list) {
    using T = std::remove_cvref_t<decltype(list[0])>;
    if (!list.empty()) std::memcpy(to + at, list.data(), list.size() * sizeof(T));
  };
  const auto device_list = [&]<class T>(std::size_t at, std::size_t index, const T*& pointer) {
    pointer = reinterpret_cast<const T*>(base + at + index * sizeof(T));
  };

  std::vector<std::uint32_t> statuses(checksums_.size() + streams_.size(), kernels::status_not_run);
  statuses.resize(status_count(), kernels::status_ok);
  put(tables.statuses, statuses);
  put(tables.sizes, std::vector<std::uint32_t>(engine_streams_.size(), size_unknown));
  put(tables.checksums, checksums_);
  put(tables.streams, streams_);
  std::size_t status = checksums_.size() + streams_.size();
  for (std::size_t pass = 0; pass < 2; ++pass) {
    std::vector<kernels::Chunk> chunks = passes_[pass].chunks;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      device_list(tables.dimensions, passes_[pass].first_dimension[i], chunks[i].dimensions);
      device_list(tables.operations, passes_[pass].first_operation[i], chunks[i].operations);
      const std::uint32_t* own = nullptr;
      device_list(tables.statuses, status++, own);
      chunks[i].status = const_cast<std::uint32_t*>(own);
      if (passes_[pass].fill[i] != none) device_list(tables.fills, passes_[pass].fill[i], chunks[i].source);
    }
    put(tables.chunks[pass], chunks);
  }
  put(tables.deltas, deltas_);
  std::vector<kernels::Dimension> dimensions = dimensions_;
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    if (dimension_places_[i] != none) device_list(tables.places, dimension_places_[i], dimensions[i].places);
  put(tables.dimensions, dimensions);
  put(tables.places, places_);
  put(tables.operations, operations_);
  put(tables.fills, fills_);
}

void DecodeBatch::launch(CudaStream stream) {
  if (launched_) throw Error(ErrorCode::invalid_argument, "this batch has been launched; clear() it first");
  if (empty()) return;
  const Kernels& kernels = Kernels::get();
  const Tables tables = this->tables();
  if (device_tables_.size() < tables.size) {
    device_tables_ = Buffer();
    device_tables_ = Buffer::allocate(tables.size, cuda(device_.ordinal()));
    pinned_tables_ = Buffer::allocate(tables.size, pinned());
  }
  const std::size_t status_bytes = tables.sizes + engine_streams_.size() * sizeof(std::uint32_t);
  if (pinned_statuses_.size() < status_bytes) pinned_statuses_ = Buffer::allocate(status_bytes, pinned());
  write_tables(tables, pinned_tables_.mutable_data());

  const std::byte* const base = device_tables_.data();
  auto* const statuses = reinterpret_cast<std::uint32_t*>(device_tables_.mutable_data() + tables.statuses);
  const auto list = [&]<class T>(std::size_t at, const T*) { return reinterpret_cast<const T*>(base + at); };
  const auto assemble = [&](std::size_t pass) {
    const Chunks& chunks = passes_[pass];
    kernels.launch(device_,
                   kernels::Assemble{list(tables.chunks[pass], chunks.chunks.data()), chunks.chunks.size(),
                                     chunks.units},
                   stream);
  };
  for (std::size_t i = 0; i < engine_streams_.size(); ++i)
    engine_streams_[i].written =
        reinterpret_cast<std::uint32_t*>(device_tables_.mutable_data() + tables.sizes) + i;
  try {
    copy_to_device(device_, device_tables_.mutable_data(), pinned_tables_.data(), tables.size, stream);
    decompress(device_, engine_streams_, stream);
    kernels.launch(device_,
                   kernels::DecodeStreams{list(tables.streams, streams_.data()), statuses + checksums_.size(),
                                          streams_.size()},
                   stream);
    kernels.launch(device_,
                   kernels::CheckSums{list(tables.checksums, checksums_.data()), statuses, checksums_.size()},
                   stream);
    assemble(0);
    kernels.launch(device_, kernels::SumDeltas{list(tables.deltas, deltas_.data()), deltas_.size()}, stream);
    assemble(1);
    copy_to_host(device_, pinned_statuses_.mutable_data(), device_tables_.data() + tables.statuses,
                 status_bytes, stream);
    event_.record(stream);
  } catch (...) {
    drain(device_, stream);  // the tables are free for others after this
    throw;
  }
  launched_ = true;
}

bool DecodeBatch::done() { return !launched_ || event_.done(); }

void DecodeBatch::wait() {
  if (launched_) event_.wait();
}

std::span<const std::uint32_t> DecodeBatch::stream_statuses() const {
  if (!launched_) return {};
  const auto* const statuses = reinterpret_cast<const std::uint32_t*>(pinned_statuses_.data());
  return {statuses + checksums_.size(), streams_.size()};
}

std::vector<DecodeBatch::Failure> DecodeBatch::failures() const {
  std::vector<Failure> result;
  if (!launched_) return result;
  const auto* status = reinterpret_cast<const std::uint32_t*>(pinned_statuses_.data());
  for (const std::vector<std::uint64_t>& owners : owners_)
    for (const std::uint64_t owner : owners) {
      if (*status != kernels::status_ok) result.push_back({owner, *status});
      ++status;
    }
  const auto* const sizes = reinterpret_cast<const std::uint32_t*>(pinned_statuses_.data() + tables().sizes);
  for (std::size_t i = 0; i < engine_streams_.size(); ++i)
    if (sizes[i] != engine_streams_[i].decoded)
      result.push_back({engine_owners_[i], kernels::status_corrupt});
  return result;
}

void DecodeBatch::clear() {
  wait();
  launched_ = false;
  checksums_.clear();
  streams_.clear();
  engine_streams_.clear();
  engine_owners_.clear();
  for (Chunks& chunks : passes_) chunks = {};
  deltas_.clear();
  dimensions_.clear();
  dimension_places_.clear();
  places_.clear();
  known_places_.clear();
  operations_.clear();
  fills_.clear();
  for (std::vector<std::uint64_t>& owners : owners_) owners.clear();
}

}  // namespace zarrive::gpu
