// bench_generate DIR SIZE [ARRAY...]: makes the arrays A to G and the group of `open` below DIR/SIZE, with Zarrive itself. What is there
// already, complete and made by this recipe, stays.
//
// A finished array has a stamp beside it (A.done) that names the recipe, the files and their bytes; it is written last. Without it, or
// when it says something else, the array is made again.
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/workload.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/executor.hpp"
#include "zarrive/filesystem_store.hpp"
#include "zarrive/group.hpp"

namespace {

namespace fs = std::filesystem;
using bench::Codec;
using bench::Recipe;

zarrive::CreateOptions options_of(const Recipe& recipe) {
  zarrive::CreateOptions options;
  options.shape = {recipe.edge, recipe.edge, recipe.edge};
  options.chunks = {recipe.chunk, recipe.chunk, recipe.chunk};
  options.data_type = recipe.float32 ? "float32" : "uint16";
  using Keys = zarrive::ChunkKeyEncoding;
  options.chunk_key_encoding = Keys{recipe.v2 ? Keys::Kind::v2 : Keys::Kind::default_, '/'};
  options.overwrite = true;
  switch (recipe.codec) {
    case Codec::none: options.codecs = {zarrive::codecs::bytes()}; break;
    case Codec::zstd: options.codecs = {zarrive::codecs::bytes(), zarrive::codecs::zstd(0)}; break;
    case Codec::gzip: options.codecs = {zarrive::codecs::bytes(), zarrive::codecs::gzip(5)}; break;
    case Codec::blosc_bitshuffle:
      options.codecs = {zarrive::codecs::bytes(), zarrive::codecs::blosc("zstd", 5, "bitshuffle")};
      break;
    case Codec::blosc_lz4:  // what zarr-python 2 wrote when it was told nothing
      options.format = zarrive::ZarrFormat::v2;
      options.compressor =
          zarrive::CodecSpec{"blosc", {{"cname", "lz4"}, {"clevel", 5}, {"shuffle", 1}, {"blocksize", 0}}};
      break;
  }
  if (recipe.inner != 0)
    options.codecs = {zarrive::codecs::sharding({recipe.inner, recipe.inner, recipe.inner},
                                                {zarrive::codecs::bytes(), zarrive::codecs::zstd(0)})};
  return options;
}

// "files N bytes N" of what lies below a folder.
std::string contents(const fs::path& folder) {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) {
      ++files;
      bytes += entry.file_size();
    }
  return "files " + std::to_string(files) + " bytes " + std::to_string(bytes);
}

std::string recipe_text(const Recipe& recipe) {
  std::ostringstream text;
  text << "recipe 1 " << recipe.name << ' ' << recipe.edge << ' ' << recipe.chunk << ' ' << recipe.inner
       << '\n';
  return text.str();
}

bool finished(const fs::path& folder, const fs::path& stamp, const std::string& recipe) {
  std::ifstream file(stamp);
  std::stringstream text;
  text << file.rdbuf();
  return file && fs::exists(folder) && text.str() == recipe + contents(folder) + '\n';
}

void finish(const fs::path& folder, const fs::path& stamp, const std::string& recipe) {
  std::ofstream(stamp) << recipe << contents(folder) << '\n';
}

// One chunk a worker in memory.
void make_array(const Recipe& recipe, const fs::path& folder) {
  fs::remove_all(folder);
  // Durable, so that the page cache holds no unwritten pages when reads are measured, and can be dropped.
  zarrive::FilesystemStoreOptions store_options;
  store_options.create = true;
  store_options.durability = zarrive::Durability::batch;
  const auto store = std::make_shared<zarrive::FilesystemStore>(folder, store_options);
  zarrive::Array array = zarrive::create_array(store, "", options_of(recipe));

  const std::vector<bench::Place> chunks = bench::tiles(recipe.edge, recipe.chunk);
  const bench::Place extent = {recipe.chunk, recipe.chunk, recipe.chunk};
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex error_mutex;
  auto work = [&] {
    try {
      std::vector<std::byte> chunk(recipe.chunk * recipe.chunk * recipe.chunk * recipe.item_size());
      zarrive::WriteOptions options;
      options.max_concurrency = 1;
      for (std::size_t i = next++; i < chunks.size(); i = next++) {
        bench::fill_box(chunk.data(), chunks[i], extent, recipe.float32);
        array.write(zarrive::Selection::box(chunks[i], extent),
                    zarrive::ArrayView(chunk.data(), array.data_type(), {extent.begin(), extent.end()}),
                    options);
      }
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      error = std::current_exception();
      next = chunks.size();
    }
  };
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < zarrive::cpu_quota(); ++t) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  if (error) std::rethrow_exception(error);
  store->flush();
}

