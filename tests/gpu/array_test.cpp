// Arrays read into device memory and written from it, on the fake driver: equal to the same on the host, over the ways that bytes take.
#include "zarrive/array.hpp"

#include <gtest/gtest.h>
#include <sys/vfs.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <random>

#include "gpu/cufile.hpp"
#include "gpu/device.hpp"
#include "gpu/fake_driver.hpp"
#include "gpu/transfer.hpp"
#include "support/paths.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/dlpack.hpp"
#include "zarrive/filesystem_store.hpp"
#include "zarrive/fill_value.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive::gpu {
namespace {

using testing::peek;

class DeviceArrays : public testing::Balanced {
 protected:
  void TearDown() override {
    before_.streams = fake_cuda::counts().streams;  // ours are kept for the next read
    Balanced::TearDown();
  }
};

std::vector<std::byte> bytes_of(const NDArray& array) {
  const ArrayView& view = array.view();
  if (view.nbytes() == 0) return {};
  if (!view.space.host_accessible()) return peek(view.data, view.nbytes());
  return {view.data, view.data + view.nbytes()};
}

// An array of this kind with values in it, and some chunks left out.
struct Made {
  std::string name;
  CreateOptions options;
};

CodecSpec spec(const char* name, const char* configuration) {
  CodecSpec codec;
  codec.name = name;
  codec.configuration = Json::parse(configuration).as_object();
  return codec;
}
CodecSpec v2(const char* id, const char* configuration = "{}") { return spec(id, configuration); }
CodecSpec v3(const char* name, const char* configuration) { return spec(name, configuration); }

std::vector<Made> kinds() {
  std::vector<Made> made;
  const auto add = [&](std::string name, CreateOptions options) {
    options.shape = {23, 17, 30};
    options.chunks = {8, 5, 10};
    made.push_back({std::move(name), std::move(options)});
  };
  add("raw", {.data_type = "uint16", .codecs = {codecs::bytes()}});
  add("raw big-endian",
      {.data_type = "float32", .codecs = {codecs::bytes(ByteOrder::big)}, .fill_value = Json(1.5)});
  add("zstd", {.data_type = "int32", .codecs = {codecs::zstd(3)}, .fill_value = Json(-7)});
  add("blosc", {.data_type = "float64", .codecs = {codecs::blosc()}});
  add("gzip and crc32c",
      {.data_type = "int16", .codecs = {codecs::bytes(), codecs::gzip(5), codecs::crc32c()}});
  add("transposed",
      {.data_type = "int64", .codecs = {codecs::transpose({2, 0, 1}), codecs::bytes(), codecs::zstd(1)}});
  add("v2 F order", {.data_type = "uint8", .format = ZarrFormat::v2, .order = 'F', .fill_value = Json(3)});
  add("v2 raw", {.data_type = "complex64", .format = ZarrFormat::v2, .compressor = CodecSpec{}});
  add("shards", {.data_type = "uint32", .codecs = {codecs::zstd(1)}});
  made.back().options.shards = {16, 10, 20};
  made.back().options.fill_value = Json(9);
  add("raw shards", {.data_type = "uint16", .codecs = {codecs::bytes()}});
  made.back().options.shards = {16, 10, 20};
  // What the device decodes itself ...
  add("lz4", {.data_type = "int32", .format = ZarrFormat::v2, .compressor = v2("lz4")});
  add("blosc lz4, bytes shuffled", {.data_type = "float32", .codecs = {codecs::blosc("lz4", 5, "shuffle")}});
  add("blosc lz4, bits shuffled, big-endian",
      {.data_type = "uint16",
       .codecs = {codecs::bytes(ByteOrder::big), codecs::blosc("lz4", 5, "bitshuffle")}});
  add("blosc blosclz",
      {.data_type = "complex128", .codecs = {codecs::blosc("blosclz", 9, "shuffle"), codecs::crc32c()}});
  add("blosc stored", {.data_type = "int8", .codecs = {codecs::blosc("lz4", 0, "shuffle")}});
  add("blosc in shards",
      {.data_type = "float64", .codecs = {codecs::transpose({1, 2, 0}), codecs::blosc("lz4", 5, "shuffle")}});
  made.back().options.shards = {16, 10, 20};
  add("delta", {.data_type = "int32",
                .format = ZarrFormat::v2,
                .filters = {v2("delta", R"({"dtype": "<i4"})")},
                .compressor = v2("lz4")});
  add("delta of a narrower type", {.data_type = "int32",
                                   .format = ZarrFormat::v2,
                                   .filters = {v2("delta", R"({"dtype": "<i4", "astype": "<i2"})")},
                                   .compressor = v2("lz4")});
  add("fixed scale and offset",
      {.data_type = "float64",
       .format = ZarrFormat::v2,
       .filters = {v2("fixedscaleoffset",
                      R"({"dtype": "<f8", "astype": "<i2", "scale": 0.001, "offset": 0})")},
       .compressor = v2("lz4")});
  add("cast", {.data_type = "float32",
               .codecs = {v3("cast_value", R"({"data_type": "int16", "out_of_range": "clamp"})"),
                          codecs::blosc("lz4")}});
  // ... and what it decodes with nvCOMP, or else the host.
  add("blosc zstd", {.data_type = "uint64", .codecs = {codecs::blosc("zstd", 3, "bitshuffle")}});
  add("zlib", {.data_type = "uint32", .format = ZarrFormat::v2, .compressor = v2("zlib")});
  add("bz2", {.data_type = "uint32", .format = ZarrFormat::v2, .compressor = v2("bz2")});
  return made;
}

Array make(const Made& kind, std::shared_ptr<Store> store) {
  Array array = create_array(std::move(store), "a", kind.options);
  NDArray values = NDArray::allocate(array.data_type(), array.shape());
  std::mt19937 random(7);
  // Small numbers, in runs: they compress, every cast takes them, and all types have them.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i / 7 % 90 + (random() % 50 == 0 ? random() % 30 : 0));
    element_from_json(
        array.data_type(),
        array.data_type().is_complex() ? Json(JsonArray{Json(number), Json(i % 3)}) : Json(number),
        values.view().data + i * array.data_type().item_size());
  }
  array.write({}, values.view());
  array.erase_chunk(Index{0, 1, 0});
  return array;
}

