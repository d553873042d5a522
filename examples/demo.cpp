// A tour: writes a small weather dataset in Zarr v3 and v2, looks at it, reads a region of it as one batch in which every chunk has its
// context, and reads a store that other software wrote.
//
//   demo [FIXTURES [FOLDER]]
//
// FIXTURES: a folder with stores of other projects; absent: that part is left out. FOLDER: where to write, kept afterwards; absent: a
// temporary folder.
#include <zarrive/zarrive.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using zarrive::Json;
using zarrive::JsonArray;
using zarrive::JsonObject;

constexpr std::uint64_t times = 72;       // hours
constexpr std::uint64_t latitudes = 181;  // degrees
constexpr std::uint64_t longitudes = 360;

struct Stopwatch {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("the demo found that this does not hold: ") + what);
}

void print(const char* text) { std::fputs(text, stdout); }
template <class First, class... Rest>
void print(const char* format, First first, Rest... rest) {
  std::printf(format, first, rest...);
  std::fflush(stdout);
}

double latitude(std::uint64_t i) { return 90.0 - static_cast<double>(i); }
double longitude(std::uint64_t i) { return static_cast<double>(i); }

// Temperature near the ground in kelvin: warm tropics, cold poles, a day that moves westwards with the sun, and waves of weather that
// travel eastwards in the middle latitudes.
float temperature(std::uint64_t hour, std::uint64_t lat, std::uint64_t lon) {
  constexpr double degree = std::numbers::pi / 180;
  const double phi = latitude(lat) * degree;
  const double lambda = longitude(lon) * degree;
  const double t = static_cast<double>(hour);
  const double mean = 300 - 55 * std::pow(std::sin(phi), 2);
  const double day = 5 * std::cos(phi) * std::cos(2 * std::numbers::pi * (t - 14) / 24 + lambda);
  const double storms =
      6 * std::pow(std::sin(2 * phi), 2) * std::sin(7 * lambda - 2 * std::numbers::pi * t / 60);
  return static_cast<float>(std::round((mean + day + storms) * 100) /
                            100);  // hundredths, as instruments report
}

std::vector<float> temperatures() {
  std::vector<float> field;
  field.reserve(times * latitudes * longitudes);
  for (std::uint64_t t = 0; t < times; ++t)
    for (std::uint64_t lat = 0; lat < latitudes; ++lat)
      for (std::uint64_t lon = 0; lon < longitudes; ++lon) field.push_back(temperature(t, lat, lon));
  return field;
}

JsonObject attributes(const char* name, const char* units) {
  return {{"standard_name", Json(name)}, {"units", Json(units)}};
}

template <class T>
void write_coordinate(zarrive::Group& group, const char* name, const std::vector<T>& values,
                      const char* units) {
  zarrive::Array array = group.create_array(name, {.shape = {values.size()},
                                                   .data_type = zarrive::data_type_of<T>(),
                                                   .dimension_names = {name},
                                                   .attributes = attributes(name, units)});
  array.write({}, values);
}

// A group with three coordinates and the field, by the climate and forecast conventions.
void write_dataset(const fs::path& path, zarrive::ZarrFormat format, const std::vector<float>& field) {
  const Stopwatch watch;
  zarrive::Group root = zarrive::create_group(
      path.string(), "",
      {.format = format,
       .attributes = {{"Conventions", Json("CF-1.11")}, {"title", Json("Computed weather, three days")}}});
  std::vector<std::int64_t> hours(times);
  std::vector<double> lat(latitudes);
  std::vector<double> lon(longitudes);
  for (std::uint64_t i = 0; i < times; ++i) hours[i] = static_cast<std::int64_t>(i);
  for (std::uint64_t i = 0; i < latitudes; ++i) lat[i] = latitude(i);
  for (std::uint64_t i = 0; i < longitudes; ++i) lon[i] = longitude(i);
  write_coordinate(root, "time", hours, "hours since 2024-06-01");
  write_coordinate(root, "latitude", lat, "degrees_north");
  write_coordinate(root, "longitude", lon, "degrees_east");

  zarrive::CreateOptions options{.shape = {times, latitudes, longitudes},
                                 .data_type = "float32",
                                 .chunks = {24, 61, 120},
                                 .fill_value = Json("NaN"),
                                 .dimension_names = {"time", "latitude", "longitude"},
                                 .attributes = attributes("air_temperature", "K")};
  if (format == zarrive::ZarrFormat::v3) options.codecs = {zarrive::codecs::blosc("zstd", 5, "shuffle")};
  else options.compressor = zarrive::CodecSpec{.name = "zlib", .configuration = {{"level", Json(4)}}};
  zarrive::Array array = root.create_array("surface/temperature", options);
  array.write({}, field);
  zarrive::consolidate_metadata(root.store());

  const double megabytes = static_cast<double>(field.size() * sizeof(float)) / 1e6;
  print("  %-12s %.1f MB written in %.2f s\n", path.filename().c_str(), megabytes, watch.seconds());
}

