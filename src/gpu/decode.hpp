// Decoding on a device: the work of many chunks gathered on the host, then put into a stream as a few launches.
//
// In stream order: streams are decoded (by the device's engine, then by a kernel), checksums are compared, chunks of the first pass are
// assembled, deltas are summed, the other chunks are assembled. A pass without work costs nothing. Everything that the host can know is checked when work is added (Error), so
// that kernels only meet what they cannot be led out of bounds by; what they find wrong in the bytes is in the statuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "gpu/engine.hpp"
#include "gpu/kernels.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::gpu {

using kernels::Layout;
using kernels::Operation;
using kernels::Place;

// One dimension of what is wanted of a chunk: `count` elements, i * steps from the first one, or those of a list. In bytes: of the
// decoded chunk, and of the output.
struct Axis {
  std::uint64_t count = 0;
  std::int64_t source_step = 0;
  std::int64_t target_step = 0;
  // `count` places instead. They live until launch() has returned, and a list that many chunks have (the same memory) is uploaded once.
  const Place* places = nullptr;
};

// Device memory that may be written, and the place in it of the first wanted element (where all axes are at 0, or their places are 0).
struct Target {
  std::byte* memory = nullptr;
  std::size_t size = 0;
  std::int64_t start = 0;
};

struct ChunkWork {
  const std::byte* source = nullptr;  // the decoded bytes, on the device
  Layout layout = {};                 // how they lie there
  std::int64_t source_start = 0;      // of the first wanted element
  std::size_t item_size = 0;          // bytes of a decoded element
  // What is done to each, in this order. Elements of any size take none or one swap (of parts that divide them), others those of 1, 2, 4
  // or 8 bytes.
  std::vector<Operation> operations = {};
  std::vector<Axis> axes = {};  // any number; none: one element
  Target target = {};
};

// `encoded` bytes at `source` decode to exactly `decoded` at `target`; the device's engine takes it. Memory of cuMemAlloc, both.
struct EngineStream {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint32_t encoded = 0;
  std::uint32_t decoded = 0;
  EngineFormat format = EngineFormat::lz4;
};

enum class Pass : std::uint8_t { before_deltas, last };

struct ChunkPlan;

class DecodeBatch {
 public:
  explicit DecodeBatch(const Device& device);
  ~DecodeBatch();  // waits for what was launched
  DecodeBatch(const DecodeBatch&) = delete;
  DecodeBatch& operator=(const DecodeBatch&) = delete;

  // `owner` is a number of the caller's, for failures(): usually which chunk.
  // Of encoded bytes, or of what a stream is decoded to.
  void add_checksum(const kernels::ChecksumRange& range, std::uint64_t owner);
  void add_stream(const kernels::Stream& stream, std::uint64_t owner);
  void add_engine_stream(const EngineStream& stream, std::uint64_t owner);
  // Error(out_of_bounds) when it would read outside the layout or write outside the target, Error(invalid_argument) for operations that
  // do not fit each other or the element.
  void add_chunk(const ChunkWork& work, std::uint64_t owner, Pass pass = Pass::last);
  // Every place becomes this element; the axes' source steps do not matter.
  void add_fill(std::span<const std::byte> element, std::vector<Axis> axes, const Target& target);
  // Of dense memory. Error(invalid_argument) for a width that is not 1, 2, 4 or 8, or a bool that is wider.
  void add_delta(const kernels::Delta& delta);

  bool empty() const noexcept;
  // Bytes that launch() copies to the device, so far.
  std::size_t table_bytes() const noexcept;

  // Puts everything into the stream. Once, until clear(). Memory that the work names stays the caller's until the stream is past it.
  // Error(unsupported) when there are no kernels; after any error nothing is under way any more.
  void launch(CudaStream stream);
  bool done();  // whether the device has finished; true when nothing was launched
  void wait();

  // After that: what went wrong, by owner. A stream or a checksum is status_corrupt, a chunk status_no_value.
  struct Failure {
    std::uint64_t owner;
    std::uint32_t status;
  };
  std::vector<Failure> failures() const;
  // In the order of add_stream(), without those of the engine.
  std::span<const std::uint32_t> stream_statuses() const;

  void clear();  // waits; the tables' memory is kept for the next batch

 private:
  struct Chunks {
    std::vector<kernels::Chunk> chunks;  // without pointers to other tables, which are these:
    std::vector<std::size_t> first_dimension;
    std::vector<std::size_t> first_operation;
    std::vector<std::size_t> fill;  // offset among the fills' bytes, or none
    std::uint64_t units = 0;
  };
  struct Tables;

  void add(const ChunkPlan& plan, std::span<const std::size_t> lists, std::span<const Operation> operations,
           std::size_t fill, std::uint64_t owner, Pass pass);
  std::size_t add_operations(std::span<const Operation> operations);
  std::size_t append_places(const Place* places, std::uint64_t count);
  std::size_t add_known_places(const Place* places, std::uint64_t count);
  std::size_t status_count() const noexcept;
  Tables tables() const noexcept;
  void write_tables(const Tables& tables, std::byte* to) const;

  const Device& device_;
  std::vector<kernels::ChecksumRange> checksums_;
  std::vector<kernels::Stream> streams_;
  std::vector<CudaDecompression> engine_streams_;  // without the places of their sizes, which are a table
  Chunks passes_[2];
  std::vector<kernels::Delta> deltas_;
  std::vector<kernels::Dimension> dimensions_;
  std::vector<std::size_t> dimension_places_;  // where a dimension's list begins, or none
  std::vector<Place> places_;
  std::map<std::pair<const Place*, std::uint64_t>, std::size_t> known_places_;
  std::vector<Operation> operations_;
  std::vector<std::byte> fills_;
  std::vector<std::uint64_t> owners_[4];  // of checksums, streams, and chunks of both passes
  std::vector<std::uint64_t> engine_owners_;

  Buffer device_tables_;
  Buffer pinned_tables_;
  Buffer pinned_statuses_;
  Event event_;
  bool launched_ = false;
};

}  // namespace zarrive::gpu