const std::vector<Selection>& selections() {
  static const std::vector<Selection> all = {Selection(),
                                             "3",
                                             "2:20, 4:5, ::3",
                                             "::-1, ..., ::-2",
                                             "8:16, 5:10, 10:20",
                                             "22:23, 16:, 29",
                                             "5:5",
                                             oindex({{3, 1, 1, 20}, slice(2, 9), {29, 0}}),
                                             vindex({{1, 2, 22}, {3, 3, 16}, {0, 29, 7}})};
  return all;
}

TEST_F(DeviceArrays, ReadEqualToTheHost) {
  for (const Made& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Array array = make(kind, std::make_shared<MemoryStore>());
    for (const Selection& selection : selections()) {
      SCOPED_TRACE(selection.to_string());
      const NDArray expected = array.read(selection);
      for (const DeviceDecode decode : {DeviceDecode::never, DeviceDecode::always, DeviceDecode::automatic}) {
        ReadReport report;
        const NDArray found =
            array.read(selection, {.prototype = cuda(1), .device_decode = decode, .device_report = &report});
        EXPECT_EQ(found.view().space, (MemorySpace{MemoryKind::cuda, 1}));
        EXPECT_EQ(bytes_of(found), bytes_of(expected)) << report.to_string();
        EXPECT_EQ(report.total(), expected.view().nbytes()) << report.to_string();
        if (decode == DeviceDecode::never) {
          EXPECT_EQ(report.device_decoded, 0u);
        }
        if (decode == DeviceDecode::always && kind.name.find("blosc lz4") == 0 &&
            selection.to_string() == "8:16, 5:10, 10:20") {
          EXPECT_EQ(report.device_decoded, expected.view().nbytes()) << report.to_string();
        }
      }
    }
  }
}

