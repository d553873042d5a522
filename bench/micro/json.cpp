// Json::parse and dump on a consolidated metadata document, the largest JSON that Zarr stores hold.
#include <benchmark/benchmark.h>

#include <string>

#include "zarrive/json.hpp"

namespace {

// The consolidated metadata of `nodes` v3 arrays, as zarr-python writes it. Each array document holds 36 JSON values.
std::string consolidated(std::int64_t nodes) {
  std::string text =
      R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "inline", "metadata": {)";
  for (std::int64_t i = 0; i < nodes; ++i) {
    if (i) text += ", ";
    text +=
        "\"station/" + std::to_string(i) +
        R"(": {"zarr_format": 3, "node_type": "array", "shape": [8760, 721, 1440], "data_type": "float32", )"
        R"("chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [24, 181, 360]}}, )"
        R"("chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": NaN, )"
        R"("codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, )"
        R"({"name": "zstd", "configuration": {"level": 5, "checksum": false}}], )"
        R"("dimension_names": ["time", "latitude", "longitude"], )"
        R"("attributes": {"units": "K", "long_name": "2 metre temperature", "valid_min": 1.5e2}})";
  }
  return text + "}}}";
}

void parse_consolidated(benchmark::State& state) {
  const std::string text = consolidated(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(zarrive::Json::parse(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
  state.counters["arrays/s"] =
      benchmark::Counter(static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(parse_consolidated)->Arg(1)->Arg(100)->Arg(100'000)->Unit(benchmark::kMillisecond);

void dump_consolidated(benchmark::State& state) {
  const std::string text = consolidated(state.range(0));
  const zarrive::Json value = zarrive::Json::parse(text);
  for (auto _ : state) benchmark::DoNotOptimize(value.dump());
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(dump_consolidated)->Arg(1)->Arg(100'000)->Unit(benchmark::kMillisecond);

// A flat list of 10^5 integers: the shape of a document that a wide attribute or a list of chunk sizes makes.
void parse_integers(benchmark::State& state) {
  std::string text = "[0";
  for (std::int64_t i = 1; i < state.range(0); ++i) text += "," + std::to_string(i);
  text += "]";
  for (auto _ : state) benchmark::DoNotOptimize(zarrive::Json::parse(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(parse_integers)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
