#include "zarrive/chunk_grid.hpp"

#include <algorithm>

#include "metadata/reading.hpp"

namespace zarrive {

namespace {

using Run = ChunkGrid::Run;
using Dimension = ChunkGrid::Dimension;

std::string dimension_name(std::size_t dimension) {
  return "dimension " + std::to_string(dimension) + " of the chunk grid";
}

void check_edge(std::uint64_t edge, std::size_t dimension) {
  if (edge == 0 || edge > max_extent)
    throw Error(ErrorCode::invalid_metadata, dimension_name(dimension) + ": found a chunk edge of " +
                                                 std::to_string(edge) + ", expected 1 to 2^63 - 1");
}

// An edge, or [edge, count] for a run of equal ones.
Run run_of(const Json& value, const std::string& member) {
  if (!value.is_array()) return {.edge = metadata::extent_of(value, member, 1), .count = 1};
  const JsonArray& pair = value.as_array();
  if (pair.size() != 2) metadata::fail(member, value, "a chunk edge, or [edge, count]");
  return {.edge = metadata::extent_of(pair[0], member + "[0]", 1),
          .count = metadata::extent_of(pair[1], member + "[1]", 1)};
}

// One entry of "chunk_shapes": an edge that repeats, or a list of edges and runs.
Dimension dimension_of(const Json& value, const std::string& member) {
  if (!value.is_array())
    return {.runs = {{.edge = metadata::extent_of(value, member, 1), .count = 1}}, .repeat = true};
  Dimension dimension;
  const JsonArray& edges = value.as_array();
  if (edges.empty()) metadata::fail(member, value, "a chunk edge, or a list of at least one");
  dimension.runs.reserve(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    dimension.runs.push_back(run_of(edges[i], member + "[" + std::to_string(i) + "]"));
  return dimension;
}

std::vector<Dimension> dimensions_of(const Json& value, std::size_t ndim, const std::string& member) {
  if (!value.is_array() || value.as_array().size() != ndim)
    metadata::fail(member, value, "a list of " + std::to_string(ndim) + " entries, one a dimension");
  std::vector<Dimension> dimensions;
  for (const Json& entry : value.as_array())
    dimensions.push_back(dimension_of(entry, member + "[" + std::to_string(dimensions.size()) + "]"));
  return dimensions;
}

Json dimension_to_json(const Dimension& dimension) {
  if (dimension.repeat) return dimension.runs[0].edge;
  JsonArray edges;
  for (const Run& run : dimension.runs)
    if (run.count == 1) edges.emplace_back(run.edge);
    else edges.emplace_back(JsonArray{run.edge, run.count});
  return edges;
}

[[noreturn]] void fail_past_end(std::size_t dimension, const char* what, std::uint64_t value,
                                std::uint64_t end) {
  throw Error(ErrorCode::out_of_bounds, dimension_name(dimension) + ": " + what + " " +
                                            std::to_string(value) + " is past the end at " +
                                            std::to_string(end));
}

}  // namespace

ChunkGrid ChunkGrid::regular(Shape chunk_shape) {
  for (std::size_t i = 0; i < chunk_shape.size(); ++i) check_edge(chunk_shape[i], i);
  ChunkGrid grid;
  grid.chunk_shape_ = std::move(chunk_shape);
  return grid;
}

ChunkGrid ChunkGrid::rectilinear(std::vector<Dimension> dimensions) {
  ChunkGrid grid;
  grid.regular_ = false;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    Dimension joined{.runs = {}, .repeat = dimensions[d].repeat};
    std::vector<Prefix> prefix;  // one more than runs: the last entry is the end
    Prefix end{0, 0};
    for (const Run& run : dimensions[d].runs) {
      check_edge(run.edge, d);
      if (run.count == 0)
        throw Error(ErrorCode::invalid_metadata,
                    dimension_name(d) + ": found a run of 0 chunks, expected at least 1");
      const auto length = checked_multiply(run.edge, run.count);
      const auto position = length ? checked_add(end.position, *length) : std::nullopt;
      if (!position || *position > max_extent)
        throw Error(ErrorCode::resource_limit,
                    dimension_name(d) + ": its chunks sum up to 2^63 elements or more");
      if (!joined.runs.empty() && joined.runs.back().edge == run.edge) {
        joined.runs.back().count += run.count;  // at most the positions covered: no overflow
      } else {
        joined.runs.push_back(run);
        prefix.push_back(end);
      }
      end = {end.chunk + run.count, *position};
    }
    if (joined.runs.empty())
      throw Error(ErrorCode::invalid_metadata,
                  dimension_name(d) + ": found no chunk edges, expected at least one");
    if (joined.repeat && (joined.runs.size() != 1 || joined.runs[0].count != 1))
      throw Error(ErrorCode::invalid_metadata, dimension_name(d) + ": a repeated edge must be a single one");
    prefix.push_back(end);
    grid.dimensions_.push_back(std::move(joined));
    grid.prefixes_.push_back(std::move(prefix));
  }
  return grid;
}

ChunkGrid ChunkGrid::from_json(const Json& value, std::size_t ndim,
                               const std::function<void(const std::string&)>& warn) {
  constexpr std::string_view member = "chunk_grid";
  constexpr std::string_view configuration = "chunk_grid.configuration";
  const metadata::Extension extension = metadata::extension_of(value, member, false, warn);
  const auto required = [&](std::string_view name) -> const Json& {
    return metadata::required(extension.configuration, name, "\"chunk_grid.configuration\"",
                              "the shape of the chunks");
  };
  metadata::warn_unknown(extension.others, {}, member, warn);
  if (extension.name == "regular") {
    metadata::warn_unknown(extension.configuration, {"chunk_shape"}, configuration, warn);
    const Json& chunk_shape = required("chunk_shape");
    Shape shape = metadata::extents_of(chunk_shape, "chunk_grid.configuration.chunk_shape", 1);
    if (shape.size() != ndim)
      metadata::fail("chunk_grid.configuration.chunk_shape", chunk_shape,
                     std::to_string(ndim) + " entries, one for each dimension of \"shape\"");
    return regular(std::move(shape));
  }
  if (extension.name == "rectilinear") {
    metadata::warn_unknown(extension.configuration, {"kind", "chunk_shapes"}, configuration, warn);
    const Json& kind =
        metadata::required(extension.configuration, "kind", "\"chunk_grid.configuration\"", "\"inline\"");
    if (!kind.is_string() || kind.as_string() != "inline")
      metadata::fail("chunk_grid.configuration.kind", kind, "\"inline\"");
    return rectilinear(
        dimensions_of(required("chunk_shapes"), ndim, "chunk_grid.configuration.chunk_shapes"));
  }
  if (extension.name == "rectangular") {  // of the draft ZEP 3
    if (warn) warn("member \"chunk_grid\": \"rectangular\" is the draft name of \"rectilinear\"");
    metadata::warn_unknown(extension.configuration, {"chunk_shape"}, configuration, warn);
    return rectilinear(dimensions_of(required("chunk_shape"), ndim, "chunk_grid.configuration.chunk_shape"));
  }
  throw Error(ErrorCode::unsupported, "member \"chunk_grid\": " + quoted(extension.name) +
                                          " is not supported; known are \"regular\" and \"rectilinear\"");
}

Json ChunkGrid::to_json() const {
  JsonArray entries;
  if (regular_) {
    for (std::uint64_t edge : chunk_shape_) entries.emplace_back(edge);
    return JsonObject{{"name", "regular"},
                      {"configuration", JsonObject{{"chunk_shape", std::move(entries)}}}};
  }
  for (const Dimension& dimension : dimensions_) entries.push_back(dimension_to_json(dimension));
  return JsonObject{{"name", "rectilinear"},
                    {"configuration", JsonObject{{"kind", "inline"}, {"chunk_shapes", std::move(entries)}}}};
}

void ChunkGrid::check(std::span<const std::uint64_t> array_shape) const {
  if (array_shape.size() != ndim())
    throw Error(ErrorCode::invalid_metadata, "the array has " + std::to_string(array_shape.size()) +
                                                 " dimensions, its chunk grid has " + std::to_string(ndim()));
  if (regular_) return;
  for (std::size_t d = 0; d < dimensions_.size(); ++d)
    if (!dimensions_[d].repeat && prefixes_[d].back().position < array_shape[d])
      throw Error(ErrorCode::invalid_metadata, dimension_name(d) + ": its chunks sum up to " +
                                                   std::to_string(prefixes_[d].back().position) +
                                                   ", expected at least " + std::to_string(array_shape[d]) +
                                                   ", the length of the array");
}

Shape ChunkGrid::grid_shape(std::span<const std::uint64_t> array_shape) const {
  check(array_shape);
  Shape counts(array_shape.size());
  for (std::size_t d = 0; d < counts.size(); ++d)
    counts[d] = array_shape[d] == 0 ? 0 : chunk_at(d, array_shape[d] - 1) + 1;
  return counts;
}

std::uint64_t ChunkGrid::chunk_at(std::size_t dimension, std::uint64_t position) const {
  if (regular_) return position / chunk_shape_.at(dimension);
  const Dimension& runs = dimensions_.at(dimension);
  if (runs.repeat) return position / runs.runs[0].edge;
  const std::vector<Prefix>& prefix = prefixes_[dimension];
  if (position >= prefix.back().position)
    fail_past_end(dimension, "position", position, prefix.back().position);
  const auto next =
      std::upper_bound(prefix.begin(), prefix.end(), position,
                       [](std::uint64_t wanted, const Prefix& run) { return wanted < run.position; });
  const auto run = static_cast<std::size_t>(next - prefix.begin()) - 1;
  return prefix[run].chunk + (position - prefix[run].position) / runs.runs[run].edge;
}

std::uint64_t ChunkGrid::chunk_start(std::size_t dimension, std::uint64_t chunk) const {
  if (regular_ || dimensions_.at(dimension).repeat) {
    const std::uint64_t edge = regular_ ? chunk_shape_.at(dimension) : dimensions_[dimension].runs[0].edge;
    const auto start = checked_multiply(chunk, edge);
    if (!start) fail_past_end(dimension, "chunk", chunk, ~std::uint64_t{0} / edge);
    return *start;
  }
  const std::vector<Prefix>& prefix = prefixes_[dimension];
  if (chunk >= prefix.back().chunk) fail_past_end(dimension, "chunk", chunk, prefix.back().chunk);
  const auto next =
      std::upper_bound(prefix.begin(), prefix.end(), chunk,
                       [](std::uint64_t wanted, const Prefix& run) { return wanted < run.chunk; });
  const auto run = static_cast<std::size_t>(next - prefix.begin()) - 1;
  return prefix[run].position + (chunk - prefix[run].chunk) * dimensions_[dimension].runs[run].edge;
}

std::uint64_t ChunkGrid::chunk_edge(std::size_t dimension, std::uint64_t chunk) const {
  if (regular_) return chunk_shape_.at(dimension);
  const Dimension& runs = dimensions_.at(dimension);
  if (runs.repeat) return runs.runs[0].edge;
  const std::vector<Prefix>& prefix = prefixes_[dimension];
  if (chunk >= prefix.back().chunk) fail_past_end(dimension, "chunk", chunk, prefix.back().chunk);
  const auto next =
      std::upper_bound(prefix.begin(), prefix.end(), chunk,
                       [](std::uint64_t wanted, const Prefix& run) { return wanted < run.chunk; });
  return runs.runs[static_cast<std::size_t>(next - prefix.begin()) - 1].edge;
}

Shape ChunkGrid::chunk_shape(std::span<const std::uint64_t> index) const {
  Shape shape(ndim());
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = chunk_edge(d, index[d]);
  return shape;
}

Index ChunkGrid::chunk_origin(std::span<const std::uint64_t> index) const {
  Index origin(ndim());
  for (std::size_t d = 0; d < origin.size(); ++d) origin[d] = chunk_start(d, index[d]);
  return origin;
}

bool ChunkGrid::operator==(const ChunkGrid& other) const {
  return regular_ == other.regular_ && chunk_shape_ == other.chunk_shape_ && dimensions_ == other.dimensions_;
}

}  // namespace zarrive
