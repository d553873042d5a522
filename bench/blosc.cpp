// Blosc chunks: our decoder beside c-blosc's, to one piece of memory and to rows of a larger array. The other codecs that decode in
// order are measured the same way, beside decoding whole and copying.
#include <benchmark/benchmark.h>
#include <blosc.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include "codec/unshuffle.hpp"
#include "zarrive/codec_chain.hpp"
#include "zarrive/codecs.hpp"

namespace {

using namespace zarrive;

constexpr std::uint64_t kArrayEdge = 1024;

// Chunks as the arrays of the benchmark have: uint16 that count along x, or float32 of a smooth field with some noise.
template <class T>
std::vector<std::byte> values(std::uint64_t edge) {
  std::vector<std::byte> bytes(edge * edge * edge * sizeof(T));
  std::byte* at = bytes.data();
  std::uint32_t noise = 1;
  for (std::uint64_t z = 0; z < edge; ++z)
    for (std::uint64_t y = 0; y < edge; ++y)
      for (std::uint64_t x = 0; x < edge; ++x, at += sizeof(T)) {
        T value;
        if constexpr (std::is_floating_point_v<T>) {
          noise = noise * 1664525 + 1013904223;
          value = static_cast<T>(280 + 20 * std::sin(0.01 * static_cast<double>(x + z)) *
                                           std::cos(0.013 * static_cast<double>(y)));
          value += static_cast<T>(noise >> 24) / 4096;
        } else {
          value = static_cast<T>(x + y * y / 32 + z * z * z);
        }
        std::memcpy(at, &value, sizeof(T));
      }
  return bytes;
}

struct Chunk {
  std::shared_ptr<const BoundChain> chain;
  Buffer encoded;
  std::vector<std::byte> decoded;
  Shape shape;
  DataType type;
};

template <class T>
const Chunk& chunk(std::uint64_t edge, const CodecSpec& codec) {
  static std::map<std::pair<std::uint64_t, std::string>, Chunk> made;
  Chunk& result = made[{edge, codec.name + Json(codec.configuration).dump() + data_type_of<T>().name()}];
  if (result.chain) return result;
  result.shape = {edge, edge, edge};
  result.type = data_type_of<T>();
  const FillValue fill = FillValue::zero(result.type);
  result.chain =
      CodecChain::create({codecs::completed(codecs::bytes(), sizeof(T)), codecs::completed(codec, sizeof(T))},
                         result.type, fill)
          .bind(result.shape);
  result.decoded = values<T>(edge);
  result.encoded = result.chain->encode(ArrayView(result.decoded.data(), result.type, result.shape), {});
  return result;
}

// A slab of the array that all chunks of one z lie in; each round takes the next place, as a reader of the array does.
class Places {
 public:
  explicit Places(const Chunk& chunk)
      : edge_(chunk.shape[0]), slab_(NDArray::allocate(chunk.type, {edge_, kArrayEdge, kArrayEdge})) {
    populate(slab_.view().data, slab_.view().nbytes());
  }
  ArrayView next() {
    const std::uint64_t across = kArrayEdge / edge_, place = next_++ % (across * across);
    return slab_.view().box(Index{0, place / across * edge_, place % across * edge_},
                            Shape{edge_, edge_, edge_});
  }

