// Arrays with chunks as they are in use, of each way of encoding them, in a folder.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "gpu_real/on_device.hpp"
#include "support/paths.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/filesystem_store.hpp"
#include "zarrive/gpu.hpp"
#include "zarrive/memory_store.hpp"

namespace zarrive::gpu_real {
namespace {

struct Kind {
  std::string name;
  CreateOptions options;
  bool common = false;  // as most data are
};

std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  const auto add = [&](const char* name, const char* type, std::vector<CodecSpec> chain) -> CreateOptions& {
    CreateOptions options;
    options.data_type = type;
    options.codecs = std::move(chain);
    all.push_back({name, std::move(options)});
    return all.back().options;
  };
  const auto add_v2 = [&](const char* name, const char* type, CodecSpec compressor) -> CreateOptions& {
    CreateOptions& options = add(name, type, {});
    options.codecs = {};
    options.format = ZarrFormat::v2;
    options.compressor = std::move(compressor);
    return options;
  };
  add("raw", "uint16", {codecs::bytes()});
  add("raw, big-endian", "float64", {codecs::bytes(ByteOrder::big)}).fill_value = Json(0.25);
  add("zstd", "float32", {codecs::zstd(1)}).fill_value = Json(-1.5);
  add("gzip", "int32", {codecs::gzip(1)});
  add("lz4", "uint32", {{"numcodecs.lz4", {{"acceleration", 1}}}});
  add("crc32c", "int16", {codecs::bytes(), codecs::crc32c()});
  for (const char* cname : {"lz4", "lz4hc", "zstd", "blosclz", "zlib"})
    for (const char* shuffle : {"noshuffle", "shuffle", "bitshuffle"}) {
      add("", "float32", {codecs::blosc(cname, 5, shuffle)});
      all.back().name = "blosc " + std::string(cname) + ' ' + shuffle;
    }
  add("blosc of wide elements", "complex128", {codecs::blosc("lz4", 5, "shuffle")});
  add("blosc of bytes", "uint8", {codecs::blosc("zstd", 3, "bitshuffle")});
  add("transposed", "int64", {codecs::transpose({2, 0, 1}), codecs::bytes(), codecs::zstd(1)});
  add("shards of zstd", "uint16", {codecs::zstd(1)}).shards = {32, 64, 48};
  add("shards of blosc", "float32", {codecs::blosc("lz4", 5, "shuffle")}).shards = {32, 64, 48};
  add("shards of raw chunks", "uint16", {codecs::bytes()}).shards = {32, 64, 48};
  add_v2("v2 blosc", "float32",
         {"blosc", {{"cname", "lz4"}, {"clevel", 5}, {"shuffle", 1}, {"blocksize", 0}}});
  add_v2("v2 raw", "int32", {}).fill_value = Json(7);
  add_v2("v2 F order, zlib and delta", "int16", {"zlib", {{"level", 1}}}).order = 'F';
  all.back().options.filters = {{"delta", {{"dtype", "<i2"}}}};
  const std::uint64_t n = edge_factor();
  for (Kind& kind : all) {
    kind.options.shape = {44 * n, 70 * n, 50 * n};
    kind.options.chunks = {16, 32, 24};
    for (const char* name : {"raw", "zstd", "blosc lz4 shuffle", "shards of zstd", "v2 blosc"})
      kind.common |= kind.name == name;
  }
  return all;
}

// Some chunks have nothing to compress, some are one value, some are smooth; one is not there.
Array make(const Kind& kind, std::shared_ptr<Store> store) {
  Array array = create_array(std::move(store), "a", kind.options);
  const NDArray values = NDArray::allocate(array.data_type(), array.shape());
  const std::size_t item = array.data_type().item_size();
  const std::uint64_t row = array.shape()[2];
  std::mt19937_64 random(seed());
  std::byte* at = values.view().data;
  for (std::uint64_t z = 0; z < array.shape()[0]; ++z)
    for (std::uint64_t y = 0; y < array.shape()[1]; ++y) {
      const std::uint64_t way = (z / 16 + y / 32) % 3;
      for (std::uint64_t x = 0; x < row; ++x, at += item) {
        const std::uint64_t value[2] = {way == 0 ? random() : way == 1 ? z / 16 : x + y * y / 16 + z * 3, x};
        std::memcpy(at, value, item);
      }
    }
  array.write({}, values.view());
  array.erase_chunk(Index{1, 1, 0});
  return array;
}

Selection random_box(std::mt19937_64& random, const Shape& shape) {
  Shape start, extent;
  for (const std::uint64_t length : shape) {
    start.push_back(random() % length);
    extent.push_back(1 + random() % (length - start.back()));
  }
  return Selection::box(start, extent);
}

class Arrays : public OnDevice {
 protected:
  const testing::TempDir folder_;