TEST_F(DeviceArrays, ReadIntoMemoryOfAnyStrides) {
  const Device& device = Device::get(0);
  for (const Made& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Array array = make(kind, std::make_shared<MemoryStore>());
    const std::size_t item = array.data_type().item_size();
    const Selection selection = "1:22:2, :, 3:28";
    const NDArray expected = array.read(selection);
    const Shape shape = expected.shape();
    // Transposed, with gaps between rows, and one dimension walked downwards.
    const auto step = static_cast<std::int64_t>(item);
    const std::int64_t x = step * 40, y = step, z = step * 40 * 40;
    Buffer memory = Buffer::allocate(item * 40 * 40 * 40, cuda(0));
    std::vector<std::byte> nothing(memory.size(), std::byte{0xAB});
    {
      BorrowedStream stream(device);
      copy_to_device(device, memory.mutable_data(), nothing.data(), nothing.size(), stream.handle());
      stream.synchronize();
    }
    const ArrayView view(memory.mutable_data() + static_cast<std::int64_t>(shape[1] - 1) * y,
                         array.data_type(), shape, {z, -y, x}, memory.space());
    array.read_into(selection, view);
    const std::vector<std::byte> found = peek(memory.data(), memory.size());
    std::size_t touched = 0;
    for (std::uint64_t i = 0; i < shape[0]; ++i)
      for (std::uint64_t j = 0; j < shape[1]; ++j)
        for (std::uint64_t k = 0; k < shape[2]; ++k) {
          const auto at = static_cast<std::size_t>(static_cast<std::int64_t>(i) * z +
                                                   static_cast<std::int64_t>(shape[1] - 1 - j) * y +
                                                   static_cast<std::int64_t>(k) * x);
          const std::byte* const want = expected.view().data + ((i * shape[1] + j) * shape[2] + k) * item;
          ASSERT_EQ(std::memcmp(found.data() + at, want, item), 0) << i << " " << j << " " << k;
          touched += item;
        }
    EXPECT_EQ(static_cast<std::size_t>(std::count(found.begin(), found.end(), std::byte{0xAB})),
              found.size() - touched)
        << "nothing else was written";
  }
}

// The call returns before the stream has run; what is put into the stream after it sees the result.
TEST_F(DeviceArrays, TheCallersStreamDecidesWhen) {
  const Device& device = Device::get(0);
  for (const Made& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Array array = make(kind, std::make_shared<MemoryStore>());
    const NDArray expected = array.read();
    Stream stream(device);
    const NDArray found = array.read({}, {.prototype = cuda(0), .stream = stream.handle()});
    Buffer back = Buffer::allocate(expected.view().nbytes(), pinned());
    std::memset(back.mutable_data(), 0xEE, back.size());
    copy_to_host(device, back.mutable_data(), found.view().data, back.size(), stream.handle());
    EXPECT_NE(std::memcmp(back.data(), expected.view().data, back.size()), 0) << "nobody has waited yet";
    stream.synchronize();
    EXPECT_EQ(std::memcmp(back.data(), expected.view().data, back.size()), 0);
  }
}

// What crosses, crosses once; the elements of uncompressed chunks are copied from where the store read them to.
TEST_F(DeviceArrays, UncompressedChunksAreNotCopiedOnTheHost) {
  const zarrive::testing::TempDir folder;
  for (const Made& kind : kinds()) {
    if (kind.name != "raw" && kind.name != "raw shards") continue;
    SCOPED_TRACE(kind.name);
    std::filesystem::create_directory(folder.path() / kind.name);
    const Array array = make(kind, std::make_shared<FilesystemStore>(folder.path() / kind.name));
    ReadReport report;
    fake_cuda::reset_counts();
    const NDArray found = array.read({}, {.prototype = cuda(0), .device_report = &report});
    EXPECT_EQ(report.host_decoded, 0u);
    EXPECT_EQ(report.copied + report.filled, found.view().nbytes());
    EXPECT_GE(fake_cuda::counts().bytes_to_device, report.copied);
    EXPECT_LT(fake_cuda::counts().bytes_to_device, report.copied + 1024)
        << "what else crosses is the order to fill";
  }
}

