#include <cstdio>
#include <cstdlib>

#include "array/device_stream.hpp"
#include "array/read.hpp"
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

void read_to_device(const ArrayParts& array, const Job& job, const ArrayView& destination,
                    const ReadOptions& options, std::span<std::uint8_t> stored) {
  DeviceStream stream(destination.space, options.stream);
  gpu::ReadReport report;
  if (job.pieces.size() > 0) {
    DeviceRead read(stream.device(), stream.handle(),
                    {.ordered = stream.is_callers(),
                     .max_bytes = options.max_bytes_in_flight,
                     .decode = options.device_decode,
                     .max_device_bytes = options.max_device_bytes,
                     .expected = destination.nbytes()});
    Caller caller = job.caller(destination);
    if (caller.same_elements() && (job.pieces.are_ranges() || read.takes_lists())) {
      read_pieces(array, job.pieces, std::move(caller), options, &read, stored);
    } else {
      // Lists, points, fields and conversions: in pinned memory first.
      ReadOptions host = options;
      host.prototype.reset();
      const NDArray block = read.block(destination.type, destination.shape);
      if (!job.pieces.fill_all_of(destination.shape)) {  // what is nobody's place stays
        gpu::copy_to_host(stream.device(), block.view(), destination, stream.handle());
        stream.synchronize();
      }
      read_pieces(array, job.pieces, job.caller(block.view()), host, nullptr, stored);
      read.place_block(block, ChunkPart::all_of(destination.shape), destination);
    }
    read.finish(!stream.is_callers());
    report = read.report();
  }
  log(array, destination.space, report);
  if (options.device_report) *options.device_report = report;
}

}  // namespace zarrive