  void for_common_kinds(const std::function<void(const Array&)>& body) {
    for_each_kind(body, /*common_only=*/true);
  }
  void for_each_kind(const std::function<void(const Array&)>& body, bool common_only = false) {
    int number = 0;
    for (const Kind& kind : all_kinds()) {
      if (common_only && !kind.common) continue;
      SCOPED_TRACE(kind.name + ", ZARRIVE_GPU_SEED=" + std::to_string(seed()));
      FilesystemStoreOptions options;
      options.create = true;
      body(make(kind, std::make_shared<FilesystemStore>(folder_ / std::to_string(number++), options)));
      if (HasFailure()) return;
    }
  }
};

TEST_F(Arrays, ReadEqualToTheHost) {
  std::mt19937_64 random(seed());
  for_each_kind([&](const Array& array) {
    gpu::Stream stream(gpu::Device::get(0));
    std::vector<Selection> selections = {Selection(), "::-3, 5:, ::2", "1:15, 33:60, 10:40"};
    for (int i = 0; i < 3; ++i) selections.push_back(random_box(random, array.shape()));
    for (const Selection& where : selections) {
      SCOPED_TRACE(where.to_string());
      const Bytes expected = bytes_of(array.read(where));
      gpu::ReadReport report;
      ReadOptions options;
      options.prototype = cuda(0);
      options.device_report = &report;
      EXPECT_EQ(bytes_of(array.read(where, options)), expected) << "without a stream";
      EXPECT_EQ(report.total(), expected.size()) << report.to_string();
      for (const auto decode : {gpu::DeviceDecode::always, gpu::DeviceDecode::never}) {
        options.device_decode = decode;
        EXPECT_EQ(bytes_of(array.read(where, options)), expected) << "decoded " << static_cast<int>(decode);
        EXPECT_EQ(report.total(), expected.size()) << report.to_string();
      }
      EXPECT_EQ(report.device_decoded, 0u) << "never";
      options.device_decode = gpu::DeviceDecode::automatic;
      options.stream = stream.handle();
      EXPECT_EQ(bytes_of(array.read(where, options), stream.handle()), expected) << "in a stream";
      EXPECT_EQ(report.direct, 0u) << "no stream waits for cuFile";
      options.max_bytes_in_flight = 100'000;
      EXPECT_EQ(bytes_of(array.read(where, options), stream.handle()), expected) << "with little memory";
    }
  });
}

// Into the middle of an image whose rows have room for more.
TEST_F(Arrays, ReadIntoPaddedRows) {
  std::mt19937_64 random(seed());
  for_common_kinds([&](const Array& array) {
    const std::int64_t item = static_cast<std::int64_t>(array.data_type().item_size());
    const Selection where = random_box(random, array.shape());
    const Shape shape = array.result_shape(where);
    const std::int64_t pitch = (static_cast<std::int64_t>(shape[2]) + 3) * item;
    const std::int64_t plane = (static_cast<std::int64_t>(shape[1]) + 1) * pitch;
    Bytes memory(shape[0] * static_cast<std::size_t>(plane), std::byte{0xC3});
    const ArrayView view(memory.data() + item, array.data_type(), shape, {plane, pitch, item});
    Buffer there = on_device(memory, 0);
    array.read_into(where, moved(view, memory, there));
    array.read_into(where, view);
    EXPECT_EQ(copy_back(there.space(), there.data(), there.size()), memory) << where.to_string();
  });
}

// Read, and written again, with nothing but the stream in between.
TEST_F(Arrays, CopiedOverTheDevice) {
  for_each_kind([&](const Array& array) {
    gpu::Stream stream(gpu::Device::get(0));
    ReadOptions read;
    read.prototype = cuda(0);
    WriteOptions write;
    read.stream = write.stream = stream.handle();
    for (const auto encode : {gpu::DeviceEncode::automatic, gpu::DeviceEncode::never}) {
      Array target = create_array(std::make_shared<MemoryStore>(), "a", array.metadata());
      write.device_encode = encode;
      target.write({}, array.read({}, read).view(), write);
      EXPECT_EQ(bytes_of(target.read()), bytes_of(array.read())) << "encoded " << static_cast<int>(encode);
    }
  });
}

// The caller's work before and after a read in the stream is done before and after it.
TEST_F(Arrays, TheStreamKeepsTheOrder) {
  const gpu::Device& device = gpu::Device::get(0);
  std::mt19937_64 random(seed());
  for_common_kinds([&](const Array& array) {
    const Selection first = random_box(random, array.shape());
    const Shape shape = array.result_shape(first);
    Shape origin(3);
    const Selection second = Selection::box(origin, shape);
    gpu::Stream stream(device);
    NDArray destination = NDArray::allocate(array.data_type(), shape, cuda(0));
    const std::size_t size = destination.view().nbytes();
    Buffer kept = Buffer::allocate(size, cuda(0));
    const Bytes junk(size, std::byte{0x5C});
    ReadOptions options;
    options.stream = stream.handle();
    gpu::copy_to_device(device, destination.view().data, junk.data(), size, stream.handle());
    array.read_into(first, destination.view(), options);
    {
      const gpu::ContextScope scope(device);
      gpu::check(device.driver(),
                 device.driver().copy_on_device(reinterpret_cast<std::uintptr_t>(kept.data()),
                                                reinterpret_cast<std::uintptr_t>(destination.view().data),
                                                size, stream.handle()),
                 "copying on the device");
    }
    array.read_into(second, destination.view(), options);
    EXPECT_EQ(bytes_of(destination, stream.handle()), bytes_of(array.read(second)));
    EXPECT_EQ(copy_back(kept.space(), kept.data(), size), bytes_of(array.read(first)));
  });
}

// An event that the caller records after the read lets another stream see the result.
TEST_F(Arrays, AnotherStreamWaitsForAnEvent) {
  const gpu::Device& device = gpu::Device::get(0);
  for_common_kinds([&](const Array& array) {
    gpu::Stream reads(device), uses(device);
    gpu::Event done(device);
    ReadOptions options;
    options.prototype = cuda(0);
    options.stream = reads.handle();
    const NDArray found = array.read("3:, 1:", options);
    done.record(reads.handle());
    done.wait_in(uses.handle());
    EXPECT_EQ(bytes_of(found, uses.handle()), bytes_of(array.read("3:, 1:")));
  });
}

TEST_F(Arrays, ManyReadersAtOnceOnAllDevices) {
  for_common_kinds([&](const Array& array) {
    const NDArray whole = array.read();
    std::atomic<int> wrong = 0;
    std::vector<std::thread> readers;
    for (int reader = 0; reader < 4; ++reader)
      readers.emplace_back([&, reader] {
        try {
          const int device = reader % devices();
          std::mt19937_64 random(seed() + static_cast<std::uint64_t>(reader));
          gpu::Stream stream(gpu::Device::get(device));
          ReadOptions options;
          options.prototype = cuda(device);
          if (reader < 2) options.stream = stream.handle();
          for (int i = 0; i < 3; ++i) {
            const Selection where = random_box(random, array.shape());
            const NDArray found = array.read(where, options);
            if (found.view().space != cuda(device).space ||
                bytes_of(found, static_cast<gpu::CudaStream>(options.stream)) != bytes_of(array.read(where)))
              ++wrong;
          }
        } catch (const std::exception& error) {
          std::fprintf(stderr, "reader %d: %s\n", reader, error.what());
          ++wrong;
        }
      });
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(wrong, 0);
  });
}

// Memory is where the driver says it is.
TEST_F(Arrays, EachDeviceHasItsOwn) {
  const Array array = make(all_kinds()[0], std::make_shared<MemoryStore>());
  std::vector<NDArray> found;
  for (int device = 0; device < devices(); ++device) {
    ReadOptions options;
    options.prototype = cuda(device);
    found.push_back(array.read({}, options));
    int ordinal = -1;
    unsigned kind = 0;
    int attributes[] = {gpu::cuda_pointer_device_ordinal, gpu::cuda_pointer_memory_type};
    void* values[] = {&ordinal, &kind};
    ASSERT_EQ(gpu::driver().pointer_attributes(2, attributes, values,
                                               reinterpret_cast<std::uintptr_t>(found.back().view().data)),
              gpu::cuda_success);
    EXPECT_EQ(ordinal, device);
    EXPECT_EQ(kind, gpu::cuda_memory_device);
  }
  for (const NDArray& one : found) EXPECT_EQ(bytes_of(one), bytes_of(array.read()));
}

TEST_F(Arrays, GetitemsPlacesEachKeyAsItsContextSays) {
  for_common_kinds([&](const Array& array) {
    Store& store = *array.store();
    const std::vector<std::string> keys = store.list("a");
    ASSERT_GT(keys.size(), 1u);
    MapOfContexts contexts;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (i % 3 != 0) contexts.set(keys[i], {.prototype = cuda(static_cast<int>(i) % devices())});
    const auto found = getitems(store, keys, {.contexts = contexts});
    ASSERT_EQ(found.size(), keys.size());
    std::size_t placed = 0;
    for (const std::string& key : keys) {
      const Buffer& value = found.at(key);
      const Buffer host = *store.get(key);
      const Context* const context = contexts.find(key);
      const bool on_host = value.space().host_accessible();
      if (on_host) {
        EXPECT_EQ(value.text(), host.text()) << key;
        EXPECT_TRUE(!context || key.find("/.z") != std::string::npos || key.ends_with("zarr.json")) << key;
      } else {
        ++placed;
        ASSERT_NE(context, nullptr) << key;
        EXPECT_EQ(value.space(), context->prototype->space) << key;
        EXPECT_EQ(copy_back(value.space(), value.data(), value.size()),
                  Bytes(host.host_span().begin(), host.host_span().end()))
            << key;
      }
    }
    EXPECT_GT(placed, 0u);
  });
}

TEST_F(Arrays, ABrokenChunkIsAnErrorAndTheNextReadWorks) {
  for_common_kinds([&](const Array& array) {
    const std::string key = array.chunk_key(Index{0, 0, 0});
    const Buffer whole = Buffer::copy_of(array.store()->get(key)->host_span());
    const Bytes expected = bytes_of(array.read());
    gpu::Stream stream(gpu::Device::get(0));
    ReadOptions options;
    options.prototype = cuda(0);
    for (const std::size_t size : {whole.size() / 2, std::size_t{3}})
      for (void* callers : {static_cast<void*>(nullptr), static_cast<void*>(stream.handle())}) {
        array.store()->set(key, Buffer::copy_of(whole.host_span().first(size)));
        options.stream = callers;
        EXPECT_THROW(array.read({}, options), Error) << size;
        array.store()->set(key, whole);
        EXPECT_EQ(bytes_of(array.read({}, options), static_cast<gpu::CudaStream>(callers)), expected);
      }
  });
}

TEST_F(Arrays, ConvertedElements) {
  Array array = make(all_kinds()[0], std::make_shared<MemoryStore>());
  ReadOptions options;
  options.convert = true;
  const NDArray expected = NDArray::allocate(DataType(TypeId::float64), array.result_shape("5:, ::2"));
  array.read_into("5:, ::2", expected.view(), options);
  const NDArray found = NDArray::allocate(DataType(TypeId::float64), expected.shape(), cuda(0));
  array.read_into("5:, ::2", found.view(), options);
  EXPECT_EQ(bytes_of(found), bytes_of(expected));

  WriteOptions write;
  write.convert = true;
  Array from_device = create_array(std::make_shared<MemoryStore>(), "a", array.metadata());
  from_device.write("5:, ::2", found.view(), write);
  array.write("5:, ::2", expected.view(), write);
  EXPECT_EQ(bytes_of(from_device.read("5:, ::2")), bytes_of(array.read("5:, ::2")));
}

}  // namespace
}  // namespace zarrive::gpu_real