// A compressed chunk crosses once, compressed, with the tables of the launch.
TEST_F(DeviceArrays, CompressedChunksCrossCompressed) {
  for (const Made& kind : kinds()) {
    if (kind.name != "blosc lz4, bytes shuffled") continue;
    const Array array = make(kind, std::make_shared<MemoryStore>());
    std::uint64_t stored = 0;
    for (const std::string& key : array.store()->list("a/c")) stored += *array.store()->size(key);
    fake_cuda::reset_counts();
    ReadReport report;
    const NDArray found = array.read(
        {}, {.prototype = cuda(0), .device_decode = DeviceDecode::always, .device_report = &report});
    EXPECT_EQ(report.device_decoded + report.filled, found.view().nbytes());
    EXPECT_GE(fake_cuda::counts().bytes_to_device, stored);
    EXPECT_LT(fake_cuda::counts().bytes_to_device, stored + (64 << 10)) << "the tables are small";
    EXPECT_LT(stored, found.view().nbytes() / 2);
  }
}

TEST_F(DeviceArrays, DamageThatOnlyTheDeviceSeesNamesTheChunk) {
  Made kind = kinds()[0];
  kind.options.data_type = "uint8";
  kind.options.codecs = {codecs::blosc("lz4", 5, "noshuffle")};
  for (const bool sharded : {false, true}) {
    kind.options.shards = sharded ? Shape{16, 10, 20} : Shape{};
    Array array = make(kind, std::make_shared<MemoryStore>());
    const std::string key = array.chunk_key(Index{1, 0, 0});
    const Buffer good = *array.store()->get(key);
    std::size_t failed = 0;
    for (std::size_t at = 24; at < std::min<std::size_t>(good.size(), 300); at += 3) {
      Buffer bad = Buffer::copy_of(good.host_span());
      bad.mutable_data()[at] ^= std::byte{0xFF};
      array.store()->set(key, bad);
      const ReadOptions options{.prototype = cuda(0), .device_decode = DeviceDecode::always};
      std::string on_host;
      try {
        array.read();
      } catch (const Error& error) {
        on_host = error.what();
      }
      try {
        array.read({}, options);
        EXPECT_EQ(on_host, "") << at;  // literals changed: nobody can see that
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::corrupt_chunk);
        EXPECT_EQ(error.place().key, key);
        EXPECT_NE(on_host, "") << error.what();
        failed += error.message().find("decoded on cuda:0") != std::string::npos;
      }
    }
    EXPECT_GT(failed, 0u) << "some is seen by the device alone";
  }
}

// What zlib and gzip streams end with: decoders of deflate do not see it.
TEST_F(DeviceArrays, ChecksumsOfDecodedStreamsAreCompared) {
  struct Case {
    const char* name;
    CreateOptions options;
    std::size_t from_end;  // of a byte of the checksum
  };
  const Case cases[] = {
      {"zlib", {.data_type = "int32", .format = ZarrFormat::v2, .compressor = v2("zlib")}, 2},
      {"gzip", {.data_type = "int32", .codecs = {codecs::gzip(5)}}, 6},
      {"blosc", {.data_type = "int32", .codecs = {codecs::blosc("zlib", 5, "shuffle")}}, 2}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    CreateOptions options = one.options;
    options.shape = {3000};
    options.chunks = {1000};
    Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
    std::vector<std::int32_t> values(3000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * i % 900);
    array.write({}, values);
    ReadReport report;
    const ReadOptions read{
        .prototype = cuda(0), .device_decode = DeviceDecode::always, .device_report = &report};
    EXPECT_EQ(bytes_of(array.read({}, read)), bytes_of(array.read()));
    EXPECT_EQ(report.device_decoded, report.total());
    const std::string key = array.chunk_key(Index{1});
    Buffer bad = Buffer::copy_of(array.store()->get(key)->host_span());
    bad.mutable_data()[bad.size() - one.from_end] ^= std::byte{0x10};
    array.store()->set(key, bad);
    EXPECT_THROW(array.read(), Error);
    try {
      array.read({}, read);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt_chunk) << error.what();
      EXPECT_EQ(error.place().key, key) << error.what();
      EXPECT_NE(error.message().find("decoded on cuda:0"), std::string::npos) << error.message();
    }
  }
}