void print_tree(const fs::path& path) {
  const zarrive::Group root = zarrive::open_group(path.string());
  print("%s (Zarr v%d%s)\n", path.filename().c_str(), static_cast<int>(root.format()),
        root.is_consolidated() ? ", consolidated" : "");
  root.walk([&](const zarrive::NodeInfo& node) {
    const auto depth = static_cast<int>(std::count(node.path.begin(), node.path.end(), '/'));
    print("%*s%s", 2 + 2 * depth, "", node.name.c_str());
    if (node.type == zarrive::NodeType::array) {
      const zarrive::Array array = root.open_array(node.path);
      print("  %s %s", zarrive::to_string(array.shape()).c_str(), array.data_type().name().c_str());
    }
    print("\n");
  });
}

void print_info(const fs::path& path) {
  const zarrive::Array array = zarrive::open_array(path.string(), "surface/temperature");
  const zarrive::ArrayMetadata& metadata = array.metadata();
  std::uint64_t stored = 0;
  for (const std::string& key : array.store()->list(array.path()))
    stored += array.store()->size(key).value_or(0);
  const double raw = static_cast<double>(array.size() * array.data_type().item_size());
  print("surface/temperature of %s\n", path.filename().c_str());
  print("  chunks %s, %llu of %llu stored\n", zarrive::to_string(metadata.chunk_grid.chunk_shape()).c_str(),
        static_cast<unsigned long long>(array.stored_chunk_count()),
        static_cast<unsigned long long>(metadata.chunk_count()));
  std::string codecs;
  for (const zarrive::CodecSpec& codec : metadata.codecs) codecs += codec.name + " ";
  if (metadata.compressor) codecs += metadata.compressor->name;
  print("  codecs %s\n  %.1f MB in the store, %.1f times less than in memory\n", codecs.c_str(),
        static_cast<double>(stored) / 1e6, raw / static_cast<double>(stored));
}

// A region through Array::read: one plan, one batch to the store, and the values are those that were computed.
void read_region(const fs::path& path) {
  const auto store = std::make_shared<zarrive::CountingStore>(zarrive::open_store(path.string()));
  const zarrive::Array array = zarrive::open_array(store, "surface/temperature");
  store->reset();
  const Stopwatch watch;
  const zarrive::TypedArray<float> region = array.read<float>("12:36, 30:60, ::-10");
  const double milliseconds = watch.seconds() * 1e3;
  const zarrive::StoreCounts counts = store->counts();
  require(region.shape() == zarrive::Shape{24, 30, 36}, "the shape of the region");
  float warmest = region[0];
  for (std::uint64_t t = 0; t < 24; ++t)
    for (std::uint64_t lat = 0; lat < 30; ++lat)
      for (std::uint64_t lon = 0; lon < 36; ++lon) {
        require(region(t, lat, lon) == temperature(12 + t, 30 + lat, 359 - 10 * lon),
                "what is read is what was computed");
        warmest = std::max(warmest, region(t, lat, lon));
      }
  require(counts.get_batches == 1, "a selection is one batch");
  print("  [12:36, 30:60, ::-10] of %s: %llu requests in %llu batch, %.1f ms, warmest %.2f K\n",
        path.filename().c_str(), static_cast<unsigned long long>(counts.get_requests),
        static_cast<unsigned long long>(counts.get_batches), milliseconds, static_cast<double>(warmest));
}

