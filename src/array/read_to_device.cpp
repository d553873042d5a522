#include <cstdio>
#include <cstdlib>

#include "array/device_stream.hpp"
#include "array/read.hpp"
#include "array/resolve.hpp"
#include "codec/device_read.hpp"
#include "gpu/transfer.hpp"

namespace zarrive {
namespace {

// A line a read on standard error, for those who set ZARRIVE_GPU_LOG.
void log(const ArrayParts& array, const MemorySpace& space, const gpu::ReadReport& report) {
  static const bool wanted = std::getenv("ZARRIVE_GPU_LOG") != nullptr;
  if (!wanted) return;
  const std::string line = "zarrive: " + array.store->name() + ": " + array.path + ": read to " +
                           space.name() + ": " + report.to_string() + "\n";
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void read_to_device(const ArrayParts& array, const Selection& selection, const ResolvedSelection& resolved,
                    const ArrayView& destination, const ReadOptions& options) {
  DeviceStream stream(destination.space, options.stream);
  gpu::ReadReport report;
  if (!resolved.empty()) {
    DeviceRead read(stream.device(), stream.handle(),
                    {.ordered = stream.is_callers(),
                     .max_bytes = options.max_bytes_in_flight,
                     .decode = options.device_decode,
                     .max_device_bytes = options.max_device_bytes,
                     .expected = destination.nbytes()});
    if (goes_chunk_by_chunk(selection, resolved, destination, *array.metadata, read.takes_lists())) {
      read_pieces(array, resolved, Caller(*array.metadata, selection, resolved, destination), options, &read);
    } else {
      // Lists, points, fields and conversions: in pinned memory first.
      ReadOptions host = options;
      host.prototype.reset();
      const NDArray block = read.block(destination.type, destination.shape);
      read_pieces(array, resolved, Caller(*array.metadata, selection, resolved, block.view()), host, nullptr);
      read.place_block(block, ChunkPart::all_of(destination.shape), destination);
    }
    read.finish(!stream.is_callers());
    report = read.report();
  }
  log(array, destination.space, report);
  if (options.device_report) *options.device_report = report;
}

}  // namespace zarrive