// Files on a disk are read by cuFile, which the host's memory does not see.
TEST_F(DeviceArrays, FilesGoStraightToTheDevice) {
  struct statfs system {};
  const std::filesystem::path folder = std::filesystem::current_path() / "device-arrays";
  ASSERT_EQ(::statfs(std::filesystem::current_path().c_str(), &system), 0);
  if (system.f_type == 0x01021994) GTEST_SKIP() << "the working folder is not on a disk";
  std::filesystem::create_directories(folder);
  Array array = create_array(std::make_shared<FilesystemStore>(folder), "a",
                             {.shape = {60, 64, 64},
                              .data_type = "float32",
                              .chunks = {16, 64, 64},
                              .codecs = {codecs::bytes()},
                              .overwrite = true});
  std::vector<float> values(60 * 64 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  array.write({}, values);
  const auto bytes = std::as_bytes(std::span(values));

  ReadReport report;
  fake_cuda::reset_counts();
  const NDArray found = array.read({}, {.prototype = cuda(0), .device_report = &report});
  EXPECT_EQ(bytes_of(found), std::vector(bytes.begin(), bytes.end()));
  EXPECT_EQ(report.direct, 48u * 64 * 64 * 4)
      << "the last chunk reaches past the end: " << report.to_string();
  EXPECT_EQ(report.copied, 12u * 64 * 64 * 4);
  EXPECT_EQ(fake_cuda::counts().bytes_to_device, report.copied);

  Stream stream(Device::get(0));
  array.read({}, {.prototype = cuda(0), .stream = stream.handle(), .device_report = &report});
  stream.synchronize();
  EXPECT_EQ(report.direct, 0u) << "no stream waits for cuFile";

  fake_cuda::reset_counts();
  const std::vector<std::string> keys = {"a/zarr.json", "a/c/0/0/0", "a/c/1/0/0"};
  const auto items = getitems(*array.store(), keys, {.contexts = ConstantMap(keys, {.prototype = cuda(1)})});
  EXPECT_EQ(peek(items.at("a/c/1/0/0").data(), 4096),
            std::vector(bytes.begin() + 16 * 64 * 64 * 4, bytes.begin() + 16 * 64 * 64 * 4 + 4096));
  EXPECT_EQ(fake_cuda::counts().bytes_to_device, 0u);

  fake_cuda::fail("cuFileRead", -5044, 0);
  EXPECT_THROW(array.read({}, {.prototype = cuda(0)}), Error);
  cufile_forget();
  std::filesystem::remove_all(folder);
}

TEST_F(DeviceArrays, BoundedMemoryIsReused) {
  const Made kind = kinds()[2];
  const Array array = make(kind, std::make_shared<MemoryStore>());
  const NDArray expected = array.read();
  for (const DeviceDecode decode : {DeviceDecode::never, DeviceDecode::always}) {
    const NDArray found = array.read(
        {},
        {.prototype = cuda(0), .max_bytes_in_flight = 4096, .device_decode = decode, .max_device_bytes = 1});
    EXPECT_EQ(bytes_of(found), bytes_of(expected));
  }
}

TEST_F(DeviceArrays, WriteFromTheDevice) {
  const Device& device = Device::get(0);
  for (const Made& kind : kinds()) {
    if (kind.name == "lz4") break;  // those behind it are about decoding
    SCOPED_TRACE(kind.name);
    const Array from = make(kind, std::make_shared<MemoryStore>());
    for (const Selection& selection : selections()) {
      SCOPED_TRACE(selection.to_string());
      Array host = make(kind, std::make_shared<MemoryStore>());
      Array array = make(kind, std::make_shared<MemoryStore>());
      NDArray values = NDArray::allocate(from.data_type(), from.result_shape(selection), pinned());
      for (std::size_t i = 0; i < values.view().nbytes(); ++i) values.view().data[i] = std::byte(i % 61);
      host.write(selection, values.view());
      Stream stream(device);
      NDArray on_device = NDArray::allocate(from.data_type(), values.shape(), cuda(0));
      copy_to_device(device, on_device.view(), values.view(), stream.handle());
      array.write(selection, on_device.view(), {.stream = stream.handle()});
      EXPECT_EQ(bytes_of(array.read()), bytes_of(host.read()));
    }
  }
}

TEST_F(DeviceArrays, FieldsAndConversions) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a",
                             {.shape = {10, 10}, .data_type = "int16", .chunks = {4, 4}});
  std::vector<std::int16_t> values(100);
  for (std::size_t i = 0; i < 100; ++i) values[i] = static_cast<std::int16_t>(i * 3);
  array.write({}, values);
  const NDArray expected = array.read<double>("2:9", {.convert = true}).array();
  NDArray found = NDArray::allocate(DataType(TypeId::float64), expected.shape(), cuda(0));
  array.read_into("2:9", found.view(), {.convert = true});
  EXPECT_EQ(bytes_of(found), bytes_of(expected));
}

