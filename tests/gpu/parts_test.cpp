// Lists of chunk parts into and from device memory, on the fake driver: equal to the same on the host, and no other element touched.
#include <gtest/gtest.h>

#include <cstring>

#include "array/chunk_list.hpp"
#include "gpu/fake_driver.hpp"
#include "gpu/transfer.hpp"
#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/memory_store.hpp"

namespace zarrive::gpu {
namespace {

using testing_support::list_of;
using testing_support::list_view;

class DeviceParts : public testing::Balanced {
 protected:
  void TearDown() override {
    before_.streams = fake_cuda::counts().streams;  // ours are kept for the next read
    Balanced::TearDown();
  }
};

std::vector<CreateOptions> kinds() {
  std::vector<CreateOptions> all(4);
  all[0] = {.data_type = "uint16", .codecs = {codecs::bytes()}};
  all[1] = {.data_type = "float32", .codecs = {codecs::blosc("lz4", 5, "shuffle")}, .fill_value = Json(1.5)};
  all[2] = {.data_type = "int32", .codecs = {codecs::zstd(3)}};
  all[3] = {.data_type = "int32", .codecs = {codecs::blosc("lz4", 5, "shuffle")}};
  for (CreateOptions& options : all) {
    options.shape = {23, 30};
    options.chunks = {8, 10};
  }
  all[3].shards = {16, 20};
  return all;
}

Array make(const CreateOptions& options) {
  Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
  const NDArray values = NDArray::allocate(array.data_type(), array.shape());
  for (std::size_t i = 0; i < values.view().nbytes(); ++i) values.view().data[i] = std::byte(i / 9 % 61);
  array.write({}, values.view());
  array.erase_chunk(Index{0, 1});
  return array;
}

const std::vector<Selection>& selections() {
  static const std::vector<Selection> all = {"...", "3", "::-1, 4:29:2",
                                             oindex({{3, 1, 1, 20}, slice(2, 25)}),
                                             vindex({{1, 2, 22, 9}, {3, 13, 16, 0}})};
  return all;
}

// Every second chunk, so that not all of the memory is a place.
std::vector<ChunkAccess> some_of(const Array& array, const Selection& selection) {
  std::vector<ChunkAccess> list;
  for (ChunkAccess& access : list_of(array, selection))
    if ((access.chunk[0] + access.chunk[1]) % 2 == 0 || access.chunk == Index{0, 1}) list.push_back(access);
  return list;
}

NDArray host_memory(const Array& array, const Selection& selection, int value) {
  NDArray memory = NDArray::allocate(array.data_type(), array.result_shape(selection));
  std::memset(memory.view().data, value, memory.view().nbytes());
  return memory;
}

NDArray on_device(const NDArray& values) {
  NDArray memory = NDArray::allocate(values.type(), values.shape(), cuda(0));
  BorrowedStream stream(Device::get(0));
  copy_to_device(Device::get(0), memory.view(), values.view(), stream.handle());
  stream.synchronize();
  return memory;
}

TEST_F(DeviceParts, ReadEqualToTheHost) {
  for (const CreateOptions& kind : kinds()) {
    const Array array = make(kind);
    for (const Selection& selection : selections()) {
      SCOPED_TRACE(array.data_type().name() + " " + selection.to_string());
      const std::vector<ChunkAccess> list = some_of(array, selection);
      const NDArray expected = host_memory(array, selection, 0xAB);
      const std::vector<bool> stored = array.read_parts(list, list_view(array, selection, expected.view()));
      for (const DeviceDecode decode : {DeviceDecode::never, DeviceDecode::always}) {
        const NDArray found = on_device(host_memory(array, selection, 0xAB));
        EXPECT_EQ(
            array.read_parts(list, list_view(array, selection, found.view()), {.device_decode = decode}),
            stored);
        const ArrayView& want = expected.view();
        EXPECT_EQ(testing::peek(found.view().data, want.nbytes()),
                  std::vector<std::byte>(want.data, want.data + want.nbytes()));
      }
    }
  }
}

TEST_F(DeviceParts, WrittenEqualToTheHosts) {
  for (const CreateOptions& kind : kinds()) {
    for (const Selection& selection : selections()) {
      Array host = make(kind), array = make(kind);
      SCOPED_TRACE(array.data_type().name() + " " + selection.to_string());
      const std::vector<ChunkAccess> list = some_of(array, selection);
      const NDArray values = host_memory(array, selection, 0x11);
      const NDArray source = on_device(values);
      host.write_parts(list, list_view(host, selection, values.view()));
      array.write_parts(list, list_view(array, selection, source.view()));
      const NDArray expected = host.read(), found = array.read();
      EXPECT_EQ(std::memcmp(found.view().data, expected.view().data, expected.view().nbytes()), 0);
    }
  }
}

}  // namespace
}  // namespace zarrive::gpu