// The layer below: many keys, one batch, a context for each. ConstantMap says the same of every key without storing it for each.
void read_batch(const fs::path& path) {
  const auto store = zarrive::open_store(path.string());
  const zarrive::Array array = zarrive::open_array(store, "surface/temperature");
  std::vector<std::string> keys;
  for (std::uint64_t lon = 0; lon < array.grid_shape()[2]; ++lon) {
    const zarrive::Index chunk = {0, 1, lon};
    keys.push_back(array.chunk_key(chunk));
  }
  keys.push_back("surface/temperature/not-there");
  const zarrive::Context context{.prototype = zarrive::host(),
                                 .node = array.path(),
                                 .array = std::make_shared<const zarrive::ArrayMetadata>(array.metadata())};
  const auto found = zarrive::getitems(*store, keys, {.contexts = zarrive::ConstantMap(keys, context)});
  require(found.size() + 1 == keys.size(), "absent keys are absent from the result");
  std::uint64_t bytes = 0;
  for (const auto& [key, buffer] : found) bytes += buffer.size();
  print("  getitems of %zu keys: %zu found, %llu bytes, all in %s memory\n", keys.size(), found.size(),
        static_cast<unsigned long long>(bytes), found.begin()->second.space().name().c_str());
}

void read_whole(const fs::path& path, const std::vector<float>& field) {
  const zarrive::Array array = zarrive::open_array(path.string(), "surface/temperature");
  std::vector<float> values;
  array.read_into({}, values);  // the memory is there, and its pages are
  const Stopwatch watch;
  array.read_into({}, values);
  const double seconds = watch.seconds();
  require(values == field, "the whole field is read back equal");
  print("  all of %s: %.1f MB in %.1f ms, %.2f GB/s\n", path.filename().c_str(),
        static_cast<double>(values.size() * sizeof(float)) / 1e6, seconds * 1e3,
        static_cast<double>(values.size() * sizeof(float)) / 1e9 / seconds);
}

// An image of cell nuclei, by OME-Zarr tools.
void read_fixture(const fs::path& fixtures) {
  const fs::path path = fixtures / "zarr-java" / "ome" / "v0.4";
  if (!fs::exists(path)) {
    print("  %s is not there\n", path.c_str());
    return;
  }
  print_tree(path);
  const zarrive::Array image = zarrive::open_array(path.string(), "0");
  const zarrive::TypedArray<float> pixels = image.read<float>();
  const auto [darkest, brightest] = std::minmax_element(pixels.begin(), pixels.end());
  double sum = 0;
  for (const float pixel : pixels) sum += static_cast<double>(pixel);
  print("image 0: %zu pixels from %.4f to %.4f, mean %.4f\n", pixels.size(), static_cast<double>(*darkest),
        static_cast<double>(*brightest), sum / static_cast<double>(pixels.size()));
}

void tour(const fs::path& folder, const char* fixtures) {
  const std::vector<float> field = temperatures();
  const fs::path stores[] = {folder / "weather-v3.zarr", folder / "weather-v2.zarr"};
  print("Writing %llu hours of weather\n", static_cast<unsigned long long>(times));
  for (const fs::path& path : stores) fs::remove_all(path);
  write_dataset(stores[0], zarrive::ZarrFormat::v3, field);
  write_dataset(stores[1], zarrive::ZarrFormat::v2, field);
  print("\n");
  print_tree(stores[0]);
  for (const fs::path& path : stores) print_info(path);
  print("\nReading\n");
  for (const fs::path& path : stores) {
    read_region(path);
    read_batch(path);
    read_whole(path, field);
  }
  if (fixtures) {
    print("\nA store that others wrote\n");
    read_fixture(fixtures);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const char* fixtures = argc > 1 ? argv[1] : nullptr;
    if (argc > 2) {
      fs::create_directories(argv[2]);
      tour(argv[2], fixtures);
      return 0;
    }
    std::string folder = (fs::temp_directory_path() / "zarrive-demo-XXXXXX").string();
    if (!mkdtemp(folder.data()))
      throw std::runtime_error("cannot make a folder in " + fs::temp_directory_path().string());
    const struct Removed {
      fs::path path;
      ~Removed() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
      }
    } removed{folder};
    tour(folder, fixtures);
    print("\nThat was in %s, which is gone now; `demo FIXTURES FOLDER` keeps it.\n", folder.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "demo: " << error.what() << '\n';
    return 1;
  }
}