TEST_F(DeviceArrays, WholeChunksAndBlocks) {
  const Made kind = kinds()[3];
  const Array array = make(kind, std::make_shared<MemoryStore>());
  const Index edge{2, 3, 2};
  EXPECT_EQ(bytes_of(array.read_chunk(edge, {.prototype = cuda(0)})), bytes_of(array.read_chunk(edge)));
}

TEST_F(DeviceArrays, StringsStayOnTheHost) {
  const Array array =
      create_array(std::make_shared<MemoryStore>(), "a", {.shape = {3}, .data_type = "string"});
  EXPECT_THROW(array.read({}, {.prototype = cuda(0)}), Error);
}

TEST_F(DeviceArrays, Dlpack) {
  const Array array = make(kinds()[0], std::make_shared<MemoryStore>());
  dlpack::ManagedTensor* const tensor = dlpack::to_dlpack(array.read("3", {.prototype = cuda(1)}));
  EXPECT_EQ(tensor->dl_tensor.device.device_type, 2);
  EXPECT_EQ(tensor->dl_tensor.device.device_id, 1);
  const NDArray back = dlpack::from_dlpack(tensor);
  EXPECT_EQ(back.view().space, (MemorySpace{MemoryKind::cuda, 1}));
  EXPECT_EQ(bytes_of(back), bytes_of(array.read("3")));
}

// --- the layer beneath: values that a context asks for on a device ---

TEST_F(DeviceArrays, GetitemsPlacesEachKeyAsItsContextSays) {
  const zarrive::testing::TempDir folder;
  const Array array = make(kinds()[0], std::make_shared<FilesystemStore>(folder.path()));
  for (const auto& store :
       {array.store(), std::shared_ptr<Store>(std::make_shared<PrefixStore>(array.store(), "a"))}) {
    const bool prefixed = store != array.store();
    const auto key = [&](const char* name) {
      return prefixed ? std::string(name) : "a/" + std::string(name);
    };
    const std::vector<std::string> keys = {key("zarr.json"), key("c/0/0/0"), key("c/1/1/1"), key("c/9/9/9")};
    const auto found = getitems(*store, keys, {.contexts = ConstantMap(keys, {.prototype = cuda(0)})});
    ASSERT_EQ(found.size(), 3u) << "absent keys are absent";
    EXPECT_TRUE(found.at(keys[0]).space().host_accessible()) << "metadata stays on the host";
    for (std::size_t i : {1, 2}) {
      const Buffer& value = found.at(keys[i]);
      EXPECT_EQ(value.space(), (MemorySpace{MemoryKind::cuda, 0}));
      const Buffer host = *store->get(keys[i]);
      EXPECT_EQ(peek(value.data(), value.size()),
                std::vector(host.host_span().begin(), host.host_span().end()));
    }
    MapOfContexts mixed;
    mixed.set(keys[1], {.prototype = cuda(1)});
    const auto both = getitems(*store, keys, {.contexts = mixed});
    EXPECT_EQ(both.at(keys[1]).space(), (MemorySpace{MemoryKind::cuda, 1}));
    EXPECT_TRUE(both.at(keys[2]).space().host_accessible());
    EXPECT_EQ(both.at(keys[1]).device_span().size(), 8u * 5 * 10 * 2);
    EXPECT_EQ(store->get(keys[2], ByteRange::range(10, 20), mixed.find(keys[1]))->space().kind,
              MemoryKind::cuda);
  }
}

