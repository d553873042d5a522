// How the speed depends on codec and size of chunk: one array of float32, a smooth field with noise as measured data have it, written
// again and again.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "gpu/gpu.hpp"
#include "support/process.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/filesystem_store.hpp"

namespace bench {
namespace {

constexpr std::uint64_t full_edge = 8192;  // of the square array: 256 MiB
// Chunks of 64 KiB, 256 KiB, 1 MiB and 16 MiB; smaller arrays have smaller ones, but not that small.
constexpr std::uint64_t full_chunks[] = {128, 256, 512, 2048};
std::uint64_t chunk_scale(std::uint64_t scale) { return std::min<std::uint64_t>(scale, 4); }

struct Coding {
  const char* name;
  std::vector<zarrive::CodecSpec> chain;
};

std::vector<Coding> all_codings() {
  namespace codecs = zarrive::codecs;
  const zarrive::CodecSpec bytes = codecs::bytes();
  return {{"none", {bytes}},
          {"zstd", {bytes, codecs::zstd(0)}},
          {"gzip", {bytes, codecs::gzip(5)}},
          {"blosc lz4 shuffle", {bytes, codecs::blosc("lz4", 5, "shuffle", sizeof(float))}},
          {"blosc zstd bitshuffle", {bytes, codecs::blosc("zstd", 5, "bitshuffle", sizeof(float))}},
          {"lz4", {bytes, {"numcodecs.lz4", {{"acceleration", 1}}}}}};
}

// In steps of 1/256 around 280, the noise three of them: the lowest seven bits are 0, as in data that was packed once.
void fill(float* data, std::uint64_t edge, std::size_t threads) {
  std::vector<double> wave(edge);
  for (std::uint64_t x = 0; x < edge; ++x) wave[x] = std::sin(0.01 * static_cast<double>(x));
  const auto rows = [&](std::size_t thread) {
    for (std::uint64_t y = thread; y < edge; y += threads) {
      Random random(y);
      std::uint64_t bits = 0;
      for (std::uint64_t x = 0; x < edge; ++x, bits >>= 2) {
        if (x % 32 == 0) bits = random.next();
        const double value = 280 + 20 * wave[x] * wave[edge - 1 - y];
        data[y * edge + x] =
            static_cast<float>((std::floor(value * 256) + static_cast<double>(bits & 3)) / 256);
      }
    }
  };
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < threads; ++t) workers.emplace_back(rows, t);
  for (std::thread& worker : workers) worker.join();
}

zarrive::Array write(const std::string& folder, const Coding& codec, std::uint64_t edge, std::uint64_t chunk,
                     const zarrive::ArrayView& values) {
  std::filesystem::remove_all(folder);
  zarrive::FilesystemStoreOptions store_options;
  store_options.create = true;
  store_options.durability = zarrive::Durability::batch;  // nothing is left to write when reads are measured
  const auto store = std::make_shared<zarrive::FilesystemStore>(folder, store_options);
  zarrive::CreateOptions options;
  options.shape = {edge, edge};
  options.chunks = {chunk, chunk};
  options.data_type = "float32";
  options.codecs = codec.chain;
  zarrive::Array array = zarrive::create_array(store, "", options);
  array.write({}, values);
  store->flush();
  return array;
}

}  // namespace

bool measure_chunks(const GpuArguments& arguments, const Ceilings& ceilings) {
  const std::uint64_t edge = full_edge / arguments.scale();
  const std::size_t size = edge * edge * sizeof(float);
  const Memory values = map_memory(size, true);
  fill(reinterpret_cast<float*>(values.get()), edge, arguments.threads);
  const zarrive::ArrayView view(values.get(), zarrive::data_type_of<float>(), {edge, edge});
  const std::string folder = arguments.folder() + "/chunks.zarr";
  bool good = true;
  for (const Coding& codec : all_codings())
    for (const std::uint64_t full_chunk : full_chunks) {
      const std::uint64_t chunk = full_chunk / chunk_scale(arguments.scale());
      zarrive::JsonObject row{
          {"kind", "chunks"}, {"name", codec.name}, {"chunk_bytes", chunk * chunk * sizeof(float)}};
      try {
        const zarrive::Array array = write(folder, codec, edge, chunk, view);
        measure_array(
            arguments, ceilings, array, stored_bytes(folder),
            [&](const std::byte* data) {
              if (std::memcmp(data, values.get(), size) != 0)
                throw std::runtime_error("wrong values: what was read is not what was written");
            },
            row);
      } catch (const std::exception& error) {
        good = false;
        row.set("error", error.what());
        say(std::move(row));
      }
    }
  std::filesystem::remove_all(folder);
  return good;
}

}  // namespace bench