// A group whose consolidated metadata has `groups` groups with `arrays` arrays each. Only that document is there: reading it needs no other.
void make_group(std::uint64_t groups, std::uint64_t arrays, const fs::path& folder) {
  fs::remove_all(folder);
  zarrive::FilesystemStoreOptions store_options;
  store_options.create = true;
  zarrive::FilesystemStore store(folder, store_options);
  zarrive::CreateOptions options;
  options.shape = {8760, 721, 1440};
  options.chunks = {24, 181, 360};
  options.data_type = "float32";
  options.codecs = {zarrive::codecs::bytes(), zarrive::codecs::zstd(5)};
  options.dimension_names = {"time", "latitude", "longitude"};
  options.attributes = {{"units", "K"}, {"long_name", "2 metre temperature"}};
  const zarrive::Json array = zarrive::make_metadata(options).to_v3();
  const zarrive::Json group = zarrive::GroupMetadata{}.to_v3();

  zarrive::GroupMetadata root;
  root.consolidated.emplace();
  for (std::uint64_t g = 0; g < groups; ++g) {
    const std::string name = "station" + std::to_string(g);
    root.consolidated->nodes[name] = {zarrive::NodeType::group, group};
    for (std::uint64_t a = 0; a < arrays; ++a)
      root.consolidated->nodes[name + "/variable" + std::to_string(a)] = {zarrive::NodeType::array, array};
  }
  for (const auto& [key, document] : root.to_documents())
    store.set(key, zarrive::Buffer::from_string(zarrive::document_text(document, zarrive::ZarrFormat::v3)));
  store.flush();
}

void make(const std::string& name, const std::string& size, const fs::path& root) {
  const std::uint64_t scale = bench::scale_of(size);
  const fs::path folder = root / (name + ".zarr");
  const fs::path stamp = root / (name + ".done");
  if (name == "group") {
    const std::uint64_t groups = scale == 1 ? 100 : 16;  // 10^5 nodes; 1600 in the small ones
    const std::uint64_t arrays = scale == 1 ? 999 : 99;
    const std::string recipe = "recipe 1 group " + std::to_string(groups * (arrays + 1)) + '\n';
    if (finished(folder, stamp, recipe)) return;
    std::fprintf(stderr, "bench: making %s\n", folder.c_str());
    fs::remove(stamp);
    make_group(groups, arrays, folder);
    return finish(folder, stamp, recipe);
  }
  const Recipe recipe = bench::recipe(name.at(0), scale);
  if (finished(folder, stamp, recipe_text(recipe))) return;
  std::fprintf(stderr, "bench: making %s\n", folder.c_str());
  fs::remove(stamp);
  try {
    make_array(recipe, folder);
  } catch (...) {
    fs::remove_all(folder);
    throw;
  }
  finish(folder, stamp, recipe_text(recipe));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s DIR full|small|tiny [ARRAY...]\n", argv[0]);
    return 2;
  }
  const std::string size = argv[2];
  std::vector<std::string> names(argv + 3, argv + argc);
  if (names.empty()) names = {"A", "B", "C", "D", "E", "F", "G", "group"};
  int status = 0;
  for (const std::string& name : names) {
    try {
      const fs::path root = fs::path(argv[1]) / size;
      fs::create_directories(root);
      make(name, size, root);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_generate: %s: %s\n", name.c_str(), error.what());
      status = 1;
    }
  }
  return status;
}