TEST_F(DeviceArrays, ValuesInDeviceMemoryAreWritten) {
  const auto store = std::make_shared<MemoryStore>();
  const std::vector<std::byte> sent = testing::counting(5000);
  const Buffer value = to_device(Buffer::borrow(sent), cuda(1));
  setitems(*store, {{"a", value}, {"b", Buffer::from_string("host")}});
  store->set("c", value);
  EXPECT_TRUE(store->set_if_absent("d", value));
  for (const char* key : {"a", "c", "d"}) {
    const Buffer found = *store->get(key);
    EXPECT_EQ(std::vector(found.host_span().begin(), found.host_span().end()), sent);
  }
  EXPECT_EQ(store->get("b")->text(), "host");
}

// Every call of the driver that a read makes, failing once: an error, nothing left over, and the next try works.
TEST_F(DeviceArrays, FailuresAreErrorsAndLeakNothing) {
  const Device& device = Device::get(0);
  const auto check = [&](const Array& array, DeviceDecode decode,
                         std::initializer_list<const char*> functions) {
    const auto read = [&] {
      array.read("::2, 1:", {.prototype = cuda(0),
                             .max_bytes_in_flight = 2048,
                             .device_decode = decode,
                             .max_device_bytes = 1});
      Stream stream(device);
      array.read({}, {.prototype = cuda(0), .stream = stream.handle(), .device_decode = decode});
      stream.synchronize();
    };
    read();
    for (const char* function : functions) {
      SCOPED_TRACE(function);
      fake_cuda::fail(function, 999, 0);
      EXPECT_THROW(read(), Error);
      EXPECT_EQ(fake_cuda::counts().allocations, before_.allocations);
    }
    fake_cuda::fail("cuLaunchHostFunc", 999, 0);
    read();  // waits instead
  };
  check(make(kinds()[2], std::make_shared<MemoryStore>()), DeviceDecode::never,
        {"cuMemAlloc_v2", "cuCtxPushCurrent_v2", "cuMemcpy2DAsync_v2", "cuEventCreate", "cuEventRecord",
         "cuEventSynchronize", "cuStreamSynchronize"});
  const std::vector<Made> all = kinds();
  const auto kind =
      std::find_if(all.begin(), all.end(), [](const Made& made) { return made.name == "blosc in shards"; });
  check(make(*kind, std::make_shared<MemoryStore>()), DeviceDecode::always,
        {"cuMemAlloc_v2", "cuCtxPushCurrent_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
         "cuLaunchKernel", "cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuStreamSynchronize"});
}

TEST_F(DeviceArrays, BrokenChunksAreErrors) {
  Array array = make(kinds()[2], std::make_shared<MemoryStore>());
  array.store()->set(array.chunk_key(Index{1, 0, 0}), Buffer::from_string("broken"));
  try {
    array.read({}, {.prototype = cuda(0)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt_chunk);
    EXPECT_EQ(error.place().key, "a/c/1/0/0");
  }
}

}  // namespace
}  // namespace zarrive::gpu
