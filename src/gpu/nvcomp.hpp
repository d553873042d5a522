// Decoding and encoding many chunks on the device by nvCOMP, found at run time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/nvcomp_api.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::gpu {

// What the bytes of a chunk are: a raw LZ4 block (no frame, no size before it); a raw snappy block; a raw deflate stream (zlib's header and
// checksum taken off); one gzip member; one zstd frame that tells its content size and needs no dictionary.
//
// The caller has parsed sizes and headers on the host before. nvCOMP's decoders find only some of what may be wrong with a stream, and
// before 5.3 its snappy decoder does not end on some malformed ones; data of unknown origin is decoded on the host.
enum class NvcompFormat { lz4, snappy, deflate, gzip, zstd };

std::string_view nvcomp_format_name(NvcompFormat format);

struct NvcompFunctions {
#define ZARRIVE_NVCOMP_MEMBER(member, name, parameters) NvcompResult(*member) parameters = nullptr;
  ZARRIVE_NVCOMP_DECODING(ZARRIVE_NVCOMP_MEMBER, Any)
  ZARRIVE_NVCOMP_DECODING_5(ZARRIVE_NVCOMP_MEMBER, Any)  // null from nvCOMP 6.0 on
  ZARRIVE_NVCOMP_DECODING_6(ZARRIVE_NVCOMP_MEMBER, Any)  // null before it
  ZARRIVE_NVCOMP_ENCODING(ZARRIVE_NVCOMP_MEMBER, Any)    // these are null but for LZ4 and Zstd
  ZARRIVE_NVCOMP_ENCODING_5(ZARRIVE_NVCOMP_MEMBER, Any)
  ZARRIVE_NVCOMP_ENCODING_6(ZARRIVE_NVCOMP_MEMBER, Any)
#undef ZARRIVE_NVCOMP_MEMBER
};

struct Nvcomp {
  std::array<NvcompFunctions, 5> formats = {};
  int version = 0;  // 5310 is nvCOMP 5.3.10

  const NvcompFunctions& of(NvcompFormat format) const { return formats[static_cast<std::size_t>(format)]; }
};

// What loading it came to: `library` is null when it cannot be used, and `reason` then says why.
struct NvcompStatus {
  const Nvcomp* library = nullptr;
  std::string path = {};
  std::string version = {};
  std::string reason = {};
};

// Loaded by the first call in a process: libnvcomp.so.6 or .5 of the system, or else of the active Python environment (VIRTUAL_ENV,
// CONDA_PREFIX). It needs the CUDA driver, and like that does not live through a fork. The environment variable ZARRIVE_LIBNVCOMP names
// another library, or "none".
const NvcompStatus& nvcomp_status();

// "status 12 (cannot decompress)"
std::string nvcomp_result_text(NvcompResult result);

// One chunk of a batch; all addresses are on the device.
struct NvcompChunk {
  const std::byte* from = nullptr;
  std::size_t size = 0;  // bytes at `from`
  std::byte* to = nullptr;
  std::size_t room = 0;  // decoding: the size that it decodes to, exactly; encoding: bytes there are at `to`
};

// What became of a batch. Known when the stream has got there; each question waits for that.
class NvcompOutcome {
 public:
  struct Failure {
    std::size_t chunk = 0;  // its place in the batch
    std::string reason = {};
  };

  bool done();  // without waiting
  void wait();
  // The chunks that were not decoded, or not to the size that they should have; in the order of the batch.
  std::vector<Failure> failures();
  // Error(corrupt_chunk) that tells of the first failure: "chunk 3 of 40 failed: status 12 (cannot decompress)".
  void check();
  // Bytes that were written for each chunk of the batch.
  std::vector<std::size_t> sizes();

 private:
  friend class NvcompCoder;
  NvcompOutcome() = default;
  struct State;
  struct Release {
    void operator()(State* state) const noexcept;  // waits for the stream, which writes to its memory
  };
  std::unique_ptr<State, Release> state_;
};

// Decodes, or encodes, batches of chunks of one format on one device. It keeps its memory on the device for the next batch, so one coder is
// for one thread at a time; batches may go to different streams, and then run one after the other.
class NvcompCoder {
 public:
  enum class Direction { decode, encode };

  // `budget`: bytes of device memory that a launch may take for nvCOMP's temporary needs and for chunks that had to be moved. A batch that
  // would take more is cut into several launches. (The tables of a batch, 44 bytes a chunk, are beside it.)
  // Error(unsupported) without nvCOMP, or when the format cannot be encoded (only LZ4 and zstd can).
  NvcompCoder(const Device& device, NvcompFormat format, Direction direction, std::size_t budget);
  ~NvcompCoder();
  NvcompCoder(NvcompCoder&&) noexcept;
  NvcompCoder& operator=(NvcompCoder&&) noexcept;

  // The limit of nvCOMP on the decoded size of a chunk.
  std::size_t largest_chunk() const noexcept;
  // Encoding: the room that each chunk of a batch needs whose largest has `largest` bytes.
  std::size_t encoded_bound(std::size_t largest) const;

  // Puts the work on all chunks into the stream, and does not wait for it. Memory of the chunks must stay until the stream got there. A chunk
  // that decodes to nothing is not looked at. What is not aligned as nvCOMP wants it is copied on the device, there and back.
  //
  // Before anything is put in: Error(unsupported) for a chunk past nvCOMP's limit, Error(resource_limit) for one that takes more than the
  // budget by itself, Error(invalid_argument) for one without bytes or with too little room to encode to. Error(unavailable,
  // resource_limit) when CUDA or nvCOMP say no; the stream has been waited for then.
  NvcompOutcome run(std::span<const NvcompChunk> chunks, CudaStream stream);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zarrive::gpu