 private:
  std::uint64_t edge_;
  NDArray slab_;
  std::uint64_t next_ = 0;
};

void count_bytes(benchmark::State& state, const Chunk& chunk) {
  state.SetBytesProcessed(static_cast<std::int64_t>(chunk.decoded.size()) * state.iterations());
  state.counters["ratio"] =
      static_cast<double>(chunk.decoded.size()) / static_cast<double>(chunk.encoded.size());
}

enum Way { library, ours, library_rows, ours_rows };

template <class T>
void decode(benchmark::State& state, std::uint64_t edge, const CodecSpec& codec, Way way) {
  const Chunk& made = chunk<T>(edge, codec);
  std::vector<std::byte> out(made.decoded.size());
  const ArrayView dense(out.data(), made.type, made.shape);
  std::optional<Places> places;
  if (way == library_rows || way == ours_rows) places.emplace(made);
  ArrayView last = dense;
  for (auto _ : state) {
    if (way == library || way == library_rows) {
      if (codec.name == "blosc") blosc_decompress_ctx(made.encoded.data(), out.data(), out.size(), 1);
      else made.chain->decode(made.encoded, dense, {});
      if (way == library_rows) copy(dense, last = places->next());
    } else {
      if (way == ours_rows) last = places->next();
      made.chain->decode(made.encoded, last, {});
    }
    benchmark::ClobberMemory();
  }
  std::vector<std::byte> found(made.decoded.size());
  copy(last, ArrayView(found.data(), made.type, made.shape));
  if (found != made.decoded) state.SkipWithError("decoded to other values");
  count_bytes(state, made);
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto zero, std::uint64_t edge, const CodecSpec& codec) {
    using T = decltype(zero);
    for (const auto& [label, way] : {std::pair{"library", library},
                                     {"ours", ours},
                                     {"library+copy", library_rows},
                                     {"ours rows", ours_rows}})
      benchmark::RegisterBenchmark((name + "/" + label).c_str(), [=, way = way](benchmark::State& state) {
        decode<T>(state, edge, codec, way);
      })->Unit(benchmark::kMicrosecond);
  };
  for (const char* cname : {"lz4", "zstd", "blosclz"})
    for (const char* shuffle : {"noshuffle", "shuffle", "bitshuffle"}) {
      const std::string name = std::string(cname) + " " + shuffle;
      add("u16 128 " + name, std::uint16_t{}, 128, codecs::blosc(cname, 5, shuffle));
      add("f32 128 " + name, float{}, 128, codecs::blosc(cname, 5, shuffle));
      add("f64 128 " + name, double{}, 128, codecs::blosc(cname, 5, shuffle));
    }
  for (std::uint64_t edge : {64, 128, 256})
    add("u16 " + std::to_string(edge) + " zstd codec", std::uint16_t{}, edge, codecs::zstd(0));
  add("u16 128 gzip codec", std::uint16_t{}, 128, codecs::gzip(5));
  return true;
}();

// The loops alone, cache to cache.
void unshuffle_bytes(benchmark::State& state) {
  const auto& kernels = unshuffle::all_kernels()[static_cast<std::size_t>(state.range(0))];
  const auto width = static_cast<std::size_t>(state.range(1));
  const std::size_t count = 16384 / width;
  std::vector<std::byte> from((count + 64) * width), to(count * width);
  std::vector<const std::byte*> planes;
  for (std::size_t b = 0; b < width; ++b) planes.push_back(from.data() + b * (count + 64));
  for (auto _ : state) {
    kernels.bytes(planes.data(), width, count, to.data(), false);
    benchmark::ClobberMemory();
  }
  state.SetLabel(kernels.name);
  state.SetBytesProcessed(static_cast<std::int64_t>(to.size()) * state.iterations());
}
void unshuffle_bits(benchmark::State& state) {
  const auto& kernels = unshuffle::all_kernels()[static_cast<std::size_t>(state.range(0))];
  const std::size_t count = 16384;
  std::vector<std::byte> from(count + 512), to(count);
  for (auto _ : state) {
    kernels.bits(from.data(), count / 8 + 64, count, to.data());
    benchmark::ClobberMemory();
  }
  state.SetLabel(kernels.name);
  state.SetBytesProcessed(static_cast<std::int64_t>(to.size()) * state.iterations());
}
BENCHMARK(unshuffle_bytes)->Apply([](auto* b) {
  for (std::size_t k = 0; k < unshuffle::all_kernels().size(); ++k)
    for (std::int64_t width : {2, 3, 4, 6, 8, 12, 16, 24, 255})
      b->Args({static_cast<std::int64_t>(k), width});
});
BENCHMARK(unshuffle_bits)->Apply([](auto* b) {
  for (std::size_t k = 0; k < unshuffle::all_kernels().size(); ++k) b->Arg(static_cast<std::int64_t>(k));
});

}  // namespace
